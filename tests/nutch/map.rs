//! MapFiles and ArrayFiles: every key is found, no other is; a broken index is refused.

use std::fs;

use aduana::nutch::map_file::{ArrayReader, ArrayWriter, MapReader, MapWriter};
use aduana::nutch::sequence_file::{Compression, Header, SequenceReader, Version, WriteOptions};
use aduana::nutch::{Limits, NutchError};
use tempfile::TempDir;

const KINDS: [(Version, Compression); 4] = [
    (Version::V1, Compression::None),
    (Version::V6, Compression::None),
    (Version::V6, Compression::Record),
    (Version::V6, Compression::Block),
];

fn header((version, compression): (Version, Compression)) -> Header {
    match version {
        Version::V1 => Header::v1("UTF8", "UTF8"),
        Version::V6 => Header::v6("org.apache.hadoop.io.UTF8", "org.apache.hadoop.io.UTF8", compression),
    }
}

/// A UTF8 of seven digits.
fn key(n: u32) -> Vec<u8> {
    format!("\0\x07{n:07}").into_bytes()
}

fn value(n: u32) -> Vec<u8> {
    format!("value {n}").into_bytes()
}

/// 1,000 even keys.
fn written(folder: &TempDir, kind: (Version, Compression)) -> std::path::PathBuf {
    let path = folder.path().join("map");
    let options = WriteOptions { block_bytes: 2_000, ..WriteOptions::default() };
    let mut map = MapWriter::with_options(&path, header(kind), options).unwrap();
    for n in 0..1_000 {
        map.append(&key(2 * n), &value(2 * n)).unwrap();
    }
    assert_eq!(map.finish().unwrap(), 1_000);
    path
}

#[test]
fn every_key_is_found_and_no_other() {
    for kind in KINDS {
        let folder = TempDir::new().unwrap();
        let mut map = MapReader::open(&written(&folder, kind)).unwrap();
        // From the last to the first, so that each is a search.
        for n in (0..1_000).rev() {
            assert_eq!(map.get(&key(2 * n)).unwrap(), Some(&value(2 * n)[..]), "{kind:?}");
            assert_eq!(map.get(&key(2 * n + 1)).unwrap(), None);
        }
        assert_eq!(map.get(b"\0\x01 ").unwrap(), None);
        map.get(&key(500)).unwrap().unwrap();
        assert_eq!(map.next().unwrap().unwrap().key, key(502));
        map.rewind().unwrap();
        let mut n = 0;
        while let Some(entry) = map.next().unwrap() {
            assert_eq!((entry.key, entry.value), (&key(2 * n)[..], &value(2 * n)[..]));
            n += 1;
        }
        assert_eq!(n, 1_000);
    }
}

#[test]
fn the_index_has_every_128th_key_or_a_key_of_each_block_at_most() {
    for kind in KINDS {
        let folder = TempDir::new().unwrap();
        let path = written(&folder, kind);
        let bytes = fs::read(path.join("index")).unwrap();
        let mut index = SequenceReader::new(&bytes[..]).unwrap();
        let mut entries = Vec::new();
        while let Some(entry) = index.next().unwrap() {
            entries.push((entry.key.to_vec(), u64::from_be_bytes(entry.value.try_into().unwrap())));
        }
        let compression = index.header().compression;
        match kind.0 {
            Version::V1 => {
                assert_eq!((index.header().value_class.as_str(), compression), ("long", Compression::None))
            }
            Version::V6 => assert_eq!(compression, Compression::Block),
        }
        assert_eq!(entries[0].0, key(0));
        assert!(entries.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1), "{entries:?}");
        if kind.1 == Compression::Block {
            assert!((2..=8).contains(&entries.len()), "{}", entries.len());
        } else {
            let keys: Vec<_> = entries.iter().map(|(key, _)| key.clone()).collect();
            assert_eq!(keys, (0..8).map(|n| key(2 * 128 * n)).collect::<Vec<_>>());
        }
    }
}

#[test]
fn numbers_find_their_values() {
    for (version, compression) in KINDS {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("array");
        let mut array = ArrayWriter::create(&path, "UTF8", version, compression).unwrap();
        for n in 0..300u32 {
            assert_eq!(array.append(&value(n)).unwrap(), i64::from(n));
        }
        assert_eq!(array.finish().unwrap(), 300);
        let mut array = ArrayReader::open(&path).unwrap();
        for n in [299, 0, 127, 128, 129] {
            assert_eq!(array.get(n).unwrap(), Some(&value(n as u32)[..]));
        }
        assert_eq!(array.get(-1).unwrap(), None);
        assert_eq!(array.get(300).unwrap(), None);
        let class = &array.map().header().key_class;
        assert_eq!(class == "long", version == Version::V1, "{class}");
    }
}

#[test]
fn keys_must_ascend_and_folders_be_new() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("map");
    let mut map = MapWriter::create(&path, header(KINDS[0])).unwrap();
    map.append(&key(2), b"").unwrap();
    map.append(&key(2), b"").unwrap();
    let refused = map.append(&key(1), b"").unwrap_err().to_string();
    assert_eq!(refused, "key after a greater one: append in ascending order");
    assert!(matches!(MapWriter::create(&path, header(KINDS[0])), Err(NutchError::File { .. })));
    let other = Header::v1("org.example.Key", "UTF8");
    assert!(MapWriter::create(&folder.path().join("other"), other).is_err());
    assert!(!folder.path().join("other").exists());
}

#[test]
fn without_an_index_a_map_is_read_in_order_only() {
    let folder = TempDir::new().unwrap();
    let path = written(&folder, KINDS[0]);
    fs::remove_file(path.join("index")).unwrap();
    let mut map = MapReader::open(&path).unwrap();
    assert!(map.next().unwrap().is_some());
    let refused = map.get(&key(0)).unwrap_err().to_string();
    assert!(refused.contains("index: "), "{refused}");
}

#[test]
fn an_index_that_lies_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = written(&folder, KINDS[0]);
    let good = fs::read(path.join("index")).unwrap();
    let record = 8 + 9 + 8;
    let start = good.len() - 8 * record;
    let get = |bytes: &[u8], limits| {
        fs::write(path.join("index"), bytes).unwrap();
        MapReader::with_limits(&path, limits).unwrap().get(&key(1_998)).map(|found| found.is_some())
    };
    assert!(get(&good, Limits::default()).unwrap());
    // Two entries in the wrong order.
    let mut bad = good.clone();
    bad[start..start + 2 * record].rotate_left(record);
    let refused = get(&bad, Limits::default()).unwrap_err().to_string();
    assert!(refused.ends_with(&format!("byte {}: the keys are not in ascending order", start + record)));
    // A position in the middle of a record, and one far beyond the file.
    let mut bad = good.clone();
    let at = bad.len() - 1;
    bad[at] = bad[at].wrapping_add(3);
    assert!(get(&bad, Limits::default()).is_err());
    bad[at - 4] = 0x7f;
    let refused = get(&bad, Limits::default()).unwrap_err().to_string();
    assert!(refused.ends_with("a record that the index names is cut off"), "{refused}");
    bad[at - 7] = 0x7f;
    let refused = get(&bad, Limits::default()).unwrap_err().to_string();
    assert!(refused.ends_with("is cut off"), "{refused}");
    bad[at - 7] = 0xff;
    let refused = get(&bad, Limits::default()).unwrap_err().to_string();
    assert!(refused.contains("a position in the index"), "{refused}");
    let limits = Limits { index_bytes: 100, ..Limits::default() };
    let refused = get(&good, limits).unwrap_err().to_string();
    assert!(refused.contains("the index has"), "{refused}");
}
