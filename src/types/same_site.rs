//! Which sites are one (setting `same_site`). Hosts with and without `www.`, or http and https, mostly show the same
//! pages, but not always, and some work in one form only: so no form is cut off blindly. The first one seen is
//! the main form, under which the site is kept; the others stick to it (the URL store of seed 001).
//!
//! Here is only which sites are equivalent: those with the same *class*. Names and keys come from the class, so that
//! they do not depend on which form came first.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use super::url::host_range;

/// In what sites may differ and still be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SameSite {
    /// `www.` in front of the host.
    pub www: bool,
    /// http and https, each on its own port.
    pub scheme: bool,
}

/// A name that is neither `www` nor `scheme`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is unknown: give www, scheme, or both")]
pub struct UnknownForm(pub String);

impl SameSite {
    /// Every site is its own.
    pub const OFF: SameSite = SameSite { www: false, scheme: false };

    /// # Errors
    /// [`UnknownForm`] for any other name.
    pub fn from_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<SameSite, UnknownForm> {
        let mut same = SameSite::OFF;
        for name in names {
            match name {
                "www" => same.www = true,
                "scheme" => same.scheme = true,
                unknown => return Err(UnknownForm(unknown.to_owned())),
            }
        }
        Ok(same)
    }

    /// The names of what is on.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        [(self.www, "www"), (self.scheme, "scheme")].into_iter().filter(|(on, _)| *on).map(|(_, name)| name)
    }

    /// The text that all forms of a site share; it is one of them, and its own class.
    ///
    /// Userinfo and port stay. A site with a port keeps its scheme: http and https have one address only where each
    /// uses its own port, and behind any other port there is one of the two.
    pub fn class(self, site: &str) -> Cow<'_, str> {
        if self == SameSite::OFF {
            return Cow::Borrowed(site);
        }
        let at = host_range(site);
        let (before, host, port) = (&site[..at.start], &site[at.clone()], &site[at.end..]);
        let bare = self.host(host);
        let https = before.strip_prefix("https").filter(|_| self.scheme && port.is_empty());
        match https {
            None if bare.len() == host.len() => Cow::Borrowed(site),
            None => Cow::Owned([before, bare, port].concat()),
            Some(rest) => Cow::Owned(["http", rest, bare].concat()),
        }
    }

    /// The host of a site's class. `www.` goes if at least two labels are left: `www.com` is a domain of its own. It goes
    /// once, and where there are two of them it stays: so a class has one name.
    ///
    /// Keys depend on this, so it asks the text alone: a list of public suffixes would change under a database.
    pub fn host(self, host: &str) -> &str {
        let bare = host.strip_prefix("www.").filter(|bare| self.www && !bare.starts_with("www."));
        let has_labels = |bare: &&str| bare.trim_end_matches('.').contains('.');
        bare.filter(has_labels).unwrap_or(host)
    }
}

/// The names, separated by commas.
impl fmt::Display for SameSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, name) in self.names().enumerate() {
            let comma = if n > 0 { "," } else { "" };
            write!(f, "{comma}{name}")?;
        }
        Ok(())
    }
}

impl FromStr for SameSite {
    type Err = UnknownForm;

    fn from_str(text: &str) -> Result<SameSite, UnknownForm> {
        SameSite::from_names(text.split(',').map(str::trim).filter(|_| !text.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::url::PageUrl;
    use proptest::prelude::*;

    const WWW: SameSite = SameSite { www: true, scheme: false };
    const SCHEME: SameSite = SameSite { www: false, scheme: true };
    const BOTH: SameSite = SameSite { www: true, scheme: true };

    #[test]
    fn forms_of_a_site_have_one_class() {
        for (site, www, scheme, both) in [
            ("http://a.example", "http://a.example", "http://a.example", "http://a.example"),
            ("http://www.a.example", "http://a.example", "http://www.a.example", "http://a.example"),
            ("https://www.a.example", "https://a.example", "http://www.a.example", "http://a.example"),
            ("http://www.b.co.uk", "http://b.co.uk", "http://www.b.co.uk", "http://b.co.uk"),
            ("http://www.sub.b.co.uk", "http://sub.b.co.uk", "http://www.sub.b.co.uk", "http://sub.b.co.uk"),
            // Userinfo and port are part of the class; a site with a port keeps its scheme.
            (
                "https://u:p@www.a.example",
                "https://u:p@a.example",
                "http://u:p@www.a.example",
                "http://u:p@a.example",
            ),
            (
                "https://www.a.example:81",
                "https://a.example:81",
                "https://www.a.example:81",
                "https://a.example:81",
            ),
            (
                "http://www.a.example:443",
                "http://a.example:443",
                "http://www.a.example:443",
                "http://a.example:443",
            ),
            ("https://[::1]", "https://[::1]", "http://[::1]", "http://[::1]"),
            ("https://[::1]:81", "https://[::1]:81", "https://[::1]:81", "https://[::1]:81"),
            // Names that only begin like it.
            (
                "http://wwww.a.example",
                "http://wwww.a.example",
                "http://wwww.a.example",
                "http://wwww.a.example",
            ),
            (
                "http://www2.a.example",
                "http://www2.a.example",
                "http://www2.a.example",
                "http://www2.a.example",
            ),
            (
                "http://www.www.a.example",
                "http://www.www.a.example",
                "http://www.www.a.example",
                "http://www.www.a.example",
            ),
            // Domains of their own: one label is behind their `www.`.
            ("http://www.com", "http://www.com", "http://www.com", "http://www.com"),
            ("http://www.com.", "http://www.com.", "http://www.com.", "http://www.com."),
            ("http://www.co.uk", "http://co.uk", "http://www.co.uk", "http://co.uk"),
            ("http://www.localhost", "http://www.localhost", "http://www.localhost", "http://www.localhost"),
        ] {
            assert_eq!(SameSite::OFF.class(site), site);
            assert_eq!((&*WWW.class(site), &*SCHEME.class(site), &*BOTH.class(site)), (www, scheme, both));
        }
    }

    #[test]
    fn a_site_that_is_its_class_costs_nothing() {
        assert!(matches!(SameSite::OFF.class("https://www.a.example"), Cow::Borrowed(_)));
        assert!(matches!(BOTH.class("http://a.example:81"), Cow::Borrowed(_)));
    }

    #[test]
    fn names_come_back() {
        for same in [SameSite::OFF, WWW, SCHEME, BOTH] {
            assert_eq!(same.to_string().parse(), Ok(same));
        }
        assert_eq!("scheme, www".parse(), Ok(BOTH));
        for (text, unknown) in [("Www", "Www"), ("www,", ""), ("www,http", "http"), ("none", "none")] {
            assert_eq!(text.parse::<SameSite>(), Err(UnknownForm(unknown.to_owned())));
        }
    }

    proptest! {
        #[test]
        fn a_class_is_a_site_and_its_own_class(
            scheme in "https?", user in "(u(:p)?@)?", host in "(www\\.){0,3}([a-c]\\.){0,2}(com|co\\.uk|example\\.?|ck)",
            port in "(:81|:8443)?", www: bool, https: bool,
        ) {
            let same = SameSite { www, scheme: https };
            let site = format!("{scheme}://{user}{host}{port}");
            let class = same.class(&site);
            prop_assert_eq!(same.class(&class), &*class);
            let url = format!("{class}/");
            let parsed = PageUrl::parse(&url).unwrap();
            prop_assert_eq!((parsed.site(), parsed.path()), (&*class, "/"));
            // Forms that differ in what is off are two sites.
            prop_assert!(https || class.split("://").next() == Some(&scheme));
            prop_assert!(www || class.contains(&host));
        }
    }
}
