//! Every refusal of the API, in one type: a status, the field at fault, what is wrong, and the remedy.
//! It is written as one line of text, or as JSON for those who ask for it (`Accept: application/json`).

use std::borrow::Cow;

use axum::body::Body;
use axum::http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::reply;
use crate::frontier::{FrontierError, SubmitError};

/// A refusal. Nothing has been changed by a request that is answered with it.
#[derive(Debug, Clone)]
pub struct ApiError {
    pub status: StatusCode,
    /// Path of the field at fault, as `links[3]` or `[2].score`.
    pub field: Option<String>,
    pub message: Cow<'static, str>,
    /// What to do instead.
    pub hint: Option<Cow<'static, str>>,
    header: Option<(&'static str, &'static str)>,
}

impl ApiError {
    pub fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        ApiError { status, field: None, message: message.into(), hint: None, header: None }
    }

    pub fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        ApiError::new(StatusCode::BAD_REQUEST, message)
    }

    /// 413: the body, or what of it has come so far, is beyond the limit.
    pub fn too_large(limit: usize) -> Self {
        ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is larger than max_body_bytes, {limit} bytes"),
        )
        .hint("send fewer pages at a time, or a stream of them as application/x-ndjson")
    }

    /// 503, from a message such as `...: try again in a moment`.
    pub fn unavailable(message: &str) -> Self {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let error = match message.rsplit_once(": try ") {
            Some((what, when)) => ApiError::new(status, what.to_owned()).hint(format!("try {when}")),
            None => ApiError::new(status, message.to_owned()),
        };
        error.header("retry-after", "1")
    }

    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Puts the way to the field's surroundings before its name.
    pub fn within(mut self, surroundings: &str) -> Self {
        if let Some(field) = &mut self.field {
            field.insert_str(0, surroundings);
        }
        self
    }

    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.header = Some((name, value));
        self
    }

    /// `field: message; hint`.
    pub fn line(&self) -> String {
        let mut line = String::new();
        if let Some(field) = &self.field {
            line.push_str(field);
            line.push_str(": ");
        }
        line.push_str(&self.message);
        if let Some(hint) = &self.hint {
            line.push_str("; ");
            line.push_str(hint);
        }
        line
    }
}

impl From<SubmitError> for ApiError {
    fn from(error: SubmitError) -> Self {
        ApiError::unavailable(&error.to_string())
    }
}

impl From<FrontierError> for ApiError {
    fn from(error: FrontierError) -> Self {
        if let FrontierError::Closed | FrontierError::Stuck(_) = error {
            return ApiError::unavailable(&error.to_string());
        }
        tracing::error!(%error, "the frontier failed");
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl IntoResponse for ApiError {
    /// The body is left to [`render`], which knows what the client accepts.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// How a client wants its errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Text,
    Json,
}

impl Style {
    /// JSON if `Accept` gives it a greater quality than text, or the same and names it.
    pub fn wanted_by(headers: &HeaderMap) -> Style {
        let (mut json, mut text) = ((-1, 0.0), (-1, 0.0));
        for header in headers.get_all(ACCEPT) {
            for range in header.to_str().unwrap_or("").split(',') {
                let (media, quality) = quality(range);
                // The more specific of two ranges decides, whatever their qualities.
                let rank = |exact: &str, any: &str| match media {
                    m if m.eq_ignore_ascii_case(exact) => 2,
                    m if m.eq_ignore_ascii_case(any) => 1,
                    "*/*" => 0,
                    _ => -1,
                };
                let (for_json, for_text) =
                    (rank("application/json", "application/*"), rank("text/plain", "text/*"));
                if for_json > json.0 {
                    json = (for_json, quality);
                }
                if for_text > text.0 {
                    text = (for_text, quality);
                }
            }
        }
        let named = json.0 == 2 && json.1 > 0.0;
        if json.1 > text.1 || (named && json.1 == text.1) { Style::Json } else { Style::Text }
    }
}

/// A media range and its quality, 1 unless `q` says otherwise.
fn quality(range: &str) -> (&str, f32) {
    let mut parts = range.split(';').map(str::trim);
    let media = parts.next().unwrap_or("");
    let q = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    (media, q.map_or(1.0, |q| q.parse().unwrap_or(0.0)))
}

/// Writes the body of a refusal, or only its headers to answer HEAD; other answers pass through.
pub fn render(mut response: Response, style: Style, is_head: bool) -> Response {
    let Some(error) = response.extensions_mut().remove::<ApiError>() else { return response };
    tracing::debug!(status = error.status.as_u16(), error = error.line(), "request refused");
    let (kind, body) = match style {
        Style::Text => ("text/plain; charset=utf-8", error.line() + "\n"),
        Style::Json => (reply::JSON, reply::to_json(&JsonError::of(&error)) + "\n"),
    };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    // The router has measured the body that was not there yet.
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    if !is_head {
        *response.body_mut() = Body::from(body);
    }
    response
}

#[derive(Serialize)]
struct JsonError<'a> {
    error: Detail<'a>,
}

#[derive(Serialize)]
struct Detail<'a> {
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl<'a> JsonError<'a> {
    fn of(error: &'a ApiError) -> Self {
        JsonError {
            error: Detail {
                status: error.status.as_u16(),
                field: error.field.as_deref(),
                message: &error.message,
                hint: error.hint.as_deref(),
            },
        }
    }
}

/// The name among `known` that `given` was probably meant to be: a part of it, or a few letters off.
pub fn nearest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    let given: String = given.chars().take(64).collect::<String>().to_lowercase();
    let length = given.chars().count();
    if length >= 3
        && let Some(whole) = known.iter().find(|name| name.contains(&given))
    {
        return Some(whole);
    }
    let (distance, name) = known.iter().map(|name| (strsim::osa_distance(&given, name), *name)).min()?;
    (distance <= (length / 3).max(1)).then_some(name)
}

/// What a client sent, quoted for a message: escaped, and cut after 80 characters.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_json_only_for_those_who_prefer_it() {
        for (accept, style) in [
            ("", Style::Text),
            ("*/*", Style::Text),
            ("text/html, */*", Style::Text),
            ("application/json", Style::Json),
            ("application/json, */*;q=0.5", Style::Json),
            ("application/json, text/plain, */*", Style::Json),
            ("text/plain, application/json;q=0.9", Style::Text),
            ("application/json;q=0", Style::Text),
            ("application/*", Style::Json),
            ("APPLICATION/JSON", Style::Json),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            assert_eq!(Style::wanted_by(&headers), style, "{accept}");
        }
        assert_eq!(Style::wanted_by(&HeaderMap::new()), Style::Text);
    }

    #[test]
    fn a_name_is_nearest_only_if_it_is_near() {
        let known = ["url", "score", "links", "content_hash", "time", "base"];
        assert_eq!(nearest("link", &known), Some("links"));
        assert_eq!(nearest("contenthash", &known), Some("content_hash"));
        assert_eq!(nearest("URL", &known), Some("url"));
        assert_eq!(nearest("hash", &known), Some("content_hash"));
        assert_eq!(nearest("metadata", &known), None);
    }

    #[test]
    fn quotes_are_one_short_line() {
        assert_eq!(quoted("a\nb"), r#""a\nb""#);
        assert!(quoted(&"é".repeat(500)).chars().count() < 90);
    }
}
