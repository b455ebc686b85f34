//! HTTPS, with the clients that people use.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use aduana::server::{Server, ServerError, ServerOptions, TlsFiles};

use crate::support::{TestServer, frontier, options};

const PAGE: &str = r#"{"url": "http://a.example/", "links": [["/x", 1], ["/y", 0.5]]}"#;

fn certificate(dir: &Path) -> TlsFiles {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let files = TlsFiles { key: dir.join("key.pem"), cert: dir.join("cert.pem") };
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    std::fs::write(&files.cert, made.cert.pem()).unwrap();
    files
}

async fn start(dir: &Path) -> (TestServer, PathBuf) {
    let files = certificate(dir);
    let cert = files.cert.clone();
    let passwds = Some([("test".to_owned(), "123".to_owned())].into());
    (TestServer::start_with(ServerOptions { tls: Some(files), passwds, ..options() }).await, cert)
}

/// `None`, said aloud, if the tool is not there.
async fn run(tool: &str, arguments: Vec<String>) -> Option<Output> {
    let mut command = Command::new(tool);
    command.args(arguments).env_remove("https_proxy").env_remove("HTTPS_PROXY");
    match tokio::task::spawn_blocking(move || command.output()).await.unwrap() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("skipped: {tool} cannot be run: {error}");
            None
        }
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_speaks_both_versions_of_http() {
    let dir = tempfile::tempdir().unwrap();
    let (server, cert) = start(dir.path()).await;
    let base = format!("https://localhost:{}", server.address.port());
    for (flag, version) in [("--http1.1", "1.1"), ("--http2", "2")] {
        let curl = async |more: &[&str]| {
            let mut arguments =
                vec!["-sS", flag, "--noproxy", "*", "--cacert", cert.to_str().unwrap(), "-u", "test:123"];
            arguments.extend(more);
            arguments.extend(["-w", " %{http_code} %{http_version}"]);
            run("curl", arguments.into_iter().map(str::to_owned).collect()).await
        };
        let crawled = format!("{base}/crawled");
        let Some(output) = curl(&["-d", PAGE, &crawled]).await else { return };
        assert_eq!(
            text(&output),
            format!(r#"{{"pages":1,"links":2,"skipped_links":0}} 201 {version}"#),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let request = format!("{base}/request?n=1");
        let path = if flag == "--http2" { "y" } else { "x" };
        let output = curl(&[&request]).await.unwrap();
        assert_eq!(text(&output), format!(r#"["http://a.example/{path}"] 200 {version}"#));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn httpie_works_as_the_manual_prints_it() {
    let dir = tempfile::tempdir().unwrap();
    let (server, _) = start(dir.path()).await;
    let base = format!("https://localhost:{}", server.address.port());
    let http = async |more: &[&str]| {
        let mut arguments = vec!["--ignore-stdin", "--pretty=none", "--auth", "test:123", "--verify=no"];
        arguments.extend(more);
        run("http", arguments.into_iter().map(str::to_owned).collect()).await
    };
    let crawled = format!("{base}/crawled");
    let links = r#"links:=[["http://a.example/x", 1]]"#;
    let Some(output) = http(&["--print=h", &crawled, "url=http://a.example/", links]).await else { return };
    assert!(text(&output).starts_with("HTTP/1.1 201"), "{}", String::from_utf8_lossy(&output.stderr));
    let request = format!("{base}/request");
    let output = http(&["--print=b", &request, "n==3"]).await.unwrap();
    assert_eq!(text(&output).trim(), r#"["http://a.example/x"]"#);
}

#[tokio::test]
async fn a_client_that_never_shakes_hands_does_not_hold_the_end_up() {
    let dir = tempfile::tempdir().unwrap();
    let (server, _) = start(dir.path()).await;
    let silent = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let stopped = tokio::time::timeout(Duration::from_secs(15), server.stop()).await;
    assert!(stopped.is_ok());
    drop(silent);
}

#[tokio::test]
async fn a_key_of_another_certificate_stops_the_start() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = TlsFiles { cert: certificate(two.path()).cert, ..certificate(one.path()) };
    let tls = Some(files);
    let error = Server::bind(frontier(one.path()), ServerOptions { tls, ..options() }).await.err().unwrap();
    assert!(matches!(error, ServerError::Tls(_)));
    assert!(error.to_string().contains("does not belong to the certificate"), "{error}");
}
