//! Crawled pages as the JSON that `POST /crawled` takes.

use std::io::Write;

use bytes::Bytes;
use hyper::http::HeaderValue;

/// How pages are put into request bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Shape {
    /// A page a request
    Single,
    /// A JSON array of pages a request: taken or refused as a whole
    Array,
    /// A page a line: bad lines are refused alone
    Ndjson,
}

impl Shape {
    pub fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Shape::Single | Shape::Array => "application/json",
            Shape::Ndjson => "application/x-ndjson",
        })
    }
}

/// A request body that grows page by page.
pub struct Body {
    shape: Shape,
    json: Vec<u8>,
    pub pages: u64,
    pub links: u64,
}

impl Body {
    pub fn new(shape: Shape) -> Body {
        Body { shape, json: Vec::new(), pages: 0, links: 0 }
    }

    /// Adds a page; `scored` says whether its score and those of its links are written.
    pub fn push<'a>(
        &mut self,
        url: &str,
        score: f32,
        links: impl Iterator<Item = (&'a str, f32)>,
        scored: bool,
    ) {
        if self.shape == Shape::Array {
            self.json.push(if self.pages == 0 { b'[' } else { b',' });
        }
        let out = &mut self.json;
        out.extend_from_slice(br#"{"url":"#);
        push_text(out, url);
        if scored {
            out.extend_from_slice(br#","score":"#);
            push_score(out, score);
        }
        out.extend_from_slice(br#","links":["#);
        for (nth, (link, score)) in links.enumerate() {
            if nth > 0 {
                out.push(b',');
            }
            if scored {
                out.push(b'[');
                push_text(out, link);
                out.push(b',');
                push_score(out, score);
                out.push(b']');
            } else {
                push_text(out, link);
            }
            self.links += 1;
        }
        out.extend_from_slice(b"]}");
        if self.shape == Shape::Ndjson {
            out.push(b'\n');
        }
        self.pages += 1;
    }

    pub fn finish(mut self) -> Bytes {
        if self.shape == Shape::Array {
            if self.pages == 0 {
                self.json.push(b'[');
            }
            self.json.push(b']');
        }
        self.json.into()
    }
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    if text.bytes().all(|b| b >= b' ' && b != b'"' && b != b'\\') {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        // Writing to a Vec cannot fail.
        let _: serde_json::Result<()> = serde_json::to_writer(out, text);
    }
}

fn push_score(out: &mut Vec<u8>, score: f32) {
    let _: std::io::Result<()> = write!(out, "{score}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(shape: Shape, pages: usize, scored: bool) -> String {
        let mut body = Body::new(shape);
        for _ in 0..pages {
            body.push("http://a/\"", 0.5, [("b", 0.125), ("c\\", 0.0)].into_iter(), scored);
        }
        assert_eq!((body.pages, body.links), (pages as u64, 2 * pages as u64));
        String::from_utf8(body.finish().to_vec()).unwrap()
    }

    #[test]
    fn each_shape_is_what_the_api_takes() {
        let plain = r#"{"url":"http://a/\"","links":["b","c\\"]}"#;
        let scored = r#"{"url":"http://a/\"","score":0.5,"links":[["b",0.125],["c\\",0]]}"#;
        assert_eq!(json(Shape::Single, 1, false), plain);
        assert_eq!(json(Shape::Single, 1, true), scored);
        assert_eq!(json(Shape::Array, 2, false), format!("[{plain},{plain}]"));
        assert_eq!(json(Shape::Array, 0, false), "[]");
        assert_eq!(json(Shape::Ndjson, 2, true), format!("{scored}\n{scored}\n"));
    }
}
