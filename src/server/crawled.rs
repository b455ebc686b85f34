//! `POST /crawled`: what spiders have crawled, as one page, an array of pages, or a stream of lines.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Serialize;

use super::error::{ApiError, quoted};
use super::page_json::{Pages, read_body};
use super::query::Params;
use super::{Api, edits, ndjson, reply};
use crate::types::Clock;

/// Parsing a body beyond it takes milliseconds: other requests must not wait for that.
const LARGE_BODY: usize = 256 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    /// curl's default: taken if the body looks like JSON.
    Form,
    Lines,
}

#[derive(Serialize)]
struct Accepted {
    pages: usize,
    links: usize,
    skipped_links: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    applied: Option<bool>,
}

pub async fn crawled(State(api): State<Arc<Api>>, request: Request) -> Result<Response, ApiError> {
    let wait = edits::wait(&Params::of(request.uri(), &["wait"])?)?;
    if Format::of(request.headers())? == Format::Lines {
        return Ok(ndjson::ingest(&api, request.into_body(), wait).await);
    }
    let now = api.clock.now();
    let pages = read_json(&api, request, move |body| read_body(body, now)).await?;
    submit(&api, &pages, wait).await
}

/// Reads a JSON body with `read`, a large one on a thread of its own.
pub async fn read_json<T: Send + 'static>(
    api: &Api,
    request: Request,
    read: impl FnOnce(&[u8]) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let (head, body) = request.into_parts();
    let format = Format::of(&head.headers)?;
    if format == Format::Lines {
        return Err(unsupported("a stream of lines"));
    }
    let body = read_whole(&head.headers, body, api.max_body_bytes).await?;
    if format == Format::Form && !matches!(body.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return Err(unsupported("application/x-www-form-urlencoded"));
    }
    if body.len() <= LARGE_BODY {
        return read(&body);
    }
    match tokio::task::spawn_blocking(move || read(&body)).await {
        Ok(read) => read,
        Err(_) => Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "reading the body failed")),
    }
}

/// Answers once the pages are durable or, if wanted, applied.
async fn submit(api: &Api, pages: &Pages, wait: bool) -> Result<Response, ApiError> {
    let receipt = if pages.pages.is_empty() { None } else { Some(api.frontier.submit(&pages.pages)?) };
    let applied = edits::settle(api, receipt, wait).await?;
    api.counters.received(pages.pages.len());
    let accepted = Accepted {
        pages: pages.pages.len(),
        links: pages.pages.iter().map(|page| page.links.len()).sum(),
        skipped_links: pages.skipped_links,
        applied,
    };
    let mut response = reply::json(StatusCode::CREATED, &accepted);
    response.headers_mut().insert(reply::SKIPPED_LINKS, HeaderValue::from(pages.skipped_links));
    Ok(response)
}

async fn read_whole(headers: &HeaderMap, body: Body, limit: usize) -> Result<Bytes, ApiError> {
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > limit as u64) {
        return Err(ApiError::too_large(limit));
    }
    match Limited::new(body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(ApiError::too_large(limit)),
        Err(error) => Err(ApiError::bad_request(format!("the body broke off: {error}"))),
    }
}

impl Format {
    fn of(headers: &HeaderMap) -> Result<Format, ApiError> {
        if let Some(coding) = headers.get(CONTENT_ENCODING)
            && !coding.as_bytes().eq_ignore_ascii_case(b"identity")
        {
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "encoded bodies are not taken")
                .field("Content-Encoding")
                .hint("send the body as it is"));
        }
        let Some(value) = headers.get(CONTENT_TYPE) else { return Ok(Format::Json) };
        let text = value.to_str().unwrap_or("?");
        let media = text.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
        match &*media {
            "application/json" => Ok(Format::Json),
            "application/x-ndjson" | "application/jsonl" => Ok(Format::Lines),
            "application/x-www-form-urlencoded" => Ok(Format::Form),
            other if other.starts_with("application/") && other.ends_with("+json") => Ok(Format::Json),
            _ => Err(unsupported(text)),
        }
    }
}

fn unsupported(given: &str) -> ApiError {
    ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, format!("{} is not taken", quoted(given)))
        .field("Content-Type")
        .hint("give application/json, or application/x-ndjson for one page a line")
}
