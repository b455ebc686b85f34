//! The synthetic graph in memory.

use std::collections::HashMap;

use aduana::synth::{Order, Synth};

pub type Lists = Vec<(u64, Vec<u64>)>;

/// The synthetic graph; pages have the order in which they are first seen, as in a PageDB.
pub fn synthetic(pages: u64) -> (u64, Lists) {
    let mut synth = Synth::new(pages, 42, Order::Mix);
    let mut indices: HashMap<String, u64> = HashMap::new();
    let mut lists = Vec::new();
    while let Some(page) = synth.next_page() {
        let mut index = |url: &str| {
            let next = indices.len() as u64;
            match indices.get(url) {
                Some(&index) => index,
                None => *indices.entry(url.to_owned()).or_insert(next),
            }
        };
        let source = index(page.url);
        lists.push((source, page.links().map(|(url, _)| index(url)).collect()));
    }
    (indices.len() as u64, lists)
}
