//! The vectors of rounds in the folder `scores`: one file a round, named by its number.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_64;

use crate::pagedb::{RoundScores, Scoring};
use crate::score::Scorer;
use crate::score::vectors::{Vector, VectorError};
use crate::types::{DomainKey, PageIndex};

const EXTENSION: &str = "vector";

/// Why a vector could not be kept.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilesError {
    #[error(transparent)]
    Vector(#[from] VectorError),
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
}

/// The scores of a round by page index, mapped. They know of no shares of domains.
pub struct StoredScores(Vector<f64>);

impl RoundScores for StoredScores {
    fn of_page(&self, index: PageIndex) -> Option<f64> {
        self.0.get(usize::try_from(index.0).ok()?).copied()
    }

    fn of_domain(&self, _: DomainKey) -> f64 {
        0.0
    }
}

impl std::ops::Deref for StoredScores {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.0
    }
}

/// The scores of the last round that the tables have, if its file is whole.
pub(in crate::frontier) fn stored(dir: &Path, scoring: &Scoring) -> Option<StoredScores> {
    let round = &scoring.last;
    let vector = open(dir, &scoring.scorer, round.number)?;
    (vector.len() as u64 == round.estimate.pages).then_some(StoredScores(vector))
}

/// The scores of the last round of this scorer, whether it has reached the tables or not, to start from.
pub(super) fn warm_start(dir: &Path, scoring: &Scoring) -> Option<Vector<f64>> {
    let unfinished = scoring.moving.map(|moving| moving.round);
    // Before the first round of a scorer the number is that of the last round of another.
    let mut rounds = unfinished.into_iter().chain([scoring.last]).filter(|round| round.estimate.pages > 0);
    rounds.find_map(|round| open(dir, &scoring.scorer, round.number))
}

fn open(dir: &Path, scorer: &str, round: u64) -> Option<Vector<f64>> {
    let path = path(dir, round);
    match Vector::open(&path, kind(scorer)) {
        Ok(vector) => (vector.generation() == round).then_some(vector),
        Err(VectorError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            tracing::warn!("{error}");
            None
        }
    }
}

/// Makes the folder.
pub(super) fn prepare(dir: &Path) -> Result<(), FilesError> {
    fs::create_dir_all(dir).map_err(|source| FilesError::Io { path: dir.into(), source })
}

/// Writes the scores of a round over `pages` pages, durably.
pub(super) fn write(
    dir: &Path,
    scorer: &dyn Scorer,
    round: u64,
    pages: u64,
) -> Result<StoredScores, FilesError> {
    let scores = (0..pages).map(|page| scorer.get(PageIndex(page)).unwrap_or(0.0));
    Ok(StoredScores(Vector::write(&path(dir, round), kind(scorer.name()), round, pages, scores)?))
}

/// Removes the vectors of all other rounds, and what a crash has left half written.
pub(super) fn keep_only(dir: &Path, round: u64) {
    let kept = path(dir, round);
    let Ok(files) = fs::read_dir(dir) else { return };
    for file in files.flatten() {
        let path = file.path();
        let is_ours = path.extension().is_some_and(|name| name == EXTENSION || name == "partial");
        // What stays is removed after the next round.
        if is_ours
            && path != kept
            && let Err(error) = fs::remove_file(&path)
        {
            tracing::warn!(%error, "cannot remove {}", path.display());
        }
    }
}

fn path(dir: &Path, round: u64) -> PathBuf {
    dir.join(format!("{round}.{EXTENSION}"))
}

/// Tells the vectors of scorers apart.
fn kind(scorer: &str) -> u32 {
    XxHash3_64::oneshot(scorer.as_bytes()) as u32
}
