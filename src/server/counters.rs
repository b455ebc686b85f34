//! What the server did, for the words at its end.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use axum::http::StatusCode;

#[derive(Debug, Default)]
pub struct Counters {
    requests: AtomicU64,
    refused: AtomicU64,
    pages: AtomicU64,
    urls: AtomicU64,
}

/// What a server did from its start to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Requests answered, refused ones included.
    pub requests: u64,
    /// Requests answered with a status of 400 or above.
    pub refused: u64,
    /// Crawled pages accepted.
    pub pages: u64,
    /// URLs handed out.
    pub urls: u64,
}

impl Counters {
    pub fn answered(&self, status: StatusCode) {
        self.requests.fetch_add(1, Relaxed);
        if status.is_client_error() || status.is_server_error() {
            self.refused.fetch_add(1, Relaxed);
        }
    }

    pub fn received(&self, pages: usize) {
        self.pages.fetch_add(pages as u64, Relaxed);
    }

    pub fn handed_out(&self, urls: usize) {
        self.urls.fetch_add(urls as u64, Relaxed);
    }

    pub fn summary(&self) -> Summary {
        Summary {
            requests: self.requests.load(Relaxed),
            refused: self.refused.load(Relaxed),
            pages: self.pages.load(Relaxed),
            urls: self.urls.load(Relaxed),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { requests, refused, pages, urls } = self;
        write!(
            f,
            "{requests} requests answered, {refused} of them refused; {pages} crawled pages accepted, \
             {urls} URLs handed out"
        )
    }
}
