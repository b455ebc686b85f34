//! Why settings were refused.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::keys::KEYS;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    File { path: PathBuf, line: usize },
    Environment(String),
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File { path, line } => write!(f, "{}:{line}", path.display()),
            Origin::Environment(name) => write!(f, "environment variable {name}"),
            Origin::Flag(key) => write!(f, "--{}", key.replace('_', "-")),
        }
    }
}

/// Why settings were refused. No message repeats a password.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("cannot read the settings file {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{origin}: {message}")]
    Syntax { origin: Origin, message: String },
    /// `key` is as it was written: a key of the file, or a variable's name after the prefix in lower case.
    #[error("{origin}: there is no setting {key:?}")]
    Unknown { origin: Origin, key: String },
    #[error("{origin}: {key} is {given}: give {wanted}")]
    Wrong { origin: Origin, key: &'static str, given: String, wanted: &'static str },
    #[error("{origin}: {key}: {reason}")]
    Because { origin: Origin, key: &'static str, reason: String },
    /// Settings that do not go together.
    #[error("{0}")]
    Conflict(String),
}

impl SettingsError {
    /// The next step, where the message does not say it.
    pub fn hint(&self) -> Option<String> {
        match self {
            SettingsError::Unknown { origin, key } => Some(match (nearest_key(key), origin) {
                (Some(nearest), Origin::Environment(_)) => {
                    format!("did you mean {}{}?", super::load::PREFIX, nearest.to_uppercase())
                }
                (Some(nearest), _) => format!("did you mean {nearest:?}?"),
                (None, _) => "config/aduana.toml lists and explains every setting".to_owned(),
            }),
            SettingsError::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => Some(
                "start from a copy of config/aduana.toml, or leave the file out for the defaults".to_owned(),
            ),
            SettingsError::Syntax { .. } => Some(
                "a setting is a line `name = value`; text stands in quotes, true and false do not".to_owned(),
            ),
            _ => None,
        }
    }
}

/// The valid name that a mistyped one most probably stands for.
fn nearest_key(key: &str) -> Option<&'static str> {
    let key = key.to_lowercase().replace('-', "_");
    let likeness = |name: &str| strsim::jaro_winkler(name, &key);
    let names = KEYS.iter().map(|key| key.name);
    names.max_by(|a, b| likeness(a).total_cmp(&likeness(b))).filter(|name| likeness(name) > 0.75)
}
