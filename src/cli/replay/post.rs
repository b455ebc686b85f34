//! The ingest load test: all pages of the file, in its order, as fast as they are taken.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bytes::Bytes;
use tokio::sync::{Mutex, mpsc};

use super::body::{Body, Shape};
use super::connection::Connection;
use super::fleet::Fleet;
use super::graph::Counts;
use super::meters::Kind;
use crate::graph_file::{GraphFileError, GraphReader};
use crate::types::PageUrl;

/// Bodies that cross from the reading thread at once: a wake-up each would cost more than the reading.
const CHUNK: usize = 64;
/// Chunks that are ready at most; they bound the memory.
const CHUNKS_AHEAD: usize = 8;

/// A request body that is ready to be sent.
pub struct Ready {
    pages: u64,
    links: u64,
    bytes: Bytes,
    /// The pages' URLs, if they are to be noted.
    urls: Vec<Box<str>>,
}

/// What the reading thread is asked for.
pub struct Plan {
    pub graph: PathBuf,
    pub shape: Shape,
    /// Pages a body, if the shape takes several.
    pub batch: u64,
    pub pages: Option<u64>,
    pub with_urls: bool,
}

/// The reading thread's way to the workers.
pub type Feed = Mutex<Source>;

pub struct Source {
    chunks: mpsc::Receiver<Vec<Ready>>,
    ready: VecDeque<Ready>,
}

/// Reads and serialises the graph in a thread of its own; it ends early when the feed is dropped.
pub fn start(plan: Plan) -> (Feed, std::thread::JoinHandle<Result<Counts, GraphFileError>>) {
    let (sender, chunks) = mpsc::channel(CHUNKS_AHEAD);
    let thread = std::thread::spawn(move || serialise(&plan, &sender));
    (Mutex::new(Source { chunks, ready: VecDeque::new() }), thread)
}

impl Source {
    async fn next(&mut self) -> Option<Ready> {
        if self.ready.is_empty() {
            self.ready = self.chunks.recv().await?.into();
        }
        self.ready.pop_front()
    }
}

fn serialise(plan: &Plan, sender: &mpsc::Sender<Vec<Ready>>) -> Result<Counts, GraphFileError> {
    let mut reader = GraphReader::open(Path::new(&plan.graph))?;
    let mut counts = Counts::default();
    let batch = if plan.shape == Shape::Single { 1 } else { plan.batch };
    let mut chunk = Vec::with_capacity(CHUNK);
    let mut body = Body::new(plan.shape);
    let mut urls = Vec::new();
    while plan.pages.is_none_or(|limit| counts.pages < limit) {
        let Some(record) = reader.next_record()? else { break };
        counts.lines += 1;
        if PageUrl::parse(record.url).is_err() {
            counts.refused_lines += 1;
            continue;
        }
        counts.pages += 1;
        let links = record.links().map(|(link, score)| (link, score.get()));
        body.push(record.url, record.score.get(), links, record.scored);
        if plan.with_urls {
            urls.push(record.url.into());
        }
        if body.pages < batch {
            continue;
        }
        counts.links += body.links;
        chunk.push(ready(std::mem::replace(&mut body, Body::new(plan.shape)), std::mem::take(&mut urls)));
        if chunk.len() == CHUNK && sender.blocking_send(std::mem::take(&mut chunk)).is_err() {
            return Ok(counts);
        }
    }
    if body.pages > 0 {
        counts.links += body.links;
        chunk.push(ready(body, urls));
    }
    // Nobody takes it when the run was stopped.
    sender.blocking_send(chunk).ok();
    Ok(counts)
}

fn ready(body: Body, urls: Vec<Box<str>>) -> Ready {
    Ready { pages: body.pages, links: body.links, bytes: body.finish(), urls }
}

/// One connection's work: takes bodies from the feed until it is dry or the limits are reached.
pub async fn run(fleet: Rc<Fleet>, feed: Rc<Feed>, shape: Shape) -> anyhow::Result<()> {
    let mut connection = Connection::new(fleet.target.clone());
    let (uri, content_type) = (fleet.target.uri("/crawled")?, shape.content_type());
    while !fleet.is_stopped() {
        let Some(ready) = feed.lock().await.next().await else { break };
        fleet.pace.wait().await;
        let request = || fleet.target.post(&uri, &content_type, ready.bytes.clone());
        let Some(answer) = fleet.call(&mut connection, Kind::Post, request).await else { break };
        if fleet.meters.borrow_mut().posted(shape, &answer, ready.pages, ready.links) {
            fleet.progressed();
            fleet.journal.borrow_mut().acknowledged(ready.urls.iter().map(|url| &**url))?;
        }
    }
    Ok(())
}
