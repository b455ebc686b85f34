//! `aduana serve` as a process: what it refuses to start with, that it answers, and how it ends.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Far more than anything here takes, on any machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running `aduana serve`; killed if the test fails before it has ended.
struct Serving {
    child: Child,
    log: Receiver<String>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It has ended already in a test that passes.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Serving {
    fn start(dir: &Path, args: &[&str]) -> Serving {
        let mut child = Command::new(env!("CARGO_BIN_EXE_aduana"))
            .arg("serve")
            .args(args)
            .current_dir(dir)
            .env_clear()
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (lines, log) = channel();
        // Ends with the process; the receiver may be gone by then.
        std::thread::spawn(move || {
            stderr.lines().map_while(Result::ok).try_for_each(|line| lines.send(line))
        });
        Serving { child, log }
    }

    /// The rest of the first line that has `text`, after it.
    fn wait_for(&self, text: &str) -> String {
        let mut seen = String::new();
        loop {
            let Ok(line) = self.log.recv_timeout(PATIENCE) else { panic!("no {text:?} in:\n{seen}") };
            if let Some((_, rest)) = line.split_once(text) {
                return rest.to_owned();
            }
            seen += &(line + "\n");
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.wait_for("listening on http://").trim()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Exit status and what was logged since the last [`Serving::wait_for`].
    fn end(mut self) -> (ExitStatus, String) {
        let mut log = String::new();
        loop {
            match self.log.recv_timeout(PATIENCE) {
                Ok(line) => log += &(line + "\n"),
                // The channel closes with stderr, that is, when the process ends.
                Err(RecvTimeoutError::Disconnected) => return (self.child.wait().unwrap(), log),
                Err(RecvTimeoutError::Timeout) => panic!("still running:\n{log}"),
            }
        }
    }
}

/// The body of a GET.
fn get(stream: &mut TcpStream, path: &str) -> String {
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// Exit code and stderr of a server that must not start, without the times of its log.
fn refused(dir: &Path, args: &[&str]) -> String {
    let (status, log) = Serving::start(dir, args).end();
    let lines = log.lines().map(|line| match line.split_once("Z ") {
        Some((time, rest)) if time.starts_with("20") => rest.trim_start(),
        _ => line,
    });
    format!("exit code {}\n{}", status.code().unwrap(), lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn seeds_are_handed_out_and_sigterm_ends_the_server_in_good_order() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("seeds.txt"), "http://a.example/ 1\nhttp://b.example/ 2\n").unwrap();
    fs::write(dir.path().join("aduana.toml"), "seeds = \"seeds.txt\"\npage_db_path = \"db\"\n").unwrap();
    let server = Serving::start(dir.path(), &["aduana.toml", "--port", "0"]);
    let urls = get(&mut server.connect(), "/request?n=1");
    assert!(urls.contains("http://b.example/") && !urls.contains("http://a.example/"), "{urls}");
    server.signal("-TERM");
    let (status, log) = server.end();
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(log.contains("SIGTERM") && log.contains("stopped: 1 requests"), "{log}");
}

#[test]
fn a_second_signal_ends_the_server_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::start(dir.path(), &["--port", "0"]);
    let mut stream = server.connect();
    // In flight: a body that is read and never comes to its end.
    let head =
        "POST /crawled HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut interim = [0; b"HTTP/1.1 100 Continue\r\n\r\n".len()];
    stream.read_exact(&mut interim).unwrap();
    assert!(interim.starts_with(b"HTTP/1.1 100"));
    write!(stream, "{{").unwrap();
    server.signal("-INT");
    server.wait_for("Ctrl-C");
    server.signal("-INT");
    let (status, log) = server.end();
    assert_eq!(status.code(), Some(130), "{log}");
}

#[test]
fn a_database_that_shall_not_persist_is_gone_with_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::start(dir.path(), &["--port", "0", "--persist=false", "--page-db-path", "db"]);
    get(&mut server.connect(), "/health");
    assert!(dir.path().join("db").exists());
    server.signal("-TERM");
    assert!(server.end().0.success());
    assert!(!dir.path().join("db").exists());
}

#[test]
fn what_it_cannot_listen_with_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    insta::assert_snapshot!("port_in_use", refused(dir.path(), &["--port", &port]).replace(&port, "PORT"));

    // Never listens: the key is missed first.
    let tls = ["--address", "0.0.0.0", "--ssl-key", "key.pem", "--ssl-cert", "cert.pem"];
    insta::assert_snapshot!("no_key_file", refused(dir.path(), &tls));
    fs::write(dir.path().join("key.pem"), "no key").unwrap();
    fs::write(dir.path().join("cert.pem"), "no certificate").unwrap();
    insta::assert_snapshot!("key_file_without_key", refused(dir.path(), &tls));
}

#[test]
fn a_second_server_on_a_database_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let first = Serving::start(dir.path(), &["--port", "0"]);
    let mut stream = first.connect();
    let answer = refused(dir.path(), &["--port", "0"]);
    assert!(answer.starts_with("exit code 1\nerror: cannot open the database aduana.db: "), "{answer}");
    // The first does not notice.
    get(&mut stream, "/health");
}
