//! `aduana serve`: where the ring is closed. Settings become options, options become the frontier and its
//! server, and a signal takes them down in the other order.

mod flags;
mod signals;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use tracing::{info, warn};
use tracing_subscriber::EnvFilter;

use super::report::Hint;
use crate::frontier::{Frontier, SubmitError};
use crate::server::{Server, ServerOptions, Summary, TlsFiles};
use crate::settings::{self, Settings, read_seeds};
use crate::types::{Link, SystemClock};

/// Run the server
///
/// Opens or creates the database, makes the seeds known, and listens until Ctrl-C or SIGTERM; then it
/// finishes what is in flight, commits, and says what it did. A second signal ends it at once, which loses
/// nothing that was acknowledged.
#[derive(clap::Args)]
#[command(after_help = "\
config/aduana.toml explains every setting, and which of file, environment (ADUANA_PORT=9000) and flags wins.

Examples:
  aduana serve
  aduana serve config/aduana.toml --seeds seeds/example.txt
  aduana serve --port 9000 --page-db-path /tmp/try.db --persist=false --hard-crawl-limit inf
  aduana serve --address 0.0.0.0 --ssl-key certs/aduana-key.pem --ssl-cert certs/aduana-cert.pem")]
pub struct Args {
    /// Settings file (TOML); without it the defaults hold
    settings: Option<PathBuf>,
    #[command(flatten)]
    flags: flags::Flags,
}

/// Seeds of one edit: a few megabytes, far below any backlog limit.
const SEEDS_AN_EDIT: usize = 10_000;

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let settings = load(&args)?;
    start_log(&settings);
    let seeds = settings.seeds.as_deref().map_or(Ok(Vec::new()), read_seeds)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let _entered = runtime.enter();
    let path = settings.page_db_path.display();
    let frontier = Frontier::open(settings.frontier_options(), Arc::new(SystemClock))
        .with_context(|| format!("cannot open the database {path}"))?;
    let served = runtime.block_on(serve(&frontier, server_options(&settings), &seeds));
    // Closed in any case: what was acknowledged is applied, and `persist = false` deletes.
    let closed = frontier.close().with_context(|| format!("cannot close the database {path}"));
    info!("stopped: {}", served?);
    closed?;
    Ok(ExitCode::SUCCESS)
}

fn load(args: &Args) -> anyhow::Result<Settings> {
    settings::load(args.settings.as_deref(), args.flags.values()).or_else(|error| match error.hint() {
        Some(hint) => Err(error).hint(&hint),
        None => Err(error.into()),
    })
}

fn start_log(settings: &Settings) {
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&settings.log_level))
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    for warning in settings.warnings() {
        warn!("{warning}");
    }
}

async fn serve(frontier: &Frontier, options: ServerOptions, seeds: &[Link]) -> anyhow::Result<Summary> {
    // The port first: a server that cannot start changes nothing.
    let server = Server::bind(frontier.clone(), options).await?;
    submit(frontier, seeds).await.context("cannot store the seeds")?;
    let shutdown = signals::shutdown().context("cannot listen to signals")?;
    Ok(server.run(shutdown).await?)
}

async fn submit(frontier: &Frontier, seeds: &[Link]) -> Result<(), SubmitError> {
    for part in seeds.chunks(SEEDS_AN_EDIT) {
        frontier.room().await;
        frontier.submit_seeds(part)?.durable().await?;
    }
    if !seeds.is_empty() {
        info!("{} seeds", seeds.len());
    }
    Ok(())
}

fn server_options(settings: &Settings) -> ServerOptions {
    let tls = settings.ssl_key.clone().zip(settings.ssl_cert.clone());
    ServerOptions {
        address: settings.address,
        port: settings.port,
        passwds: settings.passwds.clone().map(|passwds| passwds.0),
        tls: tls.map(|(key, cert)| TlsFiles { key, cert }),
        default_reqs: settings.default_reqs,
        max_reqs: settings.max_reqs,
        max_body_bytes: settings.max_body_bytes,
    }
}
