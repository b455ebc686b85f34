//! What scorers weigh pages by, as the array that they take.

use crate::pagedb::{PageDb, PageDbError};

/// The content score of each page, by page index: of a crawled page what the spider said of its content, of
/// any other the best score that a link or a seed gave it. Pages that are found meanwhile are left out.
///
/// Read in short chunks, each as of its own moment; four bytes a page.
///
/// # Errors
/// What the PageDB says.
fn content_scores(db: &PageDb) -> Result<Vec<f32>, PageDbError> {
    let pages = db.snapshot()?.counters()?.next_index;
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

/// What a scorer is to weigh pages by: their content scores with `use_scores`; otherwise all pages alike, which takes
/// no array (`None`) as long as none was deleted: the index of a deleted page stays, and must weigh nothing.
///
/// # Errors
/// What the PageDB says.
pub fn weights(db: &PageDb, use_scores: bool) -> Result<Option<Vec<f32>>, PageDbError> {
    if use_scores {
        return content_scores(db).map(Some);
    }
    let counters = db.snapshot()?.counters()?;
    if counters.pages == counters.next_index {
        return Ok(None);
    }
    let mut weights = vec![0.0; usize::try_from(counters.next_index).unwrap_or(usize::MAX)];
    for row in db.states() {
        let (_, state) = row?;
        if let Some(place) = usize::try_from(state.index.0).ok().and_then(|at| weights.get_mut(at)) {
            *place = 1.0;
        }
    }
    Ok(Some(weights))
}
