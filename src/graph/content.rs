//! Content scores as the array that scorers take.

use crate::pagedb::{Page, PageDb, PageDbError};

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
    for page in db.pages() {
        let page = page?;
        let score = content_score(&page);
        if let Some(place) = usize::try_from(page.state.index.0).ok().and_then(|at| scores.get_mut(at)) {
            *place = score;
        }
    }
    Ok(scores)
}

fn content_score(page: &Page) -> f32 {
    page.record.as_ref().map_or(page.state.score, |record| record.score).get()
}
