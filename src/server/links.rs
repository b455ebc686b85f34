//! `GET /links`: the links of a page or of a content, those to a page, or all in order of their targets.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use serde::Serialize;

use super::Api;
use super::error::{ApiError, quoted};
use super::out_stream::{Lines, answer};
use super::pages::{bad_cursor, limit};
use super::query::Params;
use crate::frontier::{Frontier, FrontierError};
use crate::types::{Anchor, PageIndex, PageUrl};

/// Links resolved at a time.
const CHUNK: usize = 1_000;

#[derive(Serialize)]
struct LinkOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    to: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<&'a str>,
    cursor: String,
}

pub async fn links(State(api): State<Arc<Api>>, uri: Uri) -> Result<Response, ApiError> {
    let params = Params::of(&uri, &["from", "from_content", "to", "anchors", "after", "limit"])?;
    let limit = limit(&params)?;
    // Those of one page are read with its links.
    let anchors = match params.get("from") {
        Some(_) => params.word("anchors", &["true", "false"])?,
        None => params.word("anchors", &["false", "true"])?,
    };
    let anchors = anchors == "true";
    let given: Vec<&str> =
        ["from", "from_content", "to"].into_iter().filter(|name| params.get(name).is_some()).collect();
    if let [_, second, ..] = given[..] {
        return Err(ApiError::bad_request("stands beside another")
            .field(second)
            .hint("give one of from, from_content and to"));
    }
    let after = params.get("after");
    if let Some(url) = params.url("from")? {
        let after = after.map(read_index).transpose()?;
        let page = api.frontier.page(&url)?.ok_or_else(|| unknown("from", &url))?;
        let targets = api.frontier.links_from(&page.url)?.ok_or_else(|| unknown("from", &url))?;
        let anchors = anchors.then_some(page.state.index);
        return one_end(&api, limit, targets, after, End::To(Some(page.url)), anchors);
    }
    if let Some(hash) = params.hash("from_content")? {
        let after = after.map(read_index).transpose()?;
        let targets = api.frontier.links_from_content(&hash)?;
        if anchors {
            return Err(ApiError::bad_request("goes not with from_content")
                .field("anchors")
                .hint("ask for the links of each page with this content"));
        }
        return one_end(&api, limit, targets, after, End::To(None), None);
    }
    if let Some(url) = params.url("to")? {
        let after = after.map(read_index).transpose()?;
        let page = api.frontier.page(&url)?.ok_or_else(|| unknown("to", &url))?;
        let frontier = api.frontier.clone();
        let of = page.url.clone();
        // The first who asks waits for the graph.
        let found = tokio::task::spawn_blocking(move || frontier.links_to(&of)).await;
        let sources = match found {
            Ok(found) => found?.ok_or_else(|| unknown("to", &url))?,
            Err(_) => return Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "reading links failed")),
        };
        let anchors = anchors.then_some(page.state.index);
        return one_end(&api, limit, sources, after, End::From(page.url), anchors);
    }
    let after = after.map(read_pair).transpose()?;
    answer(&api, limit, move |frontier, lines| all(frontier, lines, after, anchors))
}

/// Which end of the links is the same for all.
enum End {
    /// Links from this page, or from a content.
    To(Option<PageUrl>),
    /// Links to this page.
    From(PageUrl),
}

fn one_end(
    api: &Api,
    limit: Option<u64>,
    pages: Vec<PageIndex>,
    after: Option<PageIndex>,
    end: End,
    with_anchors: Option<PageIndex>,
) -> Result<Response, ApiError> {
    answer(api, limit, move |frontier, lines| {
        let first = after.map_or(0, |after| pages.partition_point(|&page| page <= after));
        for pages in pages[first..].chunks(CHUNK) {
            let urls = frontier.urls_of(pages)?;
            let links = with_anchors.map(|one| {
                let link = |&(other, _): &(PageIndex, PageUrl)| match end {
                    End::To(_) => (one, other),
                    End::From(_) => (other, one),
                };
                urls.iter().map(link).collect::<Vec<_>>()
            });
            let anchors = frontier.anchors_of(&links.unwrap_or_default())?;
            for (n, (index, url)) in urls.iter().enumerate() {
                let cursor = index.to_string();
                let anchor = anchors.get(n).and_then(Option::as_ref).map(Anchor::as_str);
                let (from, to) = match &end {
                    End::To(from) => (from.as_ref().map(PageUrl::as_str), url.as_str()),
                    End::From(to) => (Some(url.as_str()), to.as_str()),
                };
                let link = LinkOut { from, to, anchor, cursor };
                if !lines.send(&link) {
                    return Ok(());
                }
            }
        }
        Ok(())
    })
}

fn all(
    frontier: &Frontier,
    lines: &mut Lines,
    after: Option<(PageIndex, PageIndex)>,
    with_anchors: bool,
) -> Result<(), FrontierError> {
    let mut failed = None;
    frontier.links_by_target(after, |links| match send_all(frontier, lines, links, with_anchors) {
        Ok(more) => more,
        Err(error) => {
            failed = Some(error);
            false
        }
    })?;
    failed.map_or(Ok(()), Err)
}

fn send_all(
    frontier: &Frontier,
    lines: &mut Lines,
    links: &[(PageIndex, PageIndex)],
    with_anchors: bool,
) -> Result<bool, FrontierError> {
    for links in links.chunk_by(|a, b| a.0 == b.0) {
        let target = links[0].0;
        let to = frontier.urls_of(&[target])?;
        let Some((_, to)) = to.first() else { continue };
        let sources: Vec<PageIndex> = links.iter().map(|link| link.1).collect();
        let sources = frontier.urls_of(&sources)?;
        let of_anchors = sources.iter().filter(|_| with_anchors).map(|&(source, _)| (source, target));
        let anchors = frontier.anchors_of(&of_anchors.collect::<Vec<_>>())?;
        for (n, (source, from)) in sources.iter().enumerate() {
            let cursor = format!("{target}-{source}");
            let anchor = anchors.get(n).and_then(Option::as_ref).map(Anchor::as_str);
            if !lines.send(&LinkOut { from: Some(from.as_str()), to: to.as_str(), anchor, cursor }) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn unknown(field: &'static str, url: &PageUrl) -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, format!("{} is not known", quoted(url.as_str()))).field(field)
}

fn read_index(text: &str) -> Result<PageIndex, ApiError> {
    text.parse().map(PageIndex).map_err(|_| bad_cursor(text))
}

fn read_pair(text: &str) -> Result<(PageIndex, PageIndex), ApiError> {
    let (target, source) = text.split_once('-').ok_or_else(|| bad_cursor(text))?;
    Ok((read_index(target)?, read_index(source)?))
}
