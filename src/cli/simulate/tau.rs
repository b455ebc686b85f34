//! Kendall's tau: how far two orders of the same things agree.
//!
//! Of all pairs, *concordant* ones stand in the same order in both, *discordant* ones in opposite orders; some
//! are tied in either. With n pairs in all, of which a are tied in the first and b in the second:
//!
//! > τ_b = (concordant - discordant) / √((n - a) (n - b))
//!
//! 1 for equal orders, -1 for opposite ones, near 0 for unrelated ones (Kendall 1945). Counted in
//! O(n log n) by the exchanges of a merge sort (Knight 1966).

/// `None` if there is nothing to compare: all are tied in one of the two.
pub fn kendall(pairs: &mut [(f64, f64)]) -> Option<f64> {
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let all = pairs_of(pairs.len());
    let tied_first = tied(pairs, |a, b| a.0 == b.0);
    let tied_both = tied(pairs, |a, b| a == b);
    let mut second: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
    let discordant = exchanges(&mut second);
    let tied_second = tied(&second, |a, b| a == b);
    let concordant = all + tied_both - tied_first - tied_second - discordant;
    let product = (all - tied_first) as f64 * (all - tied_second) as f64;
    (product > 0.0).then(|| (concordant as f64 - discordant as f64) / product.sqrt())
}

fn pairs_of(n: usize) -> u64 {
    let n = n as u64;
    n * n.saturating_sub(1) / 2
}

/// Pairs of equal ones among those that lie side by side.
fn tied<T>(sorted: &[T], equal: impl Fn(&T, &T) -> bool) -> u64 {
    sorted.chunk_by(equal).map(|run| pairs_of(run.len())).sum()
}

/// Sorts, and counts the pairs that stood the wrong way round.
fn exchanges(values: &mut [f64]) -> u64 {
    let mut count = 0;
    let mut merged = Vec::with_capacity(values.len());
    let mut width = 1;
    while width < values.len() {
        for part in values.chunks_mut(2 * width) {
            let (left, right) = part.split_at(width.min(part.len()));
            let (mut l, mut r) = (0, 0);
            merged.clear();
            while l < left.len() && r < right.len() {
                if right[r] < left[l] {
                    count += (left.len() - l) as u64;
                    merged.push(right[r]);
                    r += 1;
                } else {
                    merged.push(left[l]);
                    l += 1;
                }
            }
            merged.extend_from_slice(&left[l..]);
            merged.extend_from_slice(&right[r..]);
            part.copy_from_slice(&merged);
        }
        width *= 2;
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn naive(pairs: &[(f64, f64)]) -> Option<f64> {
        let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
        for (i, a) in pairs.iter().enumerate() {
            for b in &pairs[..i] {
                let sign = |a: f64, b: f64| f64::from(i8::from(a > b) - i8::from(a < b));
                sum += sign(a.0, b.0) * sign(a.1, b.1);
                first += sign(a.0, b.0).abs();
                second += sign(a.1, b.1).abs();
            }
        }
        (first * second > 0.0).then(|| sum / f64::sqrt(first * second))
    }

    proptest! {
        #[test]
        fn it_equals_a_count_of_all_pairs(
            pairs in proptest::collection::vec((0..12u8, 0..40u8), 0..80),
        ) {
            let mut pairs: Vec<(f64, f64)> = pairs.iter().map(|&(a, b)| (a.into(), b.into())).collect();
            let wanted = naive(&pairs);
            let found = kendall(&mut pairs);
            prop_assert_eq!(wanted.is_some(), found.is_some());
            prop_assert!((wanted.unwrap_or(0.0) - found.unwrap_or(0.0)).abs() < 1e-12);
        }
    }

    #[test]
    fn equal_and_opposite_orders_have_one_and_minus_one() {
        let pairs = |second: fn(u32) -> f64| (0..9u32).map(|i| (f64::from(i), second(i))).collect::<Vec<_>>();
        assert_eq!(kendall(&mut pairs(|i| f64::from(i * i))), Some(1.0));
        assert_eq!(kendall(&mut pairs(|i| -f64::from(i))), Some(-1.0));
        assert_eq!(kendall(&mut pairs(|_| 3.0)), None);
    }
}
