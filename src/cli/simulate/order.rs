//! The orders that can be compared.
//!
//! They are all driven through the scores of links, as a spider would give them: without a scorer a waiting
//! page stands at the best score that any link to it had. So an order says what a link is worth at the
//! moment when its page is crawled, and never less than at an earlier link to the same page.

use std::collections::VecDeque;

use super::web::{PageNumber, Web};

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// What --scorer says; with --scorer none the link scores of the file
    BestFirst,
    /// First found, first crawled
    BreadthFirst,
    /// The links of the page crawled last first
    DepthFirst,
    /// A fixed random number for each page
    Random,
    /// The page that most crawled pages link to
    InLinks,
    /// On-line page importance: a crawled page shares its cash among its links, the richest page is next
    /// (Abiteboul, Preda, Cobena 2003)
    Opic,
    /// Pages of the domain of which most pages are known (Castillo and others 2004)
    LargestSitesFirst,
    /// The found page with the highest final score: it knows what a crawl cannot know
    Omniscient,
}

impl Order {
    /// As it is written on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Order::BestFirst => "best-first",
            Order::BreadthFirst => "breadth-first",
            Order::DepthFirst => "depth-first",
            Order::Random => "random",
            Order::InLinks => "in-links",
            Order::Opic => "opic",
            Order::LargestSitesFirst => "largest-sites-first",
            Order::Omniscient => "omniscient",
        }
    }

    /// What gives the links their scores. `final_scores` by page.
    pub fn scores<'a>(self, web: &'a Web, final_scores: &'a [f64]) -> Box<dyn LinkScores + 'a> {
        let zeros = || vec![0.0; web.len()];
        match self {
            Order::BestFirst => Box::new(Given { web }),
            Order::BreadthFirst => Box::new(BreadthFirst { web, crawled: 0 }),
            Order::DepthFirst => Box::new(DepthFirst { web, crawled: 0 }),
            Order::Random => Box::new(Fixed { web, score: |page| random(page) }),
            Order::InLinks => Box::new(InLinks { web, links: zeros() }),
            Order::Opic => Box::new(Opic { web, cash: zeros() }),
            Order::LargestSitesFirst => Box::new(LargestSites::new(web)),
            Order::Omniscient => Box::new(Fixed { web, score: move |page| final_scores[page as usize] }),
        }
    }
}

/// Gives links the scores that make the frontier keep an order.
pub trait LinkScores {
    fn seed(&mut self, page: PageNumber) -> f64;

    /// Adds the links of a page that has been crawled, with their scores.
    fn push_links(&mut self, page: PageNumber, links: &mut Vec<(PageNumber, f64)>);
}

/// From 0 to 1, the same on every machine.
pub fn random(page: PageNumber) -> f64 {
    // The finisher of SplitMix64 (Steele, Lea, Flood 2014).
    let mut x = u64::from(page).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ x >> 31) as f64 / u64::MAX as f64
}

struct Given<'a> {
    web: &'a Web,
}

impl LinkScores for Given<'_> {
    fn seed(&mut self, _: PageNumber) -> f64 {
        0.0
    }

    fn push_links(&mut self, page: PageNumber, links: &mut Vec<(PageNumber, f64)>) {
        let scores = self.web.link_scores(page).iter().map(|&score| f64::from(score));
        links.extend(self.web.links(page).iter().copied().zip(scores));
    }
}

struct Fixed<'a, F> {
    web: &'a Web,
    score: F,
}

impl<F: Fn(PageNumber) -> f64> LinkScores for Fixed<'_, F> {
    fn seed(&mut self, page: PageNumber) -> f64 {
        (self.score)(page)
    }

    fn push_links(&mut self, page: PageNumber, links: &mut Vec<(PageNumber, f64)>) {
        links.extend(self.web.links(page).iter().map(|&target| (target, (self.score)(target))));
    }
}

/// The number of the crawled page, negative: the first link to a page is the best.
struct BreadthFirst<'a> {
    web: &'a Web,
    crawled: u32,
}

impl LinkScores for BreadthFirst<'_> {
    fn seed(&mut self, _: PageNumber) -> f64 {
        0.0
    }

    fn push_links(&mut self, page: PageNumber, links: &mut Vec<(PageNumber, f64)>) {
        self.crawled += 1;
        links.extend(self.web.links(page).iter().map(|&target| (target, -f64::from(self.crawled))));
    }
}

/// The number of the crawled page: the last link to a page is the best.
struct DepthFirst<'a> {
    web: &'a Web,
    crawled: u32,
}

impl LinkScores for DepthFirst<'_> {
    fn seed(&mut self, _: PageNumber) -> f64 {
        0.0
    }

    fn push_links(&mut self, page: PageNumber, links: &mut Vec<(PageNumber, f64)>) {
        self.crawled += 1;
        links.extend(self.web.links(page).iter().map(|&target| (target, f64::from(self.crawled))));
    }
}

struct InLinks<'a> {
    web: &'a Web,
    links: Vec<f64>,
}

impl LinkScores for InLinks<'_> {
    /// The list of seeds counts as a page.
    fn seed(&mut self, page: PageNumber) -> f64 {
        self.links[page as usize] += 1.0;
        self.links[page as usize]
    }

    fn push_links(&mut self, page: PageNumber, links: &mut Vec<(PageNumber, f64)>) {
        for &target in self.web.links(page) {
            self.links[target as usize] += 1.0;
            links.push((target, self.links[target as usize]));
        }
    }
}

struct Opic<'a> {
    web: &'a Web,
    cash: Vec<f64>,
}

impl LinkScores for Opic<'_> {
    fn seed(&mut self, page: PageNumber) -> f64 {
        self.cash[page as usize] = 1.0;
        1.0
    }

    fn push_links(&mut self, page: PageNumber, links: &mut Vec<(PageNumber, f64)>) {
        let targets = self.web.links(page);
        let given = std::mem::take(&mut self.cash[page as usize]) / targets.len() as f64;
        for &target in targets {
            self.cash[target as usize] += given;
            links.push((target, self.cash[target as usize]));
        }
    }
}

/// The number of known pages of the domain. It grows for all its waiting pages with each one found; so that
/// they need not all be told, one of them, the first found, is linked again by whatever page was crawled.
struct LargestSites<'a> {
    web: &'a Web,
    known: Vec<bool>,
    crawled: Vec<bool>,
    sizes: Vec<u32>,
    /// Pages found, by domain; crawled ones are dropped when they come first.
    waiting: Vec<VecDeque<PageNumber>>,
}

impl<'a> LargestSites<'a> {
    fn new(web: &'a Web) -> Self {
        LargestSites {
            web,
            known: vec![false; web.len()],
            crawled: vec![false; web.len()],
            sizes: vec![0; web.domains()],
            waiting: vec![VecDeque::new(); web.domains()],
        }
    }

    fn find(&mut self, page: PageNumber) {
        if !std::mem::replace(&mut self.known[page as usize], true) {
            let domain = self.web.domain(page);
            self.sizes[domain] += 1;
            self.waiting[domain].push_back(page);
        }
    }

    fn size(&self, page: PageNumber) -> f64 {
        f64::from(self.sizes[self.web.domain(page)])
    }
}

impl LinkScores for LargestSites<'_> {
    fn seed(&mut self, page: PageNumber) -> f64 {
        self.find(page);
        self.size(page)
    }

    fn push_links(&mut self, page: PageNumber, links: &mut Vec<(PageNumber, f64)>) {
        self.crawled[page as usize] = true;
        let targets = self.web.links(page);
        targets.iter().for_each(|&target| self.find(target));
        links.extend(targets.iter().map(|&target| (target, self.size(target))));
        let mut domains: Vec<usize> =
            targets.iter().chain([&page]).map(|&page| self.web.domain(page)).collect();
        domains.sort_unstable();
        domains.dedup();
        for domain in domains {
            let waiting = &mut self.waiting[domain];
            while waiting.pop_front_if(|&mut page| self.crawled[page as usize]).is_some() {}
            if let Some(&first) = waiting.front() {
                links.push((first, f64::from(self.sizes[domain])));
            }
        }
    }
}
