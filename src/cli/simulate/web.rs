//! The graph that is crawled, with the scores that its pages have in the end.

use crate::cli::replay::graph::Graph;
use crate::cli::replay::urls::Interner;
use crate::types::{DomainUnit, PageUrl};

const DAMPING: f64 = 0.85;
/// The scores are final when they change by no more, all together, of a sum of 1.
const PRECISION: f64 = 1e-12;
const MAX_LOOPS: usize = 1_000;

/// A place in a [`Web`].
pub type PageNumber = u32;

/// The pages of a graph file and those that they link to, by number, in the form that the frontier gives them.
pub struct Web {
    texts: Interner,
    pub urls: Vec<PageUrl>,
    /// By page; dense from 0.
    domain: Vec<u32>,
    domains: usize,
    /// Where the links of each page begin, and at last their end.
    starts: Vec<usize>,
    targets: Vec<PageNumber>,
    scores: Vec<f32>,
}

impl Web {
    /// `seeds` are pages, too, if the graph has them or not. Of several links to one page the first counts.
    pub fn new(mut graph: Graph, seeds: &[PageUrl]) -> (Web, Vec<PageNumber>) {
        let mut web = Web {
            texts: Interner::default(),
            urls: Vec::new(),
            domain: Vec::new(),
            domains: 0,
            starts: vec![0],
            targets: Vec::new(),
            scores: Vec::new(),
        };
        let mut names = Interner::default();
        let seeds = seeds.iter().map(|seed| web.add(&mut names, seed.as_str())).collect();
        let mut lists = Vec::new();
        let mut found = Vec::new();
        for number in 0..graph.len() as u32 {
            if graph.has_page(number) {
                let page = web.add(&mut names, graph.url(number));
                graph.push_targets(&mut found, number);
                let links =
                    found.drain(..).map(|(target, score)| (web.add(&mut names, graph.url(target)), score));
                lists.push((page, links.collect::<Vec<_>>()));
            }
        }
        web.domains = names.len();
        web.link(lists);
        (web, seeds)
    }

    fn add(&mut self, names: &mut Interner, url: &str) -> PageNumber {
        let (number, new) = self.texts.intern(url);
        if new {
            // It has its normal form already, and so cannot fail; a page that did would be one of no domain.
            if let Ok(url) = PageUrl::parse(url) {
                self.domain.push(names.intern(DomainUnit::Host.domain_of(url.site())).0);
                self.urls.push(url);
            }
        }
        number
    }

    fn link(&mut self, mut lists: Vec<(PageNumber, Vec<(PageNumber, f32)>)>) {
        lists.sort_unstable_by_key(|&(page, _)| page);
        let mut lists = lists.into_iter().peekable();
        let mut seen_on = vec![PageNumber::MAX; self.urls.len()];
        for page in 0..self.urls.len() as PageNumber {
            if let Some((_, links)) = lists.next_if(|&(of, _)| of == page) {
                for (target, score) in links {
                    if std::mem::replace(&mut seen_on[target as usize], page) != page {
                        self.targets.push(target);
                        self.scores.push(score);
                    }
                }
            }
            self.starts.push(self.targets.len());
        }
    }

    pub fn len(&self) -> usize {
        self.urls.len()
    }

    pub fn number_of(&self, url: &PageUrl) -> Option<PageNumber> {
        self.texts.find(url.as_str())
    }

    pub fn domain(&self, page: PageNumber) -> usize {
        self.domain[page as usize] as usize
    }

    pub fn domains(&self) -> usize {
        self.domains
    }

    /// The pages that it links to, each once, in the order of the links.
    pub fn links(&self, page: PageNumber) -> &[PageNumber] {
        &self.targets[self.starts[page as usize]..self.starts[page as usize + 1]]
    }

    /// The scores of these links in the file.
    pub fn link_scores(&self, page: PageNumber) -> &[f32] {
        &self.scores[self.starts[page as usize]..self.starts[page as usize + 1]]
    }

    /// How many pages can be reached from the seeds.
    pub fn reachable(&self, seeds: &[PageNumber]) -> usize {
        let mut reached = vec![false; self.len()];
        let mut waiting = seeds.to_vec();
        let mut count = 0;
        while let Some(page) = waiting.pop() {
            if !std::mem::replace(&mut reached[page as usize], true) {
                count += 1;
                waiting.extend(self.links(page).iter().filter(|&&target| !reached[target as usize]));
            }
        }
        count
    }

    /// The PageRank of every page when all is known, by the power method. Their sum is 1.
    ///
    /// As in `score::PageRank` the equation is y = 1 + d Aᵀ y, where dangling pages need no treatment, and the
    /// scores are y by its sum. Done anew here because that one wants a database.
    pub fn final_scores(&self) -> Vec<f64> {
        let mut scores = vec![1.0; self.len()];
        for _ in 0..MAX_LOOPS {
            let mut next = vec![1.0; self.len()];
            for page in 0..self.len() as PageNumber {
                let links = self.links(page);
                let given = DAMPING * scores[page as usize] / links.len() as f64;
                links.iter().for_each(|&target| next[target as usize] += given);
            }
            let change: f64 =
                next.iter().zip(&scores).map(|(new, old): (&f64, &f64)| (new - old).abs()).sum();
            scores = next;
            if change <= PRECISION * scores.iter().sum::<f64>() {
                break;
            }
        }
        let sum: f64 = scores.iter().sum();
        scores.iter().map(|score| score / sum).collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use super::*;

    /// The web of a graph file with this text, and its seeds.
    pub fn web(text: &str, seeds: &[&str]) -> (Web, Vec<PageNumber>) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let seeds: Vec<PageUrl> = seeds.iter().map(|seed| PageUrl::parse(seed).unwrap()).collect();
        Web::new(Graph::read(file.path()).unwrap(), &seeds)
    }

    #[test]
    fn pages_have_one_form_and_each_link_counts_once() {
        let text = "http://a.test/\thttp://b.test/y http://A.test/x /x http://b.test/y#1 mailto:x\n\
                    http://b.test/y\thttp://a.test\n";
        let (web, seeds) = web(text, &["http://A.test", "http://c.test/"]);
        assert_eq!((web.len(), web.domains(), seeds.as_slice()), (4, 3, &[0, 1][..]));
        let number = |url: &str| web.number_of(&PageUrl::parse(url).unwrap()).unwrap();
        let (x, y) = (number("http://a.test/x"), number("http://b.test/y"));
        assert_eq!(web.links(0), [y, x]);
        assert_eq!(web.links(y), [0]);
        assert_eq!(web.links(1), [0; 0]);
        assert_eq!((web.domain(0), web.domain(x)), (0, 0));
        assert_eq!((web.reachable(&[0]), web.reachable(&seeds)), (3, 4));
    }

    #[test]
    fn final_scores_are_pagerank() {
        // A page that links itself and a dangling one: y = 1 + 0.85 y / 2, z = 1 + 0.85 y / 2.
        let (web, _) = web("http://a.test/\thttp://a.test/ http://b.test/\n", &[]);
        let y = 1.0 / (1.0 - 0.85 / 2.0);
        let z = 1.0 + 0.85 * y / 2.0;
        let scores = web.final_scores();
        assert!((scores[0] - y / (y + z)).abs() < 1e-11 && (scores[1] - z / (y + z)).abs() < 1e-11);
    }
}
