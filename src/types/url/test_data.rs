//! The URL standard's own test data (`tests/data/README.md` says where it is from): links against bases, as pages
//! have them.
//!
//! What is expected is derived from the data's `href`, which is the serialised result of the standard, by the rules of
//! this project alone and with none of the code under test: [`expected`].

use super::*;

#[derive(Debug, serde::Deserialize)]
struct Case {
    input: String,
    base: Option<String>,
    /// Absent where the standard says failure.
    href: Option<String>,
    #[serde(default)]
    failure: bool,
}

#[derive(Debug, PartialEq)]
enum Told {
    Url(String),
    /// It has a scheme that is not crawled.
    Scheme(String),
    Refused,
}

/// Only http and https; without the fragment; escapes in one form.
fn expected(case: &Case) -> Told {
    let Some(href) = &case.href else { return Told::Refused };
    let (scheme, rest) = href.split_once(':').unwrap();
    if !["http", "https"].contains(&scheme) {
        return Told::Scheme(scheme.to_owned());
    }
    let without_fragment = rest.split('#').next().unwrap();
    // "//", the authority, and the rest, which begins with a slash.
    let mut parts = without_fragment.splitn(4, '/').skip(2);
    let (authority, path) = (parts.next().unwrap(), parts.next().unwrap());
    Told::Url(format!("{scheme}://{authority}/{}", escapes_in_one_form(path)))
}

/// Unreserved characters as they are, the digits of other escapes in upper case; all as it is if one is malformed.
fn escapes_in_one_form(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut out = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let digits = piece.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(digits) = digits else { return text.to_owned() };
        match char::from(u8::from_str_radix(digits, 16).unwrap()) {
            plain @ ('a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '.' | '_' | '~') => out.push(plain),
            _ => out.push_str(&format!("%{}", digits.to_uppercase())),
        }
        out.push_str(&piece[2..]);
    }
    out
}

fn told(case: &Case) -> Told {
    let resolved = match &case.base {
        None => PageUrl::parse(&case.input),
        Some(base) => PageUrl::parse(base).and_then(|base| LinkResolver::new(&base).resolve(&case.input)),
    };
    match resolved {
        Ok(url) => {
            // Its parts are those of the same text, and it stays what it is.
            assert_eq!(PageUrl::parse(url.as_str()).as_ref(), Ok(&url));
            assert!(url.path().starts_with('/') && !url.site().ends_with('/'), "{url}");
            Told::Url(url.as_str().to_owned())
        }
        Err(UrlError::Scheme(scheme)) => Told::Scheme(scheme),
        Err(_) => Told::Refused,
    }
}

#[test]
fn links_resolve_as_the_standard_says() {
    let data = include_str!("../../../tests/data/urltestdata.json");
    let cases: Vec<Case> = serde_json::from_str(data).unwrap();
    assert!(cases.iter().all(|case| case.failure == case.href.is_none()));
    let mut counts = [0; 3];
    for case in &cases {
        let (told, expected) = (told(case), expected(case));
        counts[match expected {
            Told::Url(_) => 0,
            Told::Scheme(_) => 1,
            Told::Refused => 2,
        }] += 1;
        assert_eq!(told, expected, "{case:?}");
    }
    // There are no exceptions; each kind is there.
    assert_eq!(counts, [218, 35, 204], "URLs, other schemes, failures");
}
