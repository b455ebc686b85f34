//! The command line from outside: exit code, stdout and stderr together, word for word. Scripts read them
//! as much as people do, so that a change of them should be meant.

#[cfg(unix)]
mod serve;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs `aduana` in `dir`, where paths in messages are short and the same everywhere.
fn aduana(dir: &Path, args: &[&str], stdin: &str) -> (String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_aduana"))
        .args(args)
        .current_dir(dir)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its arguments does not wait for its input.
    if let Err(error) = child.stdin.take().unwrap().write_all(stdin.as_bytes()) {
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    }
    let output = child.wait_with_output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let code = output.status.code().unwrap();
    let all = format!(
        "$ aduana {}\nexit code {code}\n----- stdout\n{stdout}----- stderr\n{stderr}",
        args.join(" ")
    );
    (stdout, all)
}

/// Snapshots one command in a folder of its own with these files.
macro_rules! snapshot {
    ($name:expr, $files:expr, $args:expr) => {{
        let dir = tempfile::tempdir().unwrap();
        let files: &[(&str, &[u8])] = $files;
        for (name, content) in files {
            fs::write(dir.path().join(name), content).unwrap();
        }
        insta::assert_snapshot!($name, aduana(dir.path(), $args, "").1);
    }};
}

#[test]
fn the_version_and_the_commands_are_told() {
    snapshot!("version", &[], &["--version"]);
    snapshot!("help", &[], &["--help"]);
    snapshot!("help_of_serve", &[], &["serve", "--help"]);
    snapshot!("help_of_cert", &[], &["cert", "--help"]);
    snapshot!("help_of_passwd", &[], &["passwd", "--help"]);
    snapshot!("help_of_replay", &[], &["replay", "--help"]);
    snapshot!("help_of_synth", &[], &["synth", "--help"]);
    snapshot!("help_of_simulate", &[], &["simulate", "--help"]);
    snapshot!("unknown_command", &[], &["server"]);
    snapshot!("unknown_flag", &[], &["serve", "--prot", "1"]);
}

#[test]
fn settings_that_are_wrong_are_refused_with_their_line() {
    snapshot!("unknown_setting", &[("a.toml", b"# mine\nprot = 8000\n")], &["serve", "a.toml"]);
    snapshot!("wrong_setting", &[("a.toml", b"port = \"http\"\n")], &["serve", "a.toml"]);
    snapshot!("broken_settings", &[("a.toml", b"port = 8000\nscorer = none\n")], &["serve", "a.toml"]);
    snapshot!("no_settings_file", &[], &["serve", "a.toml"]);
    snapshot!("unknown_scorer", &[], &["serve", "--scorer", "page-rank"]);
    snapshot!("wrong_flag", &[], &["serve", "--hard-crawl-limit", "-1"]);
    snapshot!("key_without_certificate", &[], &["serve", "--ssl-key", "key.pem"]);
    snapshot!("certificate_without_key", &[("a.toml", b"ssl_cert = \"cert.pem\"\n")], &["serve", "a.toml"]);
}

#[test]
fn seeds_that_are_wrong_are_refused_with_their_line() {
    let bad: &[(&str, &[u8])] = &[("seeds.txt", b"http://a.example/\nb.example\n")];
    snapshot!("bad_seed", bad, &["serve", "--seeds", "seeds.txt"]);
    snapshot!(
        "seeds_not_utf8",
        &[("seeds.txt", b"http://caf\xe9.example/\n")],
        &["serve", "--seeds", "seeds.txt"]
    );
    snapshot!("no_seeds_file", &[], &["serve", "--seeds", "seeds.txt"]);
}

#[test]
fn a_certificate_is_made_once_and_its_key_is_private() {
    let dir = tempfile::tempdir().unwrap();
    insta::assert_snapshot!("cert", aduana(dir.path(), &["cert"], "").1);
    let key = dir.path().join("certs/aduana-key.pem");
    let first = fs::read_to_string(&key).unwrap();
    assert!(first.starts_with("-----BEGIN PRIVATE KEY-----"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    }

    insta::assert_snapshot!("cert_again", aduana(dir.path(), &["cert"], "").1);
    assert_eq!(fs::read_to_string(&key).unwrap(), first);

    let forced = ["cert", "--force", "--name", "crawl.example.com", "--days", "30"];
    insta::assert_snapshot!("cert_forced", aduana(dir.path(), &forced, "").1);
    assert_ne!(fs::read_to_string(&key).unwrap(), first);

    snapshot!("cert_for_no_name", &[], &["cert", "--name", "http://localhost"]);
}

#[test]
fn a_password_is_printed_as_a_line_of_the_settings_file() {
    use argon2::{Argon2, PasswordHash, PasswordVerifier};
    let dir = tempfile::tempdir().unwrap();
    for (name, login, given) in
        [("passwd", "ana", "correct horse\n"), ("passwd_quoted", "ana@example.com", "correct horse\r\n")]
    {
        let (stdout, all) = aduana(dir.path(), &["passwd", login], given);
        let table: toml::Table = stdout.parse().unwrap();
        let hash = table[login].as_str().unwrap();
        Argon2::default().verify_password(b"correct horse", &PasswordHash::new(hash).unwrap()).unwrap();
        insta::assert_snapshot!(name, all.replace(hash_part(hash), "SALT$HASH"));
    }
    snapshot!("passwd_empty", &[], &["passwd", "ana"]);
    snapshot!("passwd_with_colon", &[], &["passwd", "ana:luis"]);
}

/// What of the hash is random: salt and hash, after the last parameter.
fn hash_part(hash: &str) -> &str {
    let (start, _) = hash.match_indices('$').nth(3).unwrap();
    &hash[start + 1..]
}

#[cfg(unix)]
#[test]
fn a_reader_that_went_away_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_aduana"))
        .arg("cert")
        .current_dir(dir.path())
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.contains("error")), (Some(0), false), "{stderr}");
}

#[test]
fn replay_and_synth_refuse_what_makes_no_sense() {
    let graph: &[(&str, &[u8])] = &[
        ("graph.tsv", b"http://a.example/\thttp://b.example/\n"),
        ("bad.tsv", b"http://a.example/\t1\thttp://b.example/ x\n"),
        ("bad.pem", b"no certificate\n"),
        ("seeds.txt", b"http://a.example/\n"),
    ];
    for (name, args) in [
        ("replay_without_graph", &["replay", "--mode", "post"][..]),
        ("replay_remote", &["replay", "graph.tsv", "--url", "http://192.0.2.1:8000"]),
        ("replay_https_without_certificate", &["replay", "graph.tsv", "--url", "https://127.0.0.1:1"]),
        (
            "replay_no_certificate",
            &["replay", "graph.tsv", "--url", "https://127.0.0.1:1", "--cacert", "bad.pem"],
        ),
        ("replay_other_scheme", &["replay", "graph.tsv", "--url", "ftp://127.0.0.1"]),
        ("replay_missing_graph", &["replay", "no.tsv"]),
        ("replay_bad_line", &["replay", "bad.tsv"]),
        ("replay_check_without_seeds", &["replay", "graph.tsv", "--check"]),
        ("replay_bad_share", &["replay", "graph.tsv", "--dead-spiders", "1.5"]),
        ("replay_no_password", &["replay", "graph.tsv", "--user", "spider"]),
        ("synth_without_pages", &["synth", "--pages", "0"]),
    ] {
        snapshot!(name, graph, args);
    }
}

#[test]
fn a_synthetic_graph_is_written_with_a_summary() {
    let dir = tempfile::tempdir().unwrap();
    insta::assert_snapshot!(
        "synth",
        aduana(dir.path(), &["synth", "--pages", "2", "--output", "graph.tsv"], "").1
    );
    let text = fs::read_to_string(dir.path().join("graph.tsv")).unwrap();
    assert_eq!(text.lines().count(), 2);
}

#[test]
fn a_simulation_says_what_it_misses() {
    let graph: (&str, &[u8]) = ("graph.tsv", b"http://a.test/\thttp://b.test/\n");
    let empty: (&str, &[u8]) = ("seeds.txt", b"# none yet\n");
    snapshot!("simulate_without_seeds", &[graph], &["simulate", "graph.tsv"]);
    snapshot!("simulate_no_seed", &[graph, empty], &["simulate", "graph.tsv", "--seeds", "seeds.txt"]);
    let args = ["simulate", "graph.tsv", "--seeds", "seeds.txt", "--hard-crawl-limit", "0"];
    snapshot!("simulate_no_hand_outs", &[graph, empty], &args);
}
