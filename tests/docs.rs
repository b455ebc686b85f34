//! Documentation that is no longer true misleads more than none. What of it can be held to the program cheaply
//! is held here: links, files, routes, settings, commands and their flags.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The Markdown files for readers, by path from the root.
fn documents() -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for folder in ["", "docs", "certs", "tests/data"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let text = fs::read_to_string(&path).unwrap();
                found.insert(path.strip_prefix(root()).unwrap().to_owned(), text);
            }
        }
    }
    assert!(found.len() > 5, "{:?}", found.keys());
    found
}

/// Everything between `open` and the next `close`.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Vec<&'t str> {
    text.split(open).skip(1).filter_map(|rest| Some(rest.split_once(close)?.0)).collect()
}

/// The name that a heading has in links to it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_lead_somewhere() {
    let documents = documents();
    for (path, text) in &documents {
        for link in between(text, "](", ")") {
            if link.contains("://") {
                continue;
            }
            let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            assert!(root().join(&target).exists(), "{}: {link}", path.display());
            if !fragment.is_empty() {
                let headings = documents[&target].lines().filter(|line| line.starts_with('#'));
                assert!(headings.map(anchor).any(|name| name == fragment), "{}: {link}", path.display());
            }
        }
    }
}

#[test]
fn files_that_are_named_exist() {
    for (path, text) in documents() {
        for name in text.split('`').skip(1).step_by(2) {
            let is_file = name.contains('/') && (name.ends_with(".rs") || name.ends_with(".toml"));
            let places = ["", "src", "src/pagedb"];
            let exists = || places.iter().any(|place| root().join(place).join(name).exists());
            assert!(!is_file || exists(), "{}: there is no {name}", path.display());
        }
    }
}

#[test]
fn the_manual_has_every_route() {
    let manual = read("docs/api.md");
    let router = read("src/server/router.rs");
    let (_, paths) = router.split_once("const PATHS: [&str; ").unwrap();
    let (paths, _) = paths.split_once("];").unwrap();
    let named = between(&router, ".route(\"", "\"");
    let all: Vec<&str> = paths.split('"').skip(1).step_by(2).chain(named).collect();
    assert!(all.len() >= 9, "{all:?}");
    for path in all {
        let documented = ["GET", "POST"].iter().any(|method| manual.contains(&format!("`{method} {path}`")));
        assert!(documented, "docs/api.md does not name {path}");
    }
}

fn help(command: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_aduana")).args([command, "--help"]).output().unwrap();
    assert!(output.status.success(), "there is no aduana {command}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_settings_file_has_every_flag_of_the_server() {
    let file = read("config/aduana.toml");
    let help = help("serve");
    let flags = help.lines().filter_map(|line| line.trim_start().split_once("--"));
    let mut checked = 0;
    for (before, flag) in flags {
        let name = flag.split([' ', '=', '[']).next().unwrap_or(flag);
        // An option's own line, not a mention of it.
        if !(before.is_empty() || before.ends_with(", ")) || name == "help" {
            continue;
        }
        let key = name.replace('-', "_");
        let has = |line: &str| line.trim_start_matches('#').starts_with(&format!("{key} = "));
        assert!(file.lines().any(has), "config/aduana.toml does not have {key}");
        checked += 1;
    }
    assert!(checked > 15, "{checked} flags: has the help another form now?");
}

/// What a text tells to run as `aduana ...`: in backticks, or as a line of an indented or fenced block.
fn commands(text: &str) -> Vec<String> {
    let text = text.replace("cargo run --release -- ", "aduana ").replace("\\\n", " ");
    let mut found = Vec::new();
    for (at, part) in text.split('`').enumerate() {
        for line in part.lines().filter(|_| at % 2 == 1) {
            // Environment variables may stand before it.
            let command = line.strip_prefix("aduana ").or_else(|| Some(line.split_once("' aduana ")?.1));
            found.extend(command.filter(|rest| !rest.starts_with('-')).map(str::to_owned));
        }
    }
    found
}

#[test]
fn commands_that_are_named_exist_and_have_their_flags() {
    let mut checked = 0;
    for name in ["README.md", "docs/api.md", "docs/format.md", "docs/architecture.md", "config/aduana.toml"] {
        for line in commands(&read(name)) {
            let mut words = line.split_whitespace();
            // `aduana COMMAND --help` names none.
            let Some(command) = words.next().filter(|word| *word != "COMMAND") else { continue };
            let help = help(command);
            for flag in words.filter(|word| word.starts_with("--")) {
                let flag = flag.split('=').next().unwrap_or(flag);
                assert!(help.contains(flag), "{name}: aduana {command} has no {flag}");
            }
            checked += 1;
        }
    }
    assert!(checked > 10, "{checked} commands");
}
