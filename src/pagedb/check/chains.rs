//! Fourth pass: pages whose URL hashes to a key that another page has. They are few, so that their chains
//! are walked one after the other.
//!
//! A URL known twice shows here too: both pages hash to one key, so that at least one of them is displaced.

use std::collections::HashMap;

use super::{Check, Kind};
use crate::pagedb::env::PageDbError;
use crate::types::{PageIndex, PageKey, PageUrl};

/// A page that has not the key that its URL hashes to.
#[derive(Clone, Copy)]
pub struct Displaced {
    pub natural: PageKey,
    pub key: PageKey,
    pub index: PageIndex,
}

impl Displaced {
    /// Steps from the natural key to its own.
    fn distance(&self) -> u32 {
        (self.key.0 as u32).wrapping_sub(self.natural.0 as u32)
    }
}

impl Check<'_> {
    pub(super) fn chains(&mut self) -> Result<(), PageDbError> {
        let mut displaced = std::mem::take(&mut self.displaced);
        displaced.sort_unstable_by_key(|page| (page.natural, page.distance()));
        for group in displaced.chunk_by(|a, b| a.natural == b.natural) {
            self.chain(group)?;
            self.twice(group)?;
        }
        Ok(())
    }

    /// Pages with one natural key, the nearest first: walks to the farthest, or to the first free key.
    fn chain(&mut self, group: &[Displaced]) -> Result<(), PageDbError> {
        let snapshot = self.snapshot;
        let mut at = group[0].natural;
        for page in group {
            while at != page.key {
                if snapshot.tables.hash2idx.get(&snapshot.txn, &at.to_bytes())?.is_none() {
                    let key = page.key;
                    self.report
                        .add(Kind::KeyChain, || format!("page {key} is not found: {at} before it is free"));
                    break;
                }
                at = at.next_in_domain();
            }
        }
        Ok(())
    }

    fn twice(&mut self, group: &[Displaced]) -> Result<(), PageDbError> {
        let natural = group[0].natural;
        let at_home = self.snapshot.state(natural).ok().flatten().map(|state| state.index);
        let mut seen: HashMap<PageUrl, PageIndex> = HashMap::new();
        for index in at_home.into_iter().chain(group.iter().map(|page| page.index)) {
            // What does not decode is told already.
            let Ok(Some((_, url))) = self.snapshot.url(index) else { continue };
            match seen.get(&url) {
                Some(other) if *other != index => {
                    self.report.add(Kind::UrlTwice, || format!("pages {other} and {index} are both {url}"));
                }
                _ => drop(seen.insert(url, index)),
            }
        }
        Ok(())
    }
}
