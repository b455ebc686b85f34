//! Pages and links to be added, as JSON: an object, or an array of them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::error::{ApiError, nearest, quoted};
use super::page_json::bad_url;
use crate::types::edit::web::{Adding, History, LinkSource, NewLink, NewPage};
use crate::types::page::MAX_CONTENT_HASH_BYTES;
use crate::types::{Anchor, ContentHash, PageUrl, Score, Time, WebEdit};

const PAGE: [&str; 9] = [
    "url",
    "score",
    "link",
    "first_crawl",
    "last_crawl",
    "crawls",
    "changes",
    "content_score",
    "content_hash",
];
const LINK: [&str; 5] = ["from", "from_content", "to", "score", "anchor"];

/// Reads pages to be added.
///
/// # Errors
/// 400 that names the first field at fault.
pub fn read_pages(body: &[u8], adding: Adding, now: Time) -> Result<Vec<WebEdit>, ApiError> {
    let page = |object: Object, at: &str| {
        let mut fields = Fields::new(object, &PAGE, at)?;
        let link = fields.take("link").map(|link| match link {
            Value::Object(link) => read_link(Object(link.into_iter().collect()), &fields.at("link.")),
            _ => Err(fields.bad("link", "no object", "give {\"from\": URL, \"to\": URL}")),
        });
        let link = link.transpose()?;
        if link.is_some() && adding != Adding::IfAbsent {
            return Err(fields.bad("link", "comes only with a page that is absent", "give present=skip"));
        }
        let (url, score) = (fields.need_url("url")?, fields.score("score")?);
        let page = NewPage { url, score, history: read_history(&mut fields, now)? };
        Ok(WebEdit::AddPage { page, adding, link })
    };
    each(body, page)
}

/// Reads links to be added.
///
/// # Errors
/// As [`read_pages`].
pub fn read_links(body: &[u8]) -> Result<Vec<WebEdit>, ApiError> {
    each(body, |object, at| read_link(object, at).map(WebEdit::AddLink))
}

fn read_link(object: Object, at: &str) -> Result<NewLink, ApiError> {
    let mut fields = Fields::new(object, &LINK, at)?;
    let from = match (fields.url("from")?, fields.hash("from_content")?) {
        (Some(url), None) => LinkSource::Page(url),
        (None, Some(hash)) => LinkSource::Content(hash),
        (None, None) => return Err(fields.bad("from", "missing", "give a URL, or from_content")),
        (Some(_), Some(_)) => {
            return Err(fields.bad("from_content", "stands beside from", "give one of them"));
        }
    };
    let (to, score, anchor) = (fields.need_url("to")?, fields.score("score")?, fields.anchor("anchor")?);
    Ok(NewLink { from, to, score, anchor })
}

/// A page has a history if one of its fields is given; others then have their defaults.
fn read_history(fields: &mut Fields<'_>, now: Time) -> Result<Option<History>, ApiError> {
    let (first, last) = (fields.time("first_crawl")?, fields.time("last_crawl")?);
    let (crawls, changes) = (fields.count("crawls")?, fields.count("changes")?);
    let (has_score, score) = (fields.has("content_score"), fields.score("content_score")?);
    let content_hash = fields.hash("content_hash")?;
    let given = [first.is_some(), last.is_some(), crawls.is_some(), changes.is_some(), has_score];
    if !given.contains(&true) && content_hash.is_none() {
        return Ok(None);
    }
    let last_crawl = last.unwrap_or_else(|| first.map_or(now, |first| first.max(now)));
    let first_crawl = first.unwrap_or(last_crawl);
    if first_crawl > last_crawl {
        return Err(fields.bad("first_crawl", "lies after last_crawl", "give a time before it"));
    }
    let changes = changes.unwrap_or(0);
    let crawls = crawls.unwrap_or(changes.saturating_add(1));
    if changes >= crawls {
        return Err(fields.bad(
            "changes",
            "not less than crawls",
            "give the number of crawls that differed from the one before",
        ));
    }
    Ok(Some(History { first_crawl, last_crawl, crawls, changes, score, content_hash }))
}

/// Reads each object of a body; `read` is told where it stands.
fn each<T>(body: &[u8], read: impl Fn(Object, &str) -> Result<T, ApiError>) -> Result<Vec<T>, ApiError> {
    if body.trim_ascii().is_empty() {
        return Err(ApiError::bad_request("the body is empty").hint("give an object, or an array of objects"));
    }
    let broken = |error: serde_json::Error| ApiError::bad_request(format!("not valid JSON: {error}"));
    if body.trim_ascii_start().first() != Some(&b'[') {
        return Ok(vec![read(serde_json::from_slice(body).map_err(broken)?, "")?]);
    }
    let objects: Vec<Object> = serde_json::from_slice(body).map_err(broken)?;
    objects.into_iter().enumerate().map(|(at, object)| read(object, &format!("[{at}]."))).collect()
}

/// An object as it was sent: a field that stands twice is still there twice.
struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// The fields of an object, taken out one by one.
struct Fields<'a> {
    fields: Vec<(String, Value)>,
    at: &'a str,
}

impl<'a> Fields<'a> {
    fn new(object: Object, known: &[&str], at: &'a str) -> Result<Fields<'a>, ApiError> {
        let fields = Fields { fields: object.0, at };
        for (n, (name, _)) in fields.fields.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                let remedy = match nearest(name, known) {
                    Some(meant) => format!("did you mean {meant}?"),
                    None => format!("the fields are {}", known.join(", ")),
                };
                let name = quoted(name);
                return Err(fields.bad(name.trim_matches('"'), "unknown field", remedy));
            }
            if fields.fields[..n].iter().any(|(other, _)| other == name) {
                return Err(fields.bad(name, "stands twice", "give it once"));
            }
        }
        Ok(fields)
    }

    fn at(&self, name: &str) -> String {
        format!("{}{name}", self.at)
    }

    fn bad(&self, name: &str, what: impl Into<String>, remedy: impl Into<String>) -> ApiError {
        ApiError::bad_request(what.into()).field(self.at(name)).hint(remedy.into())
    }

    fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(known, value)| known == name && !value.is_null())
    }

    /// A field's value; `null` is the same as leaving it out.
    fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.fields.iter().position(|(known, _)| known == name)?;
        Some(self.fields.swap_remove(at).1).filter(|value| !value.is_null())
    }

    fn url(&mut self, name: &str) -> Result<Option<PageUrl>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => {
                PageUrl::parse(&text).map(Some).map_err(|error| bad_url(&self.at(name), &text, &error))
            }
            Some(_) => Err(self.bad(name, "no string", "give a string with a URL")),
        }
    }

    fn need_url(&mut self, name: &str) -> Result<PageUrl, ApiError> {
        self.url(name)?.ok_or_else(|| self.bad(name, "missing", "give a URL"))
    }

    fn number(&mut self, name: &str, remedy: &str) -> Result<Option<f64>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => match value.as_f64() {
                Some(number) => Ok(Some(number)),
                None => Err(self.bad(name, "no number", remedy)),
            },
        }
    }

    fn score(&mut self, name: &str) -> Result<Score, ApiError> {
        const REMEDY: &str = "give a number between -3.4e38 and 3.4e38";
        let number = self.number(name, REMEDY)?.unwrap_or(0.0);
        Score::new(number).map_err(|_| self.bad(name, "out of range", REMEDY))
    }

    fn time(&mut self, name: &str) -> Result<Option<Time>, ApiError> {
        const REMEDY: &str = "give seconds since the epoch";
        let Some(seconds) = self.number(name, REMEDY)? else { return Ok(None) };
        Time::from_seconds(seconds).map(Some).ok_or_else(|| self.bad(name, "out of range", REMEDY))
    }

    fn count(&mut self, name: &str) -> Result<Option<u32>, ApiError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let count = value.as_u64().and_then(|count| u32::try_from(count).ok());
        count.map(Some).ok_or_else(|| self.bad(name, "no count", "give an integer from 0 to 4294967295"))
    }

    fn anchor(&mut self, name: &str) -> Result<Option<Anchor>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Anchor::new(&text)),
            Some(_) => Err(self.bad(name, "no string", "give a string with the text of the link")),
        }
    }

    fn hash(&mut self, name: &str) -> Result<Option<ContentHash>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.len() <= MAX_CONTENT_HASH_BYTES => {
                Ok(Some(ContentHash::Text(text)))
            }
            Some(value) => match value.as_u64() {
                Some(number) => Ok(Some(ContentHash::Number(number))),
                None => {
                    let remedy = "give an integer from 0 to 2^64-1, or at most 256 bytes of text";
                    Err(self.bad(name, "no content hash", remedy))
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(9_000);

    fn page(body: &str) -> (NewPage, Option<NewLink>) {
        let mut edits =
            read_pages(body.as_bytes(), Adding::IfAbsent, NOW).unwrap_or_else(|e| panic!("{}", e.line()));
        match edits.pop() {
            Some(WebEdit::AddPage { page, link, .. }) if edits.is_empty() => (page, link),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_page_needs_only_its_url() {
        let (page, link) = page(r#"{"url": "http://a.example", "score": null}"#);
        assert_eq!(
            (page.url.as_str(), page.score, page.history, link),
            ("http://a.example/", Score::ZERO, None, None)
        );
    }

    #[test]
    fn one_field_of_a_history_makes_one() {
        let (page, link) = page(
            r#"[{"url": "http://a.example", "content_hash": 7, "changes": 2, "first_crawl": 1.5,
                 "link": {"from_content": "x", "to": "http://b.example/", "score": 2}}]"#,
        );
        let history = page.history.unwrap();
        assert_eq!((history.first_crawl, history.last_crawl), (Time(1_500), NOW));
        assert_eq!((history.crawls, history.changes), (3, 2));
        let link = link.unwrap();
        assert_eq!(link.from, LinkSource::Content(ContentHash::Text("x".into())));
        assert_eq!((link.to.as_str(), link.score.get()), ("http://b.example/", 2.0));
    }

    #[test]
    fn errors_name_the_field() {
        for (body, line) in [
            ("{}", "url: missing; give a URL"),
            (r#"[{"url": "http://a/"}, {"url": 5}]"#, "[1].url: no string; give a string with a URL"),
            (r#"{"urls": "http://a/"}"#, "urls: unknown field; did you mean url?"),
            (r#"{"url": "http://a/", "url": "http://b/"}"#, "url: stands twice; give it once"),
            (
                r#"{"url": "http://a/", "link": {"to": "http://b/"}}"#,
                "link.from: missing; give a URL, or from_content",
            ),
            (
                r#"{"url": "http://a/", "crawls": -1}"#,
                "crawls: no count; give an integer from 0 to 4294967295",
            ),
            (
                r#"{"url": "http://a/", "first_crawl": 5, "last_crawl": 4}"#,
                "first_crawl: lies after last_crawl; give a time before it",
            ),
            (
                r#"{"url": "/a"}"#,
                "url: \"/a\": relative URL without a base; give an absolute http or https URL",
            ),
        ] {
            let error = read_pages(body.as_bytes(), Adding::IfAbsent, NOW).unwrap_err();
            assert_eq!(error.line(), line);
        }
        let body = br#"{"url": "http://a/", "link": {"from": "http://a/", "to": "http://b/"}}"#;
        let error = read_pages(body, Adding::KeepScore, NOW).unwrap_err();
        assert_eq!(error.line(), "link: comes only with a page that is absent; give present=skip");
    }
}
