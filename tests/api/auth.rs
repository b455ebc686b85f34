//! BasicAuth.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aduana::server::{Server, ServerError, ServerOptions};
use argon2::password_hash::SaltString;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, Version};
use base64::Engine;
use hyper::Request;

use crate::support::{Answer, TestServer, frontier, full, options};

/// A hash that costs about as much as `aduana passwd` makes it cost.
fn slow_hash(password: &str) -> String {
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::default());
    let salt = SaltString::encode_b64(b"0123456789abcdef").unwrap();
    argon2.hash_password(password.as_bytes(), &salt).unwrap().to_string()
}

async fn start(passwds: &[(&str, &str)]) -> TestServer {
    let passwds: BTreeMap<String, String> =
        passwds.iter().map(|&(login, password)| (login.into(), password.into())).collect();
    TestServer::start_with(ServerOptions { passwds: Some(passwds), ..options() }).await
}

async fn get(server: &TestServer, path: &str, credentials: &str) -> Answer {
    let value = format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(credentials));
    server.send(Request::get(path).header("authorization", value).body(full("")).unwrap()).await
}

#[tokio::test]
async fn several_users_enter_with_plain_and_hashed_passwords() {
    let server = start(&[("test", "123"), ("ann", &slow_hash("grüße: alle"))]).await;
    for (credentials, status) in [
        ("test:123", 200),
        ("ann:grüße: alle", 200),
        ("ann:123", 401),
        ("test:grüße: alle", 401),
        ("nobody:123", 401),
        ("test:", 401),
        ("test", 401),
    ] {
        assert_eq!(get(&server, "/request?n=3", credentials).await.status, status, "{credentials}");
    }
}

#[tokio::test]
async fn without_a_login_nothing_is_told_but_health() {
    let server = start(&[("test", "123")]).await;
    assert_eq!(server.get("/health").await.status, 200);
    for (method, path) in
        [("GET", "/"), ("GET", "/request"), ("GET", "/nothing"), ("DELETE", "/crawled"), ("POST", "/crawled")]
    {
        let answer = server.send(Request::builder().method(method).uri(path).body(full("{")).unwrap()).await;
        assert_eq!(answer.status, 401, "{method} {path}");
        assert_eq!(answer.header("www-authenticate"), Some("Basic realm=\"aduana\", charset=\"UTF-8\""));
        assert_eq!(answer.header("allow"), None);
        assert_eq!(answer.body, "a login is needed; send a login and its password as BasicAuth\n");
    }
}

#[tokio::test]
async fn a_header_that_cannot_be_read_is_a_401() {
    let server = start(&[("test", "123")]).await;
    for header in ["Basic", "Basic !!!", "Bearer abc", "Basic dGVzdA==", "Basic /w==", ""] {
        let request = Request::get("/stats").header("authorization", header).body(full("")).unwrap();
        let answer = server.send(request).await;
        assert_eq!(answer.status, 401, "{header}");
        assert_eq!(
            answer.body,
            "the Authorization header cannot be read; give the word Basic, a space, and login:password in base64\n",
            "{header}"
        );
    }
}

/// A fleet starts at once, with one login: argon2 is worked out once, not once a request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_verified_login_costs_no_second_hash() {
    let server = Arc::new(start(&[("ann", &slow_hash("secret"))]).await);
    let began = Instant::now();
    let first: Vec<_> = (0..16)
        .map(|_| {
            let server = Arc::clone(&server);
            tokio::spawn(async move { get(&server, "/stats", "ann:secret").await.status })
        })
        .collect();
    for request in first {
        assert_eq!(request.await.unwrap(), 200);
    }
    let together = began.elapsed();
    let began = Instant::now();
    for _ in 0..50 {
        assert_eq!(get(&server, "/stats", "ann:secret").await.status, 200);
        assert_eq!(get(&server, "/stats", "ann:wrong").await.status, 401);
    }
    // 100 requests, of which one works out a hash: far from 100 times the cost of the first.
    assert!(began.elapsed() < together * 50 + Duration::from_millis(500), "{:?}", began.elapsed());
}

#[tokio::test]
async fn passwords_that_cannot_be_used_stop_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let passwds = BTreeMap::from([("ann".to_owned(), "$argon2id$broken".to_owned())]);
    let options = ServerOptions { passwds: Some(passwds), ..options() };
    let error = Server::bind(frontier(dir.path()), options).await.err().unwrap();
    assert!(matches!(error, ServerError::Passwds(_)));
    assert!(error.to_string().starts_with("passwds.ann: "), "{error}");
}
