//! A simulated spider: asks for pages, finds them in the graph, tells what it found.

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;

use hyper::Uri;
use hyper::header::HeaderValue;
use serde::Deserialize;
use tokio::time::sleep;

use super::body::{Body, Shape};
use super::connection::Connection;
use super::fleet::Fleet;
use super::meters::Kind;
use super::tracker::Mark;

/// After an empty answer the first wait, doubled up to the longest.
const SHORTEST_WAIT: Duration = Duration::from_millis(5);
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// How the spiders work.
#[derive(Debug, Clone, Copy)]
pub struct Habits {
    /// URLs a request.
    pub request_size: u64,
    pub shape: Shape,
    /// Pages a POST, if the shape takes several.
    pub batch: usize,
    /// The share of hand-outs whose spider dies.
    pub dead_share: f64,
    /// `false`: only asks, all spiders die.
    pub answers: bool,
}

pub struct Spider {
    fleet: Rc<Fleet>,
    habits: Habits,
    connection: Connection,
    crawled: Uri,
    content_type: HeaderValue,
    /// State of the xorshift generator that decides on deaths.
    dice: u64,
}

/// An element of the answer to GET /request; borrowed unless it has escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Spider {
    pub fn new(fleet: Rc<Fleet>, habits: Habits, nth: u64) -> anyhow::Result<Spider> {
        let connection = Connection::new(fleet.target.clone());
        let crawled = fleet.target.uri("/crawled")?;
        let content_type = habits.shape.content_type();
        let dice = 0x9E37_79B9_7F4A_7C15u64.wrapping_mul(nth + 1) | 1;
        Ok(Spider { fleet, habits, connection, crawled, content_type, dice })
    }

    /// Works until the limits are reached or nothing is left.
    pub async fn run(mut self) {
        let mut wait = SHORTEST_WAIT;
        while !self.fleet.is_stopped() && !self.fleet.is_idle() {
            let fleet = self.fleet.clone();
            let wanted = match fleet.limits.pages {
                None => self.habits.request_size,
                Some(limit) => {
                    let taken = fleet.meters.borrow().urls_handed_out + fleet.asked_for.get();
                    self.habits.request_size.min(limit.saturating_sub(taken))
                }
            };
            if wanted == 0 {
                // Others may get fewer than they ask for.
                if fleet.asked_for.get() == 0 {
                    break;
                }
                sleep(SHORTEST_WAIT).await;
                continue;
            }
            fleet.asked_for.set(fleet.asked_for.get() + wanted);
            let pages = self.request(wanted).await;
            fleet.asked_for.set(fleet.asked_for.get() - wanted);
            if pages.is_empty() {
                sleep(wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
                continue;
            }
            wait = SHORTEST_WAIT;
            self.answer(pages).await;
        }
    }

    /// The numbers of the pages handed out.
    async fn request(&mut self, n: u64) -> Vec<u32> {
        let fleet = self.fleet.clone();
        let Ok(uri) = fleet.target.uri(&format!("/request?n={n}")) else { return Vec::new() };
        let mut asked = fleet.tracker.borrow().now();
        let request = || {
            asked = fleet.tracker.borrow().now();
            fleet.target.get(&uri)
        };
        let answer = fleet.call(&mut self.connection, Kind::Get, request).await;
        let Some(answer) = answer else { return Vec::new() };
        let mut meters = fleet.meters.borrow_mut();
        if !answer.status.is_success() {
            meters.errors.status(answer.status, &answer.body);
            return Vec::new();
        }
        let urls: Vec<Text> = match serde_json::from_slice(&answer.body) {
            Ok(urls) => urls,
            Err(error) => {
                meters.errors.other(format!("GET /request did not answer a list of URLs: {error}"));
                return Vec::new();
            }
        };
        if urls.is_empty() {
            meters.empty_gets += 1;
            return Vec::new();
        }
        meters.urls_handed_out += urls.len() as u64;
        drop(meters);
        fleet.progressed();
        self.note(&urls, asked)
    }

    fn note(&self, urls: &[Text], asked: Mark) -> Vec<u32> {
        let fleet = &self.fleet;
        let at = fleet.started.elapsed();
        let (mut graph, mut tracker) = (fleet.graph.borrow_mut(), fleet.tracker.borrow_mut());
        let mut domains = fleet.domains.borrow_mut();
        if let Err(error) = fleet.journal.borrow_mut().handed_out(urls.iter().map(|url| &*url.0)) {
            fleet.fail(error);
        }
        let note = |Text(url): &Text| {
            let number = graph.number_of_normal(url);
            tracker.handed_out(number, url, asked);
            domains.handed_out(url, at);
            number
        };
        urls.iter().map(note).collect()
    }

    async fn answer(&mut self, mut pages: Vec<u32>) {
        let fleet = self.fleet.clone();
        if !self.habits.answers {
            return;
        }
        if self.habits.dead_share > 0.0 {
            pages.retain(|&page| {
                let dies = self.throw() < self.habits.dead_share;
                if dies {
                    fleet.tracker.borrow_mut().spider_died(page);
                }
                !dies
            });
        }
        fleet.in_flight.set(fleet.in_flight.get() + pages.len() as u64);
        let batch = if self.habits.shape == Shape::Single { 1 } else { self.habits.batch };
        for batch in pages.chunks(batch) {
            fleet.pace.wait().await;
            self.post(batch).await;
            fleet.in_flight.set(fleet.in_flight.get() - batch.len() as u64);
        }
    }

    async fn post(&mut self, pages: &[u32]) {
        let fleet = self.fleet.clone();
        let mut body = Body::new(self.habits.shape);
        for &page in pages {
            fleet.graph.borrow().push_page(&mut body, page);
        }
        let (links, body) = (body.links, body.finish());
        let request = || fleet.target.post(&self.crawled, &self.content_type, body.clone());
        let Some(answer) = fleet.call(&mut self.connection, Kind::Post, request).await else { return };
        if !fleet.meters.borrow_mut().posted(self.habits.shape, &answer, pages.len() as u64, links) {
            return;
        }
        fleet.progressed();
        let (graph, mut tracker) = (fleet.graph.borrow(), fleet.tracker.borrow_mut());
        for &page in pages {
            tracker.acknowledged(page);
        }
        let urls = pages.iter().map(|&page| graph.url(page));
        if let Err(error) = fleet.journal.borrow_mut().acknowledged(urls) {
            fleet.fail(error);
        }
    }

    /// From 0 to below 1.
    fn throw(&mut self) -> f64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        (self.dice >> 11) as f64 / (1u64 << 53) as f64
    }
}
