//! What a parser found, in Nutch 0.5: ParseData and ParseText, each version 1.

use super::super::input::put_compressed;
use super::super::utf8::put_utf8;
use super::super::{Fault, Limits, Malformed, Unwritable};
use super::outlink::{put_list, read_list};
use super::{Outlink, Properties, Record, decode_whole, properties};

const VERSION: u8 = 1;

/// Title and links of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseData {
    pub title: String,
    pub outlinks: Vec<Outlink>,
    pub metadata: Properties,
}

/// The text of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseText(pub String);

impl Record for ParseData {
    const CLASS: &'static str = "net.nutch.parse.ParseData";
    const NAME: &'static str = "ParseData";

    fn decode_within(bytes: &[u8], limits: Limits) -> Result<ParseData, Malformed> {
        decode_whole(bytes, limits, "the parse data", |input| {
            input.version("the parse data", &[VERSION], "1")?;
            let (title, outlinks) = (input.utf8("title")?, read_list(input)?);
            Ok(ParseData { title, outlinks, metadata: properties::read(input)? })
        })
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Unwritable> {
        out.push(VERSION);
        put_utf8(out, "title", &self.title)?;
        put_list(out, &self.outlinks)?;
        properties::put(out, &self.metadata)
    }
}

impl Record for ParseText {
    const CLASS: &'static str = "net.nutch.parse.ParseText";
    const NAME: &'static str = "ParseText";

    fn decode_within(bytes: &[u8], limits: Limits) -> Result<ParseText, Malformed> {
        decode_whole(bytes, limits, "the parse text", |input| {
            input.version("the parse text", &[VERSION], "1")?;
            let text = input.compressed("text")?.unwrap_or_default();
            let text = String::from_utf8(text).map_err(|_| input.refuse(Fault::Text("text")))?;
            Ok(ParseText(text))
        })
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Unwritable> {
        out.push(VERSION);
        put_compressed(out, "text", Some(self.0.as_bytes()))
    }
}
