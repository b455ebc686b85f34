//! URLs in one form: parsed by the WHATWG rules (`url` crate), then normalised, so that equal pages have
//! equal text. Non-ASCII is kept (percent-encoded in the path, punycode in the host); a trailing slash,
//! the query and file names stay as they are (the URL store of seed 001 says why).

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use url::Url;

/// Longest URL kept, in bytes, after normalisation. The `s` of `https` and `www.` in front of the host do not count: a page
/// whose site is kept in another form than it was named in (see [`super::SameSite`]) must fit, too.
pub const MAX_URL_BYTES: usize = 8192;

/// The same with what does not count.
pub const MAX_BYTES_ANY_FORM: usize = MAX_URL_BYTES + "s".len() + "www.".len();

/// A normalised absolute http or https URL of at most [`MAX_URL_BYTES`] bytes, its form not counted.
///
/// It is two parts: the *site* (scheme, userinfo, host, port) and the *path* (path and query, from the
/// first slash on).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageUrl {
    text: Box<str>,
    site_len: u16,
}

/// Why a text is no URL that can be crawled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    #[error("{0}: give an absolute http or https URL")]
    Syntax(#[from] url::ParseError),
    #[error("the scheme is {0}: only http and https are crawled")]
    Scheme(String),
    #[error("{0} bytes long: the limit is {MAX_URL_BYTES}")]
    TooLong(usize),
}

impl PageUrl {
    /// Parses an absolute URL and normalises it.
    ///
    /// # Errors
    /// [`UrlError`] names the reason.
    pub fn parse(text: &str) -> Result<PageUrl, UrlError> {
        check_length(text)?;
        match normal_site(text) {
            Some(site_len) => Ok(PageUrl { text: text.into(), site_len: site_len as u16 }),
            None => PageUrl::from_parsed(Url::parse(text)?),
        }
    }

    /// Puts together what [`PageUrl::site`] and [`PageUrl::path`] took apart.
    pub fn from_parts(site: &str, path: &str) -> PageUrl {
        let mut text = String::with_capacity(site.len() + path.len());
        text.push_str(site);
        text.push_str(path);
        PageUrl { text: text.into(), site_len: site.len() as u16 }
    }

    fn from_parsed(mut url: Url) -> Result<PageUrl, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme(url.scheme().to_owned()));
        }
        url.set_fragment(None);
        let site_len = url[..url::Position::BeforePath].len();
        let text = match one_escape_form(&url.as_str()[site_len..]) {
            Cow::Borrowed(_) => url.into(),
            Cow::Owned(path) => format!("{}{path}", &url.as_str()[..site_len]),
        };
        check_length(&text)?;
        Ok(PageUrl { text: text.into(), site_len: site_len as u16 })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Scheme, userinfo, host and port, without a slash at the end.
    pub fn site(&self) -> &str {
        &self.text[..usize::from(self.site_len)]
    }

    /// Path and query, from the first slash on.
    pub fn path(&self) -> &str {
        &self.text[usize::from(self.site_len)..]
    }
}

impl fmt::Debug for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The host of a site, without userinfo and port; an IPv6 address keeps its brackets.
pub fn host_of_site(site: &str) -> &str {
    &site[host_range(site)]
}

/// Where in a site its host stands: before it scheme and userinfo, behind it the port.
pub fn host_range(site: &str) -> Range<usize> {
    let authority = site.split_once("://").map_or(site, |(_, rest)| rest);
    let host_port = authority.rsplit_once('@').map_or(authority, |(_, rest)| rest);
    let start = site.len() - host_port.len();
    match host_port.rfind(':') {
        Some(colon) if !host_port.ends_with(']') => start..start + colon,
        _ => start..site.len(),
    }
}

/// Resolves the links of one page: absolute ones are taken as they are, relative ones against the page's
/// URL or its `base`. The base is parsed once, when the first relative link asks for it.
pub struct LinkResolver<'a> {
    base: &'a PageUrl,
    parsed: Option<Url>,
}

impl<'a> LinkResolver<'a> {
    pub fn new(base: &'a PageUrl) -> Self {
        LinkResolver { base, parsed: None }
    }

    /// # Errors
    /// [`UrlError`] names the reason.
    pub fn resolve(&mut self, link: &str) -> Result<PageUrl, UrlError> {
        check_length(link)?;
        if let Some(site_len) = normal_site(link) {
            return Ok(PageUrl { text: link.into(), site_len: site_len as u16 });
        }
        if self.parsed.is_none() {
            self.parsed = Some(Url::parse(self.base.as_str())?);
        }
        match &self.parsed {
            Some(base) => PageUrl::from_parsed(base.join(link)?),
            None => Err(UrlError::Syntax(url::ParseError::RelativeUrlWithoutBase)),
        }
    }
}

fn check_length(text: &str) -> Result<(), UrlError> {
    if text.len() > MAX_URL_BYTES && text.len() > MAX_URL_BYTES + uncounted(text) {
        Err(UrlError::TooLong(text.len()))
    } else {
        Ok(())
    }
}

/// Bytes of a URL that its limit does not count.
#[cold]
fn uncounted(url: &str) -> usize {
    let Some((scheme, rest)) = url.split_once("://") else { return 0 };
    let authority = rest.find(['/', '?', '#']).map_or(rest, |end| &rest[..end]);
    let www = host_of_site(authority).starts_with("www.");
    usize::from(scheme == "https") + if www { "www.".len() } else { 0 }
}

/// The length of the site part of a URL that is, beyond doubt, in normal form already; `None` for any other text,
/// which [`PageUrl::parse`] decides.
pub fn normal_site_len(text: &str) -> Option<usize> {
    check_length(text).ok().and_then(|()| normal_site(text))
}

/// The length of the site part if `text` is, beyond doubt, in normal form already; `None` sends it through
/// the parser. Most URLs pass here at a tenth of the parser's cost; a property test holds both to one answer.
fn normal_site(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("http")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest).strip_prefix("://")?;
    let host_start = text.len() - rest.len();
    let host_len = rest.bytes().position(|b| b == b'/')?;
    let path = &rest.as_bytes()[host_len..];
    (is_plain_host(&rest[..host_len]) && is_plain_path(path)).then_some(host_start + host_len)
}

/// Lower-case labels of letters, digits and inner hyphens, none of them punycode, the last one not numeric
/// (that would be an IPv4 address).
fn is_plain_host(host: &str) -> bool {
    let mut last_starts_with_letter = false;
    for label in host.split('.') {
        let bytes = label.as_bytes();
        let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return false };
        if first == b'-' || last == b'-' || bytes.starts_with(b"xn--") {
            return false;
        }
        if !bytes.iter().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-')) {
            return false;
        }
        last_starts_with_letter = first.is_ascii_lowercase();
    }
    last_starts_with_letter
}

/// Bytes that every rule leaves alone, and no segment that starts with a dot.
fn is_plain_path(path: &[u8]) -> bool {
    const OTHER: u8 = 0;
    const PLAIN: u8 = 1;
    const DOT: u8 = 2;
    const SLASH: u8 = 3;
    const CLASS: [u8; 256] = {
        let mut table = [OTHER; 256];
        let allowed = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~!$&()*+,;=:@?";
        let mut i = 0;
        while i < allowed.len() {
            table[allowed[i] as usize] = PLAIN;
            i += 1;
        }
        table[b'.' as usize] = DOT;
        table[b'/' as usize] = SLASH;
        table
    };
    // Nearly all paths are plain: no branch a byte is faster than an early end.
    let (mut previous, mut is_plain) = (OTHER, true);
    for &byte in path {
        let class = CLASS[usize::from(byte)];
        is_plain &= (class != OTHER) & !((class == DOT) & (previous == SLASH));
        previous = class;
    }
    is_plain
}

/// Percent-escapes in the one form of RFC 3986, 6.2.2: upper-case digits, and none for unreserved characters.
/// A path with a malformed escape is left alone: decoding around it could make a new escape.
fn one_escape_form(path: &str) -> Cow<'_, str> {
    let bytes = path.as_bytes();
    let mut out: Option<String> = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some(step) = bytes[at..].iter().position(|&b| b == b'%') {
        at += step;
        let Some(&[first, second]) = bytes.get(at + 1..at + 3) else { return Cow::Borrowed(path) };
        let (Some(high), Some(low)) = (hex(first), hex(second)) else { return Cow::Borrowed(path) };
        let byte = high << 4 | low;
        let unreserved = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
        if unreserved || first.is_ascii_lowercase() || second.is_ascii_lowercase() {
            let out = out.get_or_insert_with(|| String::with_capacity(path.len()));
            out.push_str(&path[copied..at]);
            if unreserved {
                out.push(char::from(byte));
            } else {
                out.push_str(&path[at..at + 3].to_ascii_uppercase());
            }
            copied = at + 3;
        }
        at += 3;
    }
    match out {
        None => Cow::Borrowed(path),
        Some(mut out) => {
            out.push_str(&path[copied..]);
            Cow::Owned(out)
        }
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|d| d as u8)
}

#[cfg(test)]
mod test_data;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn normal(text: &str) -> String {
        PageUrl::parse(text).unwrap_or_else(|e| panic!("{text}: {e}")).as_str().to_owned()
    }

    #[test]
    fn equal_pages_have_equal_text() {
        for (text, expected) in [
            ("HTTP://Example.COM", "http://example.com/"),
            ("https://example.com:443/a", "https://example.com/a"),
            ("http://example.com:80/", "http://example.com/"),
            ("http://example.com:8080/a#b", "http://example.com:8080/a"),
            ("http://example.com/a/../b/./c", "http://example.com/b/c"),
            ("http://example.com/%7euser/%c3%a9", "http://example.com/~user/%C3%A9"),
            ("http://example.com/é?q=ü", "http://example.com/%C3%A9?q=%C3%BC"),
            ("http://bücher.example/", "http://xn--bcher-kva.example/"),
            ("http://example.com/a%2fb", "http://example.com/a%2Fb"),
            ("http://example.com/100%", "http://example.com/100%"),
            ("http://example.com/dir/", "http://example.com/dir/"),
            ("http://example.com/dir", "http://example.com/dir"),
            ("http://example.com/x.php?b=2&a=1", "http://example.com/x.php?b=2&a=1"),
            ("  http://example.com/ \n", "http://example.com/"),
            ("http://user:pw@example.com/", "http://user:pw@example.com/"),
            ("http://[::1]:8080/", "http://[::1]:8080/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
        ] {
            assert_eq!(normal(text), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_crawled_is_refused_with_the_reason() {
        assert!(matches!(PageUrl::parse("mailto:a@example.com"), Err(UrlError::Scheme(s)) if s == "mailto"));
        assert!(matches!(PageUrl::parse("/relative"), Err(UrlError::Syntax(_))));
        assert!(matches!(PageUrl::parse("http://"), Err(UrlError::Syntax(_))));
        assert!(matches!(PageUrl::parse(""), Err(UrlError::Syntax(_))));
        let long = format!("http://example.com/{}", "a".repeat(MAX_URL_BYTES));
        assert!(matches!(PageUrl::parse(&long), Err(UrlError::TooLong(_))));
        // A page is as long in all forms of its site.
        let path = "a".repeat(MAX_URL_BYTES - "http://a.example/".len());
        for site in ["http://a.example", "https://a.example", "http://www.a.example", "https://www.a.example"]
        {
            assert_eq!(PageUrl::parse(&format!("{site}/{path}")).unwrap().site(), site);
            assert!(matches!(PageUrl::parse(&format!("{site}/{path}b")), Err(UrlError::TooLong(_))));
        }
        // Short as given, too long once its letters are escaped.
        let grows = format!("http://example.com/{}", "é".repeat(MAX_URL_BYTES / 3));
        assert!(matches!(PageUrl::parse(&grows), Err(UrlError::TooLong(_))));
    }

    #[test]
    fn links_resolve_against_the_page() {
        let page = PageUrl::parse("http://site.example/index/").unwrap();
        let mut links = LinkResolver::new(&page);
        for (link, expected) in [
            ("./", "http://site.example/index/"),
            ("../../..", "http://site.example/"),
            ("././.", "http://site.example/index/"),
            ("?x", "http://site.example/index/?x"),
            ("#y", "http://site.example/index/"),
            ("//other.example/a", "http://other.example/a"),
            ("https://other.example/b", "https://other.example/b"),
        ] {
            assert_eq!(links.resolve(link).unwrap().as_str(), expected, "{link}");
        }
        assert!(links.resolve("javascript:void(0)").is_err());
    }

    /// The parts that a link may leave out (scheme, site, path, file name, query) come from the page; dots are
    /// taken out; nothing else is cut off.
    #[test]
    fn every_rule_of_the_url_store() {
        for (page, link, expected) in [
            // Whether the page's URL ends with a slash decides where `./` leads: so none is ever cut off.
            ("http://site.example/index", "./", "http://site.example/"),
            ("http://site.example/index/", "./", "http://site.example/index/"),
            ("http://site.example/index", ".", "http://site.example/"),
            ("http://site.example/index/", ".", "http://site.example/index/"),
            ("http://site.example/index", "", "http://site.example/index"),
            ("http://site.example/index/", "", "http://site.example/index/"),
            ("http://site.example/a/b", "c/", "http://site.example/a/c/"),
            ("http://site.example/a/b", "c", "http://site.example/a/c"),
            // Chains of dots.
            ("http://site.example/a/b/c", "././././.", "http://site.example/a/b/"),
            ("http://site.example/a/b/c", "./././././", "http://site.example/a/b/"),
            ("http://site.example/a/b/c", "../../../", "http://site.example/"),
            ("http://site.example/a/b/c", "../../..", "http://site.example/"),
            ("http://site.example/a/b/c", "../../../../../d", "http://site.example/d"),
            ("http://site.example/a/b/c", "..", "http://site.example/a/"),
            ("http://site.example/a/b/c", "../d/./e/../f", "http://site.example/a/d/f"),
            ("http://site.example/a/b/c", "/d/../../e", "http://site.example/e"),
            ("http://site.example/a/b/c", "./d/.", "http://site.example/a/b/d/"),
            ("http://site.example/a/b/c", "d..e/.f", "http://site.example/a/b/d..e/.f"),
            // Arguments: replaced by those of the link, kept to the letter.
            ("http://site.example/x.php?a=1", "?x", "http://site.example/x.php?x"),
            ("http://site.example/x.php?a=1", "?", "http://site.example/x.php?"),
            ("http://site.example/x.php?a=1", "", "http://site.example/x.php?a=1"),
            ("http://site.example/x.php?a=1", "y.php", "http://site.example/y.php"),
            ("http://site.example/x/?a=1", "y", "http://site.example/x/y"),
            ("http://site.example/x?a=../b", "c?d=../e&&f==#g", "http://site.example/c?d=../e&&f=="),
            ("http://site.example/x", "?a=/b/./c", "http://site.example/x?a=/b/./c"),
            // Named anchors: dropped, with the rest of the page's URL kept.
            ("http://site.example/x.php?a=1", "#y", "http://site.example/x.php?a=1"),
            ("http://site.example/x.php?a=1", "?#y", "http://site.example/x.php?"),
            ("http://site.example/x/", "z#?y", "http://site.example/x/z"),
            // File names of programs stay.
            ("http://site.example/index.php", "index.php", "http://site.example/index.php"),
            ("http://site.example/index.html", "/index.html", "http://site.example/index.html"),
            // Site and scheme.
            ("https://site.example/a", "//other.example/b", "https://other.example/b"),
            ("https://site.example:8443/a", "/b", "https://site.example:8443/b"),
            ("https://site.example/a", "//other.example", "https://other.example/"),
            ("http://site.example/a/b", "http:c", "http://site.example/a/c"),
            ("http://site.example/a", "https:c", "https://c/"),
            ("http://site.example/a", "HTTP://Other.Example", "http://other.example/"),
            ("http://site.example", "b", "http://site.example/b"),
            // Blanks around a link, and backslashes in it, as browsers take them.
            ("http://site.example/a/b", "  c \n", "http://site.example/a/c"),
            ("http://site.example/a/b", "\\c\\d", "http://site.example/c/d"),
        ] {
            let page = PageUrl::parse(page).unwrap();
            let resolved = LinkResolver::new(&page).resolve(link);
            let resolved = resolved.unwrap_or_else(|e| panic!("{page} {link:?}: {e}"));
            assert_eq!(resolved.as_str(), expected, "{link:?} on {page}");
        }
    }

    #[test]
    fn the_host_is_found_in_every_kind_of_site() {
        for (site, host) in [
            ("http://example.com", "example.com"),
            ("https://user:p@example.com:8443", "example.com"),
            ("http://[::1]:80", "[::1]"),
            ("http://[::1]", "[::1]"),
        ] {
            assert_eq!(host_of_site(site), host);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_short_cut_agrees_with_the_parser(
            text in "https?://[a-z0-9.-]{1,12}(\\.[a-z0-9]{1,4})?/[-a-zA-Z0-9._~!$&()*+,;=:@/?'%#|]{0,20}"
        ) {
            if let Some(site_len) = normal_site(&text) {
                let slow = PageUrl::from_parsed(Url::parse(&text).unwrap()).unwrap();
                prop_assert_eq!(slow.as_str(), &text);
                prop_assert_eq!(slow.site().len(), site_len);
            }
        }

        #[test]
        fn normal_form_is_a_fixed_point(path in "[-a-z0-9./%?#é \\\\A-F]{0,30}") {
            if let Ok(url) = PageUrl::parse(&format!("http://Example.com/{path}")) {
                prop_assert_eq!(normal(url.as_str()), url.as_str());
                prop_assert_eq!(PageUrl::from_parts(url.site(), url.path()), url);
            }
        }

        #[test]
        fn arbitrary_text_never_panics(text in "\\PC{0,60}") {
            let _: Result<PageUrl, UrlError> = PageUrl::parse(&text);
        }
    }
}
