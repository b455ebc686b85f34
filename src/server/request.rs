//! `GET /request`: what to crawl next.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Serialize;
use url::form_urlencoded;

use super::error::{ApiError, nearest, quoted};
use super::{Api, reply};
use crate::frontier::HandOut;
use crate::types::PageUrl;

const PARAMETERS: [&str; 2] = ["n", "format"];
const FORMATS: [&str; 2] = ["urls", "full"];

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Format {
    #[default]
    Urls,
    Full,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Query {
    n: Option<usize>,
    format: Option<Format>,
}

/// A page handed out, as `format=full` tells it.
#[derive(Serialize)]
struct FullHandOut<'a> {
    url: &'a str,
    score: f32,
    domain: &'a str,
    depth: u32,
    /// Seconds since the epoch.
    lease_expires: f64,
    attempts: u32,
}

pub async fn request(State(api): State<Arc<Api>>, method: Method, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::parse(uri.query().unwrap_or(""), api.max_reqs)?;
    // HEAD must not lease pages that nobody would be told of; so the length is not known.
    if method == Method::HEAD {
        let nothing = Body::from_stream(stream::empty::<Result<Bytes, Infallible>>());
        return Ok(([(CONTENT_TYPE, HeaderValue::from_static(reply::JSON))], nothing).into_response());
    }
    let n = query.n.unwrap_or(api.default_reqs);
    Ok(match query.format.unwrap_or_default() {
        Format::Urls => {
            let pages = api.frontier.request_urls(n).await?;
            api.counters.handed_out(pages.len());
            let urls: Vec<&str> = pages.iter().map(PageUrl::as_str).collect();
            reply::json(StatusCode::OK, &urls)
        }
        Format::Full => {
            let pages = api.frontier.request(n).await?;
            api.counters.handed_out(pages.len());
            let full: Vec<FullHandOut<'_>> = pages.iter().map(FullHandOut::of).collect();
            reply::json(StatusCode::OK, &full)
        }
    })
}

impl<'a> FullHandOut<'a> {
    fn of(page: &'a HandOut) -> Self {
        FullHandOut {
            url: page.url.as_str(),
            score: page.score.get(),
            domain: &page.domain,
            depth: page.depth,
            lease_expires: page.leased_until.seconds(),
            attempts: page.attempts,
        }
    }
}

impl Query {
    fn parse(query: &str, max_reqs: usize) -> Result<Query, ApiError> {
        let mut parsed = Query::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let is_repeated = match &*name {
                "n" => parsed.n.replace(parse_n(&value, max_reqs)?).is_some(),
                "format" => parsed.format.replace(parse_format(&value)?).is_some(),
                _ => return Err(unknown(&name)),
            };
            if is_repeated {
                return Err(ApiError::bad_request("stands twice").field(name).hint("give it once"));
            }
        }
        Ok(parsed)
    }
}

fn parse_n(value: &str, max_reqs: usize) -> Result<usize, ApiError> {
    let remedy = format!("give an integer from 0 to {max_reqs}");
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(ApiError::bad_request(format!("{} is no number of pages", quoted(value)))
            .field("n")
            .hint(remedy));
    }
    // A number too large for the type is above the limit as well.
    match value.parse() {
        Ok(n) if n <= max_reqs => Ok(n),
        _ => Err(ApiError::bad_request(format!("{} is more than max_reqs", quoted(value)))
            .field("n")
            .hint(remedy)),
    }
}

fn parse_format(value: &str) -> Result<Format, ApiError> {
    match value {
        "urls" => Ok(Format::Urls),
        "full" => Ok(Format::Full),
        _ => Err(ApiError::bad_request(format!("{} is no format", quoted(value)))
            .field("format")
            .hint(format!("give {}", FORMATS.join(" or ")))),
    }
}

fn unknown(name: &str) -> ApiError {
    let remedy = match nearest(name, &PARAMETERS) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("the parameters are {}", PARAMETERS.join(", ")),
    };
    ApiError::bad_request("unknown parameter").field(quoted(name).trim_matches('"')).hint(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_gives_what_it_names() {
        assert_eq!(Query::parse("", 9).unwrap(), Query::default());
        assert_eq!(
            Query::parse("n=9&format=full", 9).unwrap(),
            Query { n: Some(9), format: Some(Format::Full) }
        );
        assert_eq!(Query::parse("n=0", 9).unwrap().n, Some(0));
    }
}
