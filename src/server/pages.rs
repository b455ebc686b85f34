//! `GET /page`: what is known of a page. `GET /pages`: pages as a stream.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use regex::Regex;

use super::error::{ApiError, quoted};
use super::out_stream::answer;
use super::page_out::PageOut;
use super::query::{Params, missing};
use super::{Api, reply};
use crate::frontier::{ContentStream, Scope};
use crate::types::{ContentHash, PageKey};

/// Orders of the pages; the first is the default.
const ORDERS: [&str; 2] = ["url", "content"];

pub async fn page(State(api): State<Arc<Api>>, uri: Uri) -> Result<Response, ApiError> {
    let params = Params::of(&uri, &["url"])?;
    let url = params.url("url")?.ok_or_else(|| missing("url", "give the URL of the page"))?;
    let page = api.frontier.page(&url)?.ok_or_else(|| {
        ApiError::new(StatusCode::NOT_FOUND, format!("{} is not known", quoted(url.as_str()))).field("url")
    })?;
    Ok(reply::json(StatusCode::OK, &PageOut::new(&page, api.frontier.naming(), None)))
}

pub async fn pages(State(api): State<Arc<Api>>, method: Method, uri: Uri) -> Result<Response, ApiError> {
    let known = ["order", "content_hash", "prefix", "domain", "regex", "after", "limit"];
    let params = Params::of(&uri, &known)?;
    let limit = limit(&params)?;
    let hash = params.hash("content_hash")?;
    let order = params.word("order", &ORDERS)?;
    let after = params.get("after").map(str::to_owned);
    if hash.is_none() && order == "url" {
        return pages_by_url(&api, &params, after, limit);
    }
    if let Some(name) = ["prefix", "domain", "regex"].into_iter().find(|name| params.get(name).is_some()) {
        return Err(ApiError::bad_request("goes with order=url only").field(name).hint("leave it out"));
    }
    let after = after.as_deref().map(read_cursor).transpose()?;
    // Whether any page has this content.
    if let Some(hash) = &hash
        && method == Method::HEAD
    {
        let status = if api.frontier.has_content(hash)? { StatusCode::OK } else { StatusCode::NOT_FOUND };
        return Ok(status.into_response());
    }
    answer(&api, limit, move |frontier, lines| {
        let mut pages = match hash {
            Some(hash) => frontier.pages_with_content(hash),
            None => frontier.pages_by_content(),
        };
        if let Some(after) = after {
            pages = pages.after(after);
        }
        while let Some(page) = pages.next() {
            let cursor = cursor_of(&pages);
            if !lines.send(&PageOut::new(&page?, frontier.naming(), cursor)) {
                break;
            }
        }
        Ok(())
    })
}

fn pages_by_url(
    api: &Api,
    params: &Params,
    after: Option<String>,
    limit: Option<u64>,
) -> Result<Response, ApiError> {
    let regex = params.get("regex").map(Regex::new).transpose();
    let regex = regex.map_err(|error| {
        // The last line of the error is what is wrong; those before it draw where.
        let text = error.to_string();
        let text = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        ApiError::bad_request(text).field("regex").hint("give a regular expression, as of the regex crate")
    })?;
    let scope = Scope {
        prefix: params.get("prefix").unwrap_or_default().to_owned(),
        domain: params.get("domain").map(str::to_owned),
    };
    answer(api, limit, move |frontier, lines| {
        let mut pages = frontier.pages_by_url(scope);
        if let Some(after) = after {
            pages = pages.after(&after);
        }
        for page in pages {
            let page = page?;
            if regex.as_ref().is_some_and(|regex| !regex.is_match(page.url.as_str())) {
                continue;
            }
            let cursor = Some(page.url.to_string());
            if !lines.send(&PageOut::new(&page, frontier.naming(), cursor)) {
                break;
            }
        }
        Ok(())
    })
}

pub fn limit(params: &Params) -> Result<Option<u64>, ApiError> {
    let Some(text) = params.get("limit") else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        let message = format!("{} is no number of lines", quoted(text));
        ApiError::bad_request(message).field("limit").hint("give an integer")
    })
}

/// The key of a page, then its content hash in quotes if it is a text.
fn cursor_of(pages: &ContentStream<'_>) -> Option<String> {
    let (hash, key) = pages.cursor()?;
    Some(match hash {
        ContentHash::Number(number) => format!("{key}-{number}"),
        ContentHash::Text(text) => format!("{key}-\"{text}\""),
    })
}

fn read_cursor(text: &str) -> Result<(ContentHash, PageKey), ApiError> {
    let parts = text.split_once('-').and_then(|(key, hash)| {
        let hash = match hash.strip_prefix('"').and_then(|hash| hash.strip_suffix('"')) {
            Some(text) => ContentHash::Text(text.to_owned()),
            None => ContentHash::Number(hash.parse().ok()?),
        };
        Some((hash, PageKey(u64::from_str_radix(key, 16).ok()?)))
    });
    parts.ok_or_else(|| bad_cursor(text))
}

pub fn bad_cursor(text: &str) -> ApiError {
    ApiError::bad_request(format!("{} is no cursor", quoted(text)))
        .field("after")
        .hint("give the cursor of the last line that came")
}
