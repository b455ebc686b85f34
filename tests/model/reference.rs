//! A frontier in a few maps: no tables, no batches, no keys, no memory limits. It says what must be true of
//! the real one after the same edits, and judges its hand-outs one by one.
//!
//! Where the real one is free to choose (how exactly the hard limit is counted, a few milliseconds of
//! rounding in the temperature), a hand-out is judged wrong only if no choice explains it.

mod web;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use aduana::frontier::HandOut;
use aduana::types::SameSite;

/// Steps between the soft and the hard limit.
const STEPS: usize = 5;

/// The real one looks at a cooling domain again up to this late.
const ROUNDING_MS: u64 = 3;

pub type Checked = Result<(), String>;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Status {
    Waiting,
    Leased {
        until: u64,
    },
    Crawled,
    TooDeep,
    /// It was deleted; a page that comes back under its URL is another one.
    Gone,
}

#[derive(Debug, Clone, PartialEq)]
pub struct History {
    pub first: u64,
    pub last: u64,
    pub crawls: u32,
    pub changes: u32,
    pub score: f32,
    pub hash: Option<u64>,
}

#[derive(Debug)]
pub struct Page {
    pub url: String,
    pub domain: String,
    pub status: Status,
    pub depth: u32,
    pub score: f32,
    pub attempts: u32,
    pub history: Option<History>,
    pub links: BTreeSet<usize>,
}

/// A finite score as an integer of the same order.
fn ordered(score: f32) -> i32 {
    let bits = score.to_bits() as i32;
    bits ^ (((bits >> 31) as u32) >> 1) as i32
}

#[derive(Debug, Default)]
pub struct Domain {
    /// Best first, then first seen.
    pub waiting: BTreeSet<(Reverse<i32>, usize)>,
    pub heat: f64,
    /// The last hand-out, in milliseconds, and its number unless a restart or a time without work has let
    /// the real frontier forget it.
    pub served: u64,
    number: Option<u64>,
    /// Times of all hand-outs.
    pub hand_outs: Vec<u64>,
    /// Whether the frontier was restarted since the last hand-out: it then knows only the time of it.
    restarted: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub soft: f64,
    pub hard: f64,
    pub window: f64,
}

impl Limits {
    pub const OFF: Limits = Limits { soft: f64::INFINITY, hard: f64::INFINITY, window: 60.0 };

    pub fn new(soft: f64, hard: f64) -> Limits {
        Limits { soft, hard, window: 60.0 }
    }

    /// T of n' = -n/T: long enough for a few hand-outs at the soft rate.
    pub fn heat_window(&self) -> f64 {
        if self.soft > 0.0 { self.window.max(4.0 / self.soft) } else { self.window }
    }

    /// How many steps `n` hand-outs in the window have passed: 0 up to the soft limit, then by equal
    /// factors up to the hard limit, beyond which none is allowed.
    fn steps_passed(&self, n: f64) -> usize {
        if self.soft.is_infinite() {
            return 0;
        }
        let low = self.soft.max(if self.hard.is_finite() { self.hard * 1e-4 } else { 1e-4 });
        let top = if self.hard.is_finite() { self.hard } else { low * 4f64.powi(STEPS as i32) };
        let rate = |step: usize| low * (top / low).powf(step as f64 / STEPS as f64);
        let mut bounds = vec![self.soft * self.heat_window()];
        bounds.extend((1..=STEPS).map(|step| rate(step) * self.heat_window()));
        bounds[STEPS] = if self.hard.is_infinite() { f64::INFINITY } else { bounds[STEPS].max(1.0) };
        bounds.into_iter().filter(|&bound| n > bound).count()
    }

    /// Milliseconds over which hand-outs are counted, and how many are allowed in them.
    pub fn counted(&self) -> (u64, usize) {
        if self.hard < 1.0 {
            ((1000.0 / self.hard).ceil() as u64, 1)
        } else {
            (1000, self.hard.min(1e9) as usize)
        }
    }
}

impl Domain {
    fn n_at(&self, now: u64, limits: &Limits) -> f64 {
        let seconds = now.saturating_sub(self.served) as f64 / 1000.0;
        self.heat * (-seconds / limits.heat_window()).exp()
    }

    /// Least and greatest step that the next hand-out may be taken to be in.
    fn steps(&self, now: u64, limits: &Limits) -> (usize, usize) {
        let (cold, warm) = (self.n_at(now, limits), self.n_at(now.saturating_sub(ROUNDING_MS), limits));
        (limits.steps_passed(cold + 1.0 - 1e-6), limits.steps_passed(warm + 1.0 + 1e-6))
    }

    fn counted_at(&self, now: u64, window: u64) -> usize {
        self.hand_outs.iter().rev().take_while(|&&time| time + window > now).count()
    }

    /// Whether one more hand-out is within the hard limit.
    fn may_be_served(&self, now: u64, limits: &Limits) -> bool {
        let (window, most) = limits.counted();
        limits.hard.is_infinite() || self.counted_at(now, window) < most && self.steps(now, limits).0 <= STEPS
    }

    /// Whether nothing whatever speaks against one more hand-out. Hand-outs may be counted in groups of a
    /// tenth of the limit, and after a restart the whole limit may be taken for used.
    fn must_be_served(&self, now: u64, limits: &Limits) -> bool {
        let (window, most) = limits.counted();
        let sure = match most {
            _ if self.restarted => 1,
            0..10 => most,
            _ => most / 10 * 9 + 1,
        };
        limits.hard.is_infinite() || self.counted_at(now, window) < sure && self.steps(now, limits).1 <= STEPS
    }
}

/// Site and path.
fn split(url: &str) -> (&str, &str) {
    let host = url.find("://").map_or(0, |at| at + 3);
    url.split_at(url[host..].find('/').map_or(url.len(), |slash| host + slash))
}

pub struct Reference {
    pub max_depth: Option<u32>,
    pub lease_ms: u64,
    pub limits: Limits,
    pub now: u64,
    /// By index, that is, in order of first sight.
    pub pages: Vec<Page>,
    /// By class.
    by_url: HashMap<String, usize>,
    /// The form in which each site was seen first, by class.
    main_forms: HashMap<String, String>,
    pub same_site: SameSite,
    pub domains: BTreeMap<String, Domain>,
    hand_outs: u64,
    /// Whether a domain without work may be forgotten before its last hand-out is in the tables: then
    /// nobody knows when it was served.
    pub forgets_idle_domains: bool,
}

impl Reference {
    pub fn new(now: u64, lease_ms: u64, limits: Limits, max_depth: Option<u32>) -> Reference {
        Reference {
            max_depth,
            lease_ms,
            limits,
            now,
            pages: Vec::new(),
            by_url: HashMap::new(),
            main_forms: HashMap::new(),
            same_site: SameSite::OFF,
            domains: BTreeMap::new(),
            hand_outs: 0,
            forgets_idle_domains: false,
        }
    }

    pub fn crawled(&mut self, url: &str, score: f32, time: u64, hash: Option<u64>, links: &[(String, f32)]) {
        let (at, is_new) = self.sight(url);
        if is_new {
            self.pages[at].depth = 0;
        }
        let targets: Vec<(usize, bool)> = links.iter().map(|(url, _)| self.sight(url)).collect();
        self.pages[at].attempts = 0;
        self.set_status(at, Status::Crawled);
        let depth = self.pages[at].depth + 1;
        for (&(target, _), &(_, score)) in targets.iter().zip(links) {
            self.linked(target, depth, score);
        }
        let page = &mut self.pages[at];
        page.links = targets.into_iter().map(|(target, _)| target).collect();
        let first = History { first: time, last: time, crawls: 0, changes: 0, score, hash: None };
        let history = page.history.get_or_insert(first);
        history.first = history.first.min(time);
        history.last = history.last.max(time);
        history.crawls += 1;
        history.score = score;
        if hash.is_some() {
            history.changes += u32::from(history.hash.is_some() && history.hash != hash);
            history.hash = hash;
        }
    }

    pub fn seeded(&mut self, seeds: &[(String, f32)]) {
        let targets: Vec<usize> = seeds.iter().map(|(url, _)| self.sight(url).0).collect();
        for (target, &(_, score)) in targets.into_iter().zip(seeds) {
            self.linked(target, 0, score);
        }
    }

    /// What every request begins with.
    pub fn end_leases(&mut self) {
        for at in 0..self.pages.len() {
            if matches!(self.pages[at].status, Status::Leased { until } if until <= self.now) {
                self.pages[at].attempts += 1;
                let waiting = self.waiting(self.pages[at].depth);
                self.set_status(at, waiting);
            }
        }
    }

    /// The lease of this page, if it still has one, is over.
    pub fn expired(&mut self, url: &str) {
        let at = self.by_url[&self.class(url)];
        if matches!(self.pages[at].status, Status::Leased { .. }) {
            self.pages[at].attempts += 1;
            let waiting = self.waiting(self.pages[at].depth);
            self.set_status(at, waiting);
        }
    }

    /// The page was taken from the schedule, but not handed out.
    pub fn given_back(&mut self, url: &str) {
        let at = self.by_url[&self.class(url)];
        if matches!(self.pages[at].status, Status::Leased { .. }) {
            self.set_status(at, Status::Waiting);
        }
    }

    pub fn a_lease_has_ended(&self) -> bool {
        self.pages.iter().any(|page| matches!(page.status, Status::Leased { until } if until <= self.now))
    }

    /// Judges the answer to a request for `n` pages, and follows it.
    pub fn handed_out(&mut self, n: usize, answer: &[HandOut]) -> Checked {
        if n == 0 {
            return if answer.is_empty() { Ok(()) } else { Err("pages for a request of none".into()) };
        }
        self.end_leases();
        if answer.len() > n {
            return Err(format!("{} pages for a request of {n}", answer.len()));
        }
        for (number, hand_out) in answer.iter().enumerate() {
            self.judge(hand_out).map_err(|e| format!("hand-out {number} of {}: {e}", answer.len()))?;
        }
        if answer.len() < n {
            let idle = |domain: &Domain| domain.must_be_served(self.now, &self.limits);
            if let Some((name, domain)) = self.domains.iter().find(|(_, d)| !d.waiting.is_empty() && idle(d))
            {
                let waiting = domain.waiting.len();
                return Err(format!("{} of {n} pages, but {name} has {waiting} more", answer.len()));
            }
        }
        Ok(())
    }

    fn judge(&mut self, hand_out: &HandOut) -> Checked {
        let url = hand_out.url.as_str();
        let at = self.known(url).ok_or_else(|| format!("{url} is not known"))?;
        if self.pages[at].url != url {
            return Err(format!("{url} is {} in its main form", self.pages[at].url));
        }
        let page = &self.pages[at];
        if page.status != Status::Waiting {
            return Err(format!("{url} is {:?}", page.status));
        }
        let told = (hand_out.score.get(), hand_out.depth, hand_out.attempts, hand_out.domain.as_str());
        let wanted = (page.score, page.depth, page.attempts, page.domain.as_str());
        if told != wanted || hand_out.leased_until.0 != self.now + self.lease_ms {
            let (until, now) = (hand_out.leased_until.0, self.now);
            return Err(format!("{url} is {wanted:?}, at {now} came {told:?} until {until}"));
        }
        let domain = &self.domains[&page.domain];
        let best = domain.waiting.first().map(|&(_, best)| best);
        if best != Some(at) {
            let best = best.map(|best| &self.pages[best]);
            return Err(format!("{url} ({}) came before {best:?}", page.score));
        }
        if !domain.may_be_served(self.now, &self.limits) {
            return Err(format!("{url}: its domain is at its hard limit"));
        }
        for (name, other) in self.domains.iter().filter(|(name, _)| **name != page.domain) {
            if self.comes_before(other, domain) {
                return Err(format!("{url} of {}: {name} should have been served", page.domain));
            }
        }
        self.charge(at);
        self.set_status(at, Status::Leased { until: self.now + self.lease_ms });
        Ok(())
    }

    fn charge(&mut self, at: usize) {
        if let Some(domain) = self.domains.get_mut(&self.pages[at].domain) {
            domain.heat = domain.n_at(self.now, &self.limits) + 1.0;
            domain.served = self.now;
            domain.number = Some(self.hand_outs);
            domain.restarted = false;
            domain.hand_outs.push(self.now);
            self.hand_outs += 1;
        }
    }

    /// A page was handed out while the frontier may not have heard of everything: it must not be leased, but
    /// may not be the best, or have been crawled meanwhile.
    pub fn taken_early(&mut self, url: &str) -> Checked {
        let at = self.known(url).ok_or_else(|| format!("{url} is not known"))?;
        self.charge(at);
        // The domain may have been without work for a moment.
        if let Some(domain) = self.domains.get_mut(&self.pages[at].domain) {
            domain.number = None;
        }
        match self.pages[at].status {
            Status::Waiting => self.set_status(at, Status::Leased { until: self.now + self.lease_ms }),
            Status::Crawled => {}
            other => return Err(format!("{url} is {other:?}")),
        }
        Ok(())
    }

    /// Whether beyond doubt `a` is to be served before `b`, which has work and may be served.
    fn comes_before(&self, a: &Domain, b: &Domain) -> bool {
        let (Some(a_head), Some(b_head)) = (a.waiting.first(), b.waiting.first()) else { return false };
        if !a.must_be_served(self.now, &self.limits) {
            return false;
        }
        let (a_steps, b_steps) = (a.steps(self.now, &self.limits), b.steps(self.now, &self.limits));
        if a_steps.1 < b_steps.0 {
            return true;
        }
        if a_steps.0 != a_steps.1 || a_steps != b_steps {
            return false;
        }
        if a_head.0 != b_head.0 {
            return a_head.0 < b_head.0;
        }
        if a.served != b.served {
            let is_forgotten = |domain: &Domain| self.forgets_idle_domains && domain.number.is_none();
            return a.served < b.served && !is_forgotten(a) && !is_forgotten(b);
        }
        match (a.number, b.number) {
            (Some(a), Some(b)) => a < b,
            _ if a.served == 0 => a_head.1 < b_head.1,
            _ => false,
        }
    }

    pub fn restarted(&mut self, max_depth: Option<u32>) {
        self.max_depth = max_depth;
        for at in 0..self.pages.len() {
            if matches!(self.pages[at].status, Status::Waiting | Status::TooDeep) {
                let waiting = self.waiting(self.pages[at].depth);
                self.set_status(at, waiting);
            }
        }
        for domain in self.domains.values_mut() {
            domain.number = None;
            domain.restarted = true;
        }
    }

    pub fn count(&self, wanted: impl Fn(&Status) -> bool) -> u64 {
        self.pages.iter().filter(|page| wanted(&page.status)).count() as u64
    }

    fn waiting(&self, depth: u32) -> Status {
        if self.max_depth.is_some_and(|max| depth > max) { Status::TooDeep } else { Status::Waiting }
    }

    /// The page with this URL, in whatever form.
    pub fn known(&self, url: &str) -> Option<usize> {
        self.by_url.get(&self.class(url)).copied()
    }

    /// The text that the forms of a URL share. The hosts of the tests may all lose their `www.`.
    pub fn class(&self, url: &str) -> String {
        let (site, path) = split(url);
        let (scheme, host) = site.split_once("://").unwrap_or_default();
        let scheme = if self.same_site.scheme && !host.contains(':') { "http" } else { scheme };
        let host = if self.same_site.www { host.trim_start_matches("www.") } else { host };
        format!("{scheme}://{host}{path}")
    }

    /// The page's index, and whether it was not known before.
    fn sight(&mut self, url: &str) -> (usize, bool) {
        let class = self.class(url);
        if let Some(&at) = self.by_url.get(&class) {
            return (at, false);
        }
        let (site, path) = split(url);
        let main = self.main_forms.entry(split(&class).0.to_owned()).or_insert_with(|| site.to_owned());
        let host = class.split("://").nth(1).and_then(|rest| rest.split(['/', ':']).next()).unwrap_or("");
        self.pages.push(Page {
            url: format!("{main}{path}"),
            domain: host.to_owned(),
            status: Status::TooDeep,
            depth: u32::MAX,
            score: f32::NEG_INFINITY,
            attempts: 0,
            history: None,
            links: BTreeSet::new(),
        });
        self.domains.entry(host.to_owned()).or_default();
        let at = self.pages.len() - 1;
        self.by_url.insert(class, at);
        (at, true)
    }

    fn linked(&mut self, at: usize, depth: u32, score: f32) {
        let page = &self.pages[at];
        let depth = depth.min(page.depth);
        let status = match page.status {
            Status::TooDeep => self.waiting(depth),
            other => other,
        };
        let is_crawled = page.status == Status::Crawled;
        let page = &mut self.pages[at];
        page.depth = depth;
        if !is_crawled && score > page.score {
            self.set_score(at, score);
        }
        self.set_status(at, status);
    }

    fn set_score(&mut self, at: usize, score: f32) {
        self.enter_or_leave(at, false);
        self.pages[at].score = score;
        self.enter_or_leave(at, true);
    }

    fn set_status(&mut self, at: usize, status: Status) {
        self.enter_or_leave(at, false);
        let page = &mut self.pages[at];
        page.status = status;
        if page.score == f32::NEG_INFINITY {
            // Nobody has linked it: crawled at once.
            page.score = 0.0;
        }
        self.enter_or_leave(at, true);
        let domain = &self.pages[at].domain;
        if let Some(domain) = self.domains.get_mut(domain)
            && domain.waiting.is_empty()
        {
            domain.number = None;
        }
    }

    fn enter_or_leave(&mut self, at: usize, enter: bool) {
        let page = &self.pages[at];
        if page.status != Status::Waiting {
            return;
        }
        let entry = (Reverse(ordered(page.score)), at);
        if let Some(domain) = self.domains.get_mut(&page.domain) {
            if enter {
                domain.waiting.insert(entry)
            } else {
                domain.waiting.remove(&entry)
            };
        }
    }
}
