//! `aduana passwd`: a password's hash, as a line for the settings file.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, anyhow, ensure};
use argon2::Argon2;
use argon2::password_hash::rand_core::OsRng;
use argon2::password_hash::{PasswordHasher, SaltString};

use super::stdout::Stdout;
use crate::settings::keys::check_login;

/// Hash a password for the settings file
///
/// Reads the password from standard input (at a terminal: twice, without showing it) and prints its
/// argon2id hash as a line for the [passwds] table of the settings file.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  aduana passwd ana
  aduana passwd ana < secret.txt
  aduana passwd ana >> config/aduana.toml    # if [passwds] stands last in it")]
pub struct Args {
    /// Name that the spider logs in with
    #[arg(default_value = "spider")]
    login: String,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    check_login(&args.login).map_err(|reason| anyhow!("login {:?}: {reason}", args.login))?;
    let password = read_password().context("cannot read the password")?;
    ensure!(!password.is_empty(), "the password is empty: give one line on standard input");
    let salt = SaltString::generate(&mut OsRng);
    let hash = Argon2::default().hash_password(password.as_bytes(), &salt);
    let hash = hash.map_err(|error| anyhow!("cannot hash the password: {error}"))?;
    let mut out = Stdout::lock();
    writeln!(out, "{} = \"{hash}\"", toml_key(&args.login))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// One line, without its end.
fn read_password() -> io::Result<String> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        let password = rpassword::prompt_password("Password: ")?;
        let again = rpassword::prompt_password("Again: ")?;
        return if password == again { Ok(password) } else { Err(io::Error::other("the two differ")) };
    }
    let mut line = String::new();
    stdin.lock().read_line(&mut line)?;
    let line = line.strip_suffix('\n').unwrap_or(&line);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

/// Bare where TOML allows it; logins have no control characters, so that quotes and backslashes are all
/// that needs an escape.
fn toml_key(login: &str) -> String {
    if login.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')) {
        login.to_owned()
    } else {
        format!("\"{}\"", login.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_login_is_a_key_of_the_settings_file() {
        for login in ["ana", "ana-1", "ana@example.com", "ana \"the spider\" \\ o", "añá"] {
            let text = format!("{} = 1", toml_key(login));
            let table: toml::Table = text.parse().unwrap();
            assert!(table.contains_key(login), "{text}");
        }
    }
}
