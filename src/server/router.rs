//! All routes of the API.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tower_http::timeout::RequestBodyTimeoutLayer;
use tower_http::trace::TraceLayer;

use super::error::{ApiError, nearest, quoted};
use super::{Api, crawled, edits, health, links, pages, request, rescore, stats};

/// A body that stops coming for as long is given up; a stream of pages may pause for minutes.
const BODY_TIMEOUT: Duration = Duration::from_secs(300);

const PATHS: [&str; 9] =
    ["/", "/crawled", "/request", "/page", "/pages", "/links", "/admin/rescore", "/stats", "/health"];

pub fn router(api: Arc<Api>) -> Router {
    let router = Router::new()
        .route("/", get(index))
        .route("/crawled", post(crawled::crawled))
        .route("/page", get(pages::page).delete(edits::delete_page))
        .route("/pages", get(pages::pages).post(edits::add_pages))
        .route("/links", get(links::links).post(edits::add_links))
        .route("/request", get(request::request))
        .route("/admin/rescore", post(rescore::rescore))
        .route("/stats", get(stats::stats))
        .route(health::PATH, get(health::health))
        .fallback(no_such_path)
        .method_not_allowed_fallback(wrong_method)
        .with_state(api)
        .layer(RequestBodyTimeoutLayer::new(BODY_TIMEOUT));
    // A span a request is not free, and at info nobody sees it.
    if tracing::enabled!(target: "tower_http", tracing::Level::DEBUG) {
        return router.layer(TraceLayer::new_for_http().on_failure(()));
    }
    router
}

async fn index() -> &'static str {
    "aduana, a crawl frontier\n\
     \n\
     POST /crawled                  tell what was crawled: a page, an array of pages, or one a line\n\
     GET  /request?n=10&format=urls ask what to crawl next; format=full tells more\n\
     GET  /page?url=URL             what is known of a page; DELETE deletes it\n\
     GET  /pages?prefix=&regex=     pages in order of URL; order=content, content_hash; POST adds some\n\
     GET  /links?from=&to=          links of a page, or to it; POST adds some\n\
     POST /admin/rescore?wait=true  score the pages now\n\
     GET  /stats                    counters, and what the scorer does\n\
     GET  /health                   live and ready\n"
}

async fn no_such_path(uri: Uri) -> ApiError {
    let error =
        ApiError::new(StatusCode::NOT_FOUND, format!("there is no {}", quoted(uri.path()).trim_matches('"')));
    match nearest(uri.path(), &PATHS[1..]) {
        Some(path) => error.hint(format!("did you mean {path}?")),
        None => error.hint(format!("the paths are {}", PATHS.join(", "))),
    }
}

/// The router adds `Allow`.
async fn wrong_method(request: Request) -> Response {
    let path = request.uri().path();
    let method = match path {
        "/crawled" | "/admin/rescore" => "POST",
        "/pages" | "/links" => "GET or POST",
        "/page" => "GET or DELETE",
        _ => "GET",
    };
    let given = quoted(request.method().as_str());
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, format!("{path} does not take {}", given.trim_matches('"')))
        .hint(format!("use {method}"))
        .into_response()
}
