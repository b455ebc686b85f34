//! Edits: everything that changes state, as values that can be stored and sent (Nutch WebDB's word).
//!
//! Applying an edit is deterministic: time travels in it, and nothing else is asked. The bytes are
//! specified in `docs/format.md`, "Edits".

pub mod web;

pub use web::WebEdit;

use super::codec::{Malformed, Reader, flag, put_bytes, put_f32, put_varint};
use super::{ContentHash, CrawledPage, Link, PageKey, Score, Time, anchor};

const CRAWLED: u8 = 1;
const SEEDS: u8 = 2;
const HAND_OUT: u8 = 3;
const EXPIRE: u8 = 4;

const HAS_SCORE: u8 = 1;
const HAS_CONTENT_HASH: u8 = 2;
const HAS_ANCHORS: u8 = 4;

/// An edit as it is read from the log: text and lists borrow from the encoded bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit<'a> {
    /// A spider crawled a page: store it, its links and the pages they name, and end its lease.
    Crawled(CrawledEdit<'a>),
    /// Make these URLs known at depth 0; raise the score of those that wait already.
    Seeds(SeedsEdit<'a>),
    /// These pages were handed out at `time` and are leased until `until`.
    HandOut { time: Time, until: Time, pages: Vec<PageKey> },
    /// The leases of these pages that ended by `time` are over: the pages wait again.
    Expire { time: Time, pages: Vec<PageKey> },
    /// Somebody adds or deletes pages or links.
    Web(WebEdit),
}

/// [`Edit::Crawled`]: URLs are a site number (an index into `sites`) and a path.
#[derive(Debug, Clone, PartialEq)]
pub struct CrawledEdit<'a> {
    pub sites: Vec<&'a str>,
    pub page: UrlRef<'a>,
    pub score: Score,
    pub time: Time,
    pub content_hash: Option<&'a [u8]>,
    pub links: Vec<(UrlRef<'a>, Score)>,
    /// Places in `links`, ascending, and the links' texts.
    pub anchors: Vec<(usize, &'a str)>,
}

/// [`Edit::Seeds`].
#[derive(Debug, Clone, PartialEq)]
pub struct SeedsEdit<'a> {
    pub sites: Vec<&'a str>,
    pub seeds: Vec<(UrlRef<'a>, Score)>,
}

/// A URL inside an edit: the number of its site in the edit's list, and its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UrlRef<'a> {
    pub site: usize,
    pub path: &'a str,
}

/// Appends the bytes of [`Edit::Crawled`] to `out`.
pub fn encode_crawled(page: &CrawledPage, out: &mut Vec<u8>) {
    let mut sites = SiteList::default();
    sites.add(page.url.site());
    for link in &page.links {
        sites.add(link.url.site());
    }
    let has_score = page.score != Score::ZERO;
    out.push(CRAWLED);
    let anchors = || (0..).zip(&page.links).filter_map(|(n, link)| Some((n, link.anchor.as_ref()?.as_str())));
    let n_anchors = anchors().count();
    out.push(
        flag(has_score, HAS_SCORE)
            | flag(page.content_hash.is_some(), HAS_CONTENT_HASH)
            | flag(n_anchors > 0, HAS_ANCHORS),
    );
    put_varint(out, page.time.0);
    if has_score {
        put_f32(out, page.score.get());
    }
    if let Some(hash) = &page.content_hash {
        put_bytes(out, &hash.to_bytes());
    }
    sites.encode(out);
    // The page's own site is always the first.
    put_bytes(out, page.url.path().as_bytes());
    encode_links(&page.links, &sites, out);
    if n_anchors > 0 {
        put_varint(out, n_anchors as u64);
        anchor::put_list(anchors(), out);
    }
}

/// Appends the bytes of [`Edit::Seeds`] to `out`.
pub fn encode_seeds(seeds: &[Link], out: &mut Vec<u8>) {
    let mut sites = SiteList::default();
    for seed in seeds {
        sites.add(seed.url.site());
    }
    out.push(SEEDS);
    sites.encode(out);
    encode_links(seeds, &sites, out);
}

/// Appends the bytes of [`Edit::HandOut`] to `out`.
pub fn encode_hand_out(time: Time, until: Time, pages: &[PageKey], out: &mut Vec<u8>) {
    out.push(HAND_OUT);
    put_varint(out, time.0);
    put_varint(out, until.0);
    encode_keys(pages, out);
}

/// Appends the bytes of [`Edit::Expire`] to `out`.
pub fn encode_expire(time: Time, pages: &[PageKey], out: &mut Vec<u8>) {
    out.push(EXPIRE);
    put_varint(out, time.0);
    encode_keys(pages, out);
}

impl<'a> Edit<'a> {
    /// # Errors
    /// [`Malformed`] unless the bytes are exactly one encoded edit.
    pub fn decode(bytes: &'a [u8]) -> Result<Edit<'a>, Malformed> {
        let mut reader = Reader::new(bytes);
        let edit = match reader.u8()? {
            CRAWLED => Edit::Crawled(decode_crawled(&mut reader)?),
            SEEDS => {
                let sites = decode_sites(&mut reader)?;
                let seeds = decode_links(&mut reader, sites.len())?;
                Edit::Seeds(SeedsEdit { sites, seeds })
            }
            HAND_OUT => Edit::HandOut {
                time: Time(reader.varint()?),
                until: Time(reader.varint()?),
                pages: decode_keys(&mut reader)?,
            },
            EXPIRE => Edit::Expire { time: Time(reader.varint()?), pages: decode_keys(&mut reader)? },
            kind => Edit::Web(WebEdit::decode(kind, &mut reader)?),
        };
        reader.end()?;
        Ok(edit)
    }
}

fn decode_crawled<'a>(reader: &mut Reader<'a>) -> Result<CrawledEdit<'a>, Malformed> {
    let flags = reader.u8()?;
    if flags & !(HAS_SCORE | HAS_CONTENT_HASH | HAS_ANCHORS) != 0 {
        return Err(Malformed);
    }
    let time = Time(reader.varint()?);
    let score = if flags & HAS_SCORE != 0 { decode_score(reader)? } else { Score::ZERO };
    let content_hash = if flags & HAS_CONTENT_HASH != 0 {
        let bytes = reader.bytes()?;
        ContentHash::from_bytes(bytes).ok_or(Malformed)?;
        Some(bytes)
    } else {
        None
    };
    let sites = decode_sites(reader)?;
    if sites.is_empty() {
        return Err(Malformed);
    }
    let page = UrlRef { site: 0, path: reader.str()? };
    let links = decode_links(reader, sites.len())?;
    let anchors = if flags & HAS_ANCHORS != 0 { decode_anchors(reader, links.len())? } else { Vec::new() };
    Ok(CrawledEdit { sites, page, score, time, content_hash, links, anchors })
}

fn decode_anchors<'a>(reader: &mut Reader<'a>, links: usize) -> Result<Vec<(usize, &'a str)>, Malformed> {
    let n = reader.number::<usize>()?;
    if n == 0 || n > links {
        return Err(Malformed);
    }
    let mut anchors = Vec::with_capacity(n);
    let mut next = 0;
    for _ in 0..n {
        let found = anchor::read_one(reader, next, links)?;
        next = found.0 + 1;
        anchors.push(found);
    }
    Ok(anchors)
}

fn encode_links(links: &[Link], sites: &SiteList<'_>, out: &mut Vec<u8>) {
    put_varint(out, links.len() as u64);
    let mut cursor = 0;
    for link in links {
        let has_score = link.score != Score::ZERO;
        let site = sites.number_near(link.url.site(), &mut cursor);
        put_varint(out, (site as u64) << 1 | u64::from(has_score));
        put_bytes(out, link.url.path().as_bytes());
        if has_score {
            put_f32(out, link.score.get());
        }
    }
}

fn decode_links<'a>(reader: &mut Reader<'a>, n_sites: usize) -> Result<Vec<(UrlRef<'a>, Score)>, Malformed> {
    let n = reader.number::<usize>()?;
    // A link takes two bytes at least: never reserve more than the input can hold.
    let mut links = Vec::with_capacity(n.min(reader.remaining() / 2));
    for _ in 0..n {
        let head = reader.varint()?;
        let site = usize::try_from(head >> 1).map_err(|_| Malformed)?;
        if site >= n_sites {
            return Err(Malformed);
        }
        let path = reader.str()?;
        let score = if head & 1 == 1 { decode_score(reader)? } else { Score::ZERO };
        links.push((UrlRef { site, path }, score));
    }
    Ok(links)
}

fn decode_score(reader: &mut Reader<'_>) -> Result<Score, Malformed> {
    Score::new(f64::from(reader.f32()?)).map_err(|_| Malformed)
}

fn decode_sites<'a>(reader: &mut Reader<'a>) -> Result<Vec<&'a str>, Malformed> {
    let n = reader.number::<usize>()?;
    let mut sites = Vec::with_capacity(n.min(reader.remaining()));
    for _ in 0..n {
        sites.push(reader.str()?);
    }
    Ok(sites)
}

fn encode_keys(pages: &[PageKey], out: &mut Vec<u8>) {
    put_varint(out, pages.len() as u64);
    for key in pages {
        out.extend_from_slice(&key.to_bytes());
    }
}

fn decode_keys(reader: &mut Reader<'_>) -> Result<Vec<PageKey>, Malformed> {
    let n = reader.number::<usize>()?;
    let bytes = reader.take(n.checked_mul(8).ok_or(Malformed)?)?;
    let (keys, _) = bytes.as_chunks::<8>();
    Ok(keys.iter().map(|&key| PageKey::from_bytes(key)).collect())
}

/// The distinct sites of an edit, in order of first mention.
#[derive(Default)]
struct SiteList<'a> {
    names: Vec<&'a str>,
    numbers: std::collections::HashMap<&'a str, usize, foldhash::fast::RandomState>,
}

impl<'a> SiteList<'a> {
    fn add(&mut self, site: &'a str) {
        // Links of one site mostly stand together.
        if self.names.last() != Some(&site) && !self.numbers.contains_key(site) {
            self.numbers.insert(site, self.names.len());
            self.names.push(site);
        }
    }

    /// The number of a site that was added; `cursor` remembers the last answer.
    fn number_near(&self, site: &str, cursor: &mut usize) -> usize {
        if self.names.get(*cursor) != Some(&site) {
            *cursor = self.numbers[site];
        }
        *cursor
    }

    fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.names.len() as u64);
        for name in &self.names {
            put_bytes(out, name.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::codec::example::assert_documented;
    use crate::types::{Anchor, PageUrl};
    use proptest::prelude::*;

    fn link(url: &str, score: f64) -> Link {
        Link { url: PageUrl::parse(url).unwrap(), score: Score::new(score).unwrap(), anchor: None }
    }

    fn url_of(sites: &[&str], url: UrlRef<'_>) -> PageUrl {
        PageUrl::from_parts(sites[url.site], url.path)
    }

    #[test]
    fn a_crawled_page_comes_back() {
        let page = CrawledPage {
            url: PageUrl::parse("http://a.example/x?y").unwrap(),
            score: Score::new(0.5).unwrap(),
            time: Time(1_435_048_846_000),
            content_hash: Some(ContentHash::Number(7)),
            links: vec![
                link("http://a.example/", 0.0),
                Link { anchor: Anchor::new("one"), ..link("https://b.example/1", -1.5) },
                Link { anchor: Anchor::new("two »"), ..link("http://a.example/2", 1.0) },
            ],
        };
        let mut bytes = Vec::new();
        encode_crawled(&page, &mut bytes);
        let Edit::Crawled(edit) = Edit::decode(&bytes).unwrap() else { panic!("another kind of edit") };
        let url = |url| url_of(&edit.sites, url);
        let mut links: Vec<Link> =
            edit.links.iter().map(|&(to, score)| Link { url: url(to), score, anchor: None }).collect();
        for &(at, text) in &edit.anchors {
            links[at].anchor = Anchor::new(text);
        }
        assert_eq!(edit.sites, ["http://a.example", "https://b.example"]);
        assert_eq!(url_of(&edit.sites, edit.page), page.url);
        assert_eq!((edit.score, edit.time, links), (page.score, page.time, page.links));
        assert_eq!(edit.content_hash.and_then(ContentHash::from_bytes), page.content_hash);
    }

    #[test]
    fn hand_outs_and_expiries_come_back() {
        let pages = vec![PageKey(3), PageKey(u64::MAX)];
        let (mut hand_out, mut expire) = (Vec::new(), Vec::new());
        encode_hand_out(Time(5), Time(9), &pages, &mut hand_out);
        encode_expire(Time(9), &pages, &mut expire);
        assert_eq!(
            Edit::decode(&hand_out),
            Ok(Edit::HandOut { time: Time(5), until: Time(9), pages: pages.clone() })
        );
        assert_eq!(Edit::decode(&expire), Ok(Edit::Expire { time: Time(9), pages }));
    }

    #[test]
    fn anchors_that_cannot_be_are_refused() {
        let page = |anchor: &str| CrawledPage {
            url: PageUrl::parse("http://a.example/").unwrap(),
            score: Score::ZERO,
            time: Time(0),
            content_hash: None,
            links: vec![Link { anchor: Anchor::new(anchor), ..link("http://a.example/", 0.0) }],
        };
        let (mut bytes, mut without) = (Vec::new(), Vec::new());
        encode_crawled(&page("x"), &mut bytes);
        encode_crawled(&page(""), &mut without);
        let (rest, anchors) = bytes.split_at(without.len());
        assert!(Edit::decode(&bytes).is_ok());
        // One: of link 0, a text of one byte.
        assert_eq!(anchors, [1, 0, 1, b'x']);
        let wrong: [&[u8]; 6] = [
            &[0],
            &[1, 1, 1, b'x'],
            &[1, 0, 0],
            &[1, 0, 1, b' '],
            &[2, 0, 1, b'x'],
            &[2, 0, 1, b'x', 0, 1, b'x'],
        ];
        for anchors in wrong {
            assert_eq!(Edit::decode(&[rest, anchors].concat()), Err(Malformed), "{anchors:?}");
        }
    }

    #[test]
    fn the_document_has_the_bytes() {
        let mut bytes = Vec::new();
        encode_seeds(&[link("http://a.example/", 1.0), link("http://a.example/x", 0.0)], &mut bytes);
        assert_documented("seeds", &bytes);
        let page = CrawledPage {
            url: PageUrl::parse("http://a.example/x?y").unwrap(),
            score: Score::ZERO,
            time: Time(1_435_048_846_000),
            content_hash: None,
            links: vec![link("http://a.example/", 0.0), link("https://b.example/1", 0.5)],
        };
        bytes.clear();
        encode_crawled(&page, &mut bytes);
        assert_documented("crawled", &bytes);
        let mut page = page;
        page.links[1].anchor = Anchor::new("more");
        bytes.clear();
        encode_crawled(&page, &mut bytes);
        assert_documented("crawled with anchors", &bytes);
        let pages = [PageKey(0x6505_6f88_361f_7e9d)];
        bytes.clear();
        encode_hand_out(Time(1_435_048_846_000), Time(1_435_052_446_000), &pages, &mut bytes);
        assert_documented("hand-out", &bytes);
        bytes.clear();
        encode_expire(Time(1_435_052_446_000), &pages, &mut bytes);
        assert_documented("expire", &bytes);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80), tag in 1u8..5) {
            let mut tagged = vec![tag];
            tagged.extend(bytes);
            // Whatever decodes must stay inside its own lists.
            if let Ok(Edit::Crawled(edit)) = Edit::decode(&tagged) {
                prop_assert!(edit.links.iter().all(|(url, _)| url.site < edit.sites.len()));
                prop_assert!(edit.anchors.iter().all(|&(link, _)| link < edit.links.len()));
            }
        }

        #[test]
        fn a_cut_edit_is_refused(cut in 1usize..60) {
            let mut bytes = Vec::new();
            encode_seeds(&[link("http://a.example/1", 1.0), link("http://b.example/2", 0.0)], &mut bytes);
            if cut < bytes.len() {
                prop_assert_eq!(Edit::decode(&bytes[..bytes.len() - cut]), Err(Malformed));
            }
        }
    }
}
