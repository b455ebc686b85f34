//! Random lives of a crawl, each step of it done to the frontier and to the reference.

use std::time::Duration;

use aduana::types::edit::web::{Adding, History, LinkSource, NewLink, NewPage};
use aduana::types::{ContentHash, CrawledPage, SameSite, Score, Time, UrlHasher, WebEdit};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{TestError, TestRunner};

use crate::crawl::{Crawl, Setup, links, page, url};
use crate::reference::{Checked, Limits};

/// One crawled page: its number in the universe, links, and what a spider says of it.
#[derive(Debug, Clone)]
struct Crawled {
    page: usize,
    links: Vec<(usize, f32)>,
    score: f32,
    hash: Option<u64>,
    /// Crawls may be told late.
    ago: u64,
}

/// An edit by hand; pages are numbers in the universe.
#[derive(Debug, Clone)]
enum Edited {
    Delete(usize),
    Add(usize, f32, Option<Option<u64>>, Adding, Option<AddedLink>),
    Link(AddedLink),
}

/// From a page or a content, to a page.
#[derive(Debug, Clone)]
struct AddedLink {
    from: Result<usize, u64>,
    to: (usize, f32),
}

#[derive(Debug, Clone)]
enum Step {
    /// Pages of the universe, known or not, handed out or not.
    Crawled(Vec<Crawled>),
    /// The oldest hand-outs are answered, with these links.
    Answered(Vec<Vec<(usize, f32)>>),
    /// The oldest hand-outs are forgotten: their spider has died.
    Died(usize),
    Seeded(Vec<(usize, f32)>),
    /// Pages and links are added and deleted by hand.
    Edited(Vec<Edited>),
    Request(usize),
    Advance(u64),
    Reopen(Option<u32>),
    Compare,
}

/// URL number `n`: few hosts, several sites a host, and numbers that are close lie on different hosts.
fn name(n: usize) -> String {
    let (host, rest) = (n % 9, n / 9);
    let path = rest / 6;
    let path = if path % 2 == 0 { path.to_string() } else { format!("{path}/?q={path}") };
    match rest % 6 {
        0 => format!("http://h{host}.example/{path}"),
        1 => format!("https://h{host}.example/{path}"),
        2 => format!("http://h{host}.example:8080/{path}"),
        3 => format!("http://www.h{host}.example/{path}"),
        4 => format!("https://www.h{host}.example/{path}"),
        _ => format!("https://www.h{host}.example:8080/{path}"),
    }
}

/// Mostly old acquaintances, now and then anything.
fn number() -> impl Strategy<Value = usize> {
    prop_oneof![3 => 0..40usize, 2 => 0..400usize, 1 => 0..20_000usize]
}

fn score() -> impl Strategy<Value = f32> {
    select(vec![0.0, 0.0, 0.0, 0.25, 0.5, 0.5, 1.0, -1.0, 1e-20, 3.0e38])
}

fn link() -> impl Strategy<Value = (usize, f32)> {
    (number(), score())
}

fn crawled() -> impl Strategy<Value = Crawled> {
    let hash = prop::option::of(0..3u64);
    let parts = (number(), vec(link(), 0..12), score(), hash, select(vec![0, 0, 1, 5_000]), any::<bool>());
    parts.prop_map(|(page, mut links, score, hash, ago, loops)| {
        if loops {
            // A page that links to itself and says things twice.
            links.push((page, 1.0));
            links.extend(links.first().copied());
        }
        Crawled { page, links, score, hash, ago }
    })
}

fn edited() -> impl Strategy<Value = Edited> {
    let adding = select(vec![Adding::KeepScore, Adding::WithScore, Adding::IfAbsent]);
    let link = || {
        let from = prop_oneof![3 => number().prop_map(Ok), 1 => (0..3u64).prop_map(Err)];
        (from, link()).prop_map(|(from, to)| AddedLink { from, to })
    };
    let history = prop::option::of(prop::option::of(0..3u64));
    let added = (number(), score(), history, adding, prop::option::of(link()));
    prop_oneof![
        4 => number().prop_map(Edited::Delete),
        2 => added.prop_map(|(page, score, hash, adding, link)| Edited::Add(page, score, hash, adding, link)),
        2 => link().prop_map(Edited::Link),
    ]
}

impl AddedLink {
    fn told(&self) -> NewLink {
        let from = match self.from {
            Ok(page) => LinkSource::Page(url(&name(page))),
            Err(hash) => LinkSource::Content(ContentHash::Number(hash)),
        };
        NewLink {
            from,
            to: url(&name(self.to.0)),
            score: Score::new(self.to.1.into()).unwrap(),
            anchor: None,
        }
    }
}

impl Edited {
    fn told(&self, now: u64) -> WebEdit {
        match self {
            Edited::Delete(page) => WebEdit::DeletePage(url(&name(*page))),
            Edited::Link(link) => WebEdit::AddLink(link.told()),
            Edited::Add(page, score, history, adding, link) => {
                let history = history.map(|hash| History {
                    first_crawl: Time(now - 10),
                    last_crawl: Time(now),
                    crawls: 2,
                    changes: 1,
                    score: Score::ZERO,
                    content_hash: hash.map(ContentHash::Number),
                });
                let score = Score::new((*score).into()).unwrap();
                let page = NewPage { url: url(&name(*page)), score, history };
                WebEdit::AddPage { page, adding: *adding, link: link.as_ref().map(AddedLink::told) }
            }
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let n = prop_oneof![4 => 1..4usize, 2 => 1..30usize, 1 => select(vec![0, 1_000])];
    let time =
        prop_oneof![3 => 1..50u64, 2 => 100..1_500u64, 1 => select(vec![10_000, 59_999, 60_000, 400_000])];
    prop_oneof![
        8 => vec(crawled(), 1..4).prop_map(Step::Crawled),
        8 => vec(vec(link(), 0..10), 1..5).prop_map(Step::Answered),
        2 => (1..4usize).prop_map(Step::Died),
        2 => vec(link(), 0..6).prop_map(Step::Seeded),
        4 => vec(edited(), 1..6).prop_map(Step::Edited),
        12 => n.prop_map(Step::Request),
        6 => time.prop_map(Step::Advance),
        1 => select(vec![None, None, Some(1), Some(2), Some(5)]).prop_map(Step::Reopen),
        1 => Just(Step::Compare),
    ]
}

/// Lives through the steps.
fn live(setup: Setup, steps: Vec<Step>) -> Checked {
    let mut crawl = Crawl::start(setup);
    let mut handed_out = Vec::new();
    for (number, step) in steps.into_iter().enumerate() {
        let told = format!("{step:?}");
        take(&mut crawl, &mut handed_out, step).map_err(|error| format!("step {number}, {told}: {error}"))?;
    }
    crawl.compare()?;
    crawl.reopen(None);
    crawl.compare()
}

fn take(crawl: &mut Crawl, handed_out: &mut Vec<String>, step: Step) -> Checked {
    let named = |links: &[(usize, f32)]| -> Vec<(String, f32)> {
        links.iter().map(|&(number, score)| (name(number), score)).collect()
    };
    match step {
        Step::Crawled(pages) => {
            let now = crawl.now();
            let tell = |p: &Crawled| page(&name(p.page), p.score, now - p.ago, p.hash, &named(&p.links));
            crawl.crawled(&pages.iter().map(tell).collect::<Vec<CrawledPage>>());
        }
        Step::Answered(answers) => {
            let n = answers.len().min(handed_out.len());
            let now = crawl.now();
            let answered = handed_out.drain(..n).zip(&answers);
            let pages: Vec<_> =
                answered.map(|(url, answer)| page(&url, 0.0, now, None, &named(answer))).collect();
            crawl.crawled(&pages);
        }
        Step::Died(n) => drop(handed_out.drain(..n.min(handed_out.len()))),
        Step::Seeded(seeds) => crawl.seeded(&links(&named(&seeds))),
        Step::Edited(edits) => {
            let now = crawl.now();
            crawl.edited(&edits.iter().map(|edit| edit.told(now)).collect::<Vec<_>>());
        }
        Step::Request(n) => handed_out.extend(crawl.request(n)?.into_iter().map(|h| h.url.to_string())),
        Step::Advance(milliseconds) => crawl.advance(milliseconds),
        Step::Reopen(max_depth) => crawl.reopen(max_depth),
        Step::Compare => crawl.compare()?,
    }
    Ok(())
}

/// Runs `cases` random lives of about `STEPS` steps with each of the setups; a failing one is shrunk, and
/// printed with the step at which it fails.
fn run(cases: u32, setups: Vec<Setup>) {
    const STEPS: usize = 300;
    let config = ProptestConfig {
        cases,
        max_shrink_iters: 4_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new(config);
    let which = 0..setups.len();
    let lives = (which, vec(step(), 1..2 * STEPS));
    let result =
        runner.run(&lives, |(which, steps)| live(setups[which].clone(), steps).map_err(TestCaseError::fail));
    match result {
        Ok(()) => {}
        Err(TestError::Abort(reason)) => panic!("{reason}"),
        Err(TestError::Fail(reason, (which, steps))) => {
            let steps: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
            panic!("setup {which}: {reason}\nafter shrinking:\n{}", steps.join("\n"));
        }
    }
}

/// Every hash collides with a seventh of the others, next to the end of the numbers.
pub fn weak_hasher() -> UrlHasher {
    UrlHasher {
        site: |site| site.len() as u64 % 2,
        path: |path, site| (u32::MAX - 3).wrapping_add((path.len() as u32 + site as u32) % 7),
        domain: |name| (u32::MAX - 1).wrapping_add(name.len() as u32 % 3),
    }
}

fn best_first() -> Vec<Setup> {
    let plain = Setup::new(Limits::OFF);
    let weak = Setup { hasher: weak_hasher(), ..plain.clone() };
    let shallow = Setup { max_depth: Some(2), ..plain.clone() };
    let short = Setup { lease: Duration::from_millis(700), hasher: weak_hasher(), ..shallow.clone() };
    let same = |same_site| Setup { same_site, ..plain.clone() };
    let www = same(SameSite { www: true, scheme: false });
    let scheme = Setup { hasher: weak_hasher(), ..same(SameSite { www: false, scheme: true }) };
    let both = Setup { lease: short.lease, ..same(SameSite { www: true, scheme: true }) };
    vec![plain, weak, shallow, short, www, scheme, both]
}

fn polite() -> Vec<Setup> {
    let limits = [(0.25, 100.0), (1.0, 20.0), (0.5, 3.0), (0.1, 0.4), (0.0, 5.0), (2.0, f64::INFINITY)];
    let setup = |(soft, hard)| {
        let lease = Duration::from_secs(30);
        Setup { lease, ..Setup::new(Limits::new(soft, hard)) }
    };
    let mut setups: Vec<Setup> = limits.into_iter().map(setup).collect();
    for setup in setups.iter_mut().step_by(2) {
        setup.same_site = SameSite { www: true, scheme: true };
    }
    setups
}

#[test]
fn a_crawl_without_limits_is_the_models() {
    run(150, best_first());
}

#[test]
fn a_polite_crawl_is_the_models() {
    run(100, polite());
}

#[test]
#[ignore = "long: some minutes"]
fn long_crawls_without_limits_are_the_models() {
    run(1_500, best_first());
}

#[test]
#[ignore = "long: some minutes"]
fn long_polite_crawls_are_the_models() {
    run(1_500, polite());
}
