//! `GET /page`: what is known of a page.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;

use super::error::{ApiError, quoted};
use super::page_out::PageOut;
use super::query::{Params, missing};
use super::{Api, reply};

pub async fn page(State(api): State<Arc<Api>>, uri: Uri) -> Result<Response, ApiError> {
    let params = Params::of(&uri, &["url"])?;
    let url = params.url("url")?.ok_or_else(|| missing("url", "give the URL of the page"))?;
    let page = api.frontier.page(&url)?.ok_or_else(|| {
        ApiError::new(StatusCode::NOT_FOUND, format!("{} is not known", quoted(url.as_str()))).field("url")
    })?;
    Ok(reply::json(StatusCode::OK, &PageOut::new(&page, api.frontier.domain_unit(), None)))
}
