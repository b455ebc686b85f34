//! What was fetched: FetcherContent and FetcherText of Nutch 0.4, Content of 0.5; each version 1.

use super::super::input::put_compressed;
use super::super::utf8::put_utf8;
use super::super::{Limits, Malformed, Unwritable};
use super::{Properties, Record, decode_whole, properties};

const VERSION: u8 = 1;

/// A page's content as it was fetched, in Nutch 0.5.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    pub url: String,
    /// What relative links are relative to; another than `url` after a redirection.
    pub base: String,
    /// `None` for what Java has as null.
    pub content: Option<Vec<u8>>,
    pub content_type: String,
    /// Headers of the protocol.
    pub metadata: Properties,
}

/// A page's content as it was fetched, in Nutch 0.4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetcherContent(pub Option<Vec<u8>>);

/// The text of a page, in Nutch 0.4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetcherText(pub Option<Vec<u8>>);

impl Record for Content {
    const CLASS: &'static str = "net.nutch.protocol.Content";
    const NAME: &'static str = "Content";

    fn decode_within(bytes: &[u8], limits: Limits) -> Result<Content, Malformed> {
        decode_whole(bytes, limits, "the content", |input| {
            input.version("the content", &[VERSION], "1")?;
            Ok(Content {
                url: input.utf8("URL")?,
                base: input.utf8("base URL")?,
                content: input.compressed("content")?,
                content_type: input.utf8("content type")?,
                metadata: properties::read(input)?,
            })
        })
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Unwritable> {
        out.push(VERSION);
        put_utf8(out, "URL", &self.url)?;
        put_utf8(out, "base URL", &self.base)?;
        put_compressed(out, "content", self.content.as_deref())?;
        put_utf8(out, "content type", &self.content_type)?;
        properties::put(out, &self.metadata)
    }
}

/// A record that is a version byte and a compressed byte array.
macro_rules! compressed_record {
    ($name:ident, $class:literal, $what:literal) => {
        impl Record for $name {
            const CLASS: &'static str = $class;
            const NAME: &'static str = stringify!($name);

            fn decode_within(bytes: &[u8], limits: Limits) -> Result<$name, Malformed> {
                decode_whole(bytes, limits, $what, |input| {
                    input.version($what, &[VERSION], "1")?;
                    Ok($name(input.compressed($what)?))
                })
            }

            fn encode(&self, out: &mut Vec<u8>) -> Result<(), Unwritable> {
                out.push(VERSION);
                put_compressed(out, $what, self.0.as_deref())
            }
        }
    };
}

compressed_record!(FetcherContent, "net.nutch.fetcher.FetcherContent", "the fetched content");
compressed_record!(FetcherText, "net.nutch.fetcher.FetcherText", "the fetched text");
