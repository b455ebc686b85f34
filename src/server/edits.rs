//! `POST /pages`, `DELETE /page`, `POST /links`: pages and links added and deleted by hand; and `wait=applied`.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use serde::Serialize;

use super::crawled::read_json;
use super::edit_json::{read_links, read_pages};
use super::error::ApiError;
use super::query::{Params, missing};
use super::{Api, reply};
use crate::frontier::Receipt;
use crate::types::edit::web::Adding;
use crate::types::{Clock, WebEdit};

/// What `wait` may say; the first is the default.
const WAITS: [&str; 2] = ["durable", "applied"];

/// What becomes of a page that is present.
const PRESENT: [&str; 3] = ["keep_score", "replace", "skip"];

/// Who waits for longer is told that it is not applied yet: the edit is durable.
const APPLIED_WAIT: Duration = Duration::from_secs(10);

#[derive(Serialize)]
struct Done {
    edits: usize,
    /// Whether every read sees them; only told to those who wait for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    applied: Option<bool>,
}

pub async fn add_pages(State(api): State<Arc<Api>>, request: Request) -> Result<Response, ApiError> {
    let params = Params::of(request.uri(), &["present", "wait"])?;
    let wait = wait(&params)?;
    let adding = match params.word("present", &PRESENT)? {
        "replace" => Adding::WithScore,
        "skip" => Adding::IfAbsent,
        _ => Adding::KeepScore,
    };
    let now = api.clock.now();
    let edits = read_json(&api, request, move |body| read_pages(body, adding, now)).await?;
    submit(&api, StatusCode::CREATED, &edits, wait).await
}

pub async fn delete_page(State(api): State<Arc<Api>>, uri: Uri) -> Result<Response, ApiError> {
    let params = Params::of(&uri, &["url", "wait"])?;
    let wait = wait(&params)?;
    let url = params.url("url")?.ok_or_else(|| missing("url", "give the URL of the page"))?;
    submit(&api, StatusCode::OK, &[WebEdit::DeletePage(url)], wait).await
}

pub async fn add_links(State(api): State<Arc<Api>>, request: Request) -> Result<Response, ApiError> {
    let params = Params::of(request.uri(), &["wait"])?;
    let wait = wait(&params)?;
    let edits = read_json(&api, request, read_links).await?;
    submit(&api, StatusCode::CREATED, &edits, wait).await
}

/// Answers once the edits are durable or, if wanted, applied.
async fn submit(api: &Api, status: StatusCode, edits: &[WebEdit], wait: bool) -> Result<Response, ApiError> {
    let receipt = if edits.is_empty() { None } else { Some(api.frontier.submit_edits(edits)?) };
    let applied = settle(api, receipt, wait).await?;
    Ok(reply::json(status, &Done { edits: edits.len(), applied }))
}

/// Whether to wait until what was sent is applied.
pub fn wait(params: &Params) -> Result<bool, ApiError> {
    Ok(params.word("wait", &WAITS)? == "applied")
}

/// Waits until edits are durable and, if wanted, applied; tells whether they are, if somebody waits for it.
pub async fn settle(api: &Api, receipt: Option<Receipt>, wait: bool) -> Result<Option<bool>, ApiError> {
    let Some(receipt) = receipt else { return Ok(wait.then_some(true)) };
    let position = receipt.durable().await?;
    if !wait {
        return Ok(None);
    }
    Ok(Some(wait_applied(api, position).await))
}

/// Waits, but not for ever, until the edit at this position is applied.
pub async fn wait_applied(api: &Api, position: u64) -> bool {
    tokio::time::timeout(APPLIED_WAIT, api.frontier.applied_to(position)).await.is_ok()
}
