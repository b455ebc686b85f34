//! `POST /admin/rescore`: a scoring round now.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use serde::Serialize;
use url::form_urlencoded;

use super::error::{ApiError, quoted};
use super::{Api, reply};
use crate::frontier::RescoreError;

/// Said when nobody waits for the round.
#[derive(Serialize)]
struct Accepted {
    rescore: &'static str,
}

/// With `?wait=true` it answers when the round has reached the schedule, and tells of it.
pub async fn rescore(State(api): State<Arc<Api>>, uri: Uri) -> Result<Response, ApiError> {
    if wait(uri.query().unwrap_or(""))? {
        // What was acknowledged before the call is scored by it.
        api.frontier.applied().await;
        return Ok(reply::json(StatusCode::OK, &api.frontier.rescore().await?));
    }
    // Nobody listens for the answer: /stats and the log tell of the round.
    drop(api.frontier.begin_rescore()?);
    Ok(reply::json(StatusCode::ACCEPTED, &Accepted { rescore: "begun" }))
}

fn wait(query: &str) -> Result<bool, ApiError> {
    let mut wait = None;
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if name != "wait" {
            return Err(ApiError::bad_request("unknown parameter")
                .field(quoted(&name).trim_matches('"'))
                .hint("the only parameter is wait"));
        }
        let value = match &*value {
            "true" => true,
            "false" => false,
            _ => {
                return Err(ApiError::bad_request(format!("{} is no answer", quoted(&value)))
                    .field("wait")
                    .hint("give true or false"));
            }
        };
        if wait.replace(value).is_some() {
            return Err(ApiError::bad_request("stands twice").field("wait").hint("give it once"));
        }
    }
    Ok(wait.unwrap_or(false))
}

impl From<RescoreError> for ApiError {
    fn from(error: RescoreError) -> Self {
        let text = error.to_string();
        let status = match error {
            RescoreError::NoScorer => StatusCode::CONFLICT,
            RescoreError::Closed => return ApiError::unavailable(&text),
            RescoreError::Failed(_) => return ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, text),
        };
        match text.split_once(": ") {
            Some((what, remedy)) => ApiError::new(status, what.to_owned()).hint(remedy.to_owned()),
            None => ApiError::new(status, text),
        }
    }
}
