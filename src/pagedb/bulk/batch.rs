//! Edits on their way from a source to the dictionary: flat, so that a URL costs no allocation.

use crate::types::url::normal_site_len;
use crate::types::{ContentHash, CrawledPage, LinkResolver, PageUrl, Score, Time, UrlError};

/// Bytes of URLs after which a batch is passed on: large against the cost of a channel, small in memory.
const FULL_BYTES: usize = 1 << 20;

/// Crawled pages and seeds in the order of the input, their URLs normalised.
#[derive(Debug, Default)]
pub struct EditBatch {
    text: String,
    urls: Vec<UrlSpan>,
    edits: Vec<BatchEdit>,
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
        links: impl IntoIterator<Item = (&'a str, Score)>,
    ) -> Result<(), UrlError> {
        let before = (self.text.len(), self.urls.len());
        // Only links that are not in normal form ask for the page's URL as such.
        let mut parsed = match page.base {
            Some(base) => Some(LinkResolver::new(&PageUrl::parse(page.url)?).resolve(base)?),
            None => None,
        };
        self.push(page.url, Score::ZERO, PageUrl::parse)?;
        let mut slow: Vec<(usize, &str, Score)> = Vec::new();
        for (n, (link, score)) in links.into_iter().enumerate() {
            match normal_site_len(link) {
                Some(site_len) => self.push_normal(link, site_len, score),
                None => slow.push((n, link, score)),
            }
        }
        if !slow.is_empty() {
            let base = match parsed.take() {
                Some(base) => base,
                None => PageUrl::parse(page.url)?,
            };
            self.insert_slow(before.1 + 1, &slow, &base);
        }
        let links = self.urls.len() - before.1 - 1;
        let crawl = Crawl { time: page.time, score: page.score, content_hash: page.content_hash };
        self.edits.push(BatchEdit::Crawled { links, crawl });
        Ok(())
    }

    /// Puts links that had to be parsed to their places among the page's others, which begin at `first`.
    fn insert_slow(&mut self, first: usize, slow: &[(usize, &str, Score)], base: &PageUrl) {
        let mut resolver = LinkResolver::new(base);
        let plain = self.urls.split_off(first);
        let mut plain = plain.into_iter();
        let mut slow = slow.iter().peekable();
        for n in 0.. {
            if let Some(&(_, link, score)) = slow.next_if(|(at, ..)| *at == n) {
                match resolver.resolve(link) {
                    Ok(url) => self.push_url(&url, score),
                    Err(_) => self.skipped_links += 1,
                }
            } else if let Some(span) = plain.next() {
                self.urls.push(span);
            } else if slow.peek().is_none() {
                return;
            }
        }
    }

    /// Adds a crawled page whose URLs are in normal form already.
    pub fn page(&mut self, page: &CrawledPage) {
        self.push_url(&page.url, Score::ZERO);
        for link in &page.links {
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
        self.skipped_links = 0;
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
