use super::*;
use crate::pagedb::test_db::{TestDb, page};

/// Tells the child process of the test below which database to fill.
const PATH_VARIABLE: &str = "ADUANA_TEST_PAGEDB";

#[test]
fn a_reader_follows_a_file_that_grows_beyond_its_map() {
    let mut db = TestDb::new();
    db.crawl(&page("http://a.example/", None, &[]));
    let TestDb { db, dir, .. } = db;
    drop(db);
    let reader = PageDb::open_read_only(dir.path()).unwrap();
    // SAFETY: no transaction is open.
    unsafe { reader.env.resize(1 << 18).unwrap() };
    let mut stream = reader.pages();
    assert!(stream.next().unwrap().is_ok());
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "pagedb::env::tests::grow_in_a_process_of_its_own"])
        .env(PATH_VARIABLE, dir.path())
        .output()
        .unwrap();
    assert!(child.status.success(), "{child:?}");
    assert!(reader.env.real_disk_size().unwrap() > 1 << 20);
    assert_eq!(reader.pages().map(Result::unwrap).count(), 20_001);
    assert!(reader.check(&mut |_, _| ()).unwrap().is_ok());
    assert!(reader.env.info().map_size > 1 << 20);
}

#[test]
#[ignore = "the child process of another test"]
fn grow_in_a_process_of_its_own() {
    let path = std::env::var(PATH_VARIABLE).unwrap();
    let options = PageDbOptions { map_size: 1 << 26, ..PageDbOptions::default() };
    let db = PageDb::open(Path::new(&path), options).unwrap();
    let urls: Vec<String> = (0..20_000).map(|n| format!("http://b.example/{n}")).collect();
    let seeds: Vec<_> = urls.iter().map(|url| crate::pagedb::test_db::link(url, 0.0)).collect();
    let mut bytes = Vec::new();
    crate::types::edit::encode_seeds(&seeds, &mut bytes);
    db.apply(&[&bytes], 2, crate::pagedb::Rules { heat_window: 60.0, max_depth: None }).unwrap();
}
