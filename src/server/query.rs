//! The query of a URL: parameters that a route knows, each at most once.

use axum::http::Uri;
use url::form_urlencoded;

use super::error::{ApiError, nearest, quoted};
use crate::types::page::MAX_CONTENT_HASH_BYTES;
use crate::types::{ContentHash, PageUrl};

/// The parameters of a request, decoded.
#[derive(Debug, Default)]
pub struct Params(Vec<(&'static str, String)>);

impl Params {
    /// # Errors
    /// 400 for a parameter that is not `known`, or stands twice.
    pub fn of(uri: &Uri, known: &[&'static str]) -> Result<Params, ApiError> {
        let mut params = Params::default();
        for (name, value) in form_urlencoded::parse(uri.query().unwrap_or("").as_bytes()) {
            let Some(known) = known.iter().find(|known| **known == name) else {
                return Err(unknown(&name, known));
            };
            if params.get(known).is_some() {
                return Err(ApiError::bad_request("stands twice").field(*known).hint("give it once"));
            }
            params.0.push((known, value.into_owned()));
        }
        Ok(params)
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// A parameter that is one of a few words; the first one if it is not given.
    pub fn word(&self, name: &'static str, words: &[&'static str]) -> Result<&'static str, ApiError> {
        let Some(value) = self.get(name) else { return Ok(words[0]) };
        words.iter().find(|word| **word == value).copied().ok_or_else(|| {
            let remedy = format!("give {}", words.join(" or "));
            ApiError::bad_request(format!("{} is not known", quoted(value))).field(name).hint(remedy)
        })
    }

    /// A content hash: a number, or else a text, which may stand in quotes to tell it from a number.
    pub fn hash(&self, name: &'static str) -> Result<Option<ContentHash>, ApiError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let text = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        if text.is_none()
            && let Ok(number) = value.parse()
        {
            return Ok(Some(ContentHash::Number(number)));
        }
        let text = text.unwrap_or(value);
        if text.len() > MAX_CONTENT_HASH_BYTES {
            return Err(ApiError::bad_request("too long").field(name).hint("give at most 256 bytes of text"));
        }
        Ok(Some(ContentHash::Text(text.to_owned())))
    }

    /// A URL; `None` if it is not given.
    pub fn url(&self, name: &'static str) -> Result<Option<PageUrl>, ApiError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        PageUrl::parse(value).map(Some).map_err(|error| super::page_json::bad_url(name, value, &error))
    }
}

/// The error for a parameter that must be given.
pub fn missing(name: &'static str, remedy: &'static str) -> ApiError {
    ApiError::bad_request("missing").field(name).hint(remedy)
}

fn unknown(name: &str, known: &[&'static str]) -> ApiError {
    let remedy = match nearest(name, known) {
        Some(meant) => format!("did you mean {meant}?"),
        None if known.is_empty() => "it takes none".to_owned(),
        None => format!("the parameters are {}", known.join(", ")),
    };
    ApiError::bad_request("unknown parameter").field(quoted(name).trim_matches('"')).hint(remedy)
}
