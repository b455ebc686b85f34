//! The edits of Nutch's IWebDBWriter: pages and links put in or taken out by hand or by a tool, beside what
//! spiders tell. The bytes are specified in `docs/format.md`, "Edits".

use crate::types::codec::{Malformed, Reader, flag, put_bytes, put_f32, put_varint};
use crate::types::url::MAX_BYTES_ANY_FORM;
use crate::types::{Anchor, ContentHash, PageUrl, Score, Time};

/// First bytes of these edits.
pub(super) const ADD_PAGE: u8 = 16;
pub(super) const DELETE_PAGE: u8 = 17;
pub(super) const ADD_LINK: u8 = 18;

/// A page to be added.
#[derive(Debug, Clone, PartialEq)]
pub struct NewPage {
    pub url: PageUrl,
    /// Its place in the schedule, if it waits.
    pub score: Score,
    /// What its crawls have shown; without it the page waits to be crawled.
    pub history: Option<History>,
}

/// A page's crawl history, as somebody else has kept it.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    pub first_crawl: Time,
    /// Not before the first.
    pub last_crawl: Time,
    /// At least 1.
    pub crawls: u32,
    /// Less than `crawls`.
    pub changes: u32,
    /// The content's score.
    pub score: Score,
    pub content_hash: Option<ContentHash>,
}

/// What becomes of a page that has the URL already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adding {
    /// It is overwritten, but for its score (Nutch's `addPage`).
    KeepScore,
    /// It is overwritten with its score (`addPageWithScore`).
    WithScore,
    /// It stays as it is (`addPageIfNotPresent`).
    IfAbsent,
}

/// A link to be added.
#[derive(Debug, Clone, PartialEq)]
pub struct NewLink {
    pub from: LinkSource,
    pub to: PageUrl,
    /// The score that it gives its target.
    pub score: Score,
    /// Its text; takes the place of the one that the link has, if it stands there already.
    pub anchor: Option<Anchor>,
}

/// Where a link stands.
#[derive(Debug, Clone, PartialEq)]
pub enum LinkSource {
    Page(PageUrl),
    /// On each page with this content.
    Content(ContentHash),
}

/// An edit of this kind.
#[derive(Debug, Clone, PartialEq)]
pub enum WebEdit {
    /// Adds a page; a link with it is added if the page is, and the page only if the link can be.
    AddPage { page: NewPage, adding: Adding, link: Option<NewLink> },
    /// Removes a page, its links, and the links to it. Nothing, if there is no such page.
    DeletePage(PageUrl),
    /// Adds a link to pages that were crawled. Nothing, if there is none.
    AddLink(NewLink),
}

const ADDING_BITS: u8 = 0b11;
const HAS_HISTORY: u8 = 1 << 2;
const HAS_LINK: u8 = 1 << 3;
const HAS_SCORE: u8 = 1 << 4;
const HAS_CONTENT_SCORE: u8 = 1 << 5;
const HAS_CONTENT_HASH: u8 = 1 << 6;

const FROM_CONTENT: u8 = 1;
const LINK_HAS_SCORE: u8 = 2;
const LINK_HAS_ANCHOR: u8 = 4;

impl WebEdit {
    /// Appends the edit's bytes to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            WebEdit::AddPage { page, adding, link } => {
                out.push(ADD_PAGE);
                encode_page(page, *adding, link.is_some(), out);
                if let Some(link) = link {
                    encode_link(link, out);
                }
            }
            WebEdit::DeletePage(url) => {
                out.push(DELETE_PAGE);
                encode_url(url, out);
            }
            WebEdit::AddLink(link) => {
                out.push(ADD_LINK);
                encode_link(link, out);
            }
        }
    }

    /// The edit whose first byte was `kind`.
    pub(super) fn decode(kind: u8, reader: &mut Reader<'_>) -> Result<WebEdit, Malformed> {
        match kind {
            ADD_PAGE => decode_page(reader),
            DELETE_PAGE => Ok(WebEdit::DeletePage(decode_url(reader)?)),
            ADD_LINK => Ok(WebEdit::AddLink(decode_link(reader)?)),
            _ => Err(Malformed),
        }
    }

    /// Whether encoded bytes are of this kind, by their first one.
    pub fn is_one(bytes: &[u8]) -> bool {
        matches!(bytes.first(), Some(&(ADD_PAGE..=ADD_LINK)))
    }
}

fn encode_page(page: &NewPage, adding: Adding, has_link: bool, out: &mut Vec<u8>) {
    let history = page.history.as_ref();
    let content_score = history.map(|history| history.score).filter(|score| *score != Score::ZERO);
    let content_hash = history.and_then(|history| history.content_hash.as_ref());
    let adding = match adding {
        Adding::KeepScore => 0,
        Adding::WithScore => 1,
        Adding::IfAbsent => 2,
    };
    out.push(
        adding
            | flag(history.is_some(), HAS_HISTORY)
            | flag(has_link, HAS_LINK)
            | flag(page.score != Score::ZERO, HAS_SCORE)
            | flag(content_score.is_some(), HAS_CONTENT_SCORE)
            | flag(content_hash.is_some(), HAS_CONTENT_HASH),
    );
    encode_url(&page.url, out);
    if page.score != Score::ZERO {
        put_f32(out, page.score.get());
    }
    if let Some(history) = history {
        put_varint(out, history.first_crawl.0);
        put_varint(out, history.last_crawl.0.saturating_sub(history.first_crawl.0));
        put_varint(out, u64::from(history.crawls));
        put_varint(out, u64::from(history.changes));
    }
    if let Some(score) = content_score {
        put_f32(out, score.get());
    }
    if let Some(hash) = content_hash {
        put_bytes(out, &hash.to_bytes());
    }
}

fn decode_page(reader: &mut Reader<'_>) -> Result<WebEdit, Malformed> {
    let flags = reader.u8()?;
    let adding = match flags & ADDING_BITS {
        0 => Adding::KeepScore,
        1 => Adding::WithScore,
        2 => Adding::IfAbsent,
        _ => return Err(Malformed),
    };
    let has = |bit| flags & bit != 0;
    if has(1 << 7) || (!has(HAS_HISTORY) && has(HAS_CONTENT_SCORE | HAS_CONTENT_HASH)) {
        return Err(Malformed);
    }
    let url = decode_url(reader)?;
    let score = if has(HAS_SCORE) { decode_score(reader)? } else { Score::ZERO };
    let mut history = None;
    if has(HAS_HISTORY) {
        let first_crawl = Time(reader.varint()?);
        let last_crawl = Time(first_crawl.0.checked_add(reader.varint()?).ok_or(Malformed)?);
        let (crawls, changes) = (reader.number()?, reader.number()?);
        if changes >= crawls {
            return Err(Malformed);
        }
        let score = if has(HAS_CONTENT_SCORE) { decode_score(reader)? } else { Score::ZERO };
        let content_hash = if has(HAS_CONTENT_HASH) { Some(decode_hash(reader)?) } else { None };
        history = Some(History { first_crawl, last_crawl, crawls, changes, score, content_hash });
    }
    let link = if has(HAS_LINK) { Some(decode_link(reader)?) } else { None };
    Ok(WebEdit::AddPage { page: NewPage { url, score, history }, adding, link })
}

fn encode_link(link: &NewLink, out: &mut Vec<u8>) {
    let has_score = link.score != Score::ZERO;
    let from_content = matches!(link.from, LinkSource::Content(_));
    out.push(
        flag(from_content, FROM_CONTENT)
            | flag(has_score, LINK_HAS_SCORE)
            | flag(link.anchor.is_some(), LINK_HAS_ANCHOR),
    );
    match &link.from {
        LinkSource::Page(url) => encode_url(url, out),
        LinkSource::Content(hash) => put_bytes(out, &hash.to_bytes()),
    }
    encode_url(&link.to, out);
    if has_score {
        put_f32(out, link.score.get());
    }
    if let Some(anchor) = &link.anchor {
        put_bytes(out, anchor.as_str().as_bytes());
    }
}

fn decode_link(reader: &mut Reader<'_>) -> Result<NewLink, Malformed> {
    let flags = reader.u8()?;
    if flags & !(FROM_CONTENT | LINK_HAS_SCORE | LINK_HAS_ANCHOR) != 0 {
        return Err(Malformed);
    }
    let from = if flags & FROM_CONTENT != 0 {
        LinkSource::Content(decode_hash(reader)?)
    } else {
        LinkSource::Page(decode_url(reader)?)
    };
    let to = decode_url(reader)?;
    let score = if flags & LINK_HAS_SCORE != 0 { decode_score(reader)? } else { Score::ZERO };
    let has_anchor = flags & LINK_HAS_ANCHOR != 0;
    let anchor = if has_anchor { Some(Anchor::from_normal(reader.str()?)?) } else { None };
    Ok(NewLink { from, to, score, anchor })
}

fn encode_url(url: &PageUrl, out: &mut Vec<u8>) {
    put_bytes(out, url.site().as_bytes());
    put_bytes(out, url.path().as_bytes());
}

fn decode_url(reader: &mut Reader<'_>) -> Result<PageUrl, Malformed> {
    let (site, path) = (reader.str()?, reader.str()?);
    if site.len() + path.len() > MAX_BYTES_ANY_FORM {
        return Err(Malformed);
    }
    Ok(PageUrl::from_parts(site, path))
}

fn decode_score(reader: &mut Reader<'_>) -> Result<Score, Malformed> {
    Score::new(f64::from(reader.f32()?)).map_err(|_| Malformed)
}

fn decode_hash(reader: &mut Reader<'_>) -> Result<ContentHash, Malformed> {
    ContentHash::from_bytes(reader.bytes()?).ok_or(Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Edit;
    use crate::types::codec::example::assert_documented;
    use proptest::prelude::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    fn encoded(edit: &WebEdit) -> Vec<u8> {
        let mut bytes = Vec::new();
        edit.encode(&mut bytes);
        bytes
    }

    fn history() -> History {
        History {
            first_crawl: Time(1_435_048_846_000),
            last_crawl: Time(1_435_048_847_500),
            crawls: 2,
            changes: 1,
            score: Score::new(0.5).unwrap(),
            content_hash: Some(ContentHash::Number(7)),
        }
    }

    #[test]
    fn the_document_has_the_bytes() {
        let page = NewPage {
            url: url("http://a.example/"),
            score: Score::new(1.0).unwrap(),
            history: Some(history()),
        };
        let by_content = NewLink {
            from: LinkSource::Content(ContentHash::Number(7)),
            to: url("http://b.example/"),
            score: Score::new(0.25).unwrap(),
            anchor: None,
        };
        let edit = WebEdit::AddPage { page, adding: Adding::IfAbsent, link: Some(by_content) };
        assert_documented("add page", &encoded(&edit));
        assert_documented("delete page", &encoded(&WebEdit::DeletePage(url("http://a.example/x"))));
        let from = LinkSource::Page(url("http://a.example/"));
        let link = NewLink { from, to: url("http://a.example/x"), score: Score::ZERO, anchor: None };
        assert_documented("add link", &encoded(&WebEdit::AddLink(link.clone())));
        let link = NewLink { anchor: Anchor::new("more"), ..link };
        assert_documented("add link with an anchor", &encoded(&WebEdit::AddLink(link)));
    }

    fn any_url() -> impl Strategy<Value = PageUrl> {
        "[a-z]{1,5}\\.example/[a-z/?]{0,9}".prop_map(|rest| url(&format!("http://{rest}")))
    }

    fn any_score() -> impl Strategy<Value = Score> {
        prop_oneof![Just(0.0), -9.0..9.0f64].prop_map(|score| Score::new(score).unwrap())
    }

    fn any_hash() -> impl Strategy<Value = ContentHash> {
        prop_oneof![any::<u64>().prop_map(ContentHash::Number), "\\PC{0,20}".prop_map(ContentHash::Text)]
    }

    fn any_link() -> impl Strategy<Value = NewLink> {
        let from =
            prop_oneof![any_url().prop_map(LinkSource::Page), any_hash().prop_map(LinkSource::Content)];
        let anchor = prop::option::of("[a-z]{1,9}").prop_map(|text| Anchor::new(&text?));
        let parts = (from, any_url(), any_score(), anchor);
        parts.prop_map(|(from, to, score, anchor)| NewLink { from, to, score, anchor })
    }

    fn any_page() -> impl Strategy<Value = NewPage> {
        let hash = prop::option::of(any_hash());
        let numbers = (any::<u32>(), any::<u32>(), 1..u32::MAX, any::<u32>());
        let history =
            (numbers, any_score(), hash).prop_map(|((first, more, crawls, changes), score, hash)| {
                let (first, more) = (u64::from(first), u64::from(more));
                let (first_crawl, last_crawl) = (Time(first), Time(first + more));
                let changes = changes % crawls;
                History { first_crawl, last_crawl, crawls, changes, score, content_hash: hash }
            });
        let parts = (any_url(), any_score(), prop::option::of(history));
        parts.prop_map(|(url, score, history)| NewPage { url, score, history })
    }

    fn any_edit() -> impl Strategy<Value = WebEdit> {
        let adding = prop::sample::select(vec![Adding::KeepScore, Adding::WithScore, Adding::IfAbsent]);
        prop_oneof![
            (any_page(), adding, prop::option::of(any_link()))
                .prop_map(|(page, adding, link)| WebEdit::AddPage { page, adding, link }),
            any_url().prop_map(WebEdit::DeletePage),
            any_link().prop_map(WebEdit::AddLink),
        ]
    }

    proptest! {
        #[test]
        fn edits_come_back_and_cut_ones_are_refused(edit in any_edit(), cut in 1usize..20) {
            let bytes = encoded(&edit);
            prop_assert!(WebEdit::is_one(&bytes));
            prop_assert_eq!(Edit::decode(&bytes[..bytes.len().saturating_sub(cut)]), Err(Malformed));
            prop_assert_eq!(Edit::decode(&bytes), Ok(Edit::Web(edit)));
        }

        #[test]
        fn arbitrary_bytes_are_an_edit_or_refused(
            kind in ADD_PAGE..=ADD_LINK, bytes in proptest::collection::vec(0u8..40, 0..60)
        ) {
            let bytes = [&[kind], &bytes[..]].concat();
            if let Ok(Edit::Web(edit)) = Edit::decode(&bytes) {
                let again = encoded(&edit);
                prop_assert_eq!(Edit::decode(&again), Ok(Edit::Web(edit)));
            }
        }
    }
}
