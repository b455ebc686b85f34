//! Content scores as the array that scorers take.

use crate::pagedb::{PageDb, PageDbError};

/// The content score of each page, by page index: of a crawled page what the spider said of its content, of
/// any other the best score that a link or a seed gave it. Pages that are found meanwhile are left out.
///
/// Read in short chunks, each as of its own moment; four bytes a page.
///
/// # Errors
/// What the PageDB says.
pub fn content_scores(db: &PageDb) -> Result<Vec<f32>, PageDbError> {
    let pages = db.snapshot()?.counters()?.pages;
    let mut scores = vec![0.0; usize::try_from(pages).unwrap_or(usize::MAX)];
    for row in db.states() {
        let (key, state) = row?;
        let Some(place) = usize::try_from(state.index.0).ok().and_then(|at| scores.get_mut(at)) else {
            continue;
        };
        let record = if state.is_uncrawled() { None } else { db.snapshot()?.record(key)? };
        *place = record.map_or(state.given, |record| record.score).get();
    }
    Ok(scores)
}
