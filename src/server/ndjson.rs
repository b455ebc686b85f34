//! A stream of pages, one a line, of any length: good lines go to the frontier in groups while the rest
//! is still on its way, bad ones are named in the summary at the end. What was durable when a stream
//! breaks off stays.

use std::collections::VecDeque;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt;
use serde::Serialize;

use super::error::ApiError;
use super::lines::{Line, Lines};
use super::page_json::{Pages, read_page};
use super::{Api, edits, reply};
use crate::frontier::{Receipt, SubmitError};
use crate::types::Clock;

/// A group is one unit of the edit log: large enough to make its cost vanish, small enough that four of
/// them in flight are a few megabytes.
const GROUP_PAGES: usize = 512;
const GROUP_BYTES: usize = 512 * 1024;
const GROUPS_IN_FLIGHT: usize = 4;

/// After a pause of this length what has come so far is submitted: a spider that streams a page at a time
/// does not wait for a group to fill.
const PAUSE: Duration = Duration::from_millis(5);

/// Between two attempts while the frontier says busy although it said there was room.
const BUSY_PAUSE: Duration = Duration::from_millis(2);

/// A frontier that is busy for as long does not get on.
const BUSY_LIMIT: Duration = Duration::from_secs(60);

/// Bad lines that are named; further ones are counted.
const ERRORS_NAMED: usize = 100;

#[derive(Debug, Default, Serialize)]
struct Summary {
    /// Pages that are durable.
    accepted: u64,
    /// Bad lines.
    rejected: u64,
    /// Links left out of the accepted pages.
    skipped_links: u64,
    errors: Vec<LineError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    applied: Option<bool>,
    /// Why the stream ended before its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, Serialize)]
struct LineError {
    line: u64,
    error: String,
}

/// Why a stream ended before its end.
enum Stop {
    /// The body broke off.
    Body(String),
    /// The frontier takes no more.
    Frontier(SubmitError),
}

impl From<SubmitError> for Stop {
    fn from(error: SubmitError) -> Self {
        Stop::Frontier(error)
    }
}

struct Ingest<'a> {
    api: &'a Api,
    line: u64,
    group: Pages,
    group_bytes: usize,
    in_flight: VecDeque<Group>,
    summary: Summary,
    /// Log position of the last durable page.
    last: u64,
}

/// Pages submitted, not known to be durable yet.
struct Group {
    receipt: Receipt,
    pages: usize,
    skipped_links: u64,
}

/// With `wait` the answer comes when what is durable is applied, too.
pub async fn ingest(api: &Api, body: Body, wait: bool) -> Response {
    let mut ingest = Ingest {
        api,
        line: 0,
        group: Pages::default(),
        group_bytes: 0,
        in_flight: VecDeque::new(),
        summary: Summary::default(),
        last: 0,
    };
    let mut end = ingest.read(body).await;
    // Lines that came whole before the body broke off are good lines still.
    if !matches!(end, Err(Stop::Frontier(_))) {
        end = ingest.flush().await.map_err(Stop::from).and(end);
    }
    while !ingest.in_flight.is_empty() {
        end = ingest.settle_oldest().await.map_err(Stop::from).and(end);
    }
    if wait {
        ingest.summary.applied = Some(edits::wait_applied(api, ingest.last).await);
    }
    ingest.answer(end)
}

impl Ingest<'_> {
    async fn read(&mut self, mut body: Body) -> Result<(), Stop> {
        let mut lines = Lines::new(self.api.max_body_bytes);
        loop {
            let frame = match tokio::time::timeout(PAUSE, body.frame()).await {
                Ok(frame) => frame,
                Err(_) => {
                    self.flush().await?;
                    body.frame().await
                }
            };
            let frame = match frame {
                None => break,
                Some(Err(error)) => return Err(Stop::Body(error.to_string())),
                Some(Ok(frame)) => frame,
            };
            let Ok(chunk) = frame.into_data() else { continue };
            let mut rest = &chunk[..];
            while let Some(line) = lines.next(&mut rest) {
                self.take(line);
                if self.group.pages.len() >= GROUP_PAGES || self.group_bytes >= GROUP_BYTES {
                    self.flush().await?;
                }
            }
        }
        if let Some(line) = lines.last() {
            self.take(line);
        }
        Ok(())
    }

    fn take(&mut self, line: Line<'_>) {
        self.line += 1;
        let taken = match line {
            Line::TooLong => Err(ApiError::bad_request(format!(
                "the line is longer than max_body_bytes, {} bytes",
                self.api.max_body_bytes
            ))),
            Line::Whole(bytes) if bytes.trim_ascii().is_empty() => return,
            Line::Whole(bytes) => {
                self.group_bytes += bytes.len();
                read_page(bytes, self.api.clock.now(), &mut self.group)
            }
        };
        if let Err(error) = taken {
            self.summary.rejected += 1;
            if self.summary.errors.len() < ERRORS_NAMED {
                self.summary.errors.push(LineError { line: self.line, error: error.line() });
            }
        }
    }

    /// Submits the group; waits while the backlog or the flight is full.
    async fn flush(&mut self) -> Result<(), SubmitError> {
        if self.group.pages.is_empty() {
            return Ok(());
        }
        while self.in_flight.len() >= GROUPS_IN_FLIGHT {
            self.settle_oldest().await?;
        }
        let group = std::mem::take(&mut self.group);
        self.group_bytes = 0;
        let submitted = tokio::time::timeout(BUSY_LIMIT, self.submit(&group)).await;
        let receipt = submitted.unwrap_or(Err(SubmitError::Busy))?;
        self.in_flight.push_back(Group {
            receipt,
            pages: group.pages.len(),
            skipped_links: group.skipped_links,
        });
        Ok(())
    }

    async fn submit(&self, group: &Pages) -> Result<Receipt, SubmitError> {
        loop {
            self.api.frontier.room().await;
            match self.api.frontier.submit(&group.pages) {
                Err(SubmitError::Busy) => tokio::time::sleep(BUSY_PAUSE).await,
                settled => return settled,
            }
        }
    }

    async fn settle_oldest(&mut self) -> Result<(), SubmitError> {
        let Some(group) = self.in_flight.pop_front() else { return Ok(()) };
        self.last = group.receipt.durable().await?;
        self.api.counters.received(group.pages);
        self.summary.accepted += group.pages as u64;
        self.summary.skipped_links += group.skipped_links;
        Ok(())
    }

    fn answer(mut self, end: Result<(), Stop>) -> Response {
        let nothing_good = self.summary.accepted == 0 && self.summary.rejected > 0;
        let status = match end {
            Ok(()) if nothing_good => StatusCode::BAD_REQUEST,
            Ok(()) => StatusCode::CREATED,
            Err(Stop::Body(reason)) => {
                self.summary.error = Some(format!("the body broke off after line {}: {reason}", self.line));
                StatusCode::BAD_REQUEST
            }
            Err(Stop::Frontier(error)) => {
                self.summary.error = Some(error.to_string());
                StatusCode::SERVICE_UNAVAILABLE
            }
        };
        let mut response = reply::json(status, &self.summary);
        let headers = response.headers_mut();
        headers.insert(reply::SKIPPED_LINKS, HeaderValue::from(self.summary.skipped_links));
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
