//! `GET /health`: for load balancers and supervisors, which carry no login.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde::Serialize;

use super::{Api, reply};

/// The one path that is open to everybody: it tells nothing of the crawl.
pub const PATH: &str = "/health";

#[derive(Serialize)]
struct Health {
    live: bool,
    ready: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub async fn health(State(api): State<Arc<Api>>) -> Response {
    let reason = api.frontier.ready().err();
    let ready = reason.is_none();
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let mut response = reply::json(status, &Health { live: true, ready, reason });
    if !ready {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}
