//! One run: from the command line to the report.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::runtime;
use tokio::task::LocalSet;

use super::crawl::{Habits, Spider};
use super::fleet::{Fleet, Limits, Pace};
use super::graph::{Counts, Graph};
use super::journal::{self, Journal};
use super::report::Report;
use super::target::{Target, TargetOptions};
use super::tracker::Tracker;
use super::{Args, Mode, post, progress};
use crate::settings::read_seeds;
use crate::types::PageUrl;

pub fn run(args: &Args) -> anyhow::Result<Report> {
    let target = Target::new(&TargetOptions {
        url: &args.url,
        user: args.user.as_deref(),
        ca_cert: args.cacert.as_deref(),
        insecure: args.insecure,
        allow_remote: args.allow_remote,
    })?;
    let mut graph = match &args.graph {
        Some(path) if args.mode == Mode::Crawl => Graph::read(path)?,
        _ => Graph::default(),
    };
    let read = (args.mode == Mode::Crawl).then_some(graph.counts);
    let reachable = match &args.seeds {
        Some(path) => Some(graph.reachable(&seed_urls(path)?)),
        None => None,
    };
    let mut tracker = Tracker::default();
    if let Some(path) = &args.state {
        journal::load_state(path, &mut graph, &mut tracker)?;
    }
    let expected = match (&reachable, args.pages) {
        (_, Some(pages)) => Some(pages),
        (Some(reachable), None) => Some(reachable.iter().filter(|&&reached| reached).count() as u64),
        (None, None) => None,
    };
    let journal =
        Journal::open(args.handed_out.as_deref(), args.acknowledged.as_deref(), args.state.as_deref())?;
    let fleet = Rc::new(Fleet::new(target, limits(args), Pace::new(args.rate), graph, tracker, journal)?);
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let posted = LocalSet::new().block_on(&runtime, work(args, fleet.clone(), expected))?;
    Ok(Report::new(&fleet, posted.or(read), reachable.as_deref()))
}

fn limits(args: &Args) -> Limits {
    Limits {
        pages: args.pages,
        time: args.seconds.map(Duration::from_secs_f64),
        idle: Duration::from_secs_f64(args.idle_seconds),
        retry: Duration::from_secs_f64(args.retry_seconds),
    }
}

fn seed_urls(path: &Path) -> anyhow::Result<Vec<PageUrl>> {
    Ok(read_seeds(path)?.into_iter().map(|seed| seed.url).collect())
}

/// Runs the fleet to its end. In post mode what was read of the graph.
async fn work(args: &Args, fleet: Rc<Fleet>, expected: Option<u64>) -> anyhow::Result<Option<Counts>> {
    let bar = progress::bar(expected, args.no_progress)?;
    let show = tokio::task::spawn_local(progress::show(bar.clone(), fleet.clone()));
    let signals = tokio::task::spawn_local(stop_on_signal(fleet.clone()));
    let counts = match (args.mode, &args.graph) {
        (Mode::Post, Some(graph)) => Some(post_all(args, &fleet, graph).await?),
        _ => {
            crawl(args, &fleet).await?;
            None
        }
    };
    show.abort();
    signals.abort();
    bar.finish_and_clear();
    Ok(counts)
}

async fn crawl(args: &Args, fleet: &Rc<Fleet>) -> anyhow::Result<()> {
    let habits = Habits {
        request_size: args.request_size,
        shape: args.post,
        batch: args.batch as usize,
        dead_share: args.dead_spiders,
        answers: args.mode == Mode::Crawl,
    };
    let mut spiders = Vec::new();
    for nth in 0..args.connections {
        spiders.push(tokio::task::spawn_local(Spider::new(fleet.clone(), habits, nth)?.run()));
    }
    for spider in spiders {
        spider.await?;
    }
    Ok(())
}

async fn post_all(args: &Args, fleet: &Rc<Fleet>, graph: &Path) -> anyhow::Result<Counts> {
    let (feed, reader) = post::start(post::Plan {
        graph: graph.to_owned(),
        shape: args.post,
        batch: args.batch,
        pages: args.pages,
        with_urls: fleet.journal.borrow().wants_acknowledged(),
    });
    let feed = Rc::new(feed);
    let workers: Vec<_> = (0..args.connections)
        .map(|_| tokio::task::spawn_local(post::run(fleet.clone(), feed.clone(), args.post)))
        .collect();
    for worker in workers {
        worker.await??;
    }
    // Nobody takes bodies any more: the reading thread ends, however far it is.
    drop(feed);
    match reader.join() {
        Ok(counts) => Ok(counts?),
        Err(_) => bail!("the thread that reads the graph panicked"),
    }
}

/// The first signal lets the spiders answer what they hold, the second one ends at once.
async fn stop_on_signal(fleet: Rc<Fleet>) -> anyhow::Result<()> {
    tokio::signal::ctrl_c().await.context("cannot listen for Ctrl-C")?;
    fleet.stop();
    tokio::signal::ctrl_c().await?;
    std::process::exit(130);
}
