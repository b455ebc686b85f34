//! SequenceFiles of every kind come back; files that are cut off or changed are refused with the place.

use std::io::Cursor;

use aduana::nutch::sequence_file::{Compression, Header, SequenceReader, SequenceWriter, WriteOptions};
use aduana::nutch::{Fault, Limits, Malformed, NutchError, Unwritable};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::alloc::largest_during;
use crate::support::{Pairs, read_sequence, write_sequence};

/// Small, so that few records have sync markers and several blocks.
const SMALL: WriteOptions = WriteOptions { sync_interval: 60, block_bytes: 100 };

fn headers() -> [Header; 4] {
    let v6 = |compression| {
        let mut header = Header::v6("org.apache.hadoop.io.Text", "Text", compression);
        header.metadata = vec![("a".into(), "é".into()), (String::new(), "b".repeat(300))];
        header
    };
    [Header::v1("UTF8", "UTF8"), v6(Compression::None), v6(Compression::Record), v6(Compression::Block)]
}

fn some_pairs() -> Pairs {
    (0..30u8).map(|n| (vec![n + 1; 3], vec![n; usize::from(n)])).collect()
}

#[track_caller]
fn fault(read: Result<(Header, Pairs), NutchError>) -> (u64, Fault) {
    match read.unwrap_err() {
        NutchError::Malformed(Malformed { offset, fault }) => (offset, fault),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn records_come_back(pairs in vec((vec(any::<u8>(), 1..20), vec(any::<u8>(), 0..60)), 0..40)) {
        for header in headers() {
            let bytes = write_sequence(header.clone(), SMALL, &pairs);
            prop_assert_eq!(read_sequence(&bytes, Limits::default()).unwrap(), (header, pairs.clone()));
        }
    }

    #[test]
    fn records_are_found_again_at_their_positions(n in 0usize..30) {
        for header in headers() {
            let mut writer = SequenceWriter::with_options(Vec::new(), header, SMALL).unwrap();
            let pairs = some_pairs();
            let mut position = 0;
            for (at, (key, value)) in pairs.iter().enumerate() {
                if at == n {
                    position = writer.position();
                }
                writer.append(key, value).unwrap();
            }
            let bytes = writer.finish().unwrap();
            let mut reader = SequenceReader::new(Cursor::new(&bytes)).unwrap();
            reader.seek(position).unwrap();
            // In a block, records of the block may come before it.
            let mut skipped = 0;
            while reader.next().unwrap().unwrap().key != pairs[n].0 {
                skipped += 1;
            }
            let entry = reader.current().unwrap();
            prop_assert_eq!((entry.value, entry.position), (&pairs[n].1[..], position));
            let in_blocks = reader.header().compression == Compression::Block;
            prop_assert!(skipped == 0 || in_blocks, "{} skipped", skipped);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic_nor_cost_memory(
        bytes in vec(any::<u8>(), 0..200), kind in 0usize..4
    ) {
        let limits = Limits { record_bytes: 1 << 20, ..Limits::default() };
        let mut file = write_sequence(headers()[kind].clone(), SMALL, &Vec::new());
        file.extend(&bytes);
        let (largest, _read) = largest_during(|| read_sequence(&file, limits));
        prop_assert!(largest < 1 << 18, "{} bytes", largest);
        let (largest, _read) = largest_during(|| read_sequence(&bytes, limits));
        prop_assert!(largest < 1 << 18, "{} bytes", largest);
    }

    #[test]
    fn files_with_a_wrong_byte_never_panic_nor_cost_memory(
        kind in 0usize..4, at in any::<prop::sample::Index>(), byte in any::<u8>()
    ) {
        let mut file = write_sequence(headers()[kind].clone(), SMALL, &some_pairs());
        let at = at.index(file.len());
        file[at] = byte;
        let (largest, _read) = largest_during(|| read_sequence(&file, Limits::default()));
        prop_assert!(largest < 1 << 18, "{} bytes", largest);
    }
}

#[test]
fn a_file_cut_off_inside_a_record_is_refused_at_its_end() {
    for header in headers() {
        let whole = write_sequence(header.clone(), SMALL, &some_pairs());
        let all = read_sequence(&whole, Limits::default()).unwrap().1;
        let mut ends = 0;
        for cut in 0..whole.len() {
            match read_sequence(&whole[..cut], Limits::default()) {
                // Between two records, nothing shows that more has been there.
                Ok((_, pairs)) => {
                    assert_eq!(pairs, all[..pairs.len()]);
                    ends += 1;
                }
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.contains("is cut off"), "{cut} of {}: {error}", whole.len());
                }
            }
        }
        assert!(ends < 50, "{ends}");
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let [v1, none, record, block] = headers().map(|header| write_sequence(header, SMALL, &some_pairs()));
    let read = |bytes: &[u8]| fault(read_sequence(bytes, Limits::default()));
    assert_eq!(read(b"SET\x01"), (0, Fault::NoSequenceFile));
    let version = Fault::Version { what: "the SequenceFile", found: 4, known: "1, 6" };
    assert_eq!(read(b"SEQ\x04"), (3, version));
    // Version 1 has no sync markers: -1 is a length.
    let start = 4 + 2 + 4 + 2 + 4;
    let mut bad = v1.clone();
    bad[start..start + 4].fill(0xff);
    assert_eq!(read(&bad), (start as u64, Fault::Length { what: "the record", length: -1 }));
    let mut bad = v1;
    bad[start + 4..start + 8].copy_from_slice(&100i32.to_be_bytes());
    assert_eq!(read(&bad), (start as u64 + 4, Fault::Length { what: "the key", length: 100 }));
    // The first sync marker after the header's own.
    for file in [none, block.clone()] {
        let header = read_sequence(&file, Limits::default()).unwrap().0;
        let places: Vec<usize> =
            (0..file.len() - 16).filter(|&at| file[at..at + 16] == header.sync).collect();
        assert!(places.len() > 2);
        let mut bad = file;
        bad[places[1]] ^= 1;
        assert_eq!(read(&bad), (places[1] as u64, Fault::Sync));
    }
    let mut bad = record;
    let last = bad.len() - 1;
    bad[last] ^= 1;
    assert_eq!(read(&bad).1, Fault::Deflate("value"));
    let codec = "org.apache.hadoop.io.compress.DefaultCodec";
    let mut bad = block;
    let at = bad.windows(codec.len()).position(|w| w == codec.as_bytes()).unwrap();
    bad[at + codec.len() - 12] = b'X';
    assert!(matches!(read(&bad), (place, Fault::Codec(_)) if place == at as u64 - 1));
}

#[test]
fn lengths_beyond_the_limits_are_refused_before_they_are_read() {
    let limits = Limits { record_bytes: 1_000, ..Limits::default() };
    for header in headers() {
        let large = vec![(b"key".to_vec(), vec![0; 5_000])];
        let bytes = write_sequence(header, SMALL, &large);
        let (_, fault) = fault(read_sequence(&bytes, limits));
        assert!(matches!(fault, Fault::TooLong { limit: 1_000, .. }), "{fault:?}");
    }
    // Two bytes of the file are 48 bytes of memory.
    let mut header = headers()[1].clone();
    header.metadata = vec![(String::new(), String::new()); 100];
    let bytes = write_sequence(header, SMALL, &Vec::new());
    let (_, refused) = fault(read_sequence(&bytes, limits));
    assert!(matches!(refused, Fault::TooLong { what: "metadata", .. }), "{refused}");
    // Two gigabytes in a file of a few bytes.
    let mut bytes = write_sequence(Header::v1("UTF8", "UTF8"), SMALL, &Vec::new());
    bytes.extend([0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1, b'k']);
    let limits = Limits { record_bytes: usize::MAX, ..Limits::default() };
    let (largest, refused) = largest_during(|| fault(read_sequence(&bytes, limits)));
    assert_eq!(refused.1, Fault::CutOff("record"));
    assert!(largest < 1 << 16, "{largest}");
}

#[test]
fn after_an_error_the_reader_is_at_its_end() {
    let mut bytes = write_sequence(Header::v1("UTF8", "UTF8"), SMALL, &some_pairs());
    bytes.truncate(bytes.len() - 1);
    let mut reader = SequenceReader::new(Cursor::new(&bytes)).unwrap();
    while let Ok(Some(_)) = reader.next() {}
    assert!(matches!(reader.next(), Ok(None)));
    assert_eq!(reader.current(), None);
    let start = reader.start();
    reader.seek(start).unwrap();
    assert_eq!(reader.next().unwrap().unwrap().key, [1; 3]);
}

#[test]
fn what_a_version_cannot_have_is_not_written() {
    let mut writer = SequenceWriter::new(Vec::new(), Header::v1("UTF8", "UTF8")).unwrap();
    let refused = writer.append(b"", b"value").unwrap_err();
    assert!(matches!(refused, NutchError::Unwritable(Unwritable::EmptyKey)));
    let header = Header { compression: Compression::Block, ..Header::v1("UTF8", "UTF8") };
    assert!(SequenceWriter::new(Vec::new(), header).is_err());
    let long = "a".repeat(70_000);
    assert!(SequenceWriter::new(Vec::new(), Header::v1(&long, "UTF8")).is_err());
}

#[test]
fn every_new_header_has_another_sync_marker() {
    let sync = || Header::v6("Text", "Text", Compression::None).sync;
    assert_ne!(sync(), sync());
}
