//! Crawled pages as JSON. One pass, text borrowed from the body; while it reads, a [`Trail`] remembers
//! where it is, so that an error names its field (`links[3][1]`) without a second pass.

mod seeds;
mod trail;

use std::borrow::Cow;

use serde::de::DeserializeSeed;

use super::error::{ApiError, quoted};
use crate::types::{Anchor, ContentHash, CrawledPage, Link, LinkResolver, PageUrl, Score, Time, UrlError};
use seeds::{BodySeed, PageSeed};
use trail::Trail;

/// Names of a page's fields.
pub const FIELDS: [&str; 6] = ["url", "score", "links", "content_hash", "time", "base"];

/// Pages as they were sent, checked but for their URLs.
#[derive(Debug, Default)]
pub struct RawPage<'a> {
    url: Option<Cow<'a, str>>,
    score: Score,
    links: Vec<RawLink<'a>>,
    content_hash: Option<ContentHash>,
    time: Option<Time>,
    base: Option<Cow<'a, str>>,
}

#[derive(Debug)]
pub struct RawLink<'a> {
    url: Cow<'a, str>,
    score: Score,
    anchor: Option<Cow<'a, str>>,
}

/// What a body holds: one page, or a list of them.
#[derive(Debug)]
pub enum RawBody<'a> {
    One(RawPage<'a>),
    List(Vec<RawPage<'a>>),
}

/// Pages that are good, and how many of their links were not.
#[derive(Debug, Default)]
pub struct Pages {
    pub pages: Vec<CrawledPage>,
    pub skipped_links: u64,
}

/// Reads a page or an array of pages.
///
/// # Errors
/// 400 that names the first field at fault.
pub fn read_body(body: &[u8], now: Time) -> Result<Pages, ApiError> {
    if body.trim_ascii().is_empty() {
        return Err(ApiError::bad_request("the body is empty")
            .hint("give a page, such as {\"url\": \"http://example.com/\"}, or an array of pages"));
    }
    let trail = Trail::default();
    let mut pages = Pages::default();
    match read(body, &trail, BodySeed { trail: &trail })? {
        RawBody::One(raw) => pages.add(raw, now)?,
        RawBody::List(list) => {
            pages.pages.reserve_exact(list.len());
            for (i, raw) in list.into_iter().enumerate() {
                pages.add(raw, now).map_err(|error| error.within(&format!("[{i}].")))?;
            }
        }
    }
    Ok(pages)
}

/// Reads one page, adds it to `pages`.
///
/// # Errors
/// 400 that names the field at fault; `pages` is as it was.
pub fn read_page(line: &[u8], now: Time, pages: &mut Pages) -> Result<(), ApiError> {
    let trail = Trail::default();
    let raw = read(line, &trail, PageSeed { trail: &trail })?;
    pages.add(raw, now)
}

impl Pages {
    /// Resolves the URLs. A link that cannot be crawled is counted, not refused: pages are full of them,
    /// and the spider is not to blame.
    fn add(&mut self, raw: RawPage<'_>, now: Time) -> Result<(), ApiError> {
        let Some(url) = raw.url else {
            return Err(ApiError::bad_request("missing")
                .field("url")
                .hint("give the URL of the crawled page"));
        };
        let page = PageUrl::parse(&url).map_err(|e| bad_url("url", &url, &e))?;
        let base = match &raw.base {
            Some(base) => {
                Some(LinkResolver::new(&page).resolve(base).map_err(|e| bad_url("base", base, &e))?)
            }
            None => None,
        };
        let mut resolver = LinkResolver::new(base.as_ref().unwrap_or(&page));
        let mut links = Vec::with_capacity(raw.links.len());
        for link in &raw.links {
            match resolver.resolve(&link.url) {
                Ok(url) => {
                    let anchor = link.anchor.as_deref().and_then(Anchor::new);
                    links.push(Link { url, score: link.score, anchor });
                }
                Err(_) => self.skipped_links += 1,
            }
        }
        self.pages.push(CrawledPage {
            url: page,
            score: raw.score,
            time: raw.time.unwrap_or(now),
            content_hash: raw.content_hash,
            links,
        });
        Ok(())
    }
}

/// Runs the reader over the whole body.
fn read<'a, S: DeserializeSeed<'a>>(body: &'a [u8], trail: &Trail, seed: S) -> Result<S::Value, ApiError> {
    let mut json = serde_json::Deserializer::from_slice(body);
    let value = seed.deserialize(&mut json).and_then(|value| json.end().map(|()| value));
    value.map_err(|error| trail.error(&error, body))
}

/// A URL that was refused, with the reason.
pub fn bad_url(field: &str, url: &str, error: &UrlError) -> ApiError {
    trail::split(&format!("{}: {error}", quoted(url))).field(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_000);

    fn page(body: &str) -> CrawledPage {
        let mut pages = read_body(body.as_bytes(), NOW).unwrap_or_else(|e| panic!("{body}: {}", e.line()));
        assert_eq!(pages.pages.len(), 1);
        pages.pages.remove(0)
    }

    #[test]
    fn only_the_url_is_mandatory() {
        for body in [
            r#"{"url": "http://a.example"}"#,
            r#"{"url": "http://a.example", "score": null, "links": null, "content_hash": null, "time": null, "base": null}"#,
            r#"[{"url": "http://a.example"}]"#,
        ] {
            let page = page(body);
            assert_eq!(page.url.as_str(), "http://a.example/");
            assert_eq!(
                (page.score, page.time, page.content_hash, page.links),
                (Score::ZERO, NOW, None, vec![])
            );
        }
    }

    #[test]
    fn links_are_pairs_or_bare_urls_and_resolve_against_the_base_wherever_it_stands() {
        let body = r#"{"links": ["x", ["y"], ["\/z", 0.5], ["w", null]], "base": "dir/", "url": "http://a.example/p"}"#;
        let links: Vec<_> =
            page(body).links.iter().map(|link| (link.url.to_string(), link.score.get())).collect();
        let expected = [
            ("http://a.example/dir/x", 0.0),
            ("http://a.example/dir/y", 0.0),
            ("http://a.example/z", 0.5),
            ("http://a.example/dir/w", 0.0),
        ];
        assert_eq!(links, expected.map(|(url, score)| (url.to_owned(), score)));
    }

    #[test]
    fn a_link_may_have_an_anchor() {
        let body = r#"{"url": "http://a.example/", "links": [["/1", 0.5, "read\n\t more"], ["/2", null, "\u00a0"],
            ["/3", null, null], ["/4", 0, "x"], ["mailto:x@y", 0, "write to us"], "/5"]}"#;
        let links = page(body).links;
        let anchors: Vec<_> = links.iter().map(|link| link.anchor.as_ref().map(Anchor::as_str)).collect();
        assert_eq!(anchors, [Some("read more"), None, None, Some("x"), None]);
        assert_eq!(links[0].score.get(), 0.5);
    }

    #[test]
    fn links_that_cannot_be_crawled_are_counted() {
        let body = br#"{"url": "http://a.example/", "links": ["javascript:void(0)", "/a", "mailto:x@y", "http://["]}"#;
        let pages = read_body(body, NOW).unwrap();
        assert_eq!((pages.pages[0].links.len(), pages.skipped_links), (1, 3));
    }

    #[test]
    fn a_content_hash_is_a_number_or_text_and_a_time_seconds() {
        let page = page(r#"{"url": "http://a.example", "content_hash": 18446744073709551615, "time": 1.5}"#);
        assert_eq!((page.content_hash, page.time), (Some(ContentHash::Number(u64::MAX)), Time(1500)));
        let mut pages = Pages::default();
        read_page(br#"{"url": "http://a.example", "content_hash": "abc"}"#, NOW, &mut pages).unwrap();
        assert_eq!(pages.pages[0].content_hash, Some(ContentHash::Text("abc".into())));
    }

    #[test]
    fn a_bad_line_leaves_the_pages_as_they_were() {
        let mut pages = Pages::default();
        for line in [
            &b"[]"[..],
            b"{}",
            b"5",
            b"{\"url\": \"/a\"}",
            b"{\"url\": \"http://a/\", \"links\": [\"x:\"], \"base\": \"x:\"}",
        ] {
            assert!(read_page(line, NOW, &mut pages).is_err());
        }
        assert_eq!((pages.pages.len(), pages.skipped_links), (0, 0));
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(body in "[\\[\\]{}\",:0-9a-z\\\\. é]{0,60}", cut in 0usize..80) {
            let valid = r#"[{"url": "http://a.example/", "links": [["x", 1]], "content_hash": "é", "time": 1}]"#;
            let cut = &valid.as_bytes()[..cut.min(valid.len())];
            for body in [body.as_bytes(), cut, &[cut, body.as_bytes()].concat()] {
                if let Err(error) = read_body(body, NOW) {
                    proptest::prop_assert!(!error.line().contains('\n'));
                }
            }
        }
    }
}
