//! The table of keys. A key is added here, in [`Settings`] and in `config/aduana.toml`.

use std::collections::BTreeMap;

use toml::de::DeTable;
use tracing_subscriber::EnvFilter;

use super::given::Given;
use super::{Passwds, Scorer, Settings};
use crate::types::{DomainUnit, SameSite};

/// A key of the settings file.
pub struct Key {
    pub name: &'static str,
    /// What stands for the value in `--help`.
    pub value: &'static str,
    /// One line for `--help`.
    pub help: &'static str,
    /// The values it takes, to end "give ...".
    pub wanted: &'static str,
    /// Whether a flag of `aduana serve` sets it too. Passwords have none: other users see flags.
    pub flag: bool,
    pub(super) set: fn(&mut Settings, Given<'_>) -> Result<(), Wrong>,
}

/// Why a value was not taken.
pub(super) enum Wrong {
    /// It is none of those wanted.
    Value,
    /// The reason, which must not repeat a password, and where in the file it is if not at the key.
    Because(String, Option<usize>),
}

const YEAR: f64 = 365.0 * 86400.0;
const MILLISECOND: f64 = 0.001;
/// LMDB's own first tables need some pages; processors map 128 TiB at most.
const MAP_SIZES: std::ops::RangeInclusive<u64> = 1 << 20..=64 << 40;

fn put<T>(field: &mut T, value: Option<T>) -> Result<(), Wrong> {
    *field = value.ok_or(Wrong::Value)?;
    Ok(())
}

fn put_some<T>(field: &mut Option<T>, value: Option<T>) -> Result<(), Wrong> {
    *field = Some(value.ok_or(Wrong::Value)?);
    Ok(())
}

/// Every key, in the order of `config/aduana.toml`.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    Key { name: "page_db_path", value: "DIR", flag: true,
        help: "Directory of the database", wanted: "a path",
        set: |s, given| put(&mut s.page_db_path, given.path()) },
    Key { name: "persist", value: "BOOL", flag: true,
        help: "Keep the database when the server stops", wanted: "true or false",
        set: |s, given| put(&mut s.persist, given.bool()) },
    Key { name: "map_size", value: "BYTES", flag: true,
        help: "Address space reserved for the database at first",
        wanted: "bytes, or text such as \"64GiB\", from 1MiB to 64TiB",
        set: |s, given| put(&mut s.map_size, given.size(MAP_SIZES)) },
    Key { name: "max_backlog_bytes", value: "BYTES", flag: true,
        help: "Edits that may wait to be applied before pages are refused with 503",
        wanted: "bytes, or text such as \"256MiB\", from 1KiB to 1TiB",
        set: |s, given| put(&mut s.max_backlog_bytes, given.size(1 << 10..=1 << 40)) },
    Key { name: "scorer", value: "NAME", flag: true,
        help: "What orders the pages: none (the spiders' scores), pagerank or hits",
        wanted: "\"none\", \"pagerank\" or \"hits\"",
        set: |s, given| put(&mut s.scorer, given.one_of(&Scorer::NAMES)) },
    Key { name: "use_scores", value: "BOOL", flag: true,
        help: "Let a scorer weigh links by the pages' own scores", wanted: "true or false",
        set: |s, given| put(&mut s.use_scores, given.bool()) },
    Key { name: "page_rank_damping", value: "NUMBER", flag: true,
        help: "PageRank's damping", wanted: "a number from 0 up to, not including, 1",
        set: |s, given| put(&mut s.page_rank_damping, given.number(0.0..=1.0).filter(|&d| d < 1.0)) },
    Key { name: "score_links", value: "LINKS", flag: true,
        help: "Links that a scorer counts: all, or other-domains", wanted: "\"all\" or \"other-domains\"",
        set: |s, given| put(&mut s.score_only_other_domains,
            given.one_of(&[("all", false), ("other-domains", true)])) },
    Key { name: "site_share", value: "NUMBER", flag: true,
        help: "How much a page gains from what its domain's pages turned out to be worth",
        wanted: "a number from 0 to 100",
        set: |s, given| put(&mut s.site_share, given.number(0.0..=100.0)) },
    Key { name: "score_precision", value: "NUMBER", flag: true,
        help: "Largest change of a score, in units of the mean score, at which a round stops",
        wanted: "a number from 0 to 1",
        set: |s, given| put(&mut s.score_precision, given.number(0.0..=1.0)) },
    Key { name: "score_max_loops", value: "N", flag: true,
        help: "Most iterations of a scoring round", wanted: "a whole number from 1 to 1000000",
        set: |s, given| put(&mut s.score_max_loops, given.integer(1..=1_000_000)) },
    Key { name: "score_new_pages", value: "N", flag: true,
        help: "Pages crawled since the last scoring round began that start another",
        wanted: "a whole number from 1 to 1000000000000",
        set: |s, given| put(&mut s.score_new_pages, given.integer(1..=1_000_000_000_000)) },
    Key { name: "score_growth", value: "SHARE", flag: true,
        help: "The share of the crawled pages that these must be",
        wanted: "a number from 0 to 1000: 0.05 is a twentieth",
        set: |s, given| put(&mut s.score_growth, given.number(0.0..=1000.0)) },
    Key { name: "score_update_interval", value: "SECONDS", flag: true,
        help: "Time after which a scoring round starts in any case",
        wanted: "seconds, more than 0 and at most a year; leave it out for none",
        set: |s, given| put_some(&mut s.score_update_interval, given.seconds(MILLISECOND..=YEAR)) },
    Key { name: "score_cpu_share", value: "SHARE", flag: true,
        help: "Share of the time that scoring rounds may take",
        wanted: "a number from 0.001 to 1",
        set: |s, given| put(&mut s.score_cpu_share, given.number(0.001..=1.0)) },
    Key { name: "score_threads", value: "N", flag: true,
        help: "Threads of a scoring round; 0: one a core", wanted: "a whole number from 0 to 1024",
        set: |s, given| put(&mut s.score_threads, given.integer(0..=1024)) },
    Key { name: "score_memory", value: "BYTES", flag: true,
        help: "Memory for the links of a scoring round", wanted: "bytes, or text such as \"256MiB\", from 1MiB to 1TiB",
        set: |s, given| put(&mut s.score_memory, given.size(1 << 20..=1 << 40)) },
    Key { name: "soft_crawl_limit", value: "RATE", flag: true,
        help: "Pages a second of a domain above which other domains come first; inf: no limit",
        wanted: "a number of pages a second, 0 or more, or inf for no limit",
        set: |s, given| put(&mut s.soft_crawl_limit, given.number(0.0..=f64::INFINITY)) },
    Key { name: "hard_crawl_limit", value: "RATE", flag: true,
        help: "Pages a second of a domain that are never exceeded; inf: no limit",
        wanted: "a number of pages a second, more than 0, or inf for no limit",
        set: |s, given| put(&mut s.hard_crawl_limit, given.number(0.0..=f64::INFINITY).filter(|&r| r > 0.0)) },
    Key { name: "crawl_limit_window", value: "SECONDS", flag: true,
        help: "Time over which the crawl limits are averaged", wanted: "seconds, more than 0 and at most a year",
        set: |s, given| put(&mut s.crawl_limit_window, given.seconds(MILLISECOND..=YEAR)) },
    Key { name: "domain_unit", value: "UNIT", flag: true,
        help: "What counts as one domain: host or registrable", wanted: "\"host\" or \"registrable\"",
        set: |s, given| put(&mut s.domain_unit,
            given.one_of(&[("host", DomainUnit::Host), ("registrable", DomainUnit::Registrable)])) },
    Key { name: "same_site", value: "FORMS", flag: true,
        help: "Which sites count as one: those that differ by www, scheme, or both (www,scheme)",
        wanted: "a list of names, such as [\"www\", \"scheme\"], or [] for none",
        set: set_same_site },
    Key { name: "max_crawl_depth", value: "LINKS", flag: true,
        help: "Links from a seed beyond which pages are not handed out",
        wanted: "a whole number from 0 to 4294967295; leave it out for no limit",
        set: |s, given| put_some(&mut s.max_crawl_depth, given.integer(0..=u32::MAX.into())) },
    Key { name: "lease_seconds", value: "SECONDS", flag: true,
        help: "Time a spider has to crawl a page before it is handed out again",
        wanted: "seconds, more than 0 and at most a year",
        set: |s, given| put(&mut s.lease, given.seconds(MILLISECOND..=YEAR)) },
    Key { name: "seeds", value: "FILE", flag: true,
        help: "Seeds file: URLs to start from, one a line", wanted: "a path; leave it out for none",
        set: |s, given| put_some(&mut s.seeds, given.path()) },
    Key { name: "default_reqs", value: "N", flag: true,
        help: "URLs handed out to a request that does not say how many",
        wanted: "a whole number from 1 to 1000000",
        set: |s, given| put(&mut s.default_reqs, given.integer(1..=1_000_000)) },
    Key { name: "max_reqs", value: "N", flag: true,
        help: "Most URLs that a request may ask for", wanted: "a whole number from 1 to 1000000",
        set: |s, given| put(&mut s.max_reqs, given.integer(1..=1_000_000)) },
    Key { name: "max_body_bytes", value: "BYTES", flag: true,
        help: "Largest body of a request", wanted: "bytes, or text such as \"16MiB\", from 1KiB to 1GiB",
        set: |s, given| put(&mut s.max_body_bytes, given.size(1 << 10..=1 << 30)) },
    Key { name: "address", value: "IP", flag: true,
        help: "Address to listen on",
        wanted: "an IP address: 127.0.0.1 for this machine only, 0.0.0.0 or :: for all its networks",
        set: |s, given| put(&mut s.address, given.parsed()) },
    Key { name: "port", value: "PORT", flag: true,
        help: "Port to listen on; 0: any free one", wanted: "a whole number from 0 to 65535",
        set: |s, given| put(&mut s.port, given.integer(0..=65535)) },
    Key { name: "ssl_key", value: "FILE", flag: true,
        help: "Private key of the server (PEM); makes it HTTPS", wanted: "a path; leave it out for HTTP",
        set: |s, given| put_some(&mut s.ssl_key, given.path()) },
    Key { name: "ssl_cert", value: "FILE", flag: true,
        help: "Certificate of the server (PEM)", wanted: "a path; leave it out for HTTP",
        set: |s, given| put_some(&mut s.ssl_cert, given.path()) },
    Key { name: "log_level", value: "LEVEL", flag: true,
        help: "What is logged: error, warn, info, debug, trace, or directives by module",
        wanted: "off, error, warn, info, debug, trace, or directives such as \"info,aduana::server=debug\"",
        set: |s, given| put(&mut s.log_level, given.text().filter(|t| is_log_filter(t)).map(str::to_owned)) },
    Key { name: "passwds", value: "TABLE", flag: false,
        help: "Who may use the server", wanted: "a table of login = \"password\"; leave it out to let everybody in",
        set: |s, given| set_passwds(s, given) },
];

/// A filter says what it means only if each directive has a level: `tracing` takes `inof` for a module.
fn is_log_filter(text: &str) -> bool {
    let is_level = |level: &str| level.parse::<tracing_subscriber::filter::LevelFilter>().is_ok();
    text.split(',').all(|directive| directive.contains(['=', '[', ']']) || is_level(directive.trim()))
        && EnvFilter::try_new(text).is_ok()
}

fn set_same_site(settings: &mut Settings, given: Given<'_>) -> Result<(), Wrong> {
    let names = given.list().ok_or(Wrong::Value)?;
    settings.same_site =
        SameSite::from_names(names).map_err(|error| Wrong::Because(error.to_string(), None))?;
    Ok(())
}

fn set_passwds(settings: &mut Settings, given: Given<'_>) -> Result<(), Wrong> {
    settings.passwds = Some(given.table(read_passwds).ok_or(Wrong::Value)??);
    Ok(())
}

fn read_passwds(table: &DeTable<'_>) -> Result<Passwds, Wrong> {
    if table.is_empty() {
        let reason = "the table is empty: add a login, or leave passwds out to let everybody in";
        return Err(Wrong::Because(reason.to_owned(), None));
    }
    let mut passwds = BTreeMap::new();
    for (name, password) in table {
        let login = name.get_ref();
        let wrong = |reason: String| Wrong::Because(reason, Some(name.span().start));
        check_login(login).map_err(|reason| wrong(format!("login {login:?}: {reason}")))?;
        let password = password.get_ref().as_str();
        let password =
            password.ok_or_else(|| wrong(format!("the password of {login:?} must be text in quotes")))?;
        check_password(password).map_err(|reason| wrong(format!("the password of {login:?} {reason}")))?;
        passwds.insert(login.to_string(), password.to_owned());
    }
    Ok(Passwds(passwds))
}

/// # Errors
/// Why BasicAuth cannot carry the login.
pub fn check_login(login: &str) -> Result<(), &'static str> {
    if login.is_empty() {
        Err("it must not be empty")
    } else if login.contains(':') {
        Err("BasicAuth ends a login at the first colon: use another character")
    } else if login.chars().any(char::is_control) {
        Err("it must not hold control characters")
    } else {
        Ok(())
    }
}

fn check_password(password: &str) -> Result<(), &'static str> {
    if password.is_empty() {
        Err("must not be empty")
    } else if password.starts_with("$argon2") && !is_argon2_hash(password) {
        Err("is a damaged argon2 hash: make it anew with `aduana passwd`")
    } else {
        Ok(())
    }
}

/// Whether the text has every part that checking a password against it needs.
fn is_argon2_hash(text: &str) -> bool {
    argon2::PasswordHash::new(text).is_ok_and(|hash| {
        let known =
            argon2::Algorithm::try_from(hash.algorithm).is_ok() && argon2::Params::try_from(&hash).is_ok();
        known && hash.salt.is_some() && hash.hash.is_some()
    })
}
