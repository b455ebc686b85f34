//! Edits that add and delete pages and links, applied one by one straight to the tables: they are rare beside
//! what spiders tell, and each may depend on the one before. What a page or a link does to states, schedule
//! and counters goes through the same steps as a batch of spiders' edits.

use std::ops::Bound;

use heed::RwTxn;

use super::changes::Changes;
use super::domains::Domains;
use super::estimates::Estimates;
use super::identity::{Cell, Cells};
use super::refs::{Mentions, NO_REF};
use super::transitions::{self, Outcome, Rules};
use crate::pagedb::anchors::texts;
use crate::pagedb::env::{InTable, PageDb, PageDbError, corrupted};
use crate::pagedb::find::Finder;
use crate::pagedb::link_list;
use crate::pagedb::page_record::PageRecord;
use crate::pagedb::page_state::{PageState, Status};
use crate::pagedb::schedule_key::content_key;
use crate::pagedb::scoring::Scoring;
use crate::types::edit::web::{Adding, LinkSource, NewLink, NewPage};
use crate::types::{Anchor, Naming, PageIndex, PageKey, PageUrl, Score, WebEdit};

/// A page that links can stand on.
struct Source {
    key: PageKey,
    index: PageIndex,
}

/// The writer's hand for edits of single pages and links.
pub(super) struct Editor<'e> {
    pub db: &'e PageDb,
    pub rules: Rules,
    pub scoring: &'e Scoring,
    pub changes: &'e mut Changes,
}

impl Editor<'_> {
    pub fn apply(&mut self, txn: &mut RwTxn<'_>, edit: &WebEdit) -> Result<(), PageDbError> {
        match edit {
            WebEdit::AddPage { page, adding, link } => self.add_page(txn, page, *adding, link.as_ref()),
            WebEdit::DeletePage(url) => match self.finder(txn).page(url)? {
                Some((key, state)) => self.delete_page(txn, key, &state),
                None => Ok(()),
            },
            WebEdit::AddLink(link) => self.add_link(txn, link),
        }
    }

    fn add_page(
        &mut self,
        txn: &mut RwTxn<'_>,
        page: &NewPage,
        adding: Adding,
        link: Option<&NewLink>,
    ) -> Result<(), PageDbError> {
        if adding == Adding::IfAbsent && self.finder(txn).page(&page.url)?.is_some() {
            return Ok(());
        }
        if let Some(link) = link
            && !self.may_stand_on(&link.from, page)
            && self.sources(txn, &link.from)?.is_empty()
        {
            return Ok(());
        }
        let mentions = Mentions::of_urls(&[(&page.url, NO_REF, page.score)], &self.db.options.naming);
        let rules = self.rules;
        let cells = self.with_cells(txn, mentions, |cells, scorer, _| {
            let cell = cells.of_url[0] as usize;
            added(&mut cells.list[cell], page, adding, rules, scorer);
            Ok(())
        })?;
        let cell = &cells.list[cells.of_url[0] as usize];
        self.put_history(txn, cell.key, cell.new.index, page)?;
        match link {
            Some(link) => self.add_link(txn, link),
            None => Ok(()),
        }
    }

    /// Replaces a page's crawl history. Its links stand in its content: they stay only if that does.
    fn put_history(
        &mut self,
        txn: &mut RwTxn<'_>,
        key: PageKey,
        index: PageIndex,
        page: &NewPage,
    ) -> Result<(), PageDbError> {
        let tables = &self.db.tables;
        let row = key.to_bytes();
        let stored = tables.hash2info.get(txn, &row)?.map(PageRecord::decode).transpose();
        let stored = stored.in_table("hash2info", &row)?;
        let record = page.history.as_ref().map(PageRecord::from_history);
        let hash_of = |record: &Option<PageRecord>| record.as_ref().and_then(|r| r.content_hash.clone());
        let (old_hash, new_hash) = (hash_of(&stored), hash_of(&record));
        let same_content = stored.is_some() && record.is_some() && old_hash == new_hash;
        if old_hash != new_hash {
            if let Some(hash) = old_hash {
                tables.content.delete(txn, &content_key(&hash, key))?;
            }
            if let Some(hash) = new_hash {
                tables.content.put(txn, &content_key(&hash, key), &[])?;
            }
        }
        match &record {
            Some(record) => {
                let mut value = Vec::new();
                record.encode(&mut value);
                tables.hash2info.put(txn, &row, &value)?;
            }
            None => drop(tables.hash2info.delete(txn, &row)?),
        }
        if !same_content {
            self.remove_links(txn, index)?;
        }
        if record.is_some() && !same_content {
            self.put_links(txn, index, &[], &[])?;
        }
        Ok(())
    }

    fn add_link(&mut self, txn: &mut RwTxn<'_>, link: &NewLink) -> Result<(), PageDbError> {
        let sources = self.sources(txn, &link.from)?;
        let Some(first) = sources.first() else { return Ok(()) };
        let parent = self.finder(txn).url(first.index)?;
        let parent = parent.ok_or_else(|| corrupted("urls", &first.index.to_bytes()))?;
        let mut depth = u32::MAX;
        for source in &sources {
            let state = self.finder(txn).slot(source.key)?.and_then(|slot| slot.page());
            depth = depth.min(state.map_or(u32::MAX, |state| state.depth));
        }
        let mentioned = [(&parent, NO_REF, Score::ZERO), (&link.to, 0, link.score)];
        let mentions = Mentions::of_urls(&mentioned, &self.db.options.naming);
        let rules = self.rules;
        let cells = self.with_cells(txn, mentions, |cells, scorer, domains| {
            let cell = &mut cells.list[cells.of_url[1] as usize];
            let is_found = transitions::linked(cell, rules, depth.saturating_add(1), link.score, scorer);
            match scorer {
                Some(scorer) if is_found => scorer.place_found(cell, domains),
                _ => Ok(()),
            }
        })?;
        let target = &cells.list[cells.of_url[1] as usize];
        for source in &sources {
            self.insert_link(txn, source, (target.key, target.new.index), link.anchor.as_ref())?;
        }
        Ok(())
    }

    /// The pages that the link stands on: crawled ones, for the others have no content that is known.
    fn sources(&self, txn: &RwTxn<'_>, from: &LinkSource) -> Result<Vec<Source>, PageDbError> {
        let tables = &self.db.tables;
        let mut pages = Vec::new();
        match from {
            LinkSource::Page(url) => {
                let found = self.finder(txn).page(url)?;
                pages.extend(found.map(|(key, state)| Source { key, index: state.index }));
            }
            LinkSource::Content(hash) => {
                let prefix = hash.to_bytes();
                let length = prefix.len() + 8;
                for row in tables.content.range(txn, &(Bound::Included(&prefix[..]), Bound::Unbounded))? {
                    let (row, _) = row?;
                    let Some(page) = row.strip_prefix(&prefix[..]) else { break };
                    // A longer text that begins with this one.
                    let (true, Ok(page)) = (row.len() == length, page.try_into()) else { continue };
                    let key = PageKey::from_bytes(page);
                    let state = self.finder(txn).slot(key)?.and_then(|slot| slot.page());
                    pages.extend(state.map(|state| Source { key, index: state.index }));
                }
            }
        }
        let mut sources = Vec::with_capacity(pages.len());
        for page in pages {
            if tables.links.get(txn, &page.index.to_bytes())?.is_some() {
                sources.push(page);
            }
        }
        Ok(sources)
    }

    fn insert_link(
        &mut self,
        txn: &mut RwTxn<'_>,
        source: &Source,
        (target, index): (PageKey, PageIndex),
        anchor: Option<&Anchor>,
    ) -> Result<(), PageDbError> {
        let row = source.index.to_bytes();
        let bytes = self.db.tables.links.get(txn, &row)?.ok_or_else(|| corrupted("links", &row))?;
        let mut other = Vec::new();
        let n_other = link_list::decode(bytes, false, &mut other).in_table("links", &row)?;
        let mut same = other.split_off(n_other);
        let before = other.len() + same.len();
        let group = if target.domain() == source.key.domain() { &mut same } else { &mut other };
        let found = group.binary_search(&index);
        if let Err(at) = found {
            group.insert(at, index);
            self.changes.counters.links -= before as u64;
            self.put_links(txn, source.index, &other, &same)?;
        }
        let place = link_list::place(&other, &same, index).unwrap_or(before);
        self.insert_anchor(txn, source.index, before, (place, found.is_err()), anchor)
    }

    /// Brings the anchors of a page, which had `links` links, in step with the link at a place, which may be a new
    /// one, and gives it its own.
    fn insert_anchor(
        &mut self,
        txn: &mut RwTxn<'_>,
        page: PageIndex,
        links: usize,
        (place, is_new): (usize, bool),
        anchor: Option<&Anchor>,
    ) -> Result<(), PageDbError> {
        let table = self.db.tables.anchors;
        let mut anchors = table.get(txn, page, links)?;
        if anchors.is_empty() && anchor.is_none() {
            return Ok(());
        }
        let at = anchors.partition_point(|&(other, _)| other < place);
        if is_new {
            anchors[at..].iter_mut().for_each(|(other, _)| *other += 1);
        }
        if let Some(anchor) = anchor {
            let has_one = anchors.get(at).is_some_and(|&(other, _)| other == place);
            anchors.splice(at..at + usize::from(has_one), [(place, anchor.clone())]);
        }
        table.put(txn, page, texts(&anchors), &mut self.changes.encoder)
    }

    /// Writes a page's links, which were not counted yet.
    fn put_links(
        &mut self,
        txn: &mut RwTxn<'_>,
        page: PageIndex,
        other: &[PageIndex],
        same: &[PageIndex],
    ) -> Result<(), PageDbError> {
        let mut value = Vec::new();
        link_list::encode(other, same, &mut value);
        self.db.tables.links.put(txn, &page.to_bytes(), &value)?;
        self.changes.counters.links += (other.len() + same.len()) as u64;
        self.changes.relinked.push(page);
        Ok(())
    }

    pub(super) fn remove_links(&mut self, txn: &mut RwTxn<'_>, page: PageIndex) -> Result<(), PageDbError> {
        let row = page.to_bytes();
        if let Some(bytes) = self.db.tables.links.get(txn, &row)? {
            self.changes.counters.links -= link_list::count(bytes).in_table("links", &row)?;
            self.db.tables.links.delete(txn, &row)?;
            self.db.tables.anchors.delete(txn, page)?;
            self.changes.relinked.push(page);
        }
        Ok(())
    }

    /// Finds or creates the pages of a few URLs, lets `change` set their states, and writes these.
    fn with_cells(
        &mut self,
        txn: &mut RwTxn<'_>,
        mut mentions: Mentions<'_>,
        change: impl FnOnce(&mut Cells, Option<&Estimates<'_, '_>>, &mut Domains) -> Result<(), PageDbError>,
    ) -> Result<Cells, PageDbError> {
        let (tables, scoring) = (&self.db.tables, self.scoring);
        self.db.run(
            txn,
            self.db.way(false),
            scoring,
            &mut mentions,
            self.changes,
            |txn, _, cells, domains| {
                let scorer = scoring.is_scored().then(|| Estimates::new(txn, tables, scoring));
                change(cells, scorer.as_ref(), domains)?;
                Ok(Outcome::default())
            },
        )
    }

    /// Whether a link from there stands on the page that is about to be added.
    fn may_stand_on(&self, from: &LinkSource, page: &NewPage) -> bool {
        let Some(history) = &page.history else { return false };
        match from {
            LinkSource::Page(url) => self.db.options.naming.is_same_page(url, &page.url),
            LinkSource::Content(hash) => history.content_hash.as_ref() == Some(hash),
        }
    }

    pub(super) fn finder<'t>(&'t self, txn: &'t RwTxn<'_>) -> Finder<'t> {
        Finder { txn, tables: &self.db.tables, naming: self.db.options.naming }
    }
}

/// A page that somebody adds starts anew, as a seed does; a spider that has it keeps its lease.
fn added(cell: &mut Cell, page: &NewPage, adding: Adding, rules: Rules, scorer: Option<&Estimates<'_, '_>>) {
    let is_new = !cell.seen;
    cell.seen = true;
    let state: &mut PageState = &mut cell.new;
    if is_new || adding == Adding::WithScore {
        state.given = page.score;
    }
    (state.depth, state.attempts) = (0, 0);
    if page.history.is_some() {
        state.status = Status::Crawled;
    } else if is_new || !matches!(state.status, Status::Leased { .. }) {
        state.status = rules.waiting(0);
    }
    match scorer {
        None => state.score = state.given,
        Some(scorer) if state.is_uncrawled() => scorer.place_seed(cell),
        Some(scorer) if is_new => scorer.place_crawled(cell),
        Some(_) => {}
    }
}

impl<'a> Mentions<'a> {
    /// URLs outside of any edit, each with the number of the one that links it and its score.
    fn of_urls(urls: &[(&'a PageUrl, u32, Score)], naming: &Naming) -> Mentions<'a> {
        let mut out = Mentions::default();
        for &(url, parent, score) in urls {
            let known = out.sites.iter().position(|site| naming.is_same_site(site.text, url.site()));
            let site = known.unwrap_or(out.sites.len()) as u32;
            if known.is_none() {
                out.add_site(url.site(), naming);
            }
            out.add_url(url.path(), site, score, parent);
        }
        out
    }
}
