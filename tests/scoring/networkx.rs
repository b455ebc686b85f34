//! PageRank and HITS against networkx and numpy, in a Python that `tests/run.sh` sets up; without one the
//! test says so and passes.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::examples::Example;
use super::{TIGHT, farthest, hits, pagerank};

#[derive(serde::Deserialize)]
struct Scores {
    pagerank: Vec<f64>,
    personalized: Vec<f64>,
    /// Authorities, hubs.
    hits: Option<(Vec<f64>, Vec<f64>)>,
    networkx_hits: Option<(Vec<f64>, Vec<f64>)>,
    weighted_hits: Option<(Vec<f64>, Vec<f64>)>,
}

/// A Python that has networkx.
fn python() -> Option<String> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv/bin/python3");
    [own.to_str()?, "python3"].into_iter().find(|python| has_networkx(python)).map(str::to_owned)
}

fn has_networkx(python: &str) -> bool {
    let modules = ["-c", "import networkx, numpy, scipy"];
    let found = Command::new(python).args(modules).stdout(Stdio::null()).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

fn ask(python: &str, examples: &[Example]) -> Vec<Scores> {
    let examples: Vec<_> = examples
        .iter()
        .map(|example| {
            let edges: Vec<_> = example.edges().collect();
            serde_json::json!({
                "pages": example.pages, "edges": edges, "damping": example.damping, "weights": example.weights(),
            })
        })
        .collect();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scoring/reference.py");
    let mut child =
        Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&serde_json::to_vec(&examples).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn scores_are_those_of_networkx() {
    let Some(python) = python() else {
        eprintln!("skipped: no Python with networkx, numpy and scipy; tests/run.sh installs them");
        return;
    };
    // An empty graph is none for networkx.
    let examples: Vec<Example> = Example::all().filter(|example| example.pages > 0).collect();
    let (mut of_numpy, mut of_networkx, mut weighted) = (0, 0, 0);
    for (example, expected) in examples.iter().zip(ask(&python, &examples)) {
        let graph = example.graph();
        let near = |what: &str, found: &[f64], expected: &[f64]| {
            let distance = farthest(found, expected);
            assert!(distance < 1e-9, "{what}: {distance} in {example:?}");
        };
        near("pagerank", &pagerank(&graph, None, example.damping, TIGHT).0, &expected.pagerank);
        let personalized = pagerank(&graph, Some(&example.content), example.damping, TIGHT).0;
        near("personalized", &personalized, &expected.personalized);
        let (authorities, hubs) = hits(&graph, None, TIGHT);
        for ((a, h), count) in [(expected.hits, &mut of_numpy), (expected.networkx_hits, &mut of_networkx)]
            .into_iter()
            .filter_map(|(expected, count)| Some((expected?, count)))
        {
            near("authorities", &authorities, &a);
            near("hubs", &hubs, &h);
            *count += 1;
        }
        if let Some((a, h)) = expected.weighted_hits {
            let (authorities, hubs) = hits(&graph, Some(&example.content), TIGHT);
            near("weighted authorities", &authorities, &a);
            near("weighted hubs", &hubs, &h);
            weighted += 1;
        }
    }
    eprintln!("hits: {of_numpy} by numpy, {of_networkx} by networkx, {weighted} weighted");
    assert!(examples.len() > 390 && of_numpy > 150 && of_networkx > 150 && weighted > 150);
}
