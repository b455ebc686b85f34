//! The threads of a round.

use rayon::ThreadPool;

use super::ScoreError;

/// A pool of its own for a round: its threads end with it, and nothing else waits in their queues.
///
/// # Errors
/// [`ScoreError::Threads`].
pub fn new(threads: usize) -> Result<ThreadPool, ScoreError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|n| format!("score-{n}"))
        .build()
        .map_err(|error| ScoreError::Threads(error.to_string()))
}
