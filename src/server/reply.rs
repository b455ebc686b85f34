//! Answers with a JSON body.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use serde::Serialize;

pub const JSON: &str = "application/json";

/// How many links of the pages were left out because they are no URLs that can be crawled.
pub const SKIPPED_LINKS: HeaderName = HeaderName::from_static("aduana-skipped-links");

pub fn json(status: StatusCode, value: &impl Serialize) -> Response {
    let mut response = Response::new(Body::from(to_json(value)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// The values of this API have text keys and finite numbers only: they always have a JSON form.
pub fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
