//! The edit log: edits are durable here before they are acknowledged, and wait here until a batch of them
//! is applied to the PageDB.
//!
//! The contract, which another log (a partition of a replicated topic) could fulfil as well: edits get
//! consecutive positions from 1 on; an append is durable, all or nothing, when it returns; what was
//! appended and not trimmed can be read again in order.

mod local;
mod reader;

pub use local::LocalLog;
pub use reader::{LogSnapshot, copy};

/// The place of an edit in the log. The first edit has 1; 0 stands before all.
pub type Position = u64;

/// Why the log failed.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("the edit log: {0}")]
    Lmdb(#[from] heed::Error),
    #[error(
        "the edit log has format {found}; this version reads format {supported}: use the aduana version that wrote it"
    )]
    Version { found: u64, supported: u64 },
    #[error("the edit log is corrupted at key {key}: restore a backup")]
    Corrupted { key: String },
    #[error("{path} holds no edit log")]
    Missing { path: std::path::PathBuf },
    #[error("the edit log in {path}: {source}")]
    Io { path: std::path::PathBuf, source: std::io::Error },
}
