//! `GET /stats`: the frontier's counters.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use super::error::ApiError;
use super::{Api, reply};

pub async fn stats(State(api): State<Arc<Api>>) -> Result<Response, ApiError> {
    Ok(reply::json(StatusCode::OK, &api.frontier.stats()?))
}
