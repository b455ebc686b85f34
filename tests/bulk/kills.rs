//! Imports that end before their end.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::support::{
    CUT, SECONDS, aduana, command, contents, import, link, names, open, page, stdout, told,
};

/// A database with a page, and an import into it that waits for more input.
fn begin(dir: &Path) -> Child {
    let frontier = open(&dir.join("db"), |_| {});
    frontier
        .submit(&[page("http://old.test/", vec![link("http://old.test/1", 0.5)])])
        .unwrap()
        .wait()
        .unwrap();
    frontier.close().unwrap();
    drop(frontier);
    let time = SECONDS.to_string();
    command(dir, &["import", "db", "-", "--time", &time])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits for a file of the import, or until the import has ended.
fn wait_for(import: &mut Child, path: &Path) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !path.exists() && import.try_wait().unwrap().is_none() {
        assert!(Instant::now() < patience, "{} does not come", path.display());
        std::thread::yield_now();
    }
}

#[test]
fn an_import_that_is_killed_changes_nothing_and_the_next_one_succeeds() {
    let reference = tempfile::tempdir().unwrap();
    let _ = begin(reference.path()).kill();
    let old = contents(reference.path(), "db");
    import(reference.path(), &["db", CUT]);
    let new = contents(reference.path(), "db");
    assert_ne!(old, new);

    // In each phase, as far as it can be caught: the whole input is there, but for the first.
    for file in ["work/edits", "work/ids", "data.mdb", "work/content"] {
        let dir = tempfile::tempdir().unwrap();
        let mut import = begin(dir.path());
        let mut input = import.stdin.take().unwrap();
        let bytes = std::fs::read(CUT).unwrap();
        if file == "work/edits" {
            input.write_all(&bytes[..bytes.len() / 2]).unwrap();
        } else {
            // It ends the import early if that has failed already.
            input.write_all(&bytes).ok();
            drop(input.flush());
        }
        let input = (file == "work/edits").then_some(input);
        wait_for(&mut import, &dir.path().join("db/pages.partial").join(file));
        import.kill().unwrap();
        let has_succeeded = import.wait().unwrap().success();
        drop(input);
        // One or the other, whole.
        let found = contents(dir.path(), "db");
        assert!(found == old || found == new, "{file}");
        assert!(!has_succeeded || found == new, "{file}");
        if file == "work/edits" {
            assert_eq!(names(&dir.path().join("db")), ["LOCK", "log", "pages", "pages.partial"]);
            assert_eq!(found, old);
        }
        if found == old {
            crate::support::import(dir.path(), &["db", CUT]);
        }
        assert_eq!(contents(dir.path(), "db"), new, "{file}");
        assert!(found == new || names(&dir.path().join("db")) == ["LOCK", "log", "pages"]);
    }
}

#[test]
fn a_server_removes_what_a_killed_import_has_left() {
    let dir = tempfile::tempdir().unwrap();
    let mut import = begin(dir.path());
    wait_for(&mut import, &dir.path().join("db/pages.partial/work"));
    import.kill().unwrap();
    import.wait().unwrap();
    assert!(names(&dir.path().join("db")).contains(&"pages.partial".to_owned()));
    let frontier = open(&dir.path().join("db"), |_| {});
    assert_eq!(frontier.stats().unwrap().pages, 2);
    frontier.close().unwrap();
    assert_eq!(names(&dir.path().join("db")), ["LOCK", "log", "pages"]);
}

#[test]
fn the_old_database_is_read_while_an_import_runs() {
    let dir = tempfile::tempdir().unwrap();
    let mut import = begin(dir.path());
    let mut input = import.stdin.take().unwrap();
    input.write_all(b"http://new.test/\thttp://old.test/1\n").unwrap();
    wait_for(&mut import, &dir.path().join("db/pages.partial/work"));
    assert_eq!(stdout(dir.path(), &["dump", "info", "db"]).lines().count(), 2);
    // But nobody else writes.
    let second = aduana(dir.path(), &["import", "db", CUT]);
    assert_eq!(second.status.code(), Some(1));
    drop(input);
    assert!(import.wait().unwrap().success());
    assert_eq!(stdout(dir.path(), &["dump", "info", "db"]).lines().count(), 3);
}

#[test]
fn a_server_and_an_import_do_not_go_together() {
    let dir = tempfile::tempdir().unwrap();
    let frontier = open(&dir.path().join("db"), |_| {});
    insta::assert_snapshot!("in_use", told(dir.path(), &["import", "db", "links.tsv"]));
    frontier.close().unwrap();
    drop(frontier);
    import(dir.path(), &["db", CUT]);
}
