//! Content scores as weights.

use rayon::prelude::*;

/// Pages added up by one task: sums do not depend on the number of threads.
const CHUNK: usize = 1 << 14;

/// Content scores by page index, as weights that are not negative.
#[derive(Clone, Copy)]
pub struct Weights<'a> {
    /// `None` if all weigh the same.
    scores: Option<&'a [f32]>,
    /// Sum of all weights.
    pub sum: f64,
}

impl<'a> Weights<'a> {
    /// Negative scores count as 0, and so does what is not finite. If nothing is left, or without scores, all
    /// `pages` pages weigh 1.
    pub fn new(content: Option<&'a [f32]>, pages: usize) -> Self {
        let content = content.map(|content| &content[..content.len().min(pages)]);
        let sum_of = |content: &[f32]| -> f64 {
            // The partial sums are added in their order.
            let chunks = content.par_chunks(CHUNK);
            let sums: Vec<f64> = chunks.map(|chunk| chunk.iter().map(|&score| weight(score)).sum()).collect();
            sums.into_iter().sum()
        };
        match content.map(|content| (content, sum_of(content))) {
            Some((scores, sum)) if sum > 0.0 => Weights { scores: Some(scores), sum },
            _ => Weights { scores: None, sum: pages as f64 },
        }
    }

    #[inline]
    pub fn get(&self, page: usize) -> f64 {
        match self.scores {
            None => 1.0,
            Some(scores) => scores.get(page).map_or(0.0, |&score| weight(score)),
        }
    }

    /// Whether all pages weigh the same.
    pub fn is_uniform(&self) -> bool {
        self.scores.is_none()
    }
}

#[inline]
fn weight(score: f32) -> f64 {
    // Of NaN and 0 the greater is 0.
    if score.is_finite() { f64::from(score.max(0.0)) } else { 0.0 }
}
