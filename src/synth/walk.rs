//! The crawl through a universe of numbered pages: which page comes next and where its links go.

use super::random::Random;
use super::{Order, Totals};

const MEAN_DEGREE: f64 = 30.0;
const DEGREE_SIGMA: f64 = 0.9;
const MAX_DEGREE: i32 = 400;
/// Links to other domains that are remembered to be copied.
const REMEMBERED: u32 = 1 << 20;
/// How many of the pages that wait longest [`Order::Mix`] chooses from.
const WINDOW: u64 = 5000;

/// A page of the universe: domain and index in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub domain: u32,
    pub index: u32,
}

pub struct Walk {
    pub random: Random,
    /// The links of the page that [`Walk::step`] came to last.
    pub targets: Vec<Place>,
    order: Order,
    limit: u64,
    /// Pages of each domain.
    sizes: Vec<u32>,
    /// Index in the universe of each domain's first page.
    offsets: Vec<u32>,
    /// Running sums of the domains' Zipf weights.
    zipf: Vec<f64>,
    seen: Vec<bool>,
    /// All pages seen; the first `totals.pages` of them were visited.
    queue: Vec<Place>,
    /// Targets of links to other domains, a ring once it is full.
    remembered: Vec<Place>,
    totals: Totals,
}

impl Walk {
    pub fn new(limit: u64, seed: u64, order: Order) -> Walk {
        let domains = (limit / 40).max(50) as u32;
        let mut sum = 0.0;
        let mut zipf = Vec::with_capacity(domains as usize);
        for domain in 0..domains {
            sum += zipf_weight(domain);
            zipf.push(sum);
        }
        let universe = limit as f64;
        let size = |domain| ((zipf_weight(domain) / sum * 8.0 * universe) as u32).max(1);
        let sizes: Vec<u32> = (0..domains).map(size).collect();
        let mut total = 0;
        let mut offsets = Vec::with_capacity(sizes.len());
        for &size in &sizes {
            offsets.push(total);
            total += size;
        }
        let mut walk = Walk {
            random: Random::new(seed),
            targets: Vec::new(),
            order,
            limit,
            sizes,
            offsets,
            zipf,
            seen: vec![false; total as usize],
            queue: Vec::new(),
            remembered: Vec::new(),
            totals: Totals { domains: domains.into(), ..Totals::default() },
        };
        for start in 0..20 {
            walk.discover(Place { domain: start * (domains / 20), index: 0 });
        }
        walk
    }

    pub fn domains(&self) -> u32 {
        self.sizes.len() as u32
    }

    pub fn totals(&self) -> Totals {
        Totals { urls: self.queue.len() as u64, ..self.totals }
    }

    /// Visits the next page and draws its links.
    pub fn step(&mut self) -> Option<Place> {
        let head = self.totals.pages as usize;
        if self.totals.pages >= self.limit || head >= self.queue.len() {
            return None;
        }
        if self.order == Order::Mix {
            let waiting = ((self.queue.len() - head) as u64).min(WINDOW);
            let chosen = head + (self.random.next() % waiting) as usize;
            self.queue.swap(head, chosen);
        }
        let page = self.queue[head];
        self.totals.pages += 1;
        self.draw_links(page);
        for nth in 0..self.targets.len() {
            self.discover(self.targets[nth]);
        }
        self.totals.links += self.targets.len() as u64;
        Some(page)
    }

    fn discover(&mut self, place: Place) {
        let seen = &mut self.seen[(self.offsets[place.domain as usize] + place.index) as usize];
        if !*seen {
            *seen = true;
            self.queue.push(place);
        }
    }

    fn draw_links(&mut self, page: Place) {
        let mean = MEAN_DEGREE.ln() - DEGREE_SIGMA * DEGREE_SIGMA / 2.0;
        let degree = ((mean + DEGREE_SIGMA * self.random.gauss()).exp() + 0.5) as i32;
        let degree = degree.clamp(1, MAX_DEGREE);
        self.targets.clear();
        // A small domain may not have that many pages: so many tries, then the page has fewer links.
        for _ in 0..4 * degree {
            if self.targets.len() == degree as usize {
                break;
            }
            let Some(target) = self.draw_target(page) else { continue };
            if target == page || self.targets.contains(&target) {
                continue;
            }
            if target.domain != page.domain {
                self.remember(target);
            }
            self.targets.push(target);
        }
    }

    fn draw_target(&mut self, page: Place) -> Option<Place> {
        let size = self.sizes[page.domain as usize];
        if self.random.unit() < 0.75 && size > 1 {
            let index = if self.random.unit() < 0.35 {
                (self.random.unit() * f64::from(size.min(25))) as u32
            } else {
                (self.random.unit().powf(1.5) * f64::from(size)) as u32
            };
            return Some(Place { domain: page.domain, index });
        }
        let target = if self.remembered.len() > 100 && self.random.unit() < 0.7 {
            let mut copied = self.remembered[(self.random.next() % self.remembered.len() as u64) as usize];
            if self.random.unit() < 0.4 {
                copied.index = (self.random.unit().powf(3.0) * self.size(copied.domain)) as u32;
            }
            copied
        } else {
            let domain = self.zipf_domain();
            let front = self.random.unit() < 0.5;
            let index = if front { 0 } else { (squared(self.random.unit()) * self.size(domain)) as u32 };
            Place { domain, index }
        };
        (target.domain != page.domain).then_some(target)
    }

    fn remember(&mut self, target: Place) {
        self.totals.cross_links += 1;
        if self.remembered.len() < REMEMBERED as usize {
            self.remembered.push(target);
        } else {
            let slot = self.random.next() % u64::from(REMEMBERED);
            self.remembered[slot as usize] = target;
        }
    }

    fn size(&self, domain: u32) -> f64 {
        f64::from(self.sizes[domain as usize])
    }

    fn zipf_domain(&mut self) -> u32 {
        let sum = self.zipf[self.zipf.len() - 1];
        let x = self.random.unit() * sum;
        (self.zipf.partition_point(|&upto| upto < x) as u32).min(self.domains() - 1)
    }
}

fn zipf_weight(domain: u32) -> f64 {
    f64::from(domain + 1).powf(-0.9)
}

fn squared(x: f64) -> f64 {
    x * x
}
