//! Plain power methods over whole matrices, written from the formulae.

use super::examples::Example;
use super::{TIGHT, farthest, hits, pagerank};

/// x = d Aᵀ x + d (score of dangling pages) v + (1 - d) v, iterated until nothing changes any more.
pub fn dense_pagerank(example: &Example, preference: &[f64]) -> Vec<f64> {
    let n = example.pages as usize;
    let sum: f64 = preference.iter().sum();
    let v: Vec<f64> = preference.iter().map(|weight| weight / sum).collect();
    let mut matrix = vec![vec![0.0; n]; n];
    for (source, target) in example.edges() {
        matrix[source][target] = 1.0;
    }
    for row in &mut matrix {
        let degree: f64 = row.iter().sum();
        for (at, cell) in row.iter_mut().enumerate() {
            *cell = if degree > 0.0 { *cell / degree } else { v[at] };
        }
    }
    let mut x = v.clone();
    for _ in 0..6_000 {
        let step = |page: usize| {
            let flow: f64 = (0..n).map(|source| x[source] * matrix[source][page]).sum();
            example.damping * flow + (1.0 - example.damping) * v[page]
        };
        let next: Vec<f64> = (0..n).map(step).collect();
        let change = farthest(&next, &x);
        x = next;
        if change == 0.0 {
            break;
        }
    }
    x
}

/// a = Lᵀ L C a from a uniform start, scaled to sum 1; the loops are bounded as the scorer's must not be.
fn dense_hits(example: &Example, weights: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let n = example.pages as usize;
    let scaled = |mut vector: Vec<f64>| {
        let sum: f64 = vector.iter().sum();
        vector.iter_mut().for_each(|value| *value /= sum);
        (sum > 0.0).then_some(vector)
    };
    let hubs_of = |a: &[f64]| {
        let mut hubs = vec![0.0; n];
        example.edges().for_each(|(source, target)| hubs[source] += weights[target] * a[target]);
        scaled(hubs)
    };
    let mut a = vec![1.0 / n as f64; n];
    for _ in 0..20_000 {
        let hubs = hubs_of(&a)?;
        let mut next = vec![0.0; n];
        example.edges().for_each(|(source, target)| next[target] += hubs[source]);
        let next = scaled(next)?;
        let change = farthest(&next, &a);
        a = next;
        if change < 1e-17 {
            let hubs = hubs_of(&a)?;
            return Some((a, hubs));
        }
    }
    None
}

#[test]
fn pagerank_is_that_of_a_dense_power_method() {
    let mut compared = 0;
    for example in Example::all() {
        let uniform = vec![1.0; example.pages as usize];
        for (content, weights) in [(None, uniform), (Some(&example.content[..]), example.weights())] {
            let expected = dense_pagerank(&example, &weights);
            let (found, report) = pagerank(&example.graph(), content, example.damping, TIGHT);
            let distance = farthest(&found, &expected);
            assert!(distance < 1e-11, "{distance} in {example:?}");
            let total: f64 = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).sum();
            assert!(total <= report.error_bound.unwrap() + 1e-12, "{total} is beyond {report:?}");
            let (packed, _) = pagerank(&example.packed(), content, example.damping, TIGHT);
            assert_eq!(packed, found, "packed lists give other scores");
            compared += 1;
        }
    }
    assert_eq!(compared, 800);
}

#[test]
fn the_error_bound_holds_wherever_the_iteration_stops() {
    for (number, example) in Example::all().enumerate().filter(|(number, _)| number % 3 == 0) {
        let expected = dense_pagerank(&example, &vec![1.0; example.pages as usize]);
        let stop = super::Stop { max_loops: 1 + number as u32 % 7, ..TIGHT };
        let (found, report) = pagerank(&example.graph(), None, example.damping, stop);
        let total: f64 = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).sum();
        assert!(total <= report.error_bound.unwrap() + 1e-12, "{total} is beyond {report:?} in {example:?}");
    }
}

#[test]
fn hits_is_that_of_a_dense_power_method() {
    let mut compared = 0;
    for example in Example::all() {
        let uniform = vec![1.0; example.pages as usize];
        for (content, weights) in [(None, uniform), (Some(&example.content[..]), example.weights())] {
            let Some((authorities, hubs)) = dense_hits(&example, &weights) else { continue };
            let (a, h) = hits(&example.graph(), content, TIGHT);
            let distance = farthest(&a, &authorities).max(farthest(&h, &hubs));
            assert!(distance < 1e-9, "{distance} in {example:?}");
            assert_eq!(hits(&example.packed(), content, TIGHT).0, a, "packed lists give other scores");
            compared += 1;
        }
    }
    assert!(compared > 500, "only {compared} graphs have an answer");
}
