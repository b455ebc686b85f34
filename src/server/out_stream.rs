//! Answers of any length: one JSON value a line, made on a thread of their own while the client reads.

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::stream;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::error::ApiError;
use super::{Api, reply};
use crate::frontier::{Frontier, FrontierError};

/// Answers under way at a time: each has a thread, and one whose client does not read keeps it.
pub const MOST_STREAMS: usize = 32;

/// Bytes that go out together, and so many of these that wait for the client.
const CHUNK: usize = 32 * 1024;
const CHUNKS_WAITING: usize = 4;

/// Where the lines go.
pub struct Lines {
    buffer: Vec<u8>,
    out: mpsc::Sender<Bytes>,
    /// Lines still allowed.
    left: u64,
    _permit: OwnedSemaphorePermit,
}

#[derive(Serialize)]
struct Failure {
    error: String,
}

impl Lines {
    /// Sends a line; `false` if no more are wanted.
    pub fn send(&mut self, line: &impl Serialize) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.buffer.extend_from_slice(reply::to_json(line).as_bytes());
        self.buffer.push(b'\n');
        (self.buffer.len() < CHUNK || self.flush()) && self.left > 0
    }

    fn flush(&mut self) -> bool {
        let chunk = std::mem::take(&mut self.buffer);
        self.out.blocking_send(chunk.into()).is_ok()
    }
}

/// Answers with the lines that `write` sends, at most `limit`. What fails on the way is told in a last line, as
/// `{"error": ...}`.
///
/// # Errors
/// 503 while too many streams are under way.
pub fn answer(
    api: &Api,
    limit: Option<u64>,
    write: impl FnOnce(&Frontier, &mut Lines) -> Result<(), FrontierError> + Send + 'static,
) -> Result<Response, ApiError> {
    let Ok(permit) = api.streams.clone().try_acquire_owned() else {
        let message = format!("{MOST_STREAMS} streams are under way");
        return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message)
            .hint("try again in a moment")
            .header("retry-after", "1"));
    };
    let (out, mut chunks) = mpsc::channel(CHUNKS_WAITING);
    let frontier = api.frontier.clone();
    let mut lines = Lines { buffer: Vec::new(), out, left: limit.unwrap_or(u64::MAX), _permit: permit };
    tokio::task::spawn_blocking(move || {
        if let Err(error) = write(&frontier, &mut lines) {
            tracing::error!(%error, "a stream failed");
            lines.left = 1;
            lines.send(&Failure { error: error.to_string() });
        }
        // The client may have gone.
        let _gone = lines.flush();
    });
    let chunks = stream::poll_fn(move |context| chunks.poll_recv(context));
    let body = Body::from_stream(futures_util::StreamExt::map(chunks, Ok::<_, std::convert::Infallible>));
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    Ok(response)
}
