//! The seeds file: a URL a line, after whitespace optionally its score. `#` starts a comment at the start
//! of a line or after whitespace (inside a URL it is the fragment); blank lines are skipped.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::types::{Link, PageUrl, Score, UrlError};

/// Why a seeds file was refused; all of it is, so that a crawl does not start with half its seeds.
#[derive(Debug, thiserror::Error)]
pub enum SeedsError {
    #[error("cannot read the seeds file {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{}:{line}: {problem}", path.display())]
    Line { path: PathBuf, line: usize, problem: Problem },
}

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("not UTF-8: save the file as UTF-8, or percent-encode the URL")]
    Encoding,
    #[error("{url:?} cannot be crawled: {reason}")]
    Url { url: String, reason: UrlError },
    #[error("{0:?} is not a score: give a finite number after the URL, or nothing for 0")]
    Score(String),
    #[error("{0:?} after the score: one URL a line, and \"#\" before a comment")]
    Rest(String),
}

/// Reads and parses a seeds file.
///
/// # Errors
/// [`SeedsError`] names the file, and the line if one is wrong.
pub fn read_seeds(path: &Path) -> Result<Vec<Link>, SeedsError> {
    let bytes = fs::read(path).map_err(|source| SeedsError::Read { path: path.to_owned(), source })?;
    parse(&bytes).map_err(|(line, problem)| SeedsError::Line { path: path.to_owned(), line, problem })
}

/// On error the number of the line, from 1.
fn parse(bytes: &[u8]) -> Result<Vec<Link>, (usize, Problem)> {
    // Some editors put a byte order mark first.
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let lines = bytes.split(|&b| b == b'\n').enumerate();
    lines.filter_map(|(i, line)| parse_line(line).map_err(|problem| (i + 1, problem)).transpose()).collect()
}

fn parse_line(line: &[u8]) -> Result<Option<Link>, Problem> {
    let line = std::str::from_utf8(line).map_err(|_| Problem::Encoding)?;
    let mut words = line.split_whitespace().take_while(|word| !word.starts_with('#'));
    let Some(url) = words.next() else { return Ok(None) };
    let url = PageUrl::parse(url).map_err(|reason| Problem::Url { url: url.to_owned(), reason })?;
    let score = match words.next() {
        None => Score::ZERO,
        Some(word) => {
            let score = word.parse().ok().and_then(|number: f64| Score::new(number).ok());
            score.ok_or_else(|| Problem::Score(word.to_owned()))?
        }
    };
    match words.next() {
        None => Ok(Some(Link { url, score, anchor: None })),
        Some(rest) => Err(Problem::Rest(rest.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_url_a_score_and_a_comment() {
        let text = "\u{feff}# seeds\n\nhttp://a.example\r\n  http://b.example/x#frag 0.5 # best\n\
                    http://c.example/\t-1\nhttp://bücher.example/#top";
        let seeds: Vec<_> = parse(text.as_bytes())
            .unwrap()
            .into_iter()
            .map(|seed| (seed.url.as_str().to_owned(), seed.score.get()))
            .collect();
        let expected = [
            ("http://a.example/", 0.0),
            ("http://b.example/x", 0.5),
            ("http://c.example/", -1.0),
            ("http://xn--bcher-kva.example/", 0.0),
        ];
        assert_eq!(seeds, expected.map(|(url, score)| (url.to_owned(), score)));
    }

    #[test]
    fn a_bad_line_refuses_the_file_and_is_named() {
        for (text, line, message) in [
            (
                &b"http://a.example\nnot-a-url"[..],
                2,
                "\"not-a-url\" cannot be crawled: relative URL without a base",
            ),
            (b"ftp://a.example/", 1, "\"ftp://a.example/\" cannot be crawled: the scheme is ftp"),
            (b"\n\nhttp://a.example nan", 3, "\"nan\" is not a score"),
            (b"http://a.example best", 1, "\"best\" is not a score"),
            (b"http://a.example 1 http://b.example", 1, "\"http://b.example\" after the score"),
            (b"# ok\nhttp://caf\xe9.example/", 2, "not UTF-8"),
        ] {
            let (at, problem) = parse(text).unwrap_err();
            assert_eq!(at, line);
            assert!(problem.to_string().starts_with(message), "{problem}");
        }
    }

    #[test]
    fn the_example_is_valid() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds/example.txt");
        assert!(read_seeds(&path).unwrap().len() >= 5);
    }
}
