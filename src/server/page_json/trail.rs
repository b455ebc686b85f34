//! Where in a body the reader is, and how an error found there is told.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt::Write;

use super::super::error::ApiError;

/// The position of the reader: `[page].field[link][part]`.
#[derive(Debug, Default)]
pub struct Trail {
    /// Place in the array of pages.
    pub page: Cell<Option<usize>>,
    pub field: RefCell<Cow<'static, str>>,
    /// Place in the list of links.
    pub link: Cell<Option<usize>>,
    /// Place in the list of URL, score and anchor.
    pub part: Cell<Option<usize>>,
}

impl Trail {
    pub fn enter(&self, field: impl Into<Cow<'static, str>>) {
        *self.field.borrow_mut() = field.into();
    }

    fn path(&self) -> Option<String> {
        let mut path = String::new();
        if let Some(page) = self.page.get() {
            let _ = write!(path, "[{page}]");
        }
        let field = self.field.borrow();
        if !field.is_empty() {
            let dot = if path.is_empty() { "" } else { "." };
            let _ = write!(path, "{dot}{field}");
        }
        for place in [self.link.get(), self.part.get()].into_iter().flatten() {
            let _ = write!(path, "[{place}]");
        }
        (!path.is_empty()).then_some(path)
    }

    /// The error that the reader met here.
    pub fn error(&self, error: &serde_json::Error, body: &[u8]) -> ApiError {
        let place = match error.line() {
            0 | 1 => format!(" at column {}", error.column()),
            line => format!(" at line {line} column {}", error.column()),
        };
        let text = error.to_string();
        let message = match error.line() {
            0 => &text[..],
            line => text.strip_suffix(&format!(" at line {line} column {}", error.column())).unwrap_or(&text),
        };
        // A number too large for any float is told by the parser, but is the field's matter.
        let told = match message {
            "number out of range" => {
                Some(ApiError::bad_request("out of range").hint("give a number between -3.4e38 and 3.4e38"))
            }
            _ => error.is_data().then(|| split(message)),
        };
        if let Some(told) = told {
            return match self.path() {
                Some(path) => told.field(path),
                None => told,
            };
        }
        if let Err(broken) = std::str::from_utf8(body) {
            return ApiError::bad_request(format!("not UTF-8 at byte {}", broken.valid_up_to()))
                .hint("encode the JSON as UTF-8");
        }
        ApiError::bad_request(format!("not valid JSON{place}: {message}"))
    }
}

/// Takes the remedy out of a message: `..., expected X` (serde) or `...: give X`. What is left may quote
/// the client at any length; it is cut.
pub fn split(message: &str) -> ApiError {
    let parts = message.rsplit_once(", expected ").or_else(|| message.rsplit_once(": give "));
    match parts {
        Some((what, remedy)) => ApiError::bad_request(cut(what)).hint(format!("give {remedy}")),
        None => ApiError::bad_request(cut(message)),
    }
}

fn cut(message: &str) -> String {
    match message.char_indices().nth(200) {
        Some((end, _)) => format!("{}...", &message[..end]),
        None => message.to_owned(),
    }
}
