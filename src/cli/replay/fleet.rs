//! What the simulated spiders share, and how one of them gets an answer.
//!
//! All spiders are tasks of one thread: the tool shall take little of the machine that it shares with the server.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, StatusCode};
use tokio::time::sleep;

use super::connection::{Answer, Connection, Lost};
use super::domains::Domains;
use super::graph::Graph;
use super::journal::Journal;
use super::meters::{Kind, Meters};
use super::target::Target;
use super::tracker::Tracker;

/// Between two attempts to reach a server that is gone.
const RECONNECT: Duration = Duration::from_millis(50);
/// A server that answers 503 for so long does not keep up at all.
const BUSY_PATIENCE: Duration = Duration::from_secs(120);

/// When a run ends by itself.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Pages to be handed out or posted.
    pub pages: Option<u64>,
    pub time: Option<Duration>,
    /// So long without a hand-out or an acknowledgement, and nothing in flight.
    pub idle: Duration,
    /// How long a lost server is waited for.
    pub retry: Duration,
}

pub struct Fleet {
    pub target: Rc<Target>,
    pub limits: Limits,
    pub pace: Pace,
    pub graph: RefCell<Graph>,
    pub tracker: RefCell<Tracker>,
    pub domains: RefCell<Domains>,
    pub meters: RefCell<Meters>,
    pub journal: RefCell<Journal>,
    /// Pages handed out that a living spider has not answered yet.
    pub in_flight: Cell<u64>,
    /// URLs that spiders have asked for and not got yet.
    pub asked_for: Cell<u64>,
    pub started: Instant,
    /// The last hand-out or acknowledgement.
    pub last_progress: Cell<Instant>,
    stop: Cell<bool>,
    fatal: RefCell<Option<anyhow::Error>>,
}

/// Evenly spread permissions to send.
pub struct Pace {
    interval: Option<Duration>,
    next: Cell<Instant>,
}

impl Pace {
    pub fn new(per_second: Option<f64>) -> Pace {
        let interval = per_second.map(|rate| Duration::from_secs_f64(1.0 / rate));
        Pace { interval, next: Cell::new(Instant::now()) }
    }

    /// Waits for the next permission. Those that nobody asked for in time are not made up for.
    pub async fn wait(&self) {
        let Some(interval) = self.interval else { return };
        let now = Instant::now();
        // The timer has milliseconds: within so little of lateness the mean rate is kept.
        let slot = self.next.get().max(now.checked_sub(Duration::from_millis(20)).unwrap_or(now));
        self.next.set(slot + interval);
        sleep(slot.saturating_duration_since(now)).await;
    }
}

impl Fleet {
    pub fn new(
        target: Target,
        limits: Limits,
        pace: Pace,
        graph: Graph,
        tracker: Tracker,
        journal: Journal,
    ) -> anyhow::Result<Fleet> {
        let now = Instant::now();
        Ok(Fleet {
            target: Rc::new(target),
            limits,
            pace,
            graph: graph.into(),
            tracker: tracker.into(),
            domains: RefCell::default(),
            meters: Meters::new()?.into(),
            journal: journal.into(),
            in_flight: Cell::new(0),
            asked_for: Cell::new(0),
            started: now,
            last_progress: Cell::new(now),
            stop: Cell::new(false),
            fatal: RefCell::new(None),
        })
    }

    /// Asks for no more work; what is in flight is answered.
    pub fn stop(&self) {
        self.stop.set(true);
    }

    /// The run has failed: nothing more is sent.
    pub fn fail(&self, error: anyhow::Error) {
        self.stop();
        self.fatal.borrow_mut().get_or_insert(error);
    }

    pub fn has_failed(&self) -> bool {
        self.fatal.borrow().is_some()
    }

    /// Why the run has failed, with the causes.
    pub fn failure(&self) -> Option<String> {
        self.fatal.borrow().as_ref().map(|error| format!("{error:#}"))
    }

    pub fn is_stopped(&self) -> bool {
        let late = self.limits.time.is_some_and(|limit| self.started.elapsed() >= limit);
        late || self.stop.get()
    }

    /// Nothing is in flight, and nothing came for long.
    pub fn is_idle(&self) -> bool {
        self.in_flight.get() == 0 && self.last_progress.get().elapsed() >= self.limits.idle
    }

    pub fn progressed(&self) {
        self.last_progress.set(Instant::now());
    }

    /// Sends a request until it is answered: again after a 503 when the server says so, and again after a lost
    /// connection as long as the limits allow. `None` if the run has failed.
    pub async fn call(
        &self,
        connection: &mut Connection,
        kind: Kind,
        mut request: impl FnMut() -> Request<Full<Bytes>>,
    ) -> Option<Answer> {
        let first = Instant::now();
        let mut lost_at = None;
        while !self.has_failed() {
            let sent = Instant::now();
            match connection.send(request()).await {
                Ok(answer) if answer.status == StatusCode::SERVICE_UNAVAILABLE && self.may_retry(first) => {
                    self.meters.borrow_mut().busy += 1;
                    // Zero is "at once"; a moment all the same.
                    let seconds = answer.retry_after().unwrap_or(1).min(60);
                    sleep(Duration::from_secs(seconds).max(RECONNECT)).await;
                }
                Ok(answer) => {
                    self.meters.borrow_mut().latencies(kind).record(sent.elapsed());
                    return Some(answer);
                }
                Err(lost) => {
                    let lost_at = *lost_at.get_or_insert(sent);
                    if !self.may_reconnect(kind, &lost, lost_at) {
                        break;
                    }
                    sleep(RECONNECT).await;
                }
            }
        }
        None
    }

    fn may_retry(&self, first: Instant) -> bool {
        first.elapsed() < BUSY_PATIENCE
    }

    fn may_reconnect(&self, kind: Kind, lost: &Lost, lost_at: Instant) -> bool {
        self.tracker.borrow_mut().connection_lost();
        let mut meters = self.meters.borrow_mut();
        meters.lost_connections += 1;
        if lost.uncertain {
            match kind {
                Kind::Get => meters.uncertain_gets += 1,
                Kind::Post => meters.uncertain_posts += 1,
            }
        }
        if lost_at.elapsed() >= self.limits.retry {
            self.fail(anyhow::anyhow!("the server is gone: {}", lost.reason));
            return false;
        }
        true
    }
}
