//! One keep-alive HTTP/1.1 connection of a simulated spider.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{HeaderMap, RETRY_AFTER};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::target::Target;

/// A server that says nothing for so long is taken for dead.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Connection {
    target: Rc<Target>,
    sender: Option<SendRequest<Full<Bytes>>>,
}

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// The connection was lost, or never came to be.
#[derive(Debug)]
pub struct Lost {
    /// Whether the server may have got the request and acted on it.
    pub uncertain: bool,
    pub reason: String,
}

impl Lost {
    fn unsent(reason: impl ToString) -> Lost {
        Lost { uncertain: false, reason: reason.to_string() }
    }
}

impl Answer {
    /// The wait that the server asks for, in seconds.
    pub fn retry_after(&self) -> Option<u64> {
        self.headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()
    }
}

impl Connection {
    pub fn new(target: Rc<Target>) -> Connection {
        Connection { target, sender: None }
    }

    /// Sends a request, over a new connection if there is none, and reads the whole answer.
    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, Lost> {
        let sent = timeout(PATIENCE, self.send_patiently(request)).await;
        let result = sent.unwrap_or_else(|_| Err(Lost { uncertain: true, reason: "no answer".to_owned() }));
        if result.is_err() {
            self.sender = None;
        }
        result
    }

    async fn send_patiently(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, Lost> {
        let open = match &mut self.sender {
            // The server may have closed it in the meantime.
            Some(sender) => sender.ready().await.is_ok(),
            None => false,
        };
        if !open {
            self.sender = Some(self.connect().await.map_err(Lost::unsent)?);
        }
        let Some(sender) = &mut self.sender else { return Err(Lost::unsent("not connected")) };
        let response = sender.try_send_request(request).await.map_err(|mut error| Lost {
            uncertain: error.take_message().is_none(),
            reason: with_causes(error.error()),
        })?;
        read(response).await
    }

    async fn connect(&self) -> io::Result<SendRequest<Full<Bytes>>> {
        let stream = TcpStream::connect(&self.target.addresses[..]).await?;
        stream.set_nodelay(true)?;
        match &self.target.tls {
            None => speak(stream).await,
            Some((connector, name)) => speak(connector.connect(name.clone(), stream).await?).await,
        }
    }
}

async fn read(response: Response<hyper::body::Incoming>) -> Result<Answer, Lost> {
    let (head, body) = response.into_parts();
    let body = body.collect().await;
    let body = body.map_err(|error| Lost { uncertain: true, reason: with_causes(&error) })?.to_bytes();
    Ok(Answer { status: head.status, headers: head.headers, body })
}

async fn speak<S>(stream: S) -> io::Result<SendRequest<Full<Bytes>>>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    // Its errors come out at the sender.
    drop(tokio::task::spawn_local(async move { drop(connection.await) }));
    Ok(sender)
}

/// hyper names the cause of an error only in its source.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
