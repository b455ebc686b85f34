//! The one handle on a crawl: what the server, the tools and the tests talk to.
//!
//! Two threads stand behind it. The log thread makes edits durable, many in one commit (`intake`); the
//! writer applies them in batches and tells the schedule (`writer`). With a scorer a third one computes scores
//! (`scoring`), which the writer brings to the tables (`mover`). Requests take pages from the
//! schedule in memory and send the hand-outs the same way as every other edit.

mod batch;
mod edits;
mod error;
pub mod import;
mod in_links;
mod intake;
mod mover;
pub mod offline;
mod options;
mod read;
mod request;
mod scoring;
mod stats;
mod writer;

pub use error::{FrontierError, SubmitError};
pub use options::Options;
pub use request::HandOut;
pub use scoring::{MakeScorer, Phase, RescoreError, RoundSummary, ScoringOptions, ScoringStats};
pub use stats::Stats;

pub use crate::pagedb::{ContentStream, Page, PageDbError, Scope, Status, UrlStream};

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot, watch};

use crate::log::{LocalLog, Position};
use crate::pagedb::{Counters, PageDb, Rules, Snapshot};
use crate::schedule::Schedule;
use crate::types::{Clock, CrawledPage, Link, edit};
use intake::{Intake, Submission};
use mover::Mover;
use request::Overtaken;
use writer::Hurry;

/// Names inside the database's directory.
pub mod layout {
    /// Held locked by the process that has the database open.
    pub const LOCK: &str = "LOCK";
    /// The PageDB's environment.
    pub const PAGES: &str = "pages";
    /// The edit log's environment.
    pub const LOG: &str = "log";
    /// The vectors of the last scoring round.
    pub const SCORES: &str = "scores";
}

/// How long a lock may be held by somebody who is about to let go of it.
const LOCK_PATIENCE: std::time::Duration = std::time::Duration::from_millis(200);

/// A handle on an open database; clones share it.
#[derive(Clone)]
pub struct Frontier {
    inner: Arc<Inner>,
}

struct Inner {
    options: Options,
    rules: Rules,
    clock: Arc<dyn Clock>,
    db: PageDb,
    schedule: Mutex<Schedule>,
    intake: Intake,
    queue: writer::Queue,
    mover: Mover,
    scoring: scoring::Control,
    /// The scorer's name.
    scorer: String,
    /// As of the last batch.
    counters: Mutex<Counters>,
    in_links: in_links::InLinks,
    /// Position of the last edit applied; the log trims up to here.
    applied: AtomicU64,
    applied_now: watch::Sender<Position>,
    /// Position of the last edit in the log.
    logged: AtomicU64,
    /// Position of the last one that somebody was told is durable.
    acknowledged: AtomicU64,
    /// Submissions that were acknowledged.
    acknowledgements: AtomicU64,
    overtaken: Overtaken,
    backlog_bytes: AtomicU64,
    /// Told when the backlog shrinks.
    room: Notify,
    /// When the first lease ends, in milliseconds since the epoch; `u64::MAX` for none.
    next_expiry: AtomicU64,
    log_problem: Mutex<Option<String>>,
    writer_problem: Mutex<Option<String>>,
    pages_received: AtomicU64,
    handed_out: AtomicU64,
    expired: AtomicU64,
    batches: AtomicU64,
    threads: Mutex<Vec<std::thread::JoinHandle<()>>>,
    /// Locked while the database is open.
    lock: Mutex<Option<File>>,
}

/// Stands for submitted edits until they are durable.
#[must_use = "edits are acknowledged only by `durable`"]
pub struct Receipt(oneshot::Receiver<Result<Position, SubmitError>>);

impl Receipt {
    /// Resolves when the edits are durable, with the log position of the last one.
    ///
    /// # Errors
    /// [`SubmitError::Storage`] if they could not be stored: then none of them is.
    pub async fn durable(self) -> Result<Position, SubmitError> {
        self.0.await.unwrap_or(Err(SubmitError::Closed))
    }

    /// As [`Receipt::durable`], for threads outside a runtime.
    ///
    /// # Errors
    /// As [`Receipt::durable`].
    pub fn wait(self) -> Result<Position, SubmitError> {
        self.0.blocking_recv().unwrap_or(Err(SubmitError::Closed))
    }
}

impl Frontier {
    /// Opens or creates the database, applies what the log still holds, loads the schedule, starts the
    /// threads.
    ///
    /// # Errors
    /// [`FrontierError::InUse`] if another process has it open; otherwise what the tables or the file
    /// system say.
    pub fn open(options: Options, clock: Arc<dyn Clock>) -> Result<Frontier, FrontierError> {
        let lock = lock(&options.path)?;
        import::remove_remains(&options.path);
        let rules = options.rules();
        let db = PageDb::open(&options.path.join(layout::PAGES), options.page_db())?;
        let applied = db.snapshot()?.counters()?.applied;
        let log = LocalLog::open(&options.path.join(layout::LOG), applied)?;
        // The limit first: the log's tail is applied under it.
        writer::growing(&db, || db.set_max_depth(rules))?;
        // And the scorer.
        let scorer = writer::growing(&db, || scoring::install(&db, options.scoring.as_ref()))?;
        let applied = writer::recover(&db, &log, rules)?;

        let snapshot = db.snapshot()?;
        let stored = snapshot.scoring()?;
        let mover = Mover::default();
        if stored.moving.is_some() && !stored.is_scored() {
            mover.bring_given_back();
        }
        let counters = snapshot.counters()?;
        let next_expiry = snapshot.first_lease()?.map_or(u64::MAX, |lease| lease.until.0);
        let schedule = Schedule::load(options.limits(), snapshot, clock.now())?;
        let batch_bytes = batch::max_batch_bytes(options.max_backlog_bytes);
        let inner = Arc::new(Inner {
            options,
            rules,
            clock,
            db,
            schedule: Mutex::new(schedule),
            intake: Intake::default(),
            queue: writer::Queue::new(batch_bytes),
            mover,
            scoring: scoring::Control::default(),
            scorer,
            counters: Mutex::new(counters),
            in_links: in_links::InLinks::new(applied),
            applied: AtomicU64::new(applied),
            applied_now: watch::Sender::new(applied),
            logged: AtomicU64::new(applied),
            acknowledged: AtomicU64::new(applied),
            acknowledgements: AtomicU64::new(0),
            overtaken: Overtaken::default(),
            backlog_bytes: AtomicU64::new(0),
            room: Notify::new(),
            next_expiry: AtomicU64::new(next_expiry),
            log_problem: Mutex::default(),
            writer_problem: Mutex::default(),
            pages_received: AtomicU64::new(0),
            handed_out: AtomicU64::new(0),
            expired: AtomicU64::new(0),
            batches: AtomicU64::new(0),
            threads: Mutex::default(),
            lock: Mutex::new(Some(lock)),
        });
        let spawn = |name: &str, body: Box<dyn FnOnce() + Send>| {
            let run = || {
                // Without its threads the frontier would take edits and never answer. The log has everything:
                // a restart is the remedy.
                if std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).is_err() {
                    std::process::abort();
                }
            };
            std::thread::Builder::new().name(name.into()).spawn(run).map_err(FrontierError::Thread)
        };
        let (for_log, for_writer) = (inner.clone(), inner.clone());
        let mut threads = vec![
            spawn("aduana-writer", Box::new(move || writer::run(&for_writer)))?,
            spawn("aduana-log", Box::new(move || intake::run(&for_log, log)))?,
        ];
        if let Some(options) = inner.options.scoring.clone() {
            let inner = inner.clone();
            let run = move || scoring::run(&inner, options, &stored);
            threads.push(spawn("aduana-scorer", Box::new(run))?);
        }
        *inner.threads.lock() = threads;
        Ok(Frontier { inner })
    }

    /// Takes crawled pages as a unit: all or none become durable. Never blocks on the disk.
    ///
    /// # Errors
    /// [`SubmitError::Busy`] while the backlog is full, [`SubmitError::Closed`].
    pub fn submit(&self, pages: &[CrawledPage]) -> Result<Receipt, SubmitError> {
        // Encoded aside and copied: the backlog holds many edits, so none may have room to spare.
        let mut scratch = Vec::with_capacity(2048);
        let encode = |page: &CrawledPage| {
            scratch.clear();
            edit::encode_crawled(page, &mut scratch);
            scratch.clone()
        };
        let receipt = self.inner.submit(pages.iter().map(encode).collect())?;
        self.inner.pages_received.fetch_add(pages.len() as u64, Ordering::Relaxed);
        Ok(receipt)
    }

    /// Makes URLs known at depth 0; those that wait already get the better score.
    ///
    /// # Errors
    /// As [`Frontier::submit`].
    pub fn submit_seeds(&self, seeds: &[Link]) -> Result<Receipt, SubmitError> {
        let mut bytes = Vec::new();
        edit::encode_seeds(seeds, &mut bytes);
        self.inner.submit(vec![bytes])
    }

    /// Resolves when the backlog has room again: for streams, which wait instead of being refused.
    pub async fn room(&self) {
        loop {
            let freed = self.inner.room.notified();
            if self.inner.has_room(0) || self.inner.intake.is_closed() {
                return;
            }
            freed.await;
        }
    }

    /// Waits until every edit acknowledged so far is applied.
    pub async fn applied(&self) {
        let position = self.inner.acknowledged.load(Ordering::Acquire);
        self.inner.queue.hurry(Hurry::Now);
        self.inner.wait_applied(position).await;
    }

    /// A consistent view of the tables as of the last batch.
    ///
    /// # Errors
    /// What LMDB says.
    pub fn snapshot(&self) -> Result<Snapshot, FrontierError> {
        Ok(self.inner.db.snapshot()?)
    }

    /// Rows and bytes of each table, by name.
    ///
    /// # Errors
    /// What LMDB says.
    pub fn table_sizes(&self) -> Result<Vec<(&'static str, u64, u64)>, FrontierError> {
        Ok(self.inner.db.table_sizes()?)
    }

    /// `Err` says why the frontier cannot take or apply edits.
    ///
    /// # Errors
    /// The reason, for an operator.
    pub fn ready(&self) -> Result<(), String> {
        if self.inner.intake.is_closed() {
            return Err("the server is shutting down".to_owned());
        }
        let problems = [&self.inner.log_problem, &self.inner.writer_problem];
        match problems.into_iter().find_map(|problem| problem.lock().clone()) {
            Some(problem) => Err(problem),
            None => Ok(()),
        }
    }

    /// Takes no more edits, applies all that wait, and lets go of the database; with `persist = false`
    /// deletes it. Further calls do nothing.
    ///
    /// # Errors
    /// What deleting the database says.
    pub fn close(&self) -> Result<(), FrontierError> {
        self.inner.scoring.close();
        self.inner.intake.close();
        let threads = std::mem::take(&mut *self.inner.threads.lock());
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a thread of the frontier panicked");
            }
        }
        self.inner.room.notify_waiters();
        if self.inner.lock.lock().take().is_some() && !self.inner.options.persist {
            delete(&self.inner.options.path)?;
        }
        Ok(())
    }
}

impl Inner {
    fn submit(&self, edits: Vec<Vec<u8>>) -> Result<Receipt, SubmitError> {
        let bytes = edits.iter().map(Vec::len).sum::<usize>() as u64;
        if !self.has_room(bytes) {
            return Err(SubmitError::Busy);
        }
        self.backlog_bytes.fetch_add(bytes, Ordering::AcqRel);
        let (ack, receipt) = oneshot::channel();
        let pushed = self.intake.push(Submission { edits, bytes, ack: Some(ack) });
        if pushed.is_err() {
            self.backlog_bytes.fetch_sub(bytes, Ordering::AcqRel);
        }
        pushed.map(|()| Receipt(receipt))
    }

    /// Sends an edit of the frontier's own, which nobody waits for and which is never refused.
    fn submit_own(&self, edit: Vec<u8>) -> Result<(), SubmitError> {
        let bytes = edit.len() as u64;
        self.backlog_bytes.fetch_add(bytes, Ordering::AcqRel);
        self.intake.push(Submission { edits: vec![edit], bytes, ack: None })
    }

    /// Whether `bytes` more fit; a single submission larger than the whole backlog waits for an empty one.
    fn has_room(&self, bytes: u64) -> bool {
        let waiting = self.backlog_bytes.load(Ordering::Acquire);
        waiting == 0 || waiting.saturating_add(bytes) <= self.options.max_backlog_bytes
    }

    async fn wait_applied(&self, position: Position) {
        let mut applied = self.applied_now.subscribe();
        // The sender lives as long as `self`.
        applied.wait_for(|&at| at >= position).await.ok();
    }

    fn set_problem(&self, place: &Mutex<Option<String>>, problem: Option<String>) {
        *place.lock() = problem;
    }
}

/// Takes the database's lock, which the operating system frees when the process ends, however it ends.
fn lock(path: &Path) -> Result<File, FrontierError> {
    let io = |source| FrontierError::Io { path: path.into(), source };
    std::fs::create_dir_all(path).map_err(io)?;
    let file =
        File::options().create(true).truncate(false).write(true).open(path.join(layout::LOCK)).map_err(io)?;
    let started = std::time::Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            // A child that this process has just forked holds every lock until it runs its own program.
            Err(std::fs::TryLockError::WouldBlock) if started.elapsed() < LOCK_PATIENCE => {
                std::thread::sleep(LOCK_PATIENCE / 10);
            }
            Err(std::fs::TryLockError::WouldBlock) => return Err(FrontierError::InUse { path: path.into() }),
            Err(std::fs::TryLockError::Error(source)) => return Err(io(source)),
        }
    }
}

/// Deletes what belongs to a database, and its directory if nothing else is in it.
fn delete(path: &Path) -> Result<(), FrontierError> {
    let io = |source| FrontierError::Io { path: path.into(), source };
    for environment in [layout::PAGES, layout::LOG] {
        std::fs::remove_dir_all(path.join(environment)).map_err(io)?;
    }
    match std::fs::remove_dir_all(path.join(layout::SCORES)) {
        // Without a scorer there is none.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        removed => removed.map_err(io)?,
    }
    std::fs::remove_file(path.join(layout::LOCK)).map_err(io)?;
    // Fails if the user keeps other files there: they stay.
    std::fs::remove_dir(path).ok();
    Ok(())
}
