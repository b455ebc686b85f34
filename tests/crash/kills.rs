//! SIGKILL at random moments.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use aduana::frontier::offline;
use aduana::types::UrlHasher;

use crate::server::{Connection, Server, command};
use crate::web::{self, Journal, mix};

const SPIDERS: u64 = 4;

/// A spider's life: it takes pages, crawls them and tells of them, until the server is gone.
fn spider(server: &Server, journal: &Mutex<Journal>, seed: u64) {
    let Ok(mut connection) = server.connect() else { return };
    for round in 0.. {
        if crawl(&mut connection, journal, mix(seed + round)).is_err() {
            return;
        }
    }
}

fn crawl(connection: &mut Connection, journal: &Mutex<Journal>, random: u64) -> std::io::Result<()> {
    let pages = request(connection, journal, 1 + random % 12)?;
    // Some die with their leases; the others send their pages one by one, or as an array, or as lines.
    let posts: Vec<(&str, &[u64])> = match random >> 8 & 7 {
        0 => Vec::new(),
        1 | 2 => pages.chunks(4).map(|pages| ("application/x-ndjson", pages)).collect(),
        3 | 4 => vec![("application/json", &pages[..])],
        _ => pages.chunks(1).map(|page| ("application/json", page)).collect(),
    };
    for (media, pages) in posts {
        let all: Vec<String> = pages.iter().map(|&page| web::json(page)).collect();
        let body = match (media, &all[..]) {
            ("application/x-ndjson", _) => all.join("\n"),
            (_, [one]) => one.clone(),
            _ => format!("[{}]", all.join(", ")),
        };
        journal.lock().unwrap().sent(pages);
        let sent = Instant::now();
        let (status, answer) = connection.post(media, &body)?;
        // A stream says how many of its pages were taken; here all are good.
        assert_eq!(status, 201, "{answer}");
        journal.lock().unwrap().acknowledged(pages, sent);
    }
    Ok(())
}

fn request(connection: &mut Connection, journal: &Mutex<Journal>, n: u64) -> std::io::Result<Vec<u64>> {
    let (status, answer) = connection.get(&format!("/request?n={n}"))?;
    assert_eq!(status, 200, "{answer}");
    let received = Instant::now();
    let urls: Vec<String> = serde_json::from_str(&answer).unwrap();
    let pages: Vec<u64> = urls.iter().map(|url| web::number(url)).collect();
    let mut journal = journal.lock().unwrap();
    pages.iter().for_each(|&page| journal.handed_out(page, received));
    Ok(pages)
}

/// Lets spiders crawl until a random moment, then kills the server.
fn live_and_die(server: Server, journal: &Mutex<Journal>, random: u64) {
    journal.lock().unwrap().next_life();
    std::thread::scope(|scope| {
        let spiders: Vec<_> = (0..SPIDERS)
            .map(|spider| (mix(random + spider), &server))
            .map(|(seed, server)| scope.spawn(move || self::spider(server, journal, seed)))
            .collect();
        std::thread::sleep(Duration::from_millis(1 + random % 900));
        signal_kill(&server);
        for spider in spiders {
            spider.join().unwrap();
        }
    });
    server.kill();
}

fn signal_kill(server: &Server) {
    let sent = std::process::Command::new("kill").args(["-KILL", &server.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Starts the server and kills it again while it recovers, or a moment later.
fn die_while_starting(dir: &Path, flags: &[&str], random: u64) {
    let mut child = command(dir).args(flags).spawn().unwrap();
    std::thread::sleep(Duration::from_micros(random % 60_000));
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Scoring nearly all the time.
const SCORING: [&str; 5] = [
    "--scorer=pagerank",
    "--score-new-pages=1",
    "--score-growth=0.001",
    "--score-cpu-share=1",
    "--score-threads=1",
];

fn start(dir: &Path, flags: &[&str]) -> Server {
    let mut command = command(dir);
    command.args(flags);
    Server::spawn(dir, command)
}

/// Whether a round has reached all of the tables.
fn is_scored(server: &Server) -> bool {
    let scoring = server.tables().snapshot().scoring().unwrap();
    scoring.is_scored() && scoring.last.number > 0
}

/// A last round: then all pages stand at its scores.
fn compare_with_the_vector(server: &Server, dir: &Path) {
    let mut connection = server.connect().unwrap();
    let (status, answer) = connection.post_to("/admin/rescore?wait=true", "application/json", "").unwrap();
    assert_eq!(status, 200, "{answer}");
    let checked = offline::check(&dir.join("db"), UrlHasher::default(), &mut |_, _| ()).unwrap();
    assert!(checked.report.is_ok(), "{:?}", checked.report.violations);
    assert!(checked.scores_compared, "the vector is not there");
}

/// Kills the server `kills` times. After each restart all that was acknowledged must be there; at the end
/// all that was ever seen must be crawled, leased, or still come.
fn kill_again_and_again(kills: u64, flags: &[&str]) {
    let seed = std::env::var("CRASH_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!("again: CRASH_SEED={seed}");
    let dir = tempfile::tempdir().unwrap();
    web::write_seeds(dir.path());
    let journal = Mutex::new(Journal::default());
    let mut rounds = 0;
    for kill in 0..kills {
        let random = mix(seed * 1_000 + kill);
        live_and_die(start(dir.path(), flags), &journal, random);
        for again in 0..random >> 32 & 3 {
            die_while_starting(dir.path(), flags, mix(random + again));
        }
        let server = start(dir.path(), flags);
        let journal = journal.lock().unwrap();
        journal.verify(&server.tables().snapshot(), 2);
        rounds += u64::from(is_scored(&server));
    }
    let mut journal = journal.into_inner().unwrap();
    let server = start(dir.path(), flags);
    journal.verify(&server.tables().snapshot(), usize::MAX);

    journal.next_life();
    let waiting = server.tables().snapshot().counters().unwrap().scheduled;
    let journal = Mutex::new(journal);
    let mut connection = server.connect().unwrap();
    let mut came = 0;
    loop {
        let pages = request(&mut connection, &journal, 50_000).unwrap();
        if pages.is_empty() {
            break;
        }
        came += pages.len() as u64;
    }
    assert_eq!(came, waiting, "pages that the tables have waiting");
    let journal = journal.into_inner().unwrap();
    let crawled = journal.acknowledged.len();
    println!("{kills} kills, {crawled} pages acknowledged, {} hand-outs repeated", journal.repeated);
    assert!(crawled > 0);
    drop(connection);
    if !flags.is_empty() {
        assert!(rounds > 0, "no round reached the tables in any life");
        compare_with_the_vector(&server, dir.path());
    }
}

#[test]
fn a_server_that_is_killed_loses_nothing_that_it_acknowledged() {
    kill_again_and_again(20, &[]);
}

#[test]
fn a_server_that_is_killed_while_it_scores_loses_nothing_and_every_page_has_its_score() {
    kill_again_and_again(10, &SCORING);
}

#[test]
#[ignore = "long: some minutes"]
fn a_server_that_is_killed_hundreds_of_times_loses_nothing_that_it_acknowledged() {
    kill_again_and_again(200, &[]);
}

#[test]
#[ignore = "long: some minutes"]
fn a_server_that_is_killed_hundreds_of_times_while_it_scores_loses_nothing() {
    kill_again_and_again(200, &SCORING);
}
