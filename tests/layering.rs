//! The ladder of modules. What would be lost without: the freedom to change one layer without reading the
//! others. An import that goes up costs nothing on the day it is written, and a circle is what the next
//! hundred of them make of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Each module with those that it may use, the lowest first. A new rung is a new line.
const LADDER: [(&str, &[&str]); 13] = [
    ("types", &[]),
    ("log", &["types"]),
    ("pagedb", &["types", "log"]),
    ("graph", &["types", "pagedb"]),
    // Scorers receive graphs, never a PageDB.
    ("score", &["types", "graph"]),
    ("schedule", &["types", "log", "pagedb"]),
    ("frontier", &["types", "log", "pagedb", "graph", "score", "schedule"]),
    // Beside the server: what the frontier is opened with, and where the server listens.
    ("settings", &["types", "score", "frontier"]),
    ("server", &["types", "frontier"]),
    ("graph_file", &["types"]),
    ("synth", &["types"]),
    ("nutch", &["types"]),
    (
        "cli",
        &[
            "types",
            "log",
            "pagedb",
            "graph",
            "score",
            "schedule",
            "frontier",
            "settings",
            "server",
            "graph_file",
            "synth",
            "nutch",
        ],
    ),
];

/// Crates that only some modules may name: a layer that knows LMDB has LMDB's reasons to change.
const CONFINED: [(&str, &[&str]); 3] =
    [("heed", &["pagedb", "log"]), ("anyhow", &["cli"]), ("axum", &["server"])];

struct Source {
    path: PathBuf,
    /// Its place below the crate: `["pagedb", "apply", "write"]`.
    module: Vec<String>,
    /// Without comments and string literals.
    code: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut out = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let below = path.strip_prefix(&root).unwrap().with_extension("");
                let mut module: Vec<String> =
                    below.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
                if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
                    module.pop();
                }
                let code = code_of(&fs::read_to_string(&path).unwrap());
                out.push(Source { path, module, code });
            }
        }
    }
    out
}

/// The text without what stands in line comments and between double quotes.
fn code_of(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut in_string = false;
        let mut previous = ' ';
        for (at, character) in line.char_indices() {
            if !in_string && line[at..].starts_with("//") {
                break;
            }
            if character == '"' && previous != '\\' {
                in_string = !in_string;
            }
            if !in_string {
                out.push(character);
            }
            previous = character;
        }
        out.push('\n');
    }
    out
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The places right after each `word` that begins a path.
fn after<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    code.match_indices(word).filter_map(move |(at, _)| {
        let before = code[..at].chars().next_back();
        let is_inside = before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':');
        (!is_inside).then(|| &code[at + word.len()..])
    })
}

/// The top modules that a source names: by `crate::`, or by so many `super::` that they leave its own.
fn uses(source: &Source) -> Vec<String> {
    let mut out = Vec::new();
    for rest in after(&source.code, "crate::") {
        out.extend(first_segments(rest));
    }
    for mut rest in after(&source.code, "super::") {
        let mut up = 1;
        while let Some(more) = rest.strip_prefix("super::") {
            (rest, up) = (more, up + 1);
        }
        // From a module inside the file (tests) it leads one step less far up; what it names there is no
        // module of the ladder.
        if up >= source.module.len() {
            out.extend(first_segments(rest));
        }
    }
    out
}

/// `a` of `a::b`; both of `{a::b, c}`.
fn first_segments(rest: &str) -> Vec<String> {
    let Some(group) = rest.strip_prefix('{') else { return vec![identifier(rest).to_owned()] };
    let mut depth = 0;
    let mut out = Vec::new();
    let mut start = true;
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => start = true,
            c if start && c.is_alphabetic() => {
                out.push(identifier(&group[at..]).to_owned());
                start = false;
            }
            _ => {}
        }
    }
    out
}

#[test]
fn imports_go_down_the_ladder() {
    let ladder: BTreeMap<&str, &[&str]> = LADDER.into_iter().collect();
    let mut faults = Vec::new();
    let mut imports = 0;
    for source in sources() {
        // lib.rs names every module, main.rs the command line.
        let Some(own) = source.module.first() else { continue };
        let Some(below) = ladder.get(own.as_str()) else {
            faults.push(format!("{}: module {own} has no rung in the ladder", source.path.display()));
            continue;
        };
        for used in uses(&source).iter().filter(|used| *used != own && ladder.contains_key(used.as_str())) {
            imports += 1;
            if !below.contains(&used.as_str()) {
                faults.push(format!("{}: {own} must not use {used}", source.path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(imports > 50, "only {imports} imports were found: the test reads them no more");
}

#[test]
fn the_ladder_has_no_circle() {
    for (at, (module, below)) in LADDER.iter().enumerate() {
        for used in *below {
            let stands = LADDER[..at].iter().any(|(lower, _)| lower == used);
            assert!(stands, "{module} may use {used}, which does not stand below it");
        }
    }
}

#[test]
fn crates_stay_in_their_layers() {
    let mut faults = Vec::new();
    let mut named = 0;
    for source in sources() {
        let Some(own) = source.module.first() else { continue };
        for (name, layers) in CONFINED {
            let used = after(&source.code, name).any(|rest| rest.starts_with("::"));
            named += usize::from(used);
            if used && !layers.contains(&own.as_str()) {
                faults.push(format!("{}: {own} must not name {name}", source.path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(named > 10, "only {named} sources name a crate: the test reads them no more");
}

#[test]
fn imports_are_read_in_every_form() {
    let source = |module: &[&str], code: &str| Source {
        path: PathBuf::new(),
        module: module.iter().map(|&part| part.to_owned()).collect(),
        code: code_of(code),
    };
    let read = |module: &[&str], code: &str| uses(&source(module, code)).join(" ");
    assert_eq!(read(&["log"], "use crate::types::Score;"), "types");
    assert_eq!(read(&["log"], "pub(crate) use crate::{log::{A, B}, server::C};"), "log server");
    assert_eq!(read(&["log"], "let a = crate::cli::main();"), "cli");
    assert_eq!(read(&["log"], "use super::server::Api; // crate::cli"), "server");
    assert_eq!(read(&["log", "local"], "use super::{Position, LogError};"), "");
    assert_eq!(read(&["log", "local"], "use super::super::pagedb::PageDb;"), "pagedb");
    assert_eq!(read(&["log"], "let text = \"crate::server\";"), "");
}
