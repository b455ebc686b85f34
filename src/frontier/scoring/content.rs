//! What spiders say of pages, as a scorer weighs it.

use crate::pagedb::{PageDb, PageDbError};

/// Content scores by index, for the pages of a graph: of a crawled page its content's score, of another one the best
/// that a link or a seed has given it (Aduana's `PageInfo.score`, 3.2). Four bytes a page.
///
/// # Errors
/// What LMDB says, or a row that does not decode.
pub fn content_scores(db: &PageDb, pages: u64) -> Result<Vec<f32>, PageDbError> {
    let mut scores = vec![0.0; pages as usize];
    for row in db.states() {
        let (key, state) = row?;
        let Some(score) = scores.get_mut(state.index.0 as usize) else { continue };
        *score = state.given.get();
        if !state.is_uncrawled()
            && let Some(record) = db.snapshot()?.record(key)?
        {
            *score = record.score.get();
        }
    }
    Ok(scores)
}
