//! The readers of a page's parts. Text is borrowed where JSON has no escapes in it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::error::{nearest, quoted};
use super::trail::Trail;
use super::{FIELDS, RawBody, RawLink, RawPage};
use crate::types::page::MAX_CONTENT_HASH_BYTES;
use crate::types::{ContentHash, Score, Time};

/// A page or an array of pages.
pub struct BodySeed<'t> {
    pub trail: &'t Trail,
}

/// A page.
pub struct PageSeed<'t> {
    pub trail: &'t Trail,
}

struct LinksSeed<'t>(&'t Trail);
struct LinkSeed<'t>(&'t Trail);
struct FieldSeed<'t>(&'t Trail);
struct HashSeed;

/// A number or null; the text says what is expected.
struct NumberSeed(&'static str);

/// A string or null; the text says what is expected.
struct TextSeed(&'static str);

const A_SCORE: &str = "a finite number";
const A_URL: &str = "a string with a URL";
const AN_ANCHOR: &str = "a string with the text of the link";
const A_LINK: &str = "a URL, [URL], [URL, score] or [URL, score, anchor]";

macro_rules! seed {
    ($seed:ty, $value:ty) => {
        impl<'de> DeserializeSeed<'de> for $seed {
            type Value = $value;
            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<$value, D::Error> {
                deserializer.deserialize_any(self)
            }
        }
    };
}

seed!(BodySeed<'_>, RawBody<'de>);
seed!(PageSeed<'_>, RawPage<'de>);
seed!(LinksSeed<'_>, Vec<RawLink<'de>>);
seed!(LinkSeed<'_>, RawLink<'de>);
seed!(FieldSeed<'_>, usize);
seed!(HashSeed, Option<ContentHash>);
seed!(NumberSeed, Option<f64>);
seed!(TextSeed, Option<Cow<'de, str>>);

impl<'de> Visitor<'de> for BodySeed<'_> {
    type Value = RawBody<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a page, {\"url\": ...}, or an array of pages")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawBody<'de>, A::Error> {
        PageSeed { trail: self.trail }.visit_map(map).map(RawBody::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<RawBody<'de>, A::Error> {
        let mut pages = Vec::new();
        loop {
            self.trail.enter("");
            self.trail.page.set(Some(pages.len()));
            match seq.next_element_seed(PageSeed { trail: self.trail })? {
                Some(page) => pages.push(page),
                None => return Ok(RawBody::List(pages)),
            }
        }
    }
}

impl<'de> Visitor<'de> for PageSeed<'_> {
    type Value = RawPage<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a page, {\"url\": ...}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawPage<'de>, A::Error> {
        let mut page = RawPage::default();
        let mut seen = 0u32;
        while let Some(field) = map.next_key_seed(FieldSeed(self.trail))? {
            self.trail.enter(FIELDS[field]);
            // Which of two values was meant cannot be known.
            if seen & 1 << field != 0 {
                return Err(Error::custom("stands twice: give it once"));
            }
            seen |= 1 << field;
            match FIELDS[field] {
                "url" => page.url = map.next_value_seed(TextSeed(A_URL))?,
                "score" => page.score = score(map.next_value_seed(NumberSeed(A_SCORE))?)?,
                "links" => page.links = map.next_value_seed(LinksSeed(self.trail))?,
                "content_hash" => page.content_hash = map.next_value_seed(HashSeed)?,
                "time" => page.time = time(map.next_value_seed(NumberSeed("seconds since the epoch"))?)?,
                _ => page.base = map.next_value_seed(TextSeed(A_URL))?,
            }
            self.trail.enter("");
        }
        Ok(page)
    }
}

fn score<E: Error>(number: Option<f64>) -> Result<Score, E> {
    let Some(number) = number else { return Ok(Score::ZERO) };
    Score::new(number).map_err(|_| {
        E::custom(format_args!("{number:e} is out of range: give a number between -3.4e38 and 3.4e38"))
    })
}

fn time<E: Error>(seconds: Option<f64>) -> Result<Option<Time>, E> {
    let Some(seconds) = seconds else { return Ok(None) };
    let time = Time::from_seconds(seconds);
    time.map(Some).ok_or_else(|| {
        E::custom(format_args!(
            "{seconds} lies outside the years 1970 to 9999: give seconds since the epoch (not milliseconds)"
        ))
    })
}

impl<'de> Visitor<'de> for FieldSeed<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<usize, E> {
        // A mistyped "link" must not lose the links of every page in silence.
        FIELDS.iter().position(|field| *field == name).ok_or_else(|| {
            let remedy = match nearest(name, &FIELDS) {
                Some(meant) => format!("did you mean {meant}?"),
                None => format!("the fields are {}", FIELDS.join(", ")),
            };
            self.0.enter(quoted(name).trim_matches('"').to_owned());
            E::custom(format_args!("unknown field; {remedy}"))
        })
    }
}

impl<'de> Visitor<'de> for LinksSeed<'_> {
    type Value = Vec<RawLink<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of links")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut links = Vec::with_capacity(32);
        loop {
            self.0.link.set(Some(links.len()));
            match seq.next_element_seed(LinkSeed(self.0))? {
                Some(link) => links.push(link),
                None => break,
            }
        }
        self.0.link.set(None);
        Ok(links)
    }
}

impl<'de> Visitor<'de> for LinkSeed<'_> {
    type Value = RawLink<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(A_LINK)
    }

    fn visit_borrowed_str<E: Error>(self, url: &'de str) -> Result<RawLink<'de>, E> {
        Ok(RawLink { url: Cow::Borrowed(url), score: Score::ZERO, anchor: None })
    }

    fn visit_str<E: Error>(self, url: &str) -> Result<RawLink<'de>, E> {
        Ok(RawLink { url: Cow::Owned(url.to_owned()), score: Score::ZERO, anchor: None })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<RawLink<'de>, A::Error> {
        self.0.part.set(Some(0));
        let Some(url) = seq.next_element_seed(TextSeed(A_URL))? else {
            self.0.part.set(None);
            return Err(Error::custom(format_args!("an empty list: give {A_LINK}")));
        };
        let url = url.ok_or_else(|| Error::invalid_type(serde::de::Unexpected::Unit, &A_URL))?;
        self.0.part.set(Some(1));
        let score = score(seq.next_element_seed(NumberSeed(A_SCORE))?.flatten())?;
        self.0.part.set(Some(2));
        let anchor = seq.next_element_seed(TextSeed(AN_ANCHOR))?.flatten();
        self.0.part.set(None);
        match seq.next_element::<IgnoredAny>()? {
            None => Ok(RawLink { url, score, anchor }),
            Some(_) => Err(Error::custom(format_args!("more than three elements: give {A_LINK}"))),
        }
    }
}

impl<'de> Visitor<'de> for HashSeed {
    type Value = Option<ContentHash>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an integer from 0 to {} or a string", u64::MAX)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(ContentHash::Number(number)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        if text.len() > MAX_CONTENT_HASH_BYTES {
            return Err(E::custom(format_args!(
                "{} bytes long: give at most {MAX_CONTENT_HASH_BYTES} bytes",
                text.len()
            )));
        }
        Ok(Some(ContentHash::Text(text.to_owned())))
    }
}

impl<'de> Visitor<'de> for NumberSeed {
    type Value = Option<f64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Some(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(number as f64))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Some(number as f64))
    }
}

impl<'de> Visitor<'de> for TextSeed {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }
}
