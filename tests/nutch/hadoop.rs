//! Hadoop writes, we read; we write, Hadoop reads. What its writer made lies in `tests/data/hadoop` and is read
//! always; Hadoop itself is run in the long tier.

use std::fmt::Write;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use aduana::nutch::map_file::{ArrayReader, ArrayWriter, MapReader, MapWriter};
use aduana::nutch::sequence_file::{
    Compression, Header, SequenceReader, SequenceWriter, Version, WriteOptions,
};
use tempfile::TempDir;

const TEXT: &str = "org.apache.hadoop.io.Text";
const LONG: &str = "org.apache.hadoop.io.LongWritable";
const COMPRESSIONS: [(&str, Compression); 3] =
    [("none", Compression::None), ("record", Compression::Record), ("block", Compression::Block)];

/// A Text of less than 128 bytes: its length in one byte.
fn text(text: &str) -> Vec<u8> {
    [&[text.len() as u8], text.as_bytes()].concat()
}

/// A UTF8 without NUL and without characters beyond U+FFFF: as in UTF-8.
fn utf8(text: &str) -> Vec<u8> {
    [&(text.len() as u16).to_be_bytes()[..], text.as_bytes()].concat()
}

/// As `Interop.java` makes them.
fn record(n: i64) -> (i64, String) {
    (n * 1000 - 5000, format!("value {n} é€😀"))
}

fn map_key(n: usize) -> String {
    format!("key-{:05}", 2 * n)
}

/// Reads what `Interop.java write` makes.
fn read_all_of_hadoop(folder: &Path) {
    for (name, compression) in COMPRESSIONS {
        let file = File::open(folder.join(format!("sequence-{name}"))).unwrap();
        let mut reader = SequenceReader::new(BufReader::new(file)).unwrap();
        let header = reader.header().clone();
        assert_eq!((header.version, header.compression), (Version::V6, compression));
        assert_eq!((header.key_class.as_str(), header.value_class.as_str()), (LONG, TEXT));
        assert_eq!(header.metadata, [("written by".to_owned(), "hadoop".to_owned())]);
        for n in 0..200 {
            let (key, value) = record(n);
            let entry = reader.next().unwrap().unwrap();
            assert_eq!((entry.key, entry.value), (&key.to_be_bytes()[..], &text(&value)[..]));
        }
        assert!(reader.next().unwrap().is_none());
    }
    for name in ["map-none", "map-block"] {
        let mut map = MapReader::open(&folder.join(name)).unwrap();
        for n in (0..400).rev() {
            let value = text(&format!("value {n}"));
            assert_eq!(map.get(&text(&map_key(n))).unwrap(), Some(&value[..]), "{name}");
            assert_eq!(map.get(&text(&format!("key-{:05}", 2 * n + 1))).unwrap(), None);
        }
        map.rewind().unwrap();
        let mut n = 0;
        while let Some(entry) = map.next().unwrap() {
            assert_eq!(entry.key, text(&map_key(n)));
            n += 1;
        }
        assert_eq!(n, 400);
    }
    let mut array = ArrayReader::open(&folder.join("array")).unwrap();
    for n in [399, 0, 128, 255, 256] {
        assert_eq!(array.get(n).unwrap(), Some(&text(&format!("value {n}"))[..]));
    }
    assert_eq!(array.get(400).unwrap(), None);
}

#[test]
fn files_that_hadoop_wrote_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hadoop");
    read_all_of_hadoop(&folder);
    // The files must have what makes version 6 hard: sync markers, several blocks, indices of several entries.
    let bytes = fs::read(folder.join("sequence-none")).unwrap();
    let header = SequenceReader::new(&bytes[..]).unwrap().header().clone();
    assert!(bytes.windows(16).filter(|window| window == &header.sync).count() > 5);
    let bytes = fs::read(folder.join("sequence-block")).unwrap();
    let header = SequenceReader::new(&bytes[..]).unwrap().header().clone();
    assert!(bytes.windows(16).filter(|window| window == &header.sync).count() > 2);
    let index = File::open(folder.join("map-none/index")).unwrap();
    let mut index = SequenceReader::new(BufReader::new(index)).unwrap();
    assert_eq!(index.header().compression, Compression::Block);
    let mut entries = 0;
    while index.next().unwrap().is_some() {
        entries += 1;
    }
    assert_eq!(entries, 4);
}

/// Java and Hadoop's classes; `None`, and why aloud, where there is no Java or no Maven.
struct Hadoop {
    class_path: String,
}

impl Hadoop {
    /// Looked for once; tests run side by side.
    fn find() -> Option<&'static Hadoop> {
        static HADOOP: LazyLock<Option<Hadoop>> = LazyLock::new(Hadoop::look_for);
        HADOOP.as_ref()
    }

    fn look_for() -> Option<Hadoop> {
        for program in ["java", "mvn"] {
            let found =
                Command::new(program).arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            if !found.is_ok_and(|status| status.success()) {
                return skipped(&format!("{program} is missing"));
            }
        }
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let list = folder.join("hadoop-class-path");
        let done = Command::new("mvn")
            .args(["-q", "-B", "-f"])
            .arg(source("pom.xml"))
            .args(["dependency:build-classpath", &format!("-Dmdep.outputFile={}", list.display())])
            .status()
            .unwrap();
        if !done.success() {
            return skipped("mvn cannot get Hadoop");
        }
        Some(Hadoop { class_path: fs::read_to_string(list).unwrap() })
    }

    /// What `Interop.java` prints.
    fn run(&self, command: &str, path: &Path) -> String {
        let done = Command::new("java")
            .args(["-cp", &self.class_path])
            .arg(source("Interop.java"))
            .arg(command)
            .arg(path)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{command} {}: {errors}", path.display());
        String::from_utf8(done.stdout).unwrap()
    }
}

/// Past the test runner, which would keep it to itself.
fn skipped(why: &str) -> Option<Hadoop> {
    let _written = io::Write::write_all(&mut io::stderr(), format!("== skipped: {why}\n").as_bytes());
    None
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hadoop").join(name)
}

#[test]
#[ignore = "downloads Hadoop from Maven Central"]
fn hadoop_writes_and_we_read() {
    let Some(hadoop) = Hadoop::find() else { return };
    let folder = TempDir::new().unwrap();
    hadoop.run("write", folder.path());
    read_all_of_hadoop(folder.path());
}

#[test]
#[ignore = "downloads Hadoop from Maven Central"]
fn hadoop_reads_our_sequence_files() {
    let Some(hadoop) = Hadoop::find() else { return };
    let folder = TempDir::new().unwrap();
    let options = WriteOptions { sync_interval: 300, block_bytes: 2_000 };
    for (name, compression) in COMPRESSIONS {
        let path = folder.path().join(name);
        let mut header = Header::v6(LONG, TEXT, compression);
        header.metadata = vec![("a".into(), "b".into())];
        let mut writer = SequenceWriter::with_options(File::create(&path).unwrap(), header, options).unwrap();
        let mut expected = format!("{} {{a=b}}\n", name.to_uppercase());
        for n in 0..500 {
            let (key, value) = record(n);
            writer.append(&key.to_be_bytes(), &text(&value)).unwrap();
            writeln!(expected, "{key}\t{value}").unwrap();
        }
        writer.finish().unwrap();
        assert_eq!(hadoop.run("read", &path), expected);
    }
}

/// Hadoop cannot write version 1 any more. Its reader still knows it, with the short names of classes.
#[test]
#[ignore = "downloads Hadoop from Maven Central"]
fn hadoop_reads_our_version_1() {
    let Some(hadoop) = Hadoop::find() else { return };
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("v1");
    let mut writer = SequenceWriter::new(File::create(&path).unwrap(), Header::v1("long", "UTF8")).unwrap();
    let mut expected = "NONE {}\n".to_owned();
    for n in 0..100i64 {
        writer.append(&n.to_be_bytes(), &utf8(&format!("é {n}"))).unwrap();
        writeln!(expected, "{n}\té {n}").unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(hadoop.run("read", &path), expected);
}

#[test]
#[ignore = "downloads Hadoop from Maven Central"]
fn hadoop_finds_every_key_of_our_maps() {
    let Some(hadoop) = Hadoop::find() else { return };
    let folder = TempDir::new().unwrap();
    let options = WriteOptions { sync_interval: 300, block_bytes: 2_000 };
    let version_1 = ("v1", Header::v1("UTF8", "UTF8"), utf8 as fn(&str) -> Vec<u8>);
    let version_6 = COMPRESSIONS
        .map(|(name, compression)| (name, Header::v6(TEXT, TEXT, compression), text as fn(&str) -> Vec<u8>));
    for (name, header, encode) in [version_1].into_iter().chain(version_6) {
        let path = folder.path().join(name);
        let mut map = MapWriter::with_options(&path, header, options).unwrap();
        for n in 0..400 {
            map.append(&encode(&map_key(n)), &encode(&format!("value {n}"))).unwrap();
        }
        map.finish().unwrap();
        let mut expected: String = (0..400).map(|n| format!("{}\tvalue {n}\n", map_key(n))).collect();
        (0..400).rev().for_each(|n| writeln!(expected, "get\tvalue {n}").unwrap());
        assert_eq!(hadoop.run("map", &path), expected, "{name}");
    }
    for (name, version, class) in [("array-1", Version::V1, "UTF8"), ("array-6", Version::V6, TEXT)] {
        let path = folder.path().join(name);
        let mut array = ArrayWriter::create(&path, class, version, Compression::None).unwrap();
        for n in 0..300 {
            let value = format!("value {n}");
            array.append(&if version == Version::V1 { utf8(&value) } else { text(&value) }).unwrap();
        }
        array.finish().unwrap();
        let mut expected: String = (0..300).map(|n| format!("{n}\tvalue {n}\n")).collect();
        (0..300).rev().for_each(|n| writeln!(expected, "get\tvalue {n}").unwrap());
        assert_eq!(hadoop.run("map", &path), expected, "{name}");
    }
}
