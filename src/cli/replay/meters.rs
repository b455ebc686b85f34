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

/// Ends of the histogram's buckets, in milliseconds.
const BUCKETS_MS: [u64; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
/// What takes longer is a stall: a spider notices it.
const STALL_MS: u64 = 50;

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
    /// Requests that took longer than 50 ms.
    pub over_50_ms: u64,
    /// The buckets that are not empty.
    pub histogram: Vec<Bucket>,
}

/// Requests that took longer than the bucket before says, and not longer than this one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bucket {
    /// Null for the last, which has no end.
    pub up_to_ms: Option<u64>,
    pub requests: u64,
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
            over_50_ms: self.count_over(STALL_MS),
            histogram: self.buckets(),
        })
    }

    /// Requests that took longer than so many milliseconds, to the precision of the histogram.
    fn count_over(&self, ms: u64) -> u64 {
        let longer = |micros: u64| self.0.lowest_equivalent(micros) > 1000 * ms;
        self.0.iter_recorded().filter(|at| longer(at.value_iterated_to())).map(|at| at.count_at_value()).sum()
    }

    fn buckets(&self) -> Vec<Bucket> {
        let ends = BUCKETS_MS.iter().map(|&end| Some(end)).chain([None]);
        let mut above = self.0.len();
        let buckets = ends.map(|up_to_ms| {
            let longer = up_to_ms.map_or(0, |end| self.count_over(end));
            let requests = above - longer;
            above = longer;
            Bucket { up_to_ms, requests }
        });
        buckets.filter(|bucket| bucket.requests > 0).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_is_in_one_bucket_and_long_ones_are_counted() {
        let mut latencies = Latencies::new().unwrap();
        for micros in [0, 900, 1_000, 1_010, 49_000, 50_000, 50_100, 1_000_000, 7_000_000] {
            latencies.record(Duration::from_micros(micros));
        }
        let summary = latencies.summary(1.0).unwrap();
        let buckets: Vec<_> = summary.histogram.iter().map(|b| (b.up_to_ms, b.requests)).collect();
        let wanted = [(Some(1), 3), (Some(2), 1), (Some(50), 2), (Some(100), 1), (Some(1000), 1), (None, 1)];
        assert_eq!(buckets, wanted);
        assert_eq!(summary.over_50_ms, 3);
    }
}
