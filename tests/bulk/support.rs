//! Databases made by a frontier in this process and by the program, and what can be seen of them.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use aduana::frontier::{Frontier, Options};
use aduana::graph_file::GraphReader;
use aduana::types::time::ManualClock;
use aduana::types::{CrawledPage, Link, LinkResolver, PageUrl, Score, Time};

/// When everything happens.
pub const SECONDS: u64 = 1_700_000_000;
pub const START: Time = Time(SECONDS * 1000);

pub const CUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/debdocs-cut.tsv.zst");

pub fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aduana"));
    command.args(args).current_dir(dir).env_clear().stdin(Stdio::null());
    command
}

pub fn aduana(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().unwrap()
}

/// Runs a command that must succeed; what it writes to stdout.
pub fn stdout(dir: &Path, args: &[&str]) -> String {
    let output = aduana(dir, args);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{args:?}: {stdout}{}", String::from_utf8_lossy(&output.stderr));
    stdout
}

/// Exit code, stdout and stderr, for a snapshot.
pub fn told(dir: &Path, args: &[&str]) -> String {
    let output = aduana(dir, args);
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let code = output.status.code().unwrap();
    format!("$ aduana {}\nexit code {code}\n----- stdout\n{stdout}----- stderr\n{stderr}", args.join(" "))
}

/// Imports with a fixed time; what it writes to stderr.
pub fn import(dir: &Path, args: &[&str]) -> String {
    let time = SECONDS.to_string();
    let output = aduana(dir, &[&["import"], args, &["--time", &time]].concat());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{args:?}: {stderr}");
    stderr
}

/// All that an export tells of a sound database, a page a line, in order of URL.
pub fn contents(dir: &Path, db: &str) -> Vec<String> {
    stdout(dir, &["check", db]);
    let mut lines: Vec<String> =
        stdout(dir, &["export", db, "--format", "ndjson", "--links"]).lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// The counters that `check` tells, but for the position in the log.
pub fn counters(dir: &Path, db: &str) -> serde_json::Value {
    let mut json: serde_json::Value = serde_json::from_str(&stdout(dir, &["check", db, "--json"])).unwrap();
    let names = ["pages", "crawled", "scheduled", "leased", "links", "domains"];
    names.iter().map(|&name| (name.to_owned(), json[name].take())).collect()
}

pub fn open(path: &Path, change: impl FnOnce(&mut Options)) -> Frontier {
    let mut options = Options::new(path);
    options.map_size = 1 << 30;
    change(&mut options);
    Frontier::open(options, Arc::new(ManualClock::at(START))).unwrap()
}

/// Takes URLs from a frontier.
pub fn request(frontier: &Frontier, n: usize) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        frontier.applied().await;
        frontier.request(n).await.unwrap().len()
    })
}

pub fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

pub fn link(text: &str, score: f64) -> Link {
    Link { url: url(text), score: Score::new(score).unwrap(), anchor: None }
}

pub fn page(text: &str, links: Vec<Link>) -> CrawledPage {
    CrawledPage { url: url(text), score: Score::ZERO, time: START, content_hash: None, links }
}

/// The pages of a link-graph file as a server would take them: bad pages and bad links left out.
pub fn pages_of(path: &Path) -> Vec<CrawledPage> {
    let mut graph = GraphReader::open(path).unwrap();
    let mut pages = Vec::new();
    while let Some(record) = graph.next_record().unwrap() {
        let Ok(url) = PageUrl::parse(record.url) else { continue };
        let mut resolver = LinkResolver::new(&url);
        let links = record.links().filter_map(|(link, score)| {
            resolver.resolve(link).ok().map(|url| Link { url, score, anchor: None })
        });
        let links = links.collect();
        pages.push(CrawledPage { url, score: record.score, time: START, content_hash: None, links });
    }
    pages
}

/// Pages as a link-graph file with scores.
pub fn graph_text(pages: &[CrawledPage]) -> String {
    let mut text = String::new();
    for page in pages {
        let links: Vec<String> =
            page.links.iter().map(|link| format!("{} {}", link.url, link.score)).collect();
        text += &format!("{}\t{}\t{}\n", page.url, page.score, links.join(" "));
    }
    text
}

/// Names in a directory, sorted.
pub fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}
