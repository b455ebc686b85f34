//! What is counted and timed of the requests.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use hdrhistogram::Histogram;
use hyper::StatusCode;
use serde::{Deserialize, Serialize};

use super::body::Shape;
use super::connection::Answer;

/// Problems that are kept with their text; the others are counted only.
const SHOWN: usize = 10;
/// Longest answer time that is told apart from longer ones, in microseconds.
const LONGEST_MICROS: u64 = 3_600_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Get,
    Post,
}

/// Answered requests of one kind.
pub struct Latencies(Histogram<u64>);

pub struct Meters {
    pub get: Latencies,
    pub post: Latencies,
    /// Pages and links that the server has acknowledged.
    pub pages: u64,
    pub links: u64,
    pub urls_handed_out: u64,
    /// Answers to GET without any URL.
    pub empty_gets: u64,
    pub errors: Errors,
    /// Answers 503 after which the request was sent again.
    pub busy: u64,
    pub lost_connections: u64,
    /// Requests whose answer was lost: the server may have acted on them.
    pub uncertain_posts: u64,
    pub uncertain_gets: u64,
}

#[derive(Debug, Default, Clone, Serialize)]
pub struct Errors {
    /// Answers that were neither a success nor a 503 that was retried.
    pub by_status: BTreeMap<u16, u64>,
    /// Success answers that were not understood, and lines that the server refused.
    pub other: u64,
    /// The first ones.
    pub first: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct LatencySummary {
    pub requests: u64,
    pub per_second: f64,
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub p999_ms: f64,
    pub max_ms: f64,
}

/// What an answer to NDJSON says of its lines.
#[derive(Deserialize)]
struct Summary {
    rejected: u64,
}

impl Latencies {
    fn new() -> anyhow::Result<Latencies> {
        Ok(Latencies(Histogram::new_with_max(LONGEST_MICROS, 3)?))
    }

    pub fn record(&mut self, time: Duration) {
        self.0.saturating_record(time.as_micros() as u64);
    }

    /// `seconds`: what the rate is reckoned over. `None` if there was no request.
    pub fn summary(&self, seconds: f64) -> Option<LatencySummary> {
        let ms = |micros: u64| micros as f64 / 1000.0;
        let quantile = |q: f64| ms(self.0.value_at_quantile(q));
        (!self.0.is_empty()).then(|| LatencySummary {
            requests: self.0.len(),
            per_second: self.0.len() as f64 / seconds,
            mean_ms: self.0.mean() / 1000.0,
            p50_ms: quantile(0.5),
            p99_ms: quantile(0.99),
            p999_ms: quantile(0.999),
            max_ms: ms(self.0.max()),
        })
    }
}

impl Meters {
    pub fn new() -> anyhow::Result<Meters> {
        Ok(Meters {
            get: Latencies::new()?,
            post: Latencies::new()?,
            pages: 0,
            links: 0,
            urls_handed_out: 0,
            empty_gets: 0,
            errors: Errors::default(),
            busy: 0,
            lost_connections: 0,
            uncertain_posts: 0,
            uncertain_gets: 0,
        })
    }

    /// Takes the answer to a POST; whether all its pages are acknowledged.
    pub fn posted(&mut self, shape: Shape, answer: &Answer, pages: u64, links: u64) -> bool {
        if !answer.status.is_success() {
            self.errors.status(answer.status, &answer.body);
            return false;
        }
        if shape == Shape::Ndjson {
            let rejected = serde_json::from_slice(&answer.body).map(|Summary { rejected }| rejected);
            if !matches!(rejected, Ok(0)) {
                self.errors.other(format!("lines were refused: {}", beginning(&answer.body)));
                return false;
            }
        }
        self.pages += pages;
        self.links += links;
        true
    }

    pub fn latencies(&mut self, kind: Kind) -> &mut Latencies {
        match kind {
            Kind::Get => &mut self.get,
            Kind::Post => &mut self.post,
        }
    }
}

impl Errors {
    pub fn status(&mut self, status: StatusCode, body: &Bytes) {
        *self.by_status.entry(status.as_u16()).or_default() += 1;
        self.keep(format!("{status}: {}", beginning(body)));
    }

    pub fn other(&mut self, text: String) {
        self.other += 1;
        self.keep(text);
    }

    pub fn total(&self) -> u64 {
        self.by_status.values().sum::<u64>() + self.other
    }

    fn keep(&mut self, text: String) {
        if self.first.len() < SHOWN {
            self.first.push(text);
        }
    }
}

/// As much of an answer as helps.
fn beginning(body: &Bytes) -> String {
    String::from_utf8_lossy(&body[..body.len().min(300)]).trim().to_owned()
}
