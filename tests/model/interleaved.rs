//! The schedule while edits are under way. Between the moment a page is taken and the moment its hand-out is
//! applied, batches go by that know nothing of it: they may raise its score, crawl it, fill or empty its
//! domain's head in memory. What would be lost: a page that is handed out twice, or that stands in the table
//! but in no spider's way until the next restart. Here the log is a list, and the test says when which part
//! of it is applied.

use std::collections::VecDeque;

use aduana::frontier::HandOut;
use aduana::pagedb::{PageDb, PageDbOptions, Rules};
use aduana::schedule::{Pick, Schedule, temperature};
use aduana::types::{PageKey, Time, edit};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{TestError, TestRunner};

use crate::crawl::{START, links, page, scratch};
use crate::reference::{Checked, Limits, Reference};

/// Leases do not run out by themselves here.
const LEASE: u64 = 1 << 50;

#[derive(Debug, Clone)]
enum Step {
    /// URLs `from..from + n`, with scores that rise or fall with the number.
    Seeded {
        from: usize,
        n: usize,
        slope: i32,
    },
    Crawled {
        page: usize,
        link: usize,
    },
    /// Takes pages and logs their hand-out.
    Take(usize),
    /// Takes pages and gives them back.
    TakeAndGiveBack(usize),
    /// Logs the end of the leases of the last pages handed out, whether their hand-out is applied or not.
    Expired(usize),
    /// Applies the first edits of the log as one batch.
    Apply(usize),
    /// The same, but before the schedule follows each domain's changes some pages are taken.
    ApplyAndTake(usize, usize),
    Advance(u64),
    /// Applies everything and starts anew.
    Restart,
}

/// An edit that is logged but not applied.
enum Pending {
    Seeded(Vec<(String, f32)>),
    Crawled { url: String, time: u64, link: (String, f32) },
    HandedOut,
    Expired(Vec<String>),
}

struct Life {
    db: PageDb,
    schedule: Schedule,
    log: VecDeque<(Vec<u8>, Pending)>,
    position: u64,
    reference: Reference,
    rules: Rules,
    handed_out: Vec<(PageKey, String)>,
    _dir: tempfile::TempDir,
}

/// One domain has most of the pages: more than its head in memory holds.
fn name(n: usize) -> String {
    let host = if n % 7 < 5 { 0 } else { n % 7 - 4 };
    format!("http://h{host}.example/{n}")
}

fn limits() -> temperature::Limits {
    temperature::Limits::new(f64::INFINITY, f64::INFINITY, 60.0)
}

impl Life {
    fn start() -> Life {
        let dir = scratch();
        let options = PageDbOptions { map_size: 64 << 20, ..PageDbOptions::default() };
        let db = PageDb::open(dir.path(), options).unwrap();
        let schedule = Schedule::load(limits(), db.snapshot().unwrap(), Time(START)).unwrap();
        let mut reference = Reference::new(START, LEASE, Limits::OFF, None);
        reference.forgets_idle_domains = true;
        Life {
            db,
            schedule,
            log: VecDeque::new(),
            position: 0,
            reference,
            rules: Rules { heat_window: 60.0, max_depth: None },
            handed_out: Vec::new(),
            _dir: dir,
        }
    }

    fn now(&self) -> Time {
        Time(self.reference.now)
    }

    fn step(&mut self, step: &Step) -> Checked {
        match *step {
            Step::Seeded { from, n, slope } => {
                let seed = |at: usize| (name(at), (slope * at as i32) as f32 / 8.0);
                let seeds: Vec<_> = (from..from + n).map(seed).collect();
                let mut bytes = Vec::new();
                edit::encode_seeds(&links(&seeds), &mut bytes);
                self.log.push_back((bytes, Pending::Seeded(seeds)));
            }
            Step::Crawled { page: number, link } => {
                let (url, link, time) = (name(number), (name(link), 1.0), self.reference.now);
                let mut bytes = Vec::new();
                edit::encode_crawled(&page(&url, 0.0, time, None, std::slice::from_ref(&link)), &mut bytes);
                self.log.push_back((bytes, Pending::Crawled { url, time, link }));
            }
            Step::Take(n) => {
                let picks = self.take(n)?;
                let keys: Vec<PageKey> = picks.iter().map(|(_, key, _)| *key).collect();
                let mut bytes = Vec::new();
                edit::encode_hand_out(self.now(), Time(self.reference.now + LEASE), &keys, &mut bytes);
                self.log.push_back((bytes, Pending::HandedOut));
                self.handed_out.extend(picks.into_iter().map(|(_, key, url)| (key, url)));
            }
            Step::TakeAndGiveBack(n) => {
                let taken = self.take(n)?;
                let picks: Vec<Pick> = taken.iter().map(|(pick, ..)| *pick).collect();
                self.schedule.give_back(&picks, self.now()).map_err(|error| error.to_string())?;
                taken.iter().for_each(|(.., url)| self.reference.given_back(url));
            }
            Step::Expired(n) => {
                let ended = self.handed_out.split_off(self.handed_out.len().saturating_sub(n));
                let (keys, urls): (Vec<PageKey>, Vec<String>) = ended.into_iter().unzip();
                let mut bytes = Vec::new();
                edit::encode_expire(Time(u64::MAX), &keys, &mut bytes);
                self.log.push_back((bytes, Pending::Expired(urls)));
            }
            Step::Apply(n) => self.apply(n, 0)?,
            Step::ApplyAndTake(n, taken) => self.apply(n, taken)?,
            Step::Advance(milliseconds) => self.reference.now += milliseconds,
            Step::Restart => {
                self.apply(usize::MAX, 0)?;
                let snapshot = self.db.snapshot().map_err(|error| error.to_string())?;
                self.schedule =
                    Schedule::load(limits(), snapshot, self.now()).map_err(|error| error.to_string())?;
                self.reference.restarted(None);
            }
        }
        Ok(())
    }

    /// Takes pages from the schedule, and judges them.
    fn take(&mut self, n: usize) -> Result<Vec<(Pick, PageKey, String)>, String> {
        let mut picks = Vec::new();
        self.schedule.take(n, self.now(), &mut picks).map_err(|error| error.to_string())?;
        let snapshot = self.db.snapshot().map_err(|error| error.to_string())?;
        let mut taken = Vec::new();
        let mut answer = Vec::new();
        for pick in picks {
            let (key, url) = snapshot.url(pick.index).unwrap().ok_or("no such page")?;
            let state = snapshot.state(key).unwrap().ok_or("no state")?;
            taken.push((pick, key, url.to_string()));
            answer.push(HandOut {
                domain: snapshot.domain_name(pick.domain).unwrap(),
                url,
                score: pick.score,
                depth: state.depth,
                leased_until: Time(self.reference.now + LEASE),
                attempts: state.attempts,
            });
        }
        self.reference.handed_out(n, &answer)?;
        Ok(taken)
    }

    /// Applies `n` edits; the schedule follows them, domain by domain, with `between` pages taken before each.
    fn apply(&mut self, n: usize, between: usize) -> Checked {
        let batch: Vec<(Vec<u8>, Pending)> = self.log.drain(..n.min(self.log.len())).collect();
        if batch.is_empty() {
            return Ok(());
        }
        self.position += batch.len() as u64;
        let edits: Vec<&[u8]> = batch.iter().map(|(edit, _)| edit.as_slice()).collect();
        let applied = self.db.apply(&edits, self.position, self.rules).map_err(|error| error.to_string())?;
        for (_, pending) in batch {
            match pending {
                Pending::Seeded(seeds) => self.reference.seeded(&seeds),
                Pending::Crawled { url, time, link } => {
                    self.reference.crawled(&url, 0.0, time, None, &[link]);
                }
                Pending::HandedOut => {}
                Pending::Expired(urls) => urls.iter().for_each(|url| self.reference.expired(url)),
            }
        }
        let snapshot = self.db.snapshot().map_err(|error| error.to_string())?;
        let changes = self.schedule.begin(&applied, snapshot);
        for domain in changes.chunk_by(|a, b| a.key.domain == b.key.domain) {
            self.take_in_between(between)?;
            self.schedule.follow(domain, self.now()).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Takes pages while the schedule has not followed all of a batch: the order may be that of before, and
    /// a page that was crawled meanwhile may still come; but none comes twice.
    fn take_in_between(&mut self, n: usize) -> Checked {
        let mut picks = Vec::new();
        self.schedule.take(n, self.now(), &mut picks).map_err(|error| error.to_string())?;
        if picks.is_empty() {
            return Ok(());
        }
        let snapshot = self.db.snapshot().map_err(|error| error.to_string())?;
        let mut keys = Vec::new();
        for pick in picks {
            let (key, url) = snapshot.url(pick.index).unwrap().ok_or("no such page")?;
            self.reference.taken_early(url.as_str())?;
            self.handed_out.push((key, url.to_string()));
            keys.push(key);
        }
        let mut bytes = Vec::new();
        edit::encode_hand_out(self.now(), Time(self.reference.now + LEASE), &keys, &mut bytes);
        self.log.push_back((bytes, Pending::HandedOut));
        Ok(())
    }
}

fn step() -> impl Strategy<Value = Step> {
    let seeded = (0..3_000usize, prop_oneof![3 => 1..10usize, 1 => 1..1_000usize], -2..3i32);
    let n = || prop_oneof![3 => 1..8usize, 1 => 1..400usize];
    prop_oneof![
        4 => seeded.prop_map(|(from, n, slope)| Step::Seeded { from, n, slope }),
        4 => (0..1_500usize, 0..1_500usize).prop_map(|(page, link)| Step::Crawled { page, link }),
        8 => n().prop_map(Step::Take),
        2 => n().prop_map(Step::TakeAndGiveBack),
        3 => n().prop_map(Step::Expired),
        6 => (1..5usize).prop_map(Step::Apply),
        3 => (1..5usize, n()).prop_map(|(n, taken)| Step::ApplyAndTake(n, taken)),
        2 => (1..10u64).prop_map(Step::Advance),
        1 => Just(Step::Restart),
    ]
}

fn live(steps: &[Step]) -> Checked {
    let mut life = Life::start();
    for (number, step) in steps.iter().enumerate() {
        life.step(step).map_err(|error| format!("step {number}, {step:?}: {error}"))?;
    }
    // In the end everything that waits must come.
    life.apply(usize::MAX, 0)?;
    life.take(10_000).map_err(|error| format!("at the end: {error}"))?;
    Ok(())
}

fn run(cases: u32) {
    let config = ProptestConfig {
        cases,
        max_shrink_iters: 4_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let lives = vec(step(), 1..120);
    let result = TestRunner::new(config).run(&lives, |steps| live(&steps).map_err(TestCaseError::fail));
    match result {
        Ok(()) => {}
        Err(TestError::Abort(reason)) => panic!("{reason}"),
        Err(TestError::Fail(reason, steps)) => {
            let steps: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
            panic!("{reason}\nafter shrinking:\n{}", steps.join("\n"));
        }
    }
}

#[test]
fn whatever_is_applied_while_pages_are_taken_each_comes_once_and_in_order() {
    run(300);
}

#[test]
#[ignore = "long: some minutes"]
fn whatever_is_applied_while_pages_are_taken_each_comes_once_and_in_order_at_length() {
    run(8_000);
}
