//! What operators do with a database beside its server: check, dump, backup. What would be lost: a backup
//! that misses acknowledged pages, or that no server can open; a check that cries wolf while edits are
//! applied under it. The server runs in this process, the commands in others, as LMDB wants it.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use aduana::frontier::{Frontier, HandOut, Options, offline};
use aduana::graph_file::GraphReader;
use aduana::pagedb::Status;
use aduana::types::time::ManualClock;
use aduana::types::{Anchor, ContentHash, CrawledPage, Link, PageUrl, Score, Time, UrlHasher};

const START: Time = Time(1_700_000_000_000);
/// A database of the first format, as it was released.
const FORMAT_1: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/format-1");

fn aduana(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aduana"));
    command.args(args).current_dir(dir).env_clear().stdin(Stdio::null()).output().unwrap()
}

/// Exit code, stdout and stderr, for a snapshot.
fn told(dir: &Path, args: &[&str]) -> String {
    let output = aduana(dir, args);
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let code = output.status.code().unwrap();
    format!("$ aduana {}\nexit code {code}\n----- stdout\n{stdout}----- stderr\n{stderr}", args.join(" "))
}

/// Runs a command that must succeed.
fn stdout(dir: &Path, args: &[&str]) -> String {
    let output = aduana(dir, args);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{args:?}: {stdout}{}", String::from_utf8_lossy(&output.stderr));
    stdout
}

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

fn link(text: &str, score: f64) -> Link {
    Link { url: url(text), score: Score::new(score).unwrap(), anchor: None }
}

fn page(text: &str, links: &[(&str, f64)]) -> CrawledPage {
    let links = links.iter().map(|&(text, score)| link(text, score)).collect();
    CrawledPage { url: url(text), score: Score::ZERO, time: START, content_hash: None, links }
}

fn open(path: &Path, change: impl FnOnce(&mut Options)) -> (Frontier, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(START));
    let mut options = Options::new(path);
    options.map_size = 1 << 30;
    change(&mut options);
    (Frontier::open(options, clock.clone()).unwrap(), clock)
}

fn request(frontier: &Frontier, n: usize) -> Vec<HandOut> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        frontier.applied().await;
        frontier.request(n).await.unwrap()
    })
}

/// Feeds a frontier until told to stop; returns the URLs of the acknowledged pages, in order.
fn ingest(frontier: &Frontier, stop: &AtomicBool, acknowledged: &std::sync::Mutex<Vec<String>>) {
    for n in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let (me, far) =
            (format!("http://h{}.example/{n}", n % 97), format!("http://far{}.example/", n % 1_009));
        let links: Vec<String> =
            (0..20).map(|l| format!("http://h{}.example/{n}/{l}", (n + l) % 97)).collect();
        let mut links: Vec<(&str, f64)> = links.iter().map(|url| (url.as_str(), 0.1)).collect();
        links.push((&far, 0.5));
        match frontier.submit(&[page(&me, &links)]) {
            Ok(receipt) => assert!(receipt.wait().unwrap() > 0),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
        acknowledged.lock().unwrap().push(me);
    }
}

#[test]
fn a_backup_during_ingest_has_all_that_was_acknowledged_before() {
    let dir = tempfile::tempdir().unwrap();
    let (frontier, _) = open(&dir.path().join("live"), |_| {});
    let (stop, acknowledged) = (AtomicBool::new(false), std::sync::Mutex::default());
    let mut copies = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| ingest(&frontier, &stop, &acknowledged));
        for (name, compact) in [("a", false), ("b", true), ("c", false), ("d", true)] {
            std::thread::sleep(Duration::from_millis(300));
            let before = acknowledged.lock().unwrap().len();
            let mut args = vec!["backup", "live", name];
            args.extend(compact.then_some("--compact"));
            stdout(dir.path(), &args);
            copies.push((name, before));
            // A check of the live database meanwhile finds nothing either.
            stdout(dir.path(), &["check", "live"]);
        }
        stop.store(true, Ordering::Relaxed);
    });
    let acknowledged = acknowledged.into_inner().unwrap();
    for (name, before) in copies {
        assert!(before > 0);
        let path = dir.path().join(name);
        stdout(dir.path(), &["check", name]);
        let (copy, _) = open(&path, |_| {});
        let snapshot = copy.snapshot().unwrap();
        for url in &acknowledged[..before] {
            let (key, state) =
                snapshot.find(&self::url(url)).unwrap().unwrap_or_else(|| panic!("{name}: {url}"));
            assert_eq!(state.status, Status::Crawled, "{name}: {url}");
            assert_eq!(snapshot.record(key).unwrap().unwrap().crawls, 1);
        }
        drop(snapshot);
        // It serves, and takes more.
        assert_eq!(request(&copy, 5).len(), 5);
        copy.submit(&[page("http://after.example/", &[])]).unwrap().wait().unwrap();
        copy.close().unwrap();
        drop(copy);
        stdout(dir.path(), &["check", name]);
    }
    frontier.close().unwrap();
}

#[test]
fn a_dump_beside_a_server_knows_what_the_server_knows() {
    let dir = tempfile::tempdir().unwrap();
    let (frontier, _) = open(&dir.path().join("live"), |_| {});
    frontier
        .submit(&[page("http://a.example/", &[("http://a.example/1", 0.5), ("http://b.example/", 0.1)])])
        .unwrap()
        .wait()
        .unwrap();
    let leased = request(&frontier, 1).remove(0);
    // Nobody waits for the edit of a hand-out; one that comes after it can be waited for.
    frontier.submit(&[page("http://b.example/", &[])]).unwrap().wait().unwrap();
    request(&frontier, 0);
    let lines = stdout(dir.path(), &["dump", "info", "live", "--json"]);
    let pages: HashMap<String, serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|page| (page["url"].as_str().unwrap().to_owned(), page))
        .collect();
    assert_eq!(pages.len(), frontier.pages().count());
    for known in frontier.pages().map(Result::unwrap) {
        let dumped = &pages[known.url.as_str()];
        assert_eq!(dumped["status"], known.state.status.name());
        assert_eq!(dumped["index"], known.state.index.0);
    }
    assert_eq!(pages[leased.url.as_str()]["status"], "leased");
    assert_eq!(stdout(dir.path(), &["dump", "links", "live"]).lines().count(), frontier.links(false).count());
    assert!(frontier.check(&mut |_, _| ()).unwrap().is_ok());
    frontier.close().unwrap();
}

/// A copy of the frozen database, which tests may write.
fn format_1() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for environment in ["pages", "log"] {
        let to = dir.path().join("old.db").join(environment);
        std::fs::create_dir_all(&to).unwrap();
        std::fs::copy(Path::new(FORMAT_1).join(environment).join("data.mdb"), to.join("data.mdb")).unwrap();
    }
    dir
}

#[test]
fn a_database_of_format_1_opens_and_is_whole() {
    let dir = format_1();
    stdout(dir.path(), &["check", "old.db"]);
    // It has no such table.
    assert_eq!(stdout(dir.path(), &["dump", "anchors", "old.db"]), "");
    let (frontier, clock) = open(&dir.path().join("old.db"), |options| options.max_crawl_depth = Some(2));
    let of = |text: &str| {
        let snapshot = frontier.snapshot().unwrap();
        let (key, state) = snapshot.find(&url(text)).unwrap().unwrap();
        (state, snapshot.record(key).unwrap())
    };
    let (state, record) = of("http://a.example/");
    let record = record.unwrap();
    assert_eq!((state.status, record.crawls, record.changes), (Status::Crawled, 2, 1));
    assert_eq!(record.content_hash, Some(ContentHash::Text("second".into())));
    assert_eq!(of("http://b.example/").1.unwrap().content_hash, Some(ContentHash::Number(7)));
    assert_eq!(of("http://a.example:8080/b").1.unwrap().content_hash, None);
    assert_eq!(of("http://a.example/deep/1").0.status, Status::TooDeep);
    assert!(matches!(of("https://a.example/best").0.status, Status::Leased { .. }));
    assert_eq!(of("https://a.example/best").0.attempts, 1);
    clock.set(Time(START.0 + 100_000));
    let first = request(&frontier, 2);
    let first: Vec<&str> = first.iter().map(|hand_out| hand_out.url.as_str()).collect();
    assert_eq!(first, FORMAT_1_FIRST);
    frontier.submit(&[page("http://new.example/", &[("http://a.example/", 1.0)])]).unwrap().wait().unwrap();
    frontier.close().unwrap();
    drop(frontier);
    stdout(dir.path(), &["check", "old.db"]);
}

const FORMAT_1_FIRST: [&str; 2] = ["http://c.example/", "http://a.example/2"];

#[test]
fn what_the_commands_print() {
    let dir = format_1();
    let path = dir.path();
    insta::assert_snapshot!("check", told(path, &["check", "old.db"]));
    insta::assert_snapshot!("check_json", told(path, &["check", "old.db", "--json"]));
    insta::assert_snapshot!("dump_info", told(path, &["dump", "info", "old.db"]));
    insta::assert_snapshot!("dump_info_json", told(path, &["dump", "info", "old.db", "--json"]));
    insta::assert_snapshot!("dump_links", told(path, &["dump", "links", "old.db"]));
    insta::assert_snapshot!("dump_links_other", told(path, &["dump", "links", "old.db", "--other-domains"]));
    insta::assert_snapshot!("dump_links_urls", told(path, &["dump", "links", "old.db", "--urls"]));
    insta::assert_snapshot!("backup", told(path, &["backup", "old.db", "new.db", "--compact"]));
    insta::assert_snapshot!("backup_again", told(path, &["backup", "old.db", "new.db"]));
    std::fs::remove_dir_all(path.join("new.db/log")).unwrap();
    insta::assert_snapshot!("check_without_log", told(path, &["check", "new.db"]));
    for command in [
        &["check", "none.db"][..],
        &["dump", "info", "none.db"],
        &["score", "none.db", "--scorer", "hits"],
        &["backup", "none.db", "x"],
    ] {
        insta::assert_snapshot!(format!("no_database_to_{}", command[0]), told(path, command));
    }
    for command in ["check", "dump", "score", "backup"] {
        insta::assert_snapshot!(format!("help_of_{command}"), told(path, &[command, "--help"]));
    }
    assert!(!path.join("x").exists());
}

/// What a round tells, without the time that it took.
fn told_score(dir: &Path, args: &[&str]) -> String {
    let told = told(dir, &[&["score", "old.db", "--scorer"], args].concat());
    let (before, rest) = told.split_once(" in ").unwrap();
    let (_, after) = rest.split_once(" s;").unwrap();
    format!("{before} in TIME;{after}")
}

#[test]
fn what_score_prints() {
    let dir = format_1();
    let path = dir.path();
    insta::assert_snapshot!("score_pagerank", told_score(path, &["pagerank", "--top", "5"]));
    insta::assert_snapshot!(
        "score_pagerank_content",
        told_score(path, &["pagerank", "--use-scores", "--damping", "0.5", "--top", "3"])
    );
    insta::assert_snapshot!(
        "score_hits",
        told_score(path, &["hits", "--only-other-domains", "--json", "--top", "3"])
    );
    insta::assert_snapshot!("score_max_loops", told_score(path, &["hits", "--max-loops", "1", "--top", "1"]));
    let refused = |args: &[&str]| told(path, &[&["score", "old.db", "--scorer"], args].concat());
    insta::assert_snapshot!("score_damping", refused(&["hits", "--damping", "0.5"]));
    insta::assert_snapshot!("score_bad_damping", refused(&["pagerank", "--damping", "1"]));
}

#[test]
fn all_scores_of_a_database_sum_to_1_and_come_best_first() {
    let dir = format_1();
    let pages = offline::check(&dir.path().join("old.db"), UrlHasher::default(), &mut |_, _| ()).unwrap();
    for (scorer, sums) in [("pagerank", &["score"][..]), ("hits", &["score", "hub"])] {
        let lines = stdout(dir.path(), &["score", "old.db", "--scorer", scorer, "--json", "--top", "0"]);
        let lines: Vec<serde_json::Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len() as u64, pages.report.counters.pages);
        for field in sums {
            let sum: f64 = lines.iter().map(|line| line[field].as_f64().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{scorer} {field} {sum}");
        }
        assert!(lines.is_sorted_by(|a, b| a["score"].as_f64() >= b["score"].as_f64()));
        assert_eq!(lines[0].get("hub").is_some(), scorer == "hits");
    }
}

#[test]
fn scoring_beside_a_server_that_takes_pages_works() {
    let dir = tempfile::tempdir().unwrap();
    let (frontier, _) = open(&dir.path().join("live"), |_| {});
    let (stop, acknowledged) = (AtomicBool::new(false), std::sync::Mutex::default());
    std::thread::scope(|scope| {
        scope.spawn(|| ingest(&frontier, &stop, &acknowledged));
        // Until there is something to score.
        while acknowledged.lock().unwrap().len() < 100 {
            std::thread::yield_now();
        }
        for scorer in ["pagerank", "hits", "pagerank"] {
            let told = stdout(dir.path(), &["score", "live", "--scorer", scorer, "--json", "--top", "0"]);
            let scores = told.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
            let sum: f64 = scores.map(|line| line["score"].as_f64().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{scorer}: {sum}");
        }
        stop.store(true, Ordering::Relaxed);
    });
    frontier.close().unwrap();
}

#[test]
fn dumped_links_are_a_link_graph_file() {
    let dir = format_1();
    let text = stdout(dir.path(), &["dump", "links", "old.db", "--urls"]);
    let mut graph = GraphReader::new("dump".into(), std::io::Cursor::new(text.into_bytes())).unwrap();
    let mut links = 0;
    while let Some(record) = graph.next_record().unwrap() {
        PageUrl::parse(record.url).unwrap();
        links += record.links().len();
    }
    let checked = offline::check(&dir.path().join("old.db"), UrlHasher::default(), &mut |_, _| ()).unwrap();
    assert_eq!(links as u64, checked.report.counters.links);
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let dir = format_1();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_aduana"))
        .args(["dump", "info", "old.db"])
        .current_dir(dir.path())
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

/// Writes `tests/data/format-1` anew. A released format stays as it is: run it only before the release.
#[test]
#[ignore = "changes tests/data"]
fn write_the_database_of_format_1() {
    let dir = tempfile::tempdir().unwrap();
    let (frontier, clock) = open(&dir.path().join("db"), |options| {
        options.max_crawl_depth = Some(2);
        options.lease = Duration::from_secs(60);
    });
    let crawl = |page: CrawledPage| {
        frontier.submit(&[page]).unwrap().wait().unwrap();
    };
    let seeds = [
        link("http://a.example/", 0.0),
        link("http://b.example/", 0.25),
        link("http://xn--bcher-kva.example/", -1.0),
    ];
    frontier.submit_seeds(&seeds).unwrap().wait().unwrap();
    let mut links =
        vec![("https://a.example/best".to_owned(), 0.9), ("http://a.example:8080/b".to_owned(), 0.5)];
    links.extend((0..20).map(|n| (format!("http://a.example/{n}"), f64::from((n * 7) % 5) / 8.0)));
    links.extend((0..5).map(|n| (format!("http://c.example/?q={n}"), 0.0)));
    links.push(("http://c.example/".to_owned(), 0.75));
    let links: Vec<(&str, f64)> = links.iter().map(|(url, score)| (url.as_str(), *score)).collect();
    let hash = |text: &str| Some(ContentHash::Text(text.into()));
    let start = page("http://a.example/", &links);
    crawl(CrawledPage { content_hash: hash("first"), score: Score::new(0.5).unwrap(), ..start.clone() });
    crawl(CrawledPage { content_hash: hash("second"), time: Time(START.0 + 60_000), ..start });
    let b = page("http://b.example/", &[("http://a.example/", 0.0), ("http://b.example/%C3%A9", 0.125)]);
    crawl(CrawledPage { content_hash: Some(ContentHash::Number(7)), ..b });
    crawl(page(
        "http://a.example:8080/b",
        &[("http://a.example/second", 0.1), ("http://a.example:8080/b", 0.0)],
    ));
    crawl(page(
        "http://a.example/second",
        &[("http://a.example/deep/1", 1.0), ("http://d.example/deep", 1.0)],
    ));
    // Handed out, forgotten, handed out again.
    assert_eq!(request(&frontier, 1)[0].url.as_str(), "https://a.example/best");
    clock.advance(Duration::from_secs(61));
    assert_eq!(request(&frontier, 1)[0].url.as_str(), "https://a.example/best");
    request(&frontier, 0);
    frontier.close().unwrap();
    drop(frontier);
    std::fs::remove_dir_all(FORMAT_1).ok();
    let to = Path::new(FORMAT_1);
    offline::backup(&dir.path().join("db"), to, true, &mut |_, _| ()).unwrap();
    std::fs::remove_file(to.join("pages/lock.mdb")).ok();
}

#[test]
fn pages_and_links_are_edited_and_found_at_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let (frontier, _) = open(&dir.path().join("db"), |options| options.max_crawl_depth = Some(1));
    let mut pages = vec![
        page("http://a.example/", &[("http://b.example/x", 0.5), ("http://a.example/2", 0.1)]),
        page("http://b.example/", &[("http://b.example/x", 0.5)]),
        page("http://c.example/", &[]),
    ];
    pages[0].content_hash = Some(ContentHash::Number(7));
    pages[1].content_hash = Some(ContentHash::Number(7));
    pages[2].content_hash = Some(ContentHash::Number(8));
    pages[0].links[0].anchor = Anchor::new("x, of b");
    frontier.submit(&pages).unwrap().wait().unwrap();
    let refused = aduana(dir.path(), &["page", "delete", "db", "http://a.example/"]);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && told.contains("hint: ask the server"), "{told}");
    frontier.close().unwrap();
    drop(frontier);

    let run = |args: &[&str]| stdout(dir.path(), args);
    assert_eq!(run(&["duplicates", "db"]).lines().count(), 2);
    assert_eq!(
        run(&["link", "list", "db", "--to", "http://b.example/x"]),
        "http://a.example/\nhttp://b.example/\n"
    );
    assert_eq!(
        run(&["link", "list", "db", "--to", "http://b.example/x", "--anchors"]),
        "http://a.example/\tx, of b\nhttp://b.example/\n"
    );
    assert_eq!(
        run(&["link", "list", "db", "--from", "http://a.example/", "--anchors"]),
        "http://b.example/x\tx, of b\nhttp://a.example/2\n"
    );
    assert_eq!(run(&["dump", "anchors", "db"]), "http://a.example/\thttp://b.example/x\tx, of b\n");
    assert_eq!(run(&["link", "list", "db", "--from-content", "7"]).lines().count(), 2);
    run(&["page", "delete", "db", "http://a.example/", "http://nowhere.example/"]);
    run(&["page", "add", "db", "http://d.example/", "--score", "2", "--content-hash", "8"]);
    run(&[
        "page",
        "add",
        "db",
        "http://e.example/",
        "--if-present",
        "skip",
        "--linked-from",
        "http://d.example/",
    ]);
    run(&["link", "add", "db", "http://d.example/", "http://f.example/", "--anchor", " see\tf "]);
    assert_eq!(run(&["dump", "anchors", "db"]), "http://d.example/\thttp://f.example/\tsee f\n");
    let found = "http://a.example/2\nhttp://b.example/\nhttp://b.example/x\nhttp://c.example/\nhttp://d.example/\n\
                 http://e.example/\nhttp://f.example/\n";
    assert_eq!(run(&["find", "db"]), found);
    assert_eq!(run(&["find", "db", "http://b.example/", "--regex", "x$"]), "http://b.example/x\n");
    assert_eq!(run(&["find", "db", "--domain", "a.example"]), "http://a.example/2\n");
    assert_eq!(run(&["find", "db", "--after", "http://e.example/"]), "http://f.example/\n");
    let links = run(&["link", "list", "db", "--from", "http://d.example/"]);
    assert_eq!(links, "http://e.example/\nhttp://f.example/\n");
    let duplicates = run(&["duplicates", "db"]);
    let mut duplicates: Vec<&str> = duplicates.lines().collect();
    duplicates.sort_unstable();
    assert_eq!(duplicates, ["8\thttp://c.example/", "8\thttp://d.example/"]);
    let shown: serde_json::Value =
        serde_json::from_str(&run(&["page", "show", "db", "http://d.example/"])).unwrap();
    assert_eq!((&shown["status"], &shown["score"]), (&"crawled".into(), &2.0.into()));
    run(&["check", "db"]);
    // A server goes on with it.
    let (frontier, _) = open(&dir.path().join("db"), |options| options.max_crawl_depth = Some(1));
    frontier.submit(&[page("http://g.example/", &[])]).unwrap().wait().unwrap();
    frontier.close().unwrap();
    run(&["check", "db"]);
}
