use super::*;
use crate::pagedb::test_db::{TestDb, page};
use crate::types::{DomainUnit, SameSite};

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

/// Every row of every table of the database in `path`.
fn rows(path: &Path) -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let snapshot = PageDb::open_read_only(path).unwrap().snapshot().unwrap();
    let mut out = Vec::new();
    for (name, table) in snapshot.tables.named() {
        for row in table.iter(&snapshot.txn).unwrap() {
            let (key, value) = row.unwrap();
            out.push((name, key.to_vec(), value.to_vec()));
        }
    }
    out
}

#[test]
fn settings_that_the_keys_depend_on_stay_as_they_are() {
    let (both, www) = (SameSite { www: true, scheme: true }, SameSite { www: true, scheme: false });
    let named = |domain_unit, same_site| Naming { domain_unit, same_site, ..Naming::default() };
    let (host, registrable) = (DomainUnit::Host, DomainUnit::Registrable);
    for (made, given, told) in [
        (named(host, SameSite::OFF), named(host, www), "same_site = []"),
        (named(host, www), named(host, SameSite::OFF), "same_site = [\"www\"]"),
        (named(host, both), named(host, www), "same_site = [\"www\", \"scheme\"]"),
        (named(registrable, both), named(host, both), "domain_unit = \"registrable\""),
    ] {
        let mut db = TestDb::named(made, None);
        db.crawl(&page("http://a.example/", None, &["https://www.a.example/1", "http://b.example/"]));
        let TestDb { db, dir, .. } = db;
        drop(db);
        let before = rows(dir.path());
        let open = |naming| {
            PageDb::open(dir.path(), PageDbOptions { map_size: 64 << 20, naming, ..PageDbOptions::default() })
        };
        let error = open(given).err().unwrap().to_string();
        assert!(
            error.contains(&format!("made with {told}, and its keys depend on it: set {told}, or")),
            "{error}"
        );
        assert_eq!(rows(dir.path()), before);
        // Who only reads takes what it finds.
        let kept = PageDb::open_read_only(dir.path()).unwrap().naming();
        assert_eq!((kept.domain_unit, kept.same_site), (made.domain_unit, made.same_site));
        assert!(open(made).unwrap().check(&mut |_, _| ()).unwrap().is_ok());
    }
}

#[test]
#[ignore = "the child process of another test"]
fn grow_in_a_process_of_its_own() {
    // Among all tests it has nothing to do.
    let Ok(path) = std::env::var(PATH_VARIABLE) else { return };
    let options = PageDbOptions { map_size: 1 << 26, ..PageDbOptions::default() };
    let db = PageDb::open(Path::new(&path), options).unwrap();
    let urls: Vec<String> = (0..20_000).map(|n| format!("http://b.example/{n}")).collect();
    let seeds: Vec<_> = urls.iter().map(|url| crate::pagedb::test_db::link(url, 0.0)).collect();
    let mut bytes = Vec::new();
    crate::types::edit::encode_seeds(&seeds, &mut bytes);
    db.apply(&[&bytes], 2, crate::pagedb::Rules { heat_window: 60.0, max_depth: None }).unwrap();
}

/// As one that was made before there were anchors.
#[test]
fn a_database_without_the_table_of_anchors_is_read_as_it_is_and_gets_it_from_a_writer() {
    let mut from = TestDb::new();
    from.crawl(&page("http://a.example/", None, &["http://b.example/"]));
    let dir = tempfile::tempdir().unwrap();
    let env = open_env(dir.path(), 1 << 26, EnvFlags::empty()).unwrap();
    let mut txn = env.write_txn().unwrap();
    let create = |name| Ok(env.create_database(&mut txn, Some(name))?);
    let tables = Tables::try_new(create, AnchorTable(None)).unwrap();
    let snapshot = from.db.snapshot().unwrap();
    for ((_, from), (_, to)) in from.db.tables.named().into_iter().zip(tables.named()) {
        for row in from.iter(&snapshot.txn).unwrap() {
            let (key, value) = row.unwrap();
            to.put(&mut txn, key, value).unwrap();
        }
    }
    txn.commit().unwrap();
    drop(env);

    let reader = PageDb::open_read_only(dir.path()).unwrap();
    assert!(reader.check(&mut |_, _| ()).unwrap().is_ok());
    assert_eq!(reader.table_sizes().unwrap().len(), 10);
    assert_eq!(reader.snapshot().unwrap().anchors(crate::types::PageIndex(0)).unwrap(), []);
    assert!(reader.anchors().next().is_none());
    let copy = tempfile::tempdir().unwrap();
    reader.copy_compact(&copy.path().join("copy"), &mut |_, _| ()).unwrap();
    assert!(PageDb::open_read_only(&copy.path().join("copy")).unwrap().tables.anchors.0.is_some());
    drop(reader);

    let options = PageDbOptions { map_size: 1 << 26, ..PageDbOptions::default() };
    let writer = PageDb::open(dir.path(), options).unwrap();
    let mut told = page("http://a.example/", None, &["http://b.example/"]);
    told.links[0].anchor = crate::types::Anchor::new("b");
    let mut bytes = Vec::new();
    crate::types::edit::encode_crawled(&told, &mut bytes);
    writer.apply(&[&bytes], 2, crate::pagedb::Rules { heat_window: 60.0, max_depth: None }).unwrap();
    assert_eq!(writer.anchors().count(), 1);
    assert!(writer.check(&mut |_, _| ()).unwrap().is_ok());
}
