//! The HTTP API over a frontier. `router` lists the routes; `docs/api.md` is its manual.

mod auth;
mod counters;
mod crawled;
mod edit_json;
mod edits;
mod error;
mod first_bytes;
mod health;
mod lines;
mod links;
mod ndjson;
mod out_stream;
mod page_json;
mod page_out;
mod pages;
mod query;
mod reply;
mod request;
mod rescore;
mod router;
mod service;
mod stats;
mod tls;

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::ServiceExt;
use axum::extract::Request;
use axum_server::Handle;
use axum_server::accept::{DefaultAcceptor, NoDelayAcceptor};
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use hyper_util::rt::TokioTimer;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

pub use auth::PasswdsError;
pub use counters::Summary;
pub use tls::TlsError;

use crate::frontier::Frontier;
use crate::types::{CrawledPage, SystemClock, Time};
use auth::Auth;
use counters::Counters;
use first_bytes::FirstBytes;
use service::Front;

/// What is in flight at the end has as long to finish.
const GRACE: Duration = Duration::from_secs(10);

/// A client that has not sent the head of its next request by then is let go, and may connect anew.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Shorter than the grace: a client that says nothing must not hold the end up.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// Reads a page as a stream to `POST /crawled` has it, a line without its end; `now` is the time of the crawl if
/// the page gives none. Also returns how many of its links cannot be crawled; they are left out.
///
/// # Errors
/// What `POST /crawled` says of such a line.
pub fn read_page_line(line: &[u8], now: Time) -> Result<(CrawledPage, u64), String> {
    let mut read = page_json::Pages::default();
    page_json::read_page(line, now, &mut read).map_err(|error| error.line())?;
    let page = read.pages.pop().ok_or("no page")?;
    Ok((page, read.skipped_links))
}

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    pub address: IpAddr,
    /// 0 takes a free one.
    pub port: u16,
    /// From login to password, plain or as an argon2 hash; without it everybody may come in.
    pub passwds: Option<BTreeMap<String, String>>,
    /// HTTPS instead of HTTP.
    pub tls: Option<TlsFiles>,
    /// URLs a `GET /request` gives if it does not name a number.
    pub default_reqs: usize,
    /// URLs a `GET /request` may ask for.
    pub max_reqs: usize,
    /// Largest body, or line of a stream.
    pub max_body_bytes: usize,
}

/// Paths of PEM files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    pub key: PathBuf,
    pub cert: PathBuf,
}

/// Why a server does not start, or ends.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("cannot listen on {address}: {}", bind_reason(source))]
    Bind { address: SocketAddr, source: io::Error },
    #[error(transparent)]
    Passwds(#[from] PasswdsError),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("the server failed: {0}")]
    Io(#[from] io::Error),
}

fn bind_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "the port is in use; choose another port, or stop the server that has it".into()
        }
        io::ErrorKind::PermissionDenied => "not permitted; choose a port above 1023".into(),
        io::ErrorKind::AddrNotAvailable => {
            "the address is none of this machine's; choose another address".into()
        }
        _ => error.to_string(),
    }
}

/// What the handlers share.
struct Api {
    frontier: Frontier,
    clock: SystemClock,
    counters: Counters,
    default_reqs: usize,
    max_reqs: usize,
    max_body_bytes: usize,
    /// For each stream under way.
    streams: Arc<Semaphore>,
}

/// A server that has its port, and does not answer yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<RustlsConfig>,
    front: Front,
}

/// Serves the API until `shutdown` resolves and what is in flight is finished. The frontier stays open.
///
/// # Errors
/// [`ServerError`] if the options cannot be used or the port is not to be had.
pub async fn serve(
    frontier: Frontier,
    options: ServerOptions,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<Summary, ServerError> {
    Server::bind(frontier, options).await?.run(shutdown).await
}

impl Server {
    /// Checks the options, then takes the port.
    ///
    /// # Errors
    /// [`ServerError`] if the options cannot be used or the port is not to be had.
    pub async fn bind(frontier: Frontier, options: ServerOptions) -> Result<Server, ServerError> {
        let auth = Auth::new(options.passwds.as_ref())?;
        let tls = options.tls.as_ref().map(tls::load).transpose()?.map(RustlsConfig::from_config);
        let address = SocketAddr::new(options.address, options.port);
        let bind_error = |source| ServerError::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(bind_error)?;
        let address = listener.local_addr().map_err(bind_error)?;
        let api = Arc::new(Api {
            frontier,
            clock: SystemClock,
            counters: Counters::default(),
            default_reqs: options.default_reqs,
            max_reqs: options.max_reqs,
            max_body_bytes: options.max_body_bytes,
            streams: Arc::new(Semaphore::new(out_stream::MOST_STREAMS)),
        });
        let front = Front { auth, router: router::router(Arc::clone(&api)), api };
        Ok(Server { listener, address, tls, front })
    }

    /// Address and port that are listened on.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until `shutdown` resolves, then finishes what is in flight.
    ///
    /// # Errors
    /// [`ServerError::Io`] if the listener fails.
    pub async fn run(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<Summary, ServerError> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        tracing::info!("listening on {scheme}://{}", self.address);
        let handle = Handle::new();
        let stopper = handle.clone();
        let stop = tokio::spawn(async move {
            shutdown.await;
            stopper.graceful_shutdown(Some(GRACE));
        });
        let api = Arc::clone(&self.front.api);
        let mut server = axum_server::Server::<SocketAddr>::from_listener(self.listener).handle(handle);
        set_limits(&mut server);
        let service = ServiceExt::<Request>::into_make_service(self.front);
        let served = match self.tls {
            None => {
                let acceptor = FirstBytes { inner: NoDelayAcceptor, limit: HEAD_TIMEOUT };
                server.acceptor(acceptor).serve(service).await
            }
            Some(config) => {
                let inner = RustlsAcceptor::new(config).handshake_timeout(HANDSHAKE_TIMEOUT);
                let inner = inner.acceptor(NoDelayAcceptor);
                server.acceptor(FirstBytes { inner, limit: HEAD_TIMEOUT }).serve(service).await
            }
        };
        stop.abort();
        served?;
        Ok(api.counters.summary())
    }
}

fn set_limits(server: &mut axum_server::Server<SocketAddr, DefaultAcceptor>) {
    let builder = server.http_builder();
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    builder.http2().timer(TokioTimer::new()).keep_alive_interval(HEAD_TIMEOUT / 2);
}
