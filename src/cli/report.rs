//! How a command that failed says so.

use std::fmt;
use std::process::ExitCode;

use super::stdout;

/// An error and what to do next.
#[derive(Debug)]
struct Hinted {
    error: anyhow::Error,
    hint: String,
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&message(&self.error))
    }
}

impl std::error::Error for Hinted {}

/// Adds a `hint:` line to an error.
pub trait Hint<T> {
    /// `hint` says what to do next.
    fn hint(self, hint: &str) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> Hint<T> for Result<T, E> {
    fn hint(self, hint: &str) -> anyhow::Result<T> {
        self.map_err(|error| Hinted { error: error.into(), hint: hint.to_owned() }.into())
    }
}

/// Prints the error; the exit code is the process's.
pub fn failed(error: &anyhow::Error) -> ExitCode {
    if stdout::is_closed(error) {
        return ExitCode::SUCCESS;
    }
    eprintln!("error: {}", message(error));
    for hinted in error.chain().filter_map(|error| error.downcast_ref::<Hinted>()) {
        eprintln!("hint: {}", hinted.hint);
    }
    ExitCode::FAILURE
}

/// The error and its causes in one line. Some errors tell their cause themselves: it is not told again.
fn message(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |message, cause| {
        if message.is_empty() {
            cause
        } else if message.ends_with(&cause) {
            message
        } else {
            format!("{message}: {cause}")
        }
    })
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, anyhow};

    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let error =
            Err::<(), _>(anyhow!("disk full")).context("cannot write a: disk full").context("no cert");
        assert_eq!(message(&error.hint("make room").unwrap_err()), "no cert: cannot write a: disk full");
    }
}
