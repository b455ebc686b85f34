//! A disk that is full: the server must refuse what it cannot store, stay alive, say what ails it, and go on
//! when there is room. A limit on the size of files stands for the disk.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::server::{Connection, PATIENCE, SETTINGS, Server};
use crate::web::{self, Journal};

/// Room for the empty tables and some pages.
const FULL_AT: u64 = 2 << 20;

/// As [`crate::server::command`], but no file can grow beyond [`FULL_AT`]. A write beyond it fails like one
/// on a full disk if its signal is ignored, which a program can only be born with.
fn command(dir: &std::path::Path) -> Command {
    let mut command = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -S -f \"$0\"; exec \"$@\"";
    // Units of 512 bytes, by POSIX; bash counts 1024.
    command.args(["-c", script, &(FULL_AT / 512).to_string(), env!("CARGO_BIN_EXE_aduana")]);
    command.args(SETTINGS).arg("--max-backlog-bytes=256KiB");
    command.current_dir(dir).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

fn make_room(server: &Server) {
    let done = Command::new("prlimit")
        .args(["--pid", &server.id().to_string(), "--fsize=unlimited:unlimited"])
        .status()
        .unwrap();
    assert!(done.success());
}

fn eventually(what: &str, mut happens: impl FnMut() -> bool) {
    let started = Instant::now();
    while !happens() {
        assert!(started.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Posts pages until one is refused by a server that says that it is not ready (it may also just be busy);
/// returns the number of the last one.
fn post_until_full(
    server: &Server,
    connection: &mut Connection,
    journal: &mut Journal,
    mut page: u64,
) -> u64 {
    let started = Instant::now();
    loop {
        assert!(started.elapsed() < PATIENCE, "the disk is never full");
        page += 1;
        if post(connection, journal, page) == 503 && server.get("/health").0 == 503 {
            return page;
        }
    }
}

fn post(connection: &mut Connection, journal: &mut Journal, page: u64) -> u16 {
    journal.sent(&[page]);
    let sent = Instant::now();
    let (status, answer) = connection.post("application/json", &web::json(page)).unwrap();
    match status {
        201 => journal.acknowledged(&[page], sent),
        503 => assert!(answer.contains("; try again "), "{answer}"),
        _ => panic!("{status}: {answer}"),
    }
    status
}

fn no_prlimit() -> bool {
    let missing = Command::new("prlimit").arg("--version").stdout(Stdio::null()).status().is_err();
    if missing {
        println!("skipped: there is no prlimit here");
    }
    missing
}

#[test]
fn a_full_disk_refuses_pages_and_when_there_is_room_the_crawl_goes_on() {
    if no_prlimit() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    web::write_seeds(dir.path());
    let mut journal = Journal::default();
    journal.next_life();
    let mut server = Server::spawn(dir.path(), command(dir.path()));
    let mut connection = server.connect().unwrap();

    // The tables fill first; what is acknowledged waits in the log, as far as it may. Now and then there is
    // room for a small page once more.
    let mut last = 0;
    for _ in 0..20 {
        last = post_until_full(&server, &mut connection, &mut journal, last);
    }
    eventually("the server does not tell what ails it", || {
        let (status, health) = server.get("/health");
        status == 503
            && ["\"live\":true", "\"ready\":false", "\"reason\":"].iter().all(|part| health.contains(part))
    });
    assert_eq!(server.get("/stats").0, 200);
    assert!(server.is_alive());

    make_room(&server);
    eventually("the server does not recover", || server.get("/health").0 == 200);
    for page in last + 1..last + 100 {
        eventually("pages are refused though there is room", || {
            post(&mut connection, &mut journal, page) == 201
        });
    }
    drop(connection);
    // Once more the hard way: what was acknowledged on the full disk must be in the tables or in the log.
    server.kill();
    let server = Server::start(dir.path());
    journal.verify(&server.tables().snapshot(), usize::MAX);
}

#[test]
fn a_server_that_dies_on_a_full_disk_has_everything_when_it_starts_with_room() {
    if no_prlimit() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    web::write_seeds(dir.path());
    let mut journal = Journal::default();
    journal.next_life();
    let server = Server::spawn(dir.path(), command(dir.path()));
    let mut connection = server.connect().unwrap();
    post_until_full(&server, &mut connection, &mut journal, 0);
    server.kill();
    let server = Server::start(dir.path());
    journal.verify(&server.tables().snapshot(), usize::MAX);
}
