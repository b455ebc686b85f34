//! The settings file is the manual, so it is held to the code; and bad settings to their exact messages.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

use super::load::Merge;
use super::*;

const MANUAL: &str = include_str!("../../config/aduana.toml");

fn from_file(text: &str) -> Result<Settings, SettingsError> {
    let mut merge = Merge::default();
    merge.file(Path::new("aduana.toml"), text)?;
    merge.finish()
}

fn from_environment(name: &str, value: &str) -> Result<Settings, SettingsError> {
    load_from(None, [(OsString::from(name), OsString::from(value))], &[])
}

fn key(name: &str) -> &'static Key {
    KEYS.iter().find(|key| key.name == name).unwrap()
}

#[test]
fn the_settings_file_equals_the_defaults() {
    assert_eq!(from_file(MANUAL).unwrap(), Settings::default());
}

#[test]
fn the_settings_file_has_every_key_once_in_the_order_of_the_table() {
    let places: Vec<_> = KEYS
        .iter()
        .map(|key| {
            let is_its_line = |line: &&str| {
                let line = line.strip_prefix('#').unwrap_or(line);
                line.starts_with(&format!("{} = ", key.name)) || line == format!("[{}]", key.name)
            };
            assert_eq!(MANUAL.lines().filter(is_its_line).count(), 1, "{}", key.name);
            MANUAL.lines().position(|line| is_its_line(&line))
        })
        .collect();
    assert!(places.is_sorted());
}

/// Tests and benchmarks open frontiers without settings; they shall measure what users run.
#[test]
fn the_defaults_are_the_frontiers_own() {
    // Without the hash functions, of which the same one may have two addresses.
    let shown = |options: Options| format!("{options:?}").split_once("hasher").unwrap().0.to_owned();
    assert_eq!(shown(Settings::default().frontier_options()), shown(Options::new("aduana.db")));
}

/// `Debug` of a struct has a line a field: so a field without a key is found.
#[test]
fn every_field_has_a_key() {
    let fields = format!("{:#?}", Settings::default());
    let mut fields: Vec<_> =
        fields.lines().filter_map(|line| line.strip_prefix("    ")?.split_once(": ")).collect();
    fields.retain(|(field, _)| !field.starts_with(' '));
    for (field, _) in &fields {
        let name = match *field {
            "lease" => "lease_seconds",
            "score_only_other_domains" => "score_links",
            same => same,
        };
        assert!(KEYS.iter().any(|key| key.name == name), "{field}");
    }
    assert_eq!(fields.len(), KEYS.len());
}

#[test]
fn the_examples_of_optional_settings_are_valid() {
    let all: String = MANUAL
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(example) if !example.starts_with(' ') => format!("{example}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let settings = from_file(&all).unwrap();
    assert_eq!(settings.max_crawl_depth, Some(5));
    assert_eq!(settings.seeds, Some("seeds/example.txt".into()));
    assert_eq!(settings.score_update_interval, Some(Duration::from_secs(600)));
    assert!(settings.ssl_key.is_some() && settings.ssl_cert.is_some());
    assert_eq!(settings.passwds.unwrap().0.len(), 2);
}

#[test]
fn flags_override_the_environment_and_that_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("aduana.toml");
    std::fs::write(&path, "port = 1\ndefault_reqs = 2\nmax_reqs = 3").unwrap();
    let environment =
        [("ADUANA_PORT", "10"), ("ADUANA_DEFAULT_REQS", "20"), ("OTHER", "1"), ("ADUANA_TEST_X", "1")];
    let environment = environment.map(|(name, value)| (name.into(), value.into()));
    let flags = [(key("port"), "100".to_owned()), (key("max_reqs"), "200".to_owned())];
    let settings = load_from(Some(&path), environment, &flags).unwrap();
    assert_eq!((settings.port, settings.default_reqs, settings.max_reqs), (100, 20, 200));
}

#[test]
fn values_are_taken_in_every_form() {
    let settings = from_file(
        "soft_crawl_limit = inf\nhard_crawl_limit = inf\nmap_size = 1048577\nlease_seconds = 0.5\n\
         address = \"::\"\ndomain_unit = \"registrable\"\nsame_site = [\"scheme\", \"www\"]\nmax_body_bytes = \"1 MiB\"\n\
         passwds = { ana = \"secret\" }\nlog_level = \"info,aduana::server=debug\"",
    )
    .unwrap();
    assert_eq!(settings.hard_crawl_limit, f64::INFINITY);
    assert_eq!(settings.max_body_bytes, 1 << 20);
    assert_eq!(settings.domain_unit, DomainUnit::Registrable);
    assert_eq!(settings.same_site, SameSite { www: true, scheme: true });
    let options = settings.frontier_options();
    assert_eq!(options.map_size, (1 << 20) + (64 << 10));
    assert_eq!(options.lease, Duration::from_millis(500));

    for (text, www, scheme) in [("www", true, false), ("www, scheme", true, true), ("", false, false)] {
        let settings = from_environment("ADUANA_SAME_SITE", text).unwrap();
        assert_eq!(settings.same_site, SameSite { www, scheme });
    }
    let settings = from_environment("ADUANA_PASSWDS", "{ ana = \"secret\" }").unwrap();
    assert_eq!(settings.passwds.clone().unwrap().0["ana"], "secret");
    assert!(!format!("{settings:?}").contains("secret"));
}

#[test]
fn listening_to_everybody_is_warned_about() {
    let warnings = |text: &str| from_file(text).unwrap().warnings().len();
    let open = "address = \"0.0.0.0\"\n";
    let tls = "ssl_key = \"k\"\nssl_cert = \"c\"\n";
    let passwds = "passwds = { ana = \"secret\" }\n";
    assert_eq!(warnings(""), 0);
    assert_eq!(warnings(open), 2);
    assert_eq!(warnings(&format!("{open}{tls}")), 1);
    assert_eq!(warnings(&format!("{open}{passwds}")), 1);
    assert_eq!(warnings(&format!("{open}{tls}{passwds}")), 0);
}

#[test]
fn bad_settings_are_refused_in_exact_words() {
    let mut out = String::new();
    let mut row = |given: &str, result: Result<Settings, SettingsError>| {
        let error = result.expect_err(given);
        let shown = error.to_string() + &error.hint().unwrap_or_default();
        assert!(!shown.contains("hunter2"), "{shown}");
        writeln!(out, "{given}\n    error: {error}").unwrap();
        if let Some(hint) = error.hint() {
            writeln!(out, "    hint: {hint}").unwrap();
        }
    };
    for text in include_str!("bad.txt").split("\n----\n").map(str::trim_end) {
        row(text, from_file(text));
    }
    for (name, value) in [
        ("ADUANA_PROT", "1"),
        ("ADUANA_XYZZY", "1"),
        ("ADUANA_PORT", "http"),
        ("ADUANA_PORT", ""),
        ("ADUANA_PERSIST", "yes"),
        ("ADUANA_PASSWDS", "ana:hunter2"),
        ("ADUANA_PASSWDS", "{ ana = hunter2 }"),
        ("ADUANA_MAP_SIZE", "1KiB"),
        ("ADUANA_SAME_SITE", "www,http"),
    ] {
        row(&format!("{name}={value}"), from_environment(name, value));
    }
    let flags = [(key("hard_crawl_limit"), "0.1".to_owned())];
    row("--hard-crawl-limit 0.1", load_from(None, [], &flags));
    let flags = [(key("address"), "localhost".to_owned())];
    row("--address localhost", load_from(None, [], &flags));
    insta::assert_snapshot!(out);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = load_from(Some(Path::new("no/such.toml")), [], &[]).unwrap_err();
    assert!(error.to_string().starts_with("cannot read the settings file no/such.toml: "));
    assert!(error.hint().unwrap().contains("config/aduana.toml"));

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("latin1.toml");
    std::fs::write(&path, b"scorer = \"\xe9\"").unwrap();
    let error = load_from(Some(&path), [], &[]).unwrap_err();
    assert!(error.to_string().ends_with("stream did not contain valid UTF-8"), "{error}");
}
