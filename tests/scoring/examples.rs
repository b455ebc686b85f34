//! Random graphs, always the same ones.

use aduana::graph::{GraphOptions, LinkGraph};

pub const N: u64 = 400;

/// A graph and content scores for its pages.
#[derive(Debug, Clone)]
pub struct Example {
    pub pages: u64,
    pub lists: Vec<(u64, Vec<u64>)>,
    /// Some negative, some 0, one graph in eight has none that is positive.
    pub content: Vec<f32>,
    pub damping: f64,
}

/// Marsaglia's xorshift64*: enough to choose links.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % n
    }
}

impl Example {
    /// One of the [`N`] graphs. The first have 0, 1 and 2 pages; all kinds have dangling pages, crawled and not,
    /// self-links and isolated pages.
    pub fn new(number: u64) -> Example {
        let mut random = Random::new(number + 1);
        let pages = if number < 12 { number / 4 } else { 3 + random.below(70) };
        let crawled = if pages == 0 { 0 } else { random.below(pages + 1) };
        let most = [1, 3, 8, pages.max(1)][(number % 4) as usize];
        let mut lists = Vec::new();
        for page in 0..crawled {
            let source = if number.is_multiple_of(3) { page } else { page * 7 % pages };
            let targets = match number % 5 {
                // A cycle, in which some pages have further links.
                0 if page % 2 == 0 => vec![(source + 1) % pages],
                // Popular pages: the square prefers the first.
                1 => (0..random.below(most + 1))
                    .map(|_| random.below(pages) * random.below(pages) / pages)
                    .collect(),
                _ => (0..random.below(most + 1)).map(|_| random.below(pages)).collect(),
            };
            let mut targets: Vec<u64> = targets;
            targets.sort();
            targets.dedup();
            lists.push((source, targets));
        }
        lists.sort();
        lists.dedup_by_key(|(source, _)| *source);
        let positive = if number.is_multiple_of(8) { 0 } else { 1000 };
        let content = (0..pages).map(|_| (random.below(200 + positive) as f32 - 199.0).min(500.0) / 100.0);
        let content = content.map(|score| if positive == 0 { score.min(0.0) } else { score }).collect();
        let damping = [0.85, 0.5, 0.99, 0.0, 0.85][(random.below(5)) as usize];
        Example { pages, lists, content, damping }
    }

    pub fn all() -> impl Iterator<Item = Example> {
        (0..N).map(Example::new)
    }

    pub fn graph(&self) -> LinkGraph {
        LinkGraph::from_lists(self.pages, self.lists.clone()).unwrap()
    }

    /// The same graph in files.
    pub fn packed(&self) -> LinkGraph {
        let dir = tempfile::tempdir().unwrap();
        let options = GraphOptions { memory: 0, ..GraphOptions::new(dir.path()) };
        LinkGraph::from_lists_with(self.pages, self.lists.clone(), &options).unwrap()
    }

    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        self.lists
            .iter()
            .flat_map(|(source, targets)| targets.iter().map(|&target| (*source as usize, target as usize)))
    }

    /// The weights that content scores stand for: all 1 if none is positive.
    pub fn weights(&self) -> Vec<f64> {
        let weights: Vec<f64> = self.content.iter().map(|&score| f64::from(score.max(0.0))).collect();
        if weights.iter().all(|&weight| weight == 0.0) { vec![1.0; weights.len()] } else { weights }
    }
}
