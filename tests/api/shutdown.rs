//! How a server starts and ends.

use std::time::{Duration, Instant};

use aduana::server::{Server, ServerError};
use hyper::Request;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{TestServer, frontier, full, options};

#[tokio::test]
async fn a_port_in_use_is_a_clear_error() {
    let server = TestServer::start().await;
    let dir = tempfile::tempdir().unwrap();
    let options = aduana::server::ServerOptions { port: server.address.port(), ..options() };
    let error = Server::bind(frontier(dir.path()), options).await.err().unwrap();
    assert!(matches!(error, ServerError::Bind { .. }));
    assert_eq!(
        error.to_string(),
        format!(
            "cannot listen on {}: the port is in use; choose another port, or stop the server that has it",
            server.address
        )
    );
}

#[tokio::test]
async fn what_is_in_flight_is_finished_and_summed_up() {
    let server = TestServer::start().await;
    server.post(r#"{"url": "http://a.example/", "links": ["/x"]}"#).await;
    server.get("/request").await;
    server.get("/nothing").await;
    // An idle connection must not hold the end up.
    let mut idle = server.connect().await;
    idle.send(Request::get("/health").body(full("")).unwrap()).await;
    // A request whose body is still coming is finished.
    let mut slow = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let body = r#"{"url": "http://a.example/late"}"#;
    let head = format!("POST /crawled HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
    slow.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;

    let address = server.address;
    let began = Instant::now();
    let stopping = tokio::spawn(server.stop());
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
    slow.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");

    let summary = stopping.await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(
        summary.to_string(),
        "5 requests answered, 1 of them refused; 2 crawled pages accepted, 1 URLs handed out"
    );
}

#[tokio::test]
async fn a_closed_frontier_is_not_ready_and_takes_nothing() {
    let server = TestServer::start().await;
    server.frontier.close().unwrap();
    let answer = server.get("/health").await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
    assert_eq!((&answer.json()["live"], &answer.json()["ready"]), (&true.into(), &false.into()));
    assert!(answer.json()["reason"].is_string());
    let answer = server.post(r#"{"url": "http://a.example/"}"#).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
    assert_eq!(answer.body, "the server is shutting down; try again when it is back\n");
    let answer = server.get("/request").await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
    assert_eq!(answer.body, "the server is shutting down\n");
}
