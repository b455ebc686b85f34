//! Third step of a batch: every mention of a URL gets its page. Two URLs never share a key: a row that a
//! key leads to is compared with the URL itself, and a URL whose key another one holds takes the next
//! free key of its domain.
//!
//! Mentions are sorted by key, so that `hash2idx` is read in one sweep; then the found rows are compared
//! with `urls` in a second sweep, in order of index. Only real collisions go the slow way, one by one.

use std::collections::HashMap;

use heed::{Env, RoTxn, WithoutTls};

use super::domains::SitePlace;
use super::refs::{Mentions, NO_REF};
use crate::pagedb::env::{InTable, PageDbError, Tables, corrupted};
use crate::pagedb::page_state::{PageState, Slot, Status};
use crate::pagedb::prefetch::{AHEAD, prefetch};
use crate::pagedb::sweep::Sweep;
use crate::pagedb::url_record::UrlRecord;
use crate::pagedb::warm::{Reach, Warm};
use crate::types::{PageIndex, PageKey, Score, UrlHasher};

/// Stands for "no page" among cell numbers.
pub(super) const NO_CELL: u32 = u32::MAX;

/// A page that the batch mentions: as it is stored, and as it will be.
pub(super) struct Cell {
    pub key: PageKey,
    /// The first mention of its URL in the batch; [`NO_REF`] if it is only named by its key.
    pub first_mention: u32,
    /// As stored; `None` for a page that the batch discovers.
    pub old: Option<PageState>,
    pub new: PageState,
    /// False until the first edit that mentions a new page has set its state.
    pub seen: bool,
}

/// All pages of a batch.
pub(super) struct Cells {
    pub list: Vec<Cell>,
    /// The cell of each URL mention.
    pub of_url: Vec<u32>,
    /// The cell of each key mention, or [`NO_CELL`].
    pub of_key: Vec<u32>,
    /// Finding them has waited for the disk.
    pub is_cold: bool,
}

/// What stands behind a mention's number.
pub(super) struct Context<'b, 'a> {
    pub mentions: &'b Mentions<'a>,
    pub places: &'b [SitePlace],
    pub hasher: &'b UrlHasher,
    pub tables: &'b Tables,
    pub env: &'b Env<WithoutTls>,
}

/// A distinct URL that did not get the key it hashes to at once.
struct Displaced {
    mentions: Vec<u32>,
}

/// A key and the number of a mention of it in one integer, which sorts several times faster than a pair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Sorted(u128);

impl Sorted {
    fn new(key: PageKey, mention: u32) -> Sorted {
        Sorted(u128::from(key.0) << 32 | u128::from(mention))
    }

    fn key(self) -> PageKey {
        PageKey((self.0 >> 32) as u64)
    }

    fn mention(self) -> u32 {
        self.0 as u32
    }
}

impl Context<'_, '_> {
    /// Finds or creates the page of every mention. New pages have no index yet.
    pub(super) fn identify(&self, txn: &RoTxn<'_>) -> Result<Cells, PageDbError> {
        let n_urls = self.mentions.urls.len();
        let n_keys = self.mentions.keys.len();
        let mut cells = Cells {
            list: Vec::new(),
            of_url: vec![NO_CELL; n_urls],
            of_key: vec![NO_CELL; n_keys],
            is_cold: false,
        };
        let mut displaced = Vec::new();
        let sorted = self.sorted_mentions();
        let first = sorted.first().map_or(PageKey(0), |first| first.key()).to_bytes();
        let mut rows = Sweep::new(txn, self.tables.hash2idx, &first, sorted.len() / 2)?;
        let mut warm = Warm::new(self.env, self.tables.hash2idx, Reach::Keys);
        let mut at = 0;
        for group in sorted.chunk_by(|a, b| a.key() == b.key()) {
            for step in at..at + group.len() {
                self.prefetch_mention(sorted.get(step + 2 * AHEAD).map(|next| next.mention()));
                self.prefetch_path(sorted.get(step + AHEAD).map(|next| next.mention()));
            }
            warm.step(at, sorted.len(), |at| sorted[at].key().to_bytes());
            at += group.len();
            let key = group[0].key().to_bytes();
            let row = rows.get(&key)?.map(Slot::decode).transpose().in_table("hash2idx", &key)?;
            self.identify_group(group, row, &mut cells, &mut displaced);
        }
        cells.is_cold = warm.is_cold();
        self.verify(txn, &mut cells, &mut displaced)?;
        if !displaced.is_empty() {
            displaced.sort_unstable_by_key(|url| url.mentions[0]);
            self.settle(txn, &mut cells, &displaced)?;
            // The later steps sweep over the cells in order of key.
            cells.sort_by_key();
        }
        Ok(cells)
    }

    /// The mentions in order of key, then of first sight; those by key count on after those by URL.
    fn sorted_mentions(&self) -> Vec<Sorted> {
        let urls = self.mentions.urls.iter().map(|url| {
            let place = &self.places[url.site as usize];
            let hash = (self.hasher.path)(url.path, self.mentions.sites[url.site as usize].hash);
            PageKey::new(place.domain, hash)
        });
        let keys = urls.chain(self.mentions.keys.iter().copied());
        let mut sorted: Vec<Sorted> = keys.zip(0..).map(|(key, number)| Sorted::new(key, number)).collect();
        sorted.sort_unstable();
        sorted
    }

    /// Takes the mentions of one key: the first URL among them is taken for the row's (to be verified) or,
    /// without a row, becomes it; other URLs are displaced. Where a page was deleted all are: the page of each
    /// may stand behind the mark.
    fn identify_group(
        &self,
        group: &[Sorted],
        slot: Option<Slot>,
        cells: &mut Cells,
        displaced: &mut Vec<Displaced>,
    ) {
        let n_urls = self.mentions.urls.len() as u32;
        let (key, first) = (group[0].key(), group[0].mention());
        let split = group.partition_point(|sorted| sorted.mention() < n_urls);
        let (by_url, by_key) = group.split_at(split);
        let row = slot.and_then(Slot::page);
        let mut others: Vec<Displaced> = Vec::new();
        if slot == Some(Slot::Mark) {
            by_url.iter().for_each(|sorted| self.displace(sorted.mention(), &mut others));
        } else if row.is_some() || !by_url.is_empty() {
            let first_mention = if by_url.is_empty() { NO_REF } else { first };
            let cell = cells.add(key, first_mention, row);
            for number in by_key.iter().map(|sorted| sorted.mention()) {
                cells.of_key[(number - n_urls) as usize] = cell;
            }
            for number in by_url.iter().map(|sorted| sorted.mention()) {
                if self.same_url(first, number) {
                    cells.of_url[number as usize] = cell;
                } else {
                    self.displace(number, &mut others);
                }
            }
        }
        displaced.append(&mut others);
    }

    /// Puts a mention beside those of the same URL.
    fn displace(&self, number: u32, displaced: &mut Vec<Displaced>) {
        match displaced.iter_mut().find(|url| self.same_url(url.mentions[0], number)) {
            Some(url) => url.mentions.push(number),
            None => displaced.push(Displaced { mentions: vec![number] }),
        }
    }

    /// Compares every found row with the URL that was taken for it.
    fn verify(
        &self,
        txn: &RoTxn<'_>,
        cells: &mut Cells,
        displaced: &mut Vec<Displaced>,
    ) -> Result<(), PageDbError> {
        // (index, mention, cell)
        let mut found: Vec<(u64, u32, u32)> = Vec::new();
        for (number, cell) in cells.list.iter().enumerate() {
            if let (Some(old), true) = (&cell.old, cell.first_mention != NO_REF) {
                found.push((old.index.0, cell.first_mention, number as u32));
            }
        }
        found.sort_unstable();
        let mut wrong = Vec::new();
        let first = PageIndex(found.first().map_or(0, |first| first.0)).to_bytes();
        let mut rows = Sweep::new(txn, self.tables.urls, &first, found.len())?;
        let mut warm = Warm::new(self.env, self.tables.urls, Reach::Keys);
        for (at, &(index, mention, cell)) in found.iter().enumerate() {
            warm.step(at, found.len(), |at| PageIndex(found[at].0).to_bytes());
            self.prefetch_mention(found.get(at + 2 * AHEAD).map(|&(_, mention, _)| mention));
            self.prefetch_path(found.get(at + AHEAD).map(|&(_, mention, _)| mention));
            let row = PageIndex(index).to_bytes();
            if !self.url_is(&row, rows.get(&row)?, mention)? {
                wrong.push(cell);
            }
        }
        // What a merge has just written is still at hand, and says nothing about the rest.
        cells.is_cold |= warm.is_cold();
        if wrong.is_empty() {
            return Ok(());
        }
        let mut of_wrong: HashMap<u32, usize> = HashMap::new();
        for &number in &wrong {
            of_wrong.insert(number, displaced.len());
            displaced.push(Displaced { mentions: Vec::new() });
            cells.list[number as usize].first_mention = NO_REF;
        }
        for (mention, cell) in cells.of_url.iter_mut().enumerate() {
            if let Some(&at) = of_wrong.get(cell) {
                displaced[at].mentions.push(mention as u32);
                *cell = NO_CELL;
            }
        }
        Ok(())
    }

    /// Gives each displaced URL the first key from its own on that is its own already; if there is none, the
    /// first that a deleted page has left, or that is free.
    fn settle(&self, txn: &RoTxn<'_>, cells: &mut Cells, displaced: &[Displaced]) -> Result<(), PageDbError> {
        let mut by_key: HashMap<PageKey, u32, foldhash::fast::RandomState> =
            cells.list.iter().enumerate().map(|(number, cell)| (cell.key, number as u32)).collect();
        for url in displaced {
            let first = url.mentions[0];
            let mention = &self.mentions.urls[first as usize];
            let site = mention.site as usize;
            let hash = (self.hasher.path)(mention.path, self.mentions.sites[site].hash);
            let mut key = PageKey::new(self.places[site].domain, hash);
            let mut marked = None;
            let cell = loop {
                match by_key.get(&key) {
                    Some(&number) => {
                        let cell = &cells.list[number as usize];
                        let same = match &cell.old {
                            Some(old) => self.row_is(txn, old.index, first)?,
                            None => self.same_url(cell.first_mention, first),
                        };
                        if same {
                            break number;
                        }
                    }
                    None => {
                        let slot = self.slot(txn, key)?;
                        let (key, row) = match slot {
                            Some(Slot::Page(row)) if self.row_is(txn, row.index, first)? => (key, Some(row)),
                            None => (marked.unwrap_or(key), None),
                            Some(Slot::Mark) => {
                                marked = marked.or(Some(key));
                                (key, None)
                            }
                            Some(Slot::Page(_)) => (key, None),
                        };
                        if slot.is_none() || row.is_some() {
                            let number = cells.add(key, first, row);
                            by_key.insert(key, number);
                            break number;
                        }
                    }
                }
                key = key.next_in_domain();
            };
            let chosen = &mut cells.list[cell as usize];
            chosen.first_mention = chosen.first_mention.min(first);
            for &mention in &url.mentions {
                cells.of_url[mention as usize] = cell;
            }
        }
        Ok(())
    }

    fn slot(&self, txn: &RoTxn<'_>, key: PageKey) -> Result<Option<Slot>, PageDbError> {
        let row = key.to_bytes();
        let bytes = self.tables.hash2idx.get(txn, &row)?;
        bytes.map(Slot::decode).transpose().in_table("hash2idx", &row)
    }

    /// Whether the page with this index has the mention's URL.
    fn row_is(&self, txn: &RoTxn<'_>, index: PageIndex, mention: u32) -> Result<bool, PageDbError> {
        let row = index.to_bytes();
        self.url_is(&row, self.tables.urls.get(txn, &row)?, mention)
    }

    fn url_is(&self, row: &[u8], value: Option<&[u8]>, mention: u32) -> Result<bool, PageDbError> {
        let bytes = value.ok_or_else(|| corrupted("urls", row))?;
        let record = UrlRecord::decode(bytes).in_table("urls", row)?;
        let url = &self.mentions.urls[mention as usize];
        let place = &self.places[url.site as usize];
        Ok(record.path == url.path && record.site == place.site && record.key.domain() == place.domain)
    }

    fn prefetch_mention(&self, mention: Option<u32>) {
        if let Some(url) = mention.and_then(|mention| self.mentions.urls.get(mention as usize)) {
            prefetch(url);
        }
    }

    fn prefetch_path(&self, mention: Option<u32>) {
        if let Some(url) = mention.and_then(|mention| self.mentions.urls.get(mention as usize)) {
            prefetch(url.path);
        }
    }

    fn same_url(&self, a: u32, b: u32) -> bool {
        let (a, b) = (&self.mentions.urls[a as usize], &self.mentions.urls[b as usize]);
        a.site == b.site && a.path == b.path
    }
}

impl Cells {
    fn add(&mut self, key: PageKey, first_mention: u32, old: Option<PageState>) -> u32 {
        let unset = PageState {
            index: PageIndex(PageIndex::LIMIT),
            status: Status::TooDeep,
            depth: u32::MAX,
            score: Score::ZERO,
            given: Score::ZERO,
            attempts: 0,
        };
        let new = old.unwrap_or(unset);
        self.list.push(Cell { key, first_mention, old, new, seen: old.is_some() });
        self.list.len() as u32 - 1
    }

    /// Asks for the cell of a mention that a loop over mentions will reach soon.
    pub(super) fn prefetch_target(&self, mention: u32) {
        let soon = self.of_url.get(mention as usize + AHEAD).copied();
        if let Some(cell) = soon.and_then(|number| self.list.get(number as usize)) {
            prefetch(&cell.new);
        }
    }

    fn sort_by_key(&mut self) {
        let mut order: Vec<u32> = (0..self.list.len() as u32).collect();
        order.sort_unstable_by_key(|&number| self.list[number as usize].key);
        let mut moved_to = vec![NO_CELL; order.len()];
        for (to, &from) in order.iter().enumerate() {
            moved_to[from as usize] = to as u32;
        }
        self.list.sort_unstable_by_key(|cell| cell.key);
        for number in self.of_url.iter_mut().chain(&mut self.of_key) {
            if *number != NO_CELL {
                *number = moved_to[*number as usize];
            }
        }
    }
}
