//! Edits on their way from a source to the dictionary: flat, so that a URL costs no allocation.

use crate::types::url::normal_site_len;
use crate::types::{Anchor, ContentHash, CrawledPage, LinkResolver, PageUrl, Score, Time, UrlError};

/// Bytes of URLs after which a batch is passed on: large against the cost of a channel, small in memory.
const FULL_BYTES: usize = 1 << 20;

/// Crawled pages and seeds in the order of the input, their URLs normalised.
#[derive(Debug, Default)]
pub struct EditBatch {
    text: String,
    urls: Vec<UrlSpan>,
    edits: Vec<BatchEdit>,
    /// Texts of links, in the order of `urls`.
    anchors: Vec<(usize, Anchor)>,
    skipped_links: u64,
}

/// A URL of the batch.
#[derive(Debug, Clone, Copy)]
struct UrlSpan {
    start: usize,
    site_len: u16,
    len: u16,
    score: Score,
}

/// What became of a page; its URL, or its URLs, stand in the batch in the same order.
#[derive(Debug, Clone)]
pub(super) enum BatchEdit {
    /// The page, then its links.
    Crawled {
        links: usize,
        crawl: Crawl,
    },
    Seeds {
        seeds: usize,
    },
}

/// One crawl of a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Crawl {
    pub time: Time,
    pub score: Score,
    pub content_hash: Option<ContentHash>,
}

/// A crawled page as a source has it: its URLs in whatever form.
#[derive(Debug, Clone)]
pub struct RawPage<'a> {
    pub url: &'a str,
    /// What relative links are resolved against (HTML's `<base>`); may itself be relative to `url`.
    pub base: Option<&'a str>,
    pub score: Score,
    pub time: Time,
    pub content_hash: Option<ContentHash>,
}

/// A link as a source has it; most have a URL and a score alone.
#[derive(Debug, Clone, Copy)]
pub struct RawLink<'a> {
    pub url: &'a str,
    pub score: Score,
    /// Its text, in whatever form; empty for none.
    pub anchor: &'a str,
}

impl<'a> From<(&'a str, Score)> for RawLink<'a> {
    fn from((url, score): (&'a str, Score)) -> RawLink<'a> {
        RawLink { url, score, anchor: "" }
    }
}

/// A URL of the batch, in its two parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchUrl<'a> {
    pub site: &'a str,
    pub path: &'a str,
    pub score: Score,
}

impl EditBatch {
    /// Adds a crawled page. Links that cannot be crawled are skipped and counted, as `POST /crawled` does.
    ///
    /// # Errors
    /// [`UrlError`] if the page's own URL, or its base, is none: then the batch is as it was.
    pub fn crawled<'a>(
        &mut self,
        page: RawPage<'_>,
        links: impl IntoIterator<Item = impl Into<RawLink<'a>>>,
    ) -> Result<(), UrlError> {
        let first = self.urls.len() + 1;
        let first_anchor = self.anchors.len();
        // Only links that are not in normal form ask for the page's URL as such.
        let mut parsed = match page.base {
            Some(base) => Some(LinkResolver::new(&PageUrl::parse(page.url)?).resolve(base)?),
            None => None,
        };
        self.push(page.url, Score::ZERO, PageUrl::parse)?;
        let mut slow: Vec<(usize, &str, Score)> = Vec::new();
        for (n, link) in links.into_iter().enumerate() {
            let RawLink { url, score, anchor } = link.into();
            match normal_site_len(url) {
                Some(site_len) => self.push_normal(url, site_len, score),
                None => slow.push((n, url, score)),
            }
            // As if no link were skipped.
            self.anchors.extend(Anchor::new(anchor).map(|anchor| (first + n, anchor)));
        }
        if !slow.is_empty() {
            let base = match parsed.take() {
                Some(base) => base,
                None => PageUrl::parse(page.url)?,
            };
            let skipped = self.insert_slow(first, &slow, &base);
            self.move_anchors(first_anchor, first, &skipped);
        }
        let links = self.urls.len() - first;
        let crawl = Crawl { time: page.time, score: page.score, content_hash: page.content_hash };
        self.edits.push(BatchEdit::Crawled { links, crawl });
        Ok(())
    }

    /// Puts links that had to be parsed to their places among the page's others, which begin at `first`; returns
    /// which ones were skipped.
    fn insert_slow(&mut self, first: usize, slow: &[(usize, &str, Score)], base: &PageUrl) -> Vec<usize> {
        let mut resolver = LinkResolver::new(base);
        let plain = self.urls.split_off(first);
        let mut plain = plain.into_iter();
        let mut slow = slow.iter().peekable();
        let mut skipped = Vec::new();
        for n in 0.. {
            if let Some(&(_, link, score)) = slow.next_if(|(at, ..)| *at == n) {
                match resolver.resolve(link) {
                    Ok(url) => self.push_url(&url, score),
                    Err(_) => skipped.push(n),
                }
            } else if let Some(span) = plain.next() {
                self.urls.push(span);
            } else if slow.peek().is_none() {
                break;
            }
        }
        self.skipped_links += skipped.len() as u64;
        skipped
    }

    /// Takes the anchors of skipped links away, and brings the others to the links that have moved up.
    fn move_anchors(&mut self, first_anchor: usize, first: usize, skipped: &[usize]) {
        if skipped.is_empty() {
            return;
        }
        let anchors = self.anchors.split_off(first_anchor);
        self.anchors.extend(anchors.into_iter().filter_map(|(url, anchor)| {
            let before = skipped.binary_search(&(url - first)).err()?;
            Some((url - before, anchor))
        }));
    }

    /// Adds a crawled page whose URLs are in normal form already.
    pub fn page(&mut self, page: &CrawledPage) {
        self.push_url(&page.url, Score::ZERO);
        for link in &page.links {
            self.anchors.extend(link.anchor.iter().map(|anchor| (self.urls.len(), anchor.clone())));
            self.push_url(&link.url, link.score);
        }
        let crawl = Crawl { time: page.time, score: page.score, content_hash: page.content_hash.clone() };
        self.edits.push(BatchEdit::Crawled { links: page.links.len(), crawl });
    }

    /// Makes a URL known at depth 0.
    ///
    /// # Errors
    /// [`UrlError`] if it is none: then the batch is as it was.
    pub fn seed(&mut self, url: &str, score: Score) -> Result<(), UrlError> {
        self.push(url, score, PageUrl::parse)?;
        match self.edits.last_mut() {
            Some(BatchEdit::Seeds { seeds }) => *seeds += 1,
            _ => self.edits.push(BatchEdit::Seeds { seeds: 1 }),
        }
        Ok(())
    }

    /// Counts links that a source left out itself.
    pub fn skip_links(&mut self, links: u64) {
        self.skipped_links += links;
    }

    /// Whether it is time to pass the batch on.
    pub fn is_full(&self) -> bool {
        self.text.len() >= FULL_BYTES
    }

    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.skipped_links == 0
    }

    /// Links left out.
    pub fn skipped_links(&self) -> u64 {
        self.skipped_links
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.urls.clear();
        self.edits.clear();
        self.anchors.clear();
        self.skipped_links = 0;
    }

    /// The texts of links, each with the number of its URL in [`EditBatch::urls`], in their order.
    pub(super) fn anchors(&self) -> &[(usize, Anchor)] {
        &self.anchors
    }

    pub(super) fn edits(&self) -> &[BatchEdit] {
        &self.edits
    }

    /// The URLs of all edits, one after the other.
    pub(super) fn urls(&self) -> impl ExactSizeIterator<Item = BatchUrl<'_>> {
        self.urls.iter().map(|span| self.url(span))
    }

    fn url(&self, span: &UrlSpan) -> BatchUrl<'_> {
        let text = &self.text[span.start..span.start + usize::from(span.len)];
        let (site, path) = text.split_at(usize::from(span.site_len));
        BatchUrl { site, path, score: span.score }
    }

    fn push(
        &mut self,
        text: &str,
        score: Score,
        parse: impl FnOnce(&str) -> Result<PageUrl, UrlError>,
    ) -> Result<(), UrlError> {
        match normal_site_len(text) {
            Some(site_len) => self.push_normal(text, site_len, score),
            None => self.push_url(&parse(text)?, score),
        }
        Ok(())
    }

    fn push_url(&mut self, url: &PageUrl, score: Score) {
        self.push_normal(url.as_str(), url.site().len(), score);
    }

    /// URLs have at most 8 KiB: both lengths fit.
    fn push_normal(&mut self, text: &str, site_len: usize, score: Score) {
        let span =
            UrlSpan { start: self.text.len(), site_len: site_len as u16, len: text.len() as u16, score };
        self.text.push_str(text);
        self.urls.push(span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(url: &str) -> RawPage<'_> {
        RawPage { url, base: None, score: Score::ZERO, time: Time(0), content_hash: None }
    }

    fn urls(batch: &EditBatch) -> Vec<String> {
        batch.urls().map(|url| format!("{} {}", url.site, url.path)).collect()
    }

    #[test]
    fn links_are_resolved_in_their_places_and_bad_ones_counted() {
        let mut batch = EditBatch::default();
        let links =
            ["x", "http://b.example/plain", "mailto:a@b", "/y", "http://B.example/caps", "http://c.example/"];
        batch.crawled(raw("http://A.example/dir/p"), links.map(|link| (link, Score::ZERO))).unwrap();
        let expected = [
            "http://a.example /dir/p",
            "http://a.example /dir/x",
            "http://b.example /plain",
            "http://a.example /y",
            "http://b.example /caps",
            "http://c.example /",
        ];
        assert_eq!(urls(&batch), expected);
        assert_eq!(batch.skipped_links(), 1);
    }

    #[test]
    fn anchors_stay_with_their_links() {
        let mut batch = EditBatch::default();
        let link = |url, anchor| RawLink { url, score: Score::ZERO, anchor };
        let links = [
            link("mailto:a@b", "write"),
            link("x", " the\nx "),
            link("http://b.example/plain", "plain"),
            link("javascript:x", ""),
            link("/y", "\t"),
            link("http://c.example/", "c"),
        ];
        batch.seed("http://s.example", Score::ZERO).unwrap();
        batch.crawled(raw("http://a.example/"), links).unwrap();
        batch.crawled(raw("http://d.example/"), [link("http://e.example/", "e")]).unwrap();
        let urls = urls(&batch);
        let anchors: Vec<_> =
            batch.anchors().iter().map(|(n, anchor)| (&*urls[*n], anchor.as_str())).collect();
        let expected = [
            ("http://a.example /x", "the x"),
            ("http://b.example /plain", "plain"),
            ("http://c.example /", "c"),
            ("http://e.example /", "e"),
        ];
        assert_eq!(anchors, expected);
        assert!(batch.crawled(raw("ftp://a.example/"), [link("/x", "x")]).is_err());
        assert_eq!(batch.anchors().len(), 4);
    }

    #[test]
    fn a_base_counts_and_a_bad_page_leaves_the_batch_as_it_was() {
        let mut batch = EditBatch::default();
        batch.seed("http://s.example", Score::ZERO).unwrap();
        let with = |url, base| RawPage { base: Some(base), ..raw(url) };
        batch.crawled(with("http://a.example/p", "/base/"), [("x", Score::ZERO)]).unwrap();
        assert!(batch.crawled(raw("ftp://a.example/"), [("/x", Score::ZERO)]).is_err());
        assert!(batch.crawled(with("http://a.example/", "x:"), [("/x", Score::ZERO)]).is_err());
        assert!(batch.seed("nowhere", Score::ZERO).is_err());
        assert_eq!(urls(&batch), ["http://s.example /", "http://a.example /p", "http://a.example /base/x"]);
    }
}
