//! `aduana cert`: a self-signed key and certificate.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, ensure};
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose};
use time::{Duration, OffsetDateTime};

use super::report::Hint;
use super::stdout::Stdout;

/// Make a self-signed key and certificate for HTTPS
///
/// Writes aduana-key.pem (readable by you only) and aduana-cert.pem, and prints the lines for the
/// settings file. Clients must be told to trust the certificate; for a server in the open, get one from
/// a certificate authority instead.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  aduana cert
  aduana cert --name crawl.example.com --name 10.0.0.7 --days 90
  curl --cacert certs/aduana-cert.pem https://localhost:8000/health")]
pub struct Args {
    /// Folder of the two files; created if absent
    #[arg(long, default_value = "certs")]
    dir: PathBuf,
    /// Host name or IP address that clients use; repeat for several
    #[arg(long = "name", value_name = "NAME", default_values = ["localhost", "127.0.0.1", "::1"])]
    names: Vec<String>,
    /// Days that the certificate is valid; some clients refuse more than 825
    #[arg(long, default_value_t = 825, value_parser = clap::value_parser!(u32).range(1..=36500))]
    days: u32,
    /// Replace a key and certificate that are there
    #[arg(long)]
    force: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let key_path = args.dir.join("aduana-key.pem");
    let cert_path = args.dir.join("aduana-cert.pem");
    let present = [&key_path, &cert_path].into_iter().find(|path| path.exists());
    if let Some(path) = present.filter(|_| !args.force) {
        let error = anyhow!("{} exists already", path.display());
        return Err(error).hint("--force replaces it, --dir writes elsewhere");
    }
    let (key, cert) = make(&args.names, args.days)?;
    fs::create_dir_all(&args.dir).with_context(|| format!("cannot create {}", args.dir.display()))?;
    for (path, pem, mode) in [(&key_path, key, 0o600), (&cert_path, cert, 0o644)] {
        write(path, &pem, mode).with_context(|| format!("cannot write {}", path.display()))?;
    }
    eprintln!("valid for {} days for {}", args.days, args.names.join(", "));
    let mut out = Stdout::lock();
    writeln!(out, "ssl_key = {:?}\nssl_cert = {:?}", key_path.display(), cert_path.display())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Key and certificate in PEM form.
fn make(names: &[String], days: u32) -> anyhow::Result<(String, String)> {
    for name in names {
        let is_valid = name.parse::<std::net::IpAddr>().is_ok() || is_host_name(name);
        ensure!(
            is_valid,
            "{name:?} is neither a host name nor an IP address (international names: as punycode)"
        );
    }
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, "aduana");
    // An end entity, not an authority: whoever steals the key cannot sign for other names. Trusted by
    // itself, OpenSSL, rustls and Go all accept that.
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    // An hour back, for clients whose clocks are behind.
    let now = OffsetDateTime::now_utc();
    params.not_before = now - Duration::hours(1);
    params.not_after = now + Duration::days(days.into());
    let key = KeyPair::generate()?;
    let cert = params.self_signed(&key)?;
    Ok((key.serialize_pem(), cert.pem()))
}

fn is_host_name(name: &str) -> bool {
    let labels = name.strip_prefix("*.").unwrap_or(name);
    let is_label = |label: &str| {
        let is_plain = label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        is_plain && (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    name.len() <= 253 && labels.split('.').all(is_label)
}

/// A file of its own from the first byte on: the key is at no time readable by others, whoever owned a
/// file of this name before.
fn write(path: &Path, pem: &str, mode: u32) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = options.open(path)?;
    file.write_all(pem.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_hosts_or_addresses() {
        for name in
            ["localhost", "a-b.example.com", "*.example.com", "xn--bcher-kva.example", "127.0.0.1", "::1"]
        {
            assert!(make(&[name.to_owned()], 1).is_ok(), "{name}");
        }
        for name in ["", "a b", "bücher.example", "http://localhost", "localhost:8000", "-a", "a..b", "*"] {
            assert!(make(&[name.to_owned()], 1).is_err(), "{name}");
        }
    }
}
