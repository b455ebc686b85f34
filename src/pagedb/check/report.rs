//! What a check found.

use std::collections::BTreeMap;
use std::fmt;

use crate::pagedb::info::Counters;

/// Violations kept with their text; further ones are only counted.
const MAX_VIOLATIONS: usize = 100;

/// The result of a check.
#[derive(Debug, Default)]
pub struct Report {
    /// As the database has them.
    pub counters: Counters,
    /// The first 100.
    pub violations: Vec<Violation>,
    /// How many there are of each kind.
    pub counts: BTreeMap<Kind, u64>,
}

/// One invariant that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub kind: Kind,
    pub text: String,
}

impl Report {
    pub fn is_ok(&self) -> bool {
        self.counts.is_empty()
    }

    /// Violations of all kinds.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Adds what another check found.
    pub fn append(&mut self, other: Report) {
        for (kind, n) in other.counts {
            *self.counts.entry(kind).or_default() += n;
        }
        self.violations.extend(other.violations);
        self.violations.truncate(MAX_VIOLATIONS);
    }

    /// Counts a violation, and keeps its text while there are few.
    pub fn add(&mut self, kind: Kind, text: impl FnOnce() -> String) {
        *self.counts.entry(kind).or_default() += 1;
        if self.violations.len() < MAX_VIOLATIONS {
            self.violations.push(Violation { kind, text: text() });
        }
    }
}

macro_rules! kinds {
    ($($kind:ident = $name:literal,)*) => {
        /// An invariant; the module's documentation says what each is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind { $($kind,)* }

        impl Kind {
            pub const ALL: &[Kind] = &[$(Kind::$kind,)*];

            /// The name in reports.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$kind => $name,)* }
            }
        }
    };
}

kinds! {
    Malformed = "malformed row",
    Index = "wrong index",
    UrlKey = "wrong key in urls",
    PageSite = "page without site",
    UrlForm = "url not in normal form",
    UrlTwice = "url known twice",
    KeyChain = "page not found by its url",
    Mark = "mark without pages behind it",
    Parent = "wrong parent",
    PageDomain = "page without domain",
    DomainCounters = "wrong counters of a domain",
    DomainTwice = "domain known twice",
    DomainChain = "domain not found by its name",
    SiteNumber = "wrong site number",
    SiteDomain = "site in wrong domain",
    SiteTwice = "site known twice",
    ScheduleMissing = "scheduled page without entry",
    ScheduleStray = "schedule entry without page",
    Depth = "wrong side of max_crawl_depth",
    Score = "wrong score",
    LeaseMissing = "leased page without lease",
    LeaseStray = "lease without page",
    RecordMissing = "crawled page without record",
    RecordStray = "record without crawled page",
    Record = "impossible record",
    LinksMissing = "crawled page without links row",
    LinksStray = "links row without crawled page",
    LinkTarget = "link to unknown page",
    LinkGroup = "link in wrong group",
    AnchorsStray = "anchors row without links row",
    ContentMissing = "content hash without row",
    ContentStray = "content row without page",
    Counters = "wrong counter",
    LogGap = "gap in the edit log",
    LogEdit = "malformed edit",
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
