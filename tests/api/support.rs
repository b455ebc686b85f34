//! A server of a test's own, and a client for it.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use aduana::frontier::{Frontier, Options, Stats};
use aduana::server::{Server, ServerError, ServerOptions, Summary};
use aduana::types::{SameSite, SystemClock};
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper::client::conn::http1::SendRequest;
use hyper::{HeaderMap, Request};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub type Body = BoxBody<Bytes, Infallible>;

pub const MAX_BODY: usize = 64 * 1024;
pub const MAX_REQS: usize = 1000;

pub struct TestServer {
    pub address: SocketAddr,
    pub frontier: Frontier,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<Summary, ServerError>>,
    _dir: tempfile::TempDir,
}

pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

pub fn options() -> ServerOptions {
    ServerOptions {
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        port: 0,
        passwds: None,
        tls: None,
        default_reqs: 10,
        max_reqs: MAX_REQS,
        max_body_bytes: MAX_BODY,
    }
}

pub fn frontier(path: &std::path::Path) -> Frontier {
    frontier_of(path, SameSite::OFF)
}

fn frontier_of(path: &std::path::Path, same_site: SameSite) -> Frontier {
    let options = Options {
        same_site,
        soft_crawl_limit: f64::INFINITY,
        hard_crawl_limit: f64::INFINITY,
        map_size: 64 << 20,
        ..Options::new(path)
    };
    Frontier::open(options, Arc::new(SystemClock)).unwrap()
}

impl TestServer {
    pub async fn start() -> TestServer {
        TestServer::start_with(options()).await
    }

    pub async fn start_with(options: ServerOptions) -> TestServer {
        TestServer::start_of(options, SameSite::OFF).await
    }

    pub async fn start_of(options: ServerOptions, same_site: SameSite) -> TestServer {
        let dir = tempfile::tempdir().unwrap();
        let frontier = frontier_of(dir.path(), same_site);
        let server = Server::bind(frontier.clone(), options).await.unwrap();
        let address = server.local_addr();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(server.run(async {
            let _ = stopped.await;
        }));
        TestServer { address, frontier, stop, task, _dir: dir }
    }

    /// Shuts the server down as a signal would.
    pub async fn stop(self) -> Summary {
        let _ = self.stop.send(());
        let summary = self.task.await.unwrap().unwrap();
        self.frontier.close().unwrap();
        summary
    }

    pub async fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Client { sender }
    }

    /// One request on a connection of its own.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        self.connect().await.send(request).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(full("")).unwrap()).await
    }

    pub async fn post(&self, body: impl Into<Bytes>) -> Answer {
        self.send(Request::post("/crawled").body(full(body)).unwrap()).await
    }

    pub async fn post_as(&self, media: &str, body: Body) -> Answer {
        self.send(Request::post("/crawled").header("content-type", media).body(body).unwrap()).await
    }

    /// Waits until the counters, which follow the acknowledged edits a moment later, are as wanted.
    pub async fn stats_when(&self, is_wanted: impl Fn(&Stats) -> bool) -> Stats {
        for _ in 0..1000 {
            let stats = self.frontier.stats().unwrap();
            if is_wanted(&stats) {
                return stats;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("the counters stay at {:?}", self.frontier.stats().unwrap());
    }
}

pub struct Client {
    sender: SendRequest<Body>,
}

impl Client {
    pub async fn send(&mut self, mut request: Request<Body>) -> Answer {
        request.headers_mut().entry("host").or_insert("localhost".parse().unwrap());
        self.sender.ready().await.unwrap();
        let response = self.sender.send_request(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }
}

pub fn full(body: impl Into<Bytes>) -> Body {
    Full::new(body.into()).boxed()
}

/// A body without an announced length.
pub fn streamed(chunks: impl Stream<Item = Bytes> + Send + Sync + 'static) -> Body {
    BodyExt::boxed(StreamBody::new(chunks.map(|chunk| Ok(Frame::data(chunk)))))
}

/// What is counted of a crawl, without what merely follows it (file sizes, batches).
pub fn counted(stats: &Stats) -> [u64; 7] {
    [
        stats.pages,
        stats.crawled,
        stats.scheduled,
        stats.leased,
        stats.links,
        stats.pages_received,
        stats.urls_handed_out,
    ]
}
