//! A limit on the silence at the beginning of a connection. hyper limits the time for a request's head, but
//! only once it has seen which version of HTTP is spoken; a client that says nothing, or the beginning of
//! HTTP/2's preface and no more, would hold its connection for ever.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum_server::accept::Accept;
use futures_util::TryFutureExt;
use futures_util::future::MapOk;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// What an HTTP/2 connection begins with.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Ends connections that have not shown their version of HTTP by the limit; otherwise as `inner`.
#[derive(Debug, Clone)]
pub struct FirstBytes<A> {
    pub inner: A,
    pub limit: Duration,
}

/// A stream that fails if its first bytes do not come in time.
#[derive(Debug)]
pub struct FirstBytesStream<S> {
    inner: S,
    /// `None` once the version is known.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Bytes of the preface read.
    matched: usize,
}

impl<A: Accept<I, S>, I, S> Accept<I, S> for FirstBytes<A>
where
    A::Stream: 'static,
    A::Service: 'static,
{
    type Stream = FirstBytesStream<A::Stream>;
    type Service = A::Service;
    type Future = MapOk<
        A::Future,
        Box<dyn FnOnce((A::Stream, A::Service)) -> (FirstBytesStream<A::Stream>, A::Service) + Send>,
    >;

    fn accept(&self, stream: I, service: S) -> Self::Future {
        let limit = self.limit;
        self.inner.accept(stream, service).map_ok(Box::new(move |(inner, service)| {
            let deadline = Some(Box::pin(tokio::time::sleep(limit)));
            (FirstBytesStream { inner, deadline, matched: 0 }, service)
        }))
    }
}

impl<S> FirstBytesStream<S> {
    fn note(&mut self, bytes: &[u8]) {
        let rest = &PREFACE[self.matched..];
        let is_preface = rest.starts_with(&bytes[..bytes.len().min(rest.len())]);
        self.matched = (self.matched + bytes.len()).min(PREFACE.len());
        if !is_preface || self.matched == PREFACE.len() {
            self.deadline = None;
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FirstBytesStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.inner).poll_read(cx, buffer);
        let Some(deadline) = &mut this.deadline else { return read };
        if read.is_pending() && deadline.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        this.note(&buffer.filled()[before..]);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FirstBytesStream<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// What the server reads of a client that sends the pieces and then is silent for longer than the limit.
    async fn read_of(pieces: &[&[u8]]) -> io::Result<usize> {
        let (mut client, inner) = tokio::io::duplex(1024);
        let deadline = Some(Box::pin(tokio::time::sleep(Duration::from_millis(50))));
        let mut stream = FirstBytesStream { inner, deadline, matched: 0 };
        let mut buffer = [0; 1024];
        for piece in pieces {
            client.write_all(piece).await?;
            stream.read_exact(&mut buffer[..piece.len()]).await?;
        }
        let later = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            client.write_all(b"later").await
        };
        let (read, _) = tokio::join!(stream.read(&mut buffer), later);
        read
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_limited_until_the_version_of_http_is_known() {
        let silent: [&[&[u8]]; 3] = [&[], &[b"P"], &[b"PRI * HT", b"TP/2.0\r\n"]];
        for silent in silent {
            assert_eq!(read_of(silent).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        }
        let begun: [&[&[u8]]; 3] =
            [&[b"GET"], &[b"P", b"OST"], &[b"PRI * HTTP/2.0\r\n", b"\r\nSM\r\n\r\nmore"]];
        for begun in begun {
            assert_eq!(read_of(begun).await.unwrap(), 5);
        }
    }
}
