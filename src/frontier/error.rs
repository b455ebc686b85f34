//! Why the frontier failed.

use std::path::PathBuf;

use crate::graph::GraphError;
use crate::log::LogError;
use crate::pagedb::PageDbError;

/// Why edits were not taken. Nothing of them is stored then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    #[error("the server has more edits waiting than max_backlog_bytes allows: try again in a moment")]
    Busy,
    #[error("the server is shutting down: try again when it is back")]
    Closed,
    /// Disk full, I/O error.
    #[error("the edits cannot be stored ({0}): try again when the operator has made room")]
    Storage(String),
}

/// Any other failure.
#[derive(Debug, thiserror::Error)]
pub enum FrontierError {
    #[error(transparent)]
    PageDb(#[from] PageDbError),
    #[error(transparent)]
    Graph(#[from] GraphError),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(
        "the database in {path} is in use by another aduana server: stop it, or set another page_db_path"
    )]
    InUse { path: PathBuf },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{path} is not empty: give a folder that is empty or does not exist")]
    NotEmpty { path: PathBuf },
    #[error("the server is shutting down")]
    Closed,
    /// Disk full, I/O error, and no more hand-outs can wait for it to end.
    #[error("hand-outs cannot be stored ({0}): try again when the operator has made room")]
    Stuck(String),
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}
