//! The acceptance test: a simulated fleet crawls a piece of the real web from a server over HTTPS. At risk is
//! what a crawl is for: every page that can be reached is handed out, and none twice. And the simulation of the
//! same crawl without a server: at risk is the order of the pages, which nobody sees to be bad.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

/// A running `aduana serve`; killed if the test fails before it is stopped.
struct Server {
    child: Child,
    url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already in a test that passes.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Serves the database of `dir` over HTTPS without limits; `settings` are further lines of the file.
    fn start(dir: &Path, settings: &str) -> Server {
        let settings = format!(
            "page_db_path = \"db\"\nport = 0\nsoft_crawl_limit = inf\nhard_crawl_limit = inf\n\
             ssl_key = \"certs/aduana-key.pem\"\nssl_cert = \"certs/aduana-cert.pem\"\n{settings}\n\
             [passwds]\nspider = \"secret\"\n"
        );
        fs::write(dir.join("aduana.toml"), settings).unwrap();
        let seeds = format!("{DATA}/debdocs-cut.seeds.txt");
        let mut child = aduana(dir)
            .args(["serve", "aduana.toml", "--seeds", &seeds])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let found = log.find_map(|line| Some(line.split_once("listening on https://")?.1.trim().to_owned()));
        // The pipe must not fill.
        std::thread::spawn(move || log.for_each(drop));
        let address = found.expect("the server listens");
        Server { child, url: format!("https://{address}") }
    }

    fn stop(mut self) {
        let sent = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert!(self.child.wait().unwrap().success());
    }

    /// Replays the cut with further arguments.
    fn replay(&self, dir: &Path, args: &[&str]) -> Output {
        aduana(dir)
            .args(["replay", &format!("{DATA}/debdocs-cut.tsv.zst"), "--url", &self.url])
            .args(["--user", "spider:secret", "--cacert", "certs/aduana-cert.pem", "--json"])
            .args(args)
            .output()
            .unwrap()
    }
}

fn aduana(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aduana"));
    command.current_dir(dir).env_clear();
    command
}

fn with_certificate() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    assert!(aduana(dir.path()).arg("cert").output().unwrap().status.success());
    dir
}

/// The report of a run that ended well.
fn report(output: Output) -> Value {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{stdout}\n{stderr}", output.status);
    serde_json::from_str(&stdout).unwrap()
}

#[test]
fn every_reachable_page_is_handed_out_once_whatever_restarts_in_between() {
    let dir = with_certificate();
    let seeds = format!("{DATA}/debdocs-cut.seeds.txt");
    let server = Server::start(dir.path(), "");
    let first = report(server.replay(dir.path(), &["--state", "state", "--pages", "3000"]));
    assert_eq!(first["handed_out"]["distinct"], 3000);
    assert_eq!(first["posted"]["pages"], 3000);
    server.stop();

    let server = Server::start(dir.path(), "");
    let args = ["--state", "state", "--seeds", &seeds, "--check", "--idle-seconds", "1"];
    let second = report(server.replay(dir.path(), &args));
    let reachable = &second["reachable"];
    assert_eq!(reachable["crawled_pages"], 2126, "{second:#}");
    assert_eq!(second["handed_out"]["distinct"], reachable["pages"], "{second:#}");
    assert_eq!(second["handed_out"]["twice"]["count"], 0, "{second:#}");
    server.stop();
}

#[test]
fn pages_of_dead_spiders_come_again() {
    let dir = with_certificate();
    let seeds = format!("{DATA}/debdocs-cut.seeds.txt");
    let server = Server::start(dir.path(), "lease_seconds = 1");
    let args =
        ["--seeds", &seeds, "--check", "--dead-spiders", "0.05", "--idle-seconds", "3", "--post", "array"];
    let report = report(server.replay(dir.path(), &args));
    let handed_out = &report["handed_out"];
    assert!(handed_out["dead_spiders"].as_u64() > Some(0), "{report:#}");
    assert_eq!(handed_out["dead_spiders"], handed_out["again_after_dead_spider"], "{report:#}");
    assert_eq!(handed_out["unanswered"], 0, "{report:#}");
    server.stop();
}

#[test]
fn a_graph_is_posted_in_every_shape_and_its_pages_can_be_got() {
    let dir = with_certificate();
    let server = Server::start(dir.path(), "");
    for shape in ["single", "array", "ndjson"] {
        let args = ["--mode", "post", "--post", shape, "--batch", "150", "--acknowledged", shape];
        let report = report(server.replay(dir.path(), &args));
        assert_eq!(report["posted"]["pages"], 2126, "{report:#}");
        assert_eq!(report["posted"]["links"], 65120, "{report:#}");
        let acknowledged = fs::read_to_string(dir.path().join(shape)).unwrap();
        assert_eq!(acknowledged.lines().count(), 2126);
    }
    // A server that ends applies what it has acknowledged: none of these pages is waiting any more.
    server.stop();
    let server = Server::start(dir.path(), "");
    // All URLs that are known and were not crawled, each once.
    let report = report(server.replay(dir.path(), &["--mode", "get", "--idle-seconds", "0.5", "--check"]));
    assert_eq!(report["handed_out"]["distinct"], 15711, "{report:#}");
    server.stop();
}

#[test]
fn a_missing_password_is_an_error_of_the_report_and_of_the_exit_code() {
    let dir = with_certificate();
    let server = Server::start(dir.path(), "");
    let output = aduana(dir.path())
        .args(["replay", "--mode", "get", "--url", &server.url, "--insecure", "--seconds", "0.2", "--json"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["trouble"]["errors"]["by_status"]["401"].as_u64() > Some(0), "{report:#}");
    server.stop();
}

/// Share of the mass that an order has collected after a fifth of the pages, and at the end; from the CSV file.
fn collected(csv: &str, order: &str) -> (f64, f64) {
    let rows: Vec<(f64, f64)> = csv
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|fields| fields[0] == order)
        .map(|fields| (fields[2].parse().unwrap(), fields[3].parse().unwrap()))
        .collect();
    assert!(rows.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{order}: a curve that falls");
    let fifth = rows.iter().find(|(pages, _)| *pages >= 0.2).unwrap().1;
    (fifth, rows.last().unwrap().1)
}

#[test]
fn simulated_crawls_compare_orders_and_are_the_same_every_time() {
    let dir = tempfile::tempdir().unwrap();
    let simulate = |output: &str| {
        let mut command = aduana(dir.path());
        command.args([
            "simulate",
            &format!("{DATA}/debdocs-cut.tsv.zst"),
            "--spiders",
            "64",
            "--output",
            output,
        ]);
        command.args(["--seeds", &format!("{DATA}/debdocs-cut.seeds.txt"), "--order", "best-first,random"]);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        (
            String::from_utf8(done.stdout).unwrap(),
            fs::read_to_string(dir.path().join(format!("{output}.csv"))).unwrap(),
        )
    };
    let (table, csv) = simulate("first");
    assert!(table.starts_with("17837 of 17837 pages can be reached"), "{table}");
    let (pagerank, all) = collected(&csv, "pagerank");
    let (random, all_by_random) = collected(&csv, "random");
    assert!((all - 1.0).abs() < 1e-5 && (all_by_random - 1.0).abs() < 1e-5, "all is crawled in the end");
    assert!(pagerank > 1.2 * random, "a fifth of the crawl: {pagerank} by PageRank, {random} at random");
    let (omniscient, _) = collected(&csv, "omniscient");
    assert!(omniscient > 0.0);
    for (ending, start) in [("svg", &b"<svg "[..]), ("png", b"\x89PNG")] {
        assert!(fs::read(dir.path().join(format!("first.{ending}"))).unwrap().starts_with(start));
    }
    assert_eq!(simulate("again").1, csv);
}
