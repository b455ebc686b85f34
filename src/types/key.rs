//! How pages and domains are named inside the tables.

use std::borrow::Cow;
use std::fmt;

use twox_hash::XxHash3_64;

use super::same_site::SameSite;
use super::url::{PageUrl, host_of_site};

/// The unit of politeness and locality (setting `domain_unit`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DomainUnit {
    /// The host as it stands in the URL.
    #[default]
    Host,
    /// The registrable domain by the public suffix list: `b.example.co.uk` is `example.co.uk`.
    Registrable,
}

impl DomainUnit {
    /// The name of the domain that a site belongs to.
    pub fn domain_of(self, site: &str) -> &str {
        self.domain_of_host(host_of_site(site))
    }

    fn domain_of_host(self, host: &str) -> &str {
        match self {
            DomainUnit::Host => host,
            DomainUnit::Registrable => psl::domain_str(host).filter(|_| !is_address(host)).unwrap_or(host),
        }
    }
}

fn is_address(host: &str) -> bool {
    host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok()
}

/// A domain's number: the hash of its name, or the next free number where two names share a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DomainKey(pub u32);

/// A page's key: 32 bits of its domain, then 32 bits of its URL's hash, or the next free ones where two
/// URLs share them. Big-endian in the tables, so that a domain's pages lie together (Aduana, 3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageKey(pub u64);

impl PageKey {
    pub fn new(domain: DomainKey, url_part: u32) -> PageKey {
        PageKey(u64::from(domain.0) << 32 | u64::from(url_part))
    }

    pub fn domain(self) -> DomainKey {
        DomainKey((self.0 >> 32) as u32)
    }

    /// The key to try after this one: the next in the domain, the first again after the last.
    pub fn next_in_domain(self) -> PageKey {
        PageKey::new(self.domain(), (self.0 as u32).wrapping_add(1))
    }

    /// The inverse of [`PageKey::next_in_domain`].
    pub fn previous_in_domain(self) -> PageKey {
        PageKey::new(self.domain(), (self.0 as u32).wrapping_sub(1))
    }

    pub fn to_bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }

    pub fn from_bytes(bytes: [u8; 8]) -> PageKey {
        PageKey(u64::from_be_bytes(bytes))
    }
}

impl fmt::Display for PageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A page's index: a dense integer from 0 in order of first sight (Aduana, 3.3.2). 40 bits in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageIndex(pub u64);

impl PageIndex {
    /// One more than the greatest index that the tables can hold.
    pub const LIMIT: u64 = 1 << 40;

    pub fn to_bytes(self) -> [u8; 5] {
        let [_, _, _, bytes @ ..] = self.0.to_be_bytes();
        bytes
    }

    pub fn from_bytes(bytes: [u8; 5]) -> PageIndex {
        let [a, b, c, d, e] = bytes;
        PageIndex(u64::from_be_bytes([0, 0, 0, a, b, c, d, e]))
    }
}

impl fmt::Display for PageIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The hash functions behind the keys. Tests put weak ones in their place to force collisions.
#[derive(Clone, Copy, Debug)]
pub struct UrlHasher {
    /// A site's hash; it seeds the path's.
    pub site: fn(&str) -> u64,
    /// The hash of a path on a site.
    pub path: fn(&str, u64) -> u32,
    /// A domain name's hash.
    pub domain: fn(&str) -> u32,
}

impl Default for UrlHasher {
    fn default() -> Self {
        UrlHasher {
            site: |site| XxHash3_64::oneshot(site.as_bytes()),
            path: |path, site_hash| XxHash3_64::oneshot_with_seed(site_hash, path.as_bytes()) as u32,
            domain: |name| XxHash3_64::oneshot(name.as_bytes()) as u32,
        }
    }
}

/// How URLs get their names and keys. A database keeps what it was made with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Naming {
    pub domain_unit: DomainUnit,
    pub same_site: SameSite,
    pub hasher: UrlHasher,
}

impl Naming {
    /// The text that all forms of a site share.
    pub fn class<'s>(&self, site: &'s str) -> Cow<'s, str> {
        self.same_site.class(site)
    }

    /// The name of the domain that a site belongs to, in whatever form.
    pub fn domain_of<'s>(&self, site: &'s str) -> &'s str {
        self.domain_unit.domain_of_host(self.same_site.host(host_of_site(site)))
    }

    /// The hash of a site's class; it seeds those of its paths.
    pub fn site_hash(&self, site: &str) -> u64 {
        (self.hasher.site)(&self.class(site))
    }

    /// Whether two URLs name one page.
    pub fn is_same_page(&self, a: &PageUrl, b: &PageUrl) -> bool {
        a.path() == b.path() && self.is_same_site(a.site(), b.site())
    }

    /// Whether two sites are one.
    pub fn is_same_site(&self, a: &str, b: &str) -> bool {
        a == b || (self.same_site != SameSite::OFF && self.class(a) == self.class(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_are_hosts_or_registrable_domains() {
        for (site, host, registrable) in [
            ("https://a.b.example.co.uk:8443", "a.b.example.co.uk", "example.co.uk"),
            ("http://localhost", "localhost", "localhost"),
            ("http://192.168.0.1:80", "192.168.0.1", "192.168.0.1"),
            ("http://[::1]", "[::1]", "[::1]"),
            ("http://co.uk", "co.uk", "co.uk"),
        ] {
            assert_eq!(DomainUnit::Host.domain_of(site), host);
            assert_eq!(DomainUnit::Registrable.domain_of(site), registrable);
        }
    }

    #[test]
    fn all_forms_of_a_site_have_one_domain_and_one_hash() {
        let same_site = SameSite { www: true, scheme: true };
        for (domain_unit, name) in [(DomainUnit::Host, "a.b.example"), (DomainUnit::Registrable, "b.example")]
        {
            let naming = Naming { domain_unit, same_site, ..Naming::default() };
            for site in [
                "http://a.b.example",
                "https://a.b.example",
                "http://www.a.b.example",
                "https://www.a.b.example",
            ] {
                assert_eq!(naming.domain_of(site), name);
                assert_eq!(naming.domain_of(site), domain_unit.domain_of(&naming.class(site)));
                assert_eq!(naming.site_hash(site), (naming.hasher.site)("http://a.b.example"));
            }
        }
    }

    #[test]
    fn keys_sort_by_domain_then_url_and_wrap_inside_their_domain() {
        let key = PageKey::new(DomainKey(7), u32::MAX);
        assert_eq!(key.next_in_domain(), PageKey::new(DomainKey(7), 0));
        assert!(key.to_bytes() < PageKey::new(DomainKey(8), 0).to_bytes());
        assert_eq!(PageKey::from_bytes(key.to_bytes()), key);
    }

    #[test]
    fn index_bytes_sort_as_numbers() {
        let numbers = [0, 1, 255, 256, 1 << 24, PageIndex::LIMIT - 1];
        for pair in numbers.windows(2) {
            assert!(PageIndex(pair[0]).to_bytes() < PageIndex(pair[1]).to_bytes());
            assert_eq!(PageIndex::from_bytes(PageIndex(pair[1]).to_bytes()).0, pair[1]);
        }
    }
}
