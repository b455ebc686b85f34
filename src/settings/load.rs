//! Defaults, settings file, environment and flags merged into one [`Settings`].

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use toml::de::DeTable;

use super::Settings;
use super::error::{Origin, SettingsError};
use super::given::Given;
use super::keys::{KEYS, Key, Wrong};

/// An environment variable of this prefix sets the key of the rest of its name in lower case.
pub const PREFIX: &str = "ADUANA_";

/// Variables of this prefix belong to the test programs, whose servers inherit them.
const TEST_PREFIX: &str = "ADUANA_TEST_";

/// The settings from `file` (if any), this process's environment, and flags.
///
/// # Errors
/// [`SettingsError`] for the first thing wrong: in the file by line, then environment, flags, conflicts.
pub fn load(file: Option<&Path>, flags: &[(&'static Key, String)]) -> Result<Settings, SettingsError> {
    load_from(file, env::vars_os(), flags)
}

/// As [`load`], with another environment.
///
/// # Errors
/// As [`load`].
pub fn load_from(
    file: Option<&Path>,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    flags: &[(&'static Key, String)],
) -> Result<Settings, SettingsError> {
    let mut merge = Merge::default();
    if let Some(path) = file {
        let text = fs::read_to_string(path)
            .map_err(|source| SettingsError::Read { path: path.to_owned(), source })?;
        merge.file(path, &text)?;
    }
    merge.environment(environment)?;
    for (key, text) in flags {
        merge.set(key, Given::Text(text), |_| Origin::Flag(key.name))?;
    }
    merge.finish()
}

/// The settings so far, and where each that is no default comes from.
#[derive(Default)]
pub(super) struct Merge {
    settings: Settings,
    origins: BTreeMap<&'static str, Origin>,
}

impl Merge {
    pub(super) fn file(&mut self, path: &Path, text: &str) -> Result<(), SettingsError> {
        let at = |offset: usize| {
            // A span may end where the text does, inside a line that is never finished.
            let line = 1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|&&b| b == b'\n').count();
            Origin::File { path: path.to_owned(), line }
        };
        // Only the parser's message is kept: its `Display` would quote the line, perhaps with a password.
        let table = DeTable::parse(text).map_err(|error| SettingsError::Syntax {
            origin: at(error.span().map_or(0, |span| span.start)),
            message: error.message().to_owned(),
        })?;
        let mut entries: Vec<_> = table.get_ref().iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (name, value) in entries {
            let start = name.span().start;
            let key = find(name.get_ref(), &at(start))?;
            self.set(key, Given::Toml(value.get_ref()), |inside| at(inside.unwrap_or(start)))?;
        }
        Ok(())
    }

    pub(super) fn environment(
        &mut self,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<(), SettingsError> {
        let mut ours: Vec<_> = environment
            .into_iter()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, _)| name.starts_with(PREFIX) && !name.starts_with(TEST_PREFIX))
            .collect();
        ours.sort();
        for (name, value) in ours {
            let key = name[PREFIX.len()..].to_lowercase();
            let origin = Origin::Environment(name);
            let key = find(&key, &origin)?;
            let Some(text) = value.to_str() else {
                let reason = "the value is not UTF-8".to_owned();
                return Err(SettingsError::Because { origin, key: key.name, reason });
            };
            self.set(key, Given::Text(text), |_| origin.clone())?;
        }
        Ok(())
    }

    /// `origin` is asked with a place inside the value, or with `None` for the key's own.
    fn set(
        &mut self,
        key: &'static Key,
        given: Given<'_>,
        origin: impl Fn(Option<usize>) -> Origin,
    ) -> Result<(), SettingsError> {
        match (key.set)(&mut self.settings, given) {
            Ok(()) => {
                self.origins.insert(key.name, origin(None));
                Ok(())
            }
            Err(Wrong::Value) => {
                let wanted = key.wanted;
                // What stands where passwords should may well be one.
                let given = if key.name == "passwds" { "no table".to_owned() } else { given.to_string() };
                Err(SettingsError::Wrong { origin: origin(None), key: key.name, given, wanted })
            }
            Err(Wrong::Because(reason, inside)) => {
                Err(SettingsError::Because { origin: origin(inside), key: key.name, reason })
            }
        }
    }

    /// Checks what no key can check alone.
    pub(super) fn finish(self) -> Result<Settings, SettingsError> {
        let s = &self.settings;
        let conflict = |message: String| Err(SettingsError::Conflict(message));
        if s.soft_crawl_limit > s.hard_crawl_limit {
            return conflict(format!(
                "{} is above {}: give a soft limit that is not above the hard one",
                self.named("soft_crawl_limit", s.soft_crawl_limit),
                self.named("hard_crawl_limit", s.hard_crawl_limit),
            ));
        }
        if s.default_reqs > s.max_reqs {
            return conflict(format!(
                "{} is above {}: a request must not get more than it may ask for",
                self.named("default_reqs", s.default_reqs),
                self.named("max_reqs", s.max_reqs),
            ));
        }
        match (&s.ssl_key, &s.ssl_cert) {
            (Some(key), None) => conflict(format!(
                "{} stands without ssl_cert: give both for HTTPS, neither for HTTP",
                self.named("ssl_key", key.display())
            )),
            (None, Some(cert)) => conflict(format!(
                "{} stands without ssl_key: give both for HTTPS, neither for HTTP",
                self.named("ssl_cert", cert.display())
            )),
            _ => Ok(self.settings),
        }
    }

    fn named(&self, key: &str, value: impl std::fmt::Display) -> String {
        match self.origins.get(key) {
            Some(origin) => format!("{key} = {value} ({origin})"),
            None => format!("{key} = {value} (the default)"),
        }
    }
}

fn find(name: &str, origin: &Origin) -> Result<&'static Key, SettingsError> {
    KEYS.iter()
        .find(|key| key.name == name)
        .ok_or_else(|| SettingsError::Unknown { origin: origin.clone(), key: name.to_owned() })
}
