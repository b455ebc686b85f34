//! First step of a batch: all its edits laid out flat, so that the later steps work on arrays.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use crate::pagedb::env::PageDbError;
use crate::types::edit::UrlRef;
use crate::types::{Edit, Naming, PageKey, Score, Time};

/// Stands for "no parent" among reference numbers.
pub(super) const NO_REF: u32 = u32::MAX;

/// A mention of a URL in the batch. Its number is its place in order of first sight.
pub(super) struct UrlMention<'a> {
    pub path: &'a str,
    /// Number of the site in [`Mentions::sites`].
    pub site: u32,
    pub score: Score,
    /// The mention of the page that this link stands on, or [`NO_REF`].
    pub parent: u32,
}

/// A distinct site of the batch.
pub(super) struct SiteMention<'a> {
    /// The first form of it that the batch mentions.
    pub text: &'a str,
    /// What its forms share.
    pub class: Cow<'a, str>,
    /// That of the class.
    pub hash: u64,
}

/// One edit, its URLs and keys replaced by ranges of mention numbers.
pub(super) enum Step<'a> {
    Crawled { page: u32, links: Range<u32>, score: Score, time: Time, content_hash: Option<&'a [u8]> },
    Seeds { seeds: Range<u32> },
    HandOut { time: Time, until: Time, keys: Range<u32> },
    Expire { time: Time, keys: Range<u32> },
}

/// The batch, flat.
#[derive(Default)]
pub(super) struct Mentions<'a> {
    pub steps: Vec<Step<'a>>,
    pub sites: Vec<SiteMention<'a>>,
    pub urls: Vec<UrlMention<'a>>,
    /// Pages named by their key (hand-outs, expiries).
    pub keys: Vec<PageKey>,
    /// Texts of links, in order of their mentions.
    pub anchors: Vec<(u32, &'a str)>,
}

impl<'a> Mentions<'a> {
    /// # Errors
    /// [`PageDbError::Corrupted`] for an edit that does not decode.
    pub(super) fn collect(edits: &[&'a [u8]], naming: &Naming) -> Result<Mentions<'a>, PageDbError> {
        let mut collector = Collector { out: Mentions::default(), site_numbers: HashMap::default(), naming };
        for &bytes in edits {
            let step = collector.step(decode(bytes)?);
            collector.out.steps.push(step);
        }
        Ok(collector.out)
    }

    pub(super) fn add_site(&mut self, text: &'a str, naming: &Naming) {
        let class = naming.class(text);
        let hash = (naming.hasher.site)(&class);
        self.sites.push(SiteMention { text, class, hash });
    }

    pub(super) fn add_url(&mut self, path: &'a str, site: u32, score: Score, parent: u32) {
        self.urls.push(UrlMention { path, site, score, parent });
    }
}

/// # Errors
/// [`PageDbError::Corrupted`] for bytes that are no edit.
pub(super) fn decode(edit: &[u8]) -> Result<Edit<'_>, PageDbError> {
    Edit::decode(edit).map_err(|_| PageDbError::Corrupted {
        table: "edits",
        key: format!("(an edit of {} bytes)", edit.len()),
    })
}

struct Collector<'a, 'h> {
    out: Mentions<'a>,
    /// By each form of a site that was met, and by its class.
    site_numbers: HashMap<Cow<'a, str>, u32, foldhash::fast::RandomState>,
    naming: &'h Naming,
}

impl<'a> Collector<'a, '_> {
    fn step(&mut self, edit: Edit<'a>) -> Step<'a> {
        match edit {
            Edit::Crawled(edit) => {
                let sites = self.sites(&edit.sites);
                let page = self.out.urls.len() as u32;
                self.mention(edit.page, &sites, Score::ZERO, NO_REF);
                let links = self.mentions(&edit.links, &sites, page);
                let anchors = edit.anchors.iter().map(|&(link, text)| (links.start + link as u32, text));
                self.out.anchors.extend(anchors);
                let (score, time, content_hash) = (edit.score, edit.time, edit.content_hash);
                Step::Crawled { page, links, score, time, content_hash }
            }
            Edit::Seeds(edit) => {
                let sites = self.sites(&edit.sites);
                Step::Seeds { seeds: self.mentions(&edit.seeds, &sites, NO_REF) }
            }
            Edit::HandOut { time, until, pages } => Step::HandOut { time, until, keys: self.keys(&pages) },
            Edit::Expire { time, pages } => Step::Expire { time, keys: self.keys(&pages) },
            // They are applied one by one, and stand in no run.
            Edit::Web(_) => Step::Seeds { seeds: 0..0 },
        }
    }

    /// The batch's numbers for an edit's sites.
    fn sites(&mut self, sites: &[&'a str]) -> Vec<u32> {
        sites.iter().map(|text| self.site(text)).collect()
    }

    fn site(&mut self, text: &'a str) -> u32 {
        if let Some(&number) = self.site_numbers.get(text) {
            return number;
        }
        let mut number = self.out.sites.len() as u32;
        match self.naming.class(text) {
            Cow::Borrowed(_) => self.out.add_site(text, self.naming),
            // Another form of it may have been met.
            class => match self.site_numbers.entry(class) {
                Entry::Occupied(known) => number = *known.get(),
                Entry::Vacant(class) => {
                    class.insert(number);
                    self.out.add_site(text, self.naming);
                }
            },
        }
        self.site_numbers.insert(Cow::Borrowed(text), number);
        number
    }

    fn mention(&mut self, url: UrlRef<'a>, sites: &[u32], score: Score, parent: u32) {
        self.out.add_url(url.path, sites[url.site], score, parent);
    }

    fn mentions(&mut self, urls: &[(UrlRef<'a>, Score)], sites: &[u32], parent: u32) -> Range<u32> {
        let start = self.out.urls.len() as u32;
        for &(url, score) in urls {
            self.mention(url, sites, score, parent);
        }
        start..self.out.urls.len() as u32
    }

    fn keys(&mut self, pages: &[PageKey]) -> Range<u32> {
        let start = self.out.keys.len() as u32;
        self.out.keys.extend_from_slice(pages);
        start..self.out.keys.len() as u32
    }
}
