//! Pages and links that somebody adds or deletes, by Nutch's rules.

use aduana::types::edit::web::{Adding, LinkSource, NewLink, NewPage};
use aduana::types::{ContentHash, WebEdit};

use super::{History, Reference, Status};

impl Reference {
    pub fn edited(&mut self, edit: &WebEdit) {
        match edit {
            WebEdit::AddPage { page, adding, link } => self.added(page, *adding, link.as_ref()),
            WebEdit::DeletePage(url) => self.deleted(url.as_str()),
            WebEdit::AddLink(link) => self.link_added(link),
        }
    }

    fn deleted(&mut self, url: &str) {
        let Some(at) = self.by_url.remove(&self.class(url)) else { return };
        self.set_status(at, Status::Gone);
        self.pages[at].history = None;
        self.pages[at].links.clear();
        for page in &mut self.pages {
            page.links.remove(&at);
        }
    }

    fn added(&mut self, new: &NewPage, adding: Adding, link: Option<&NewLink>) {
        let url = new.url.as_str();
        if adding == Adding::IfAbsent && self.known(url).is_some() {
            return;
        }
        let history = new.history.as_ref().map(|history| History {
            first: history.first_crawl.0,
            last: history.last_crawl.0,
            crawls: history.crawls,
            changes: history.changes,
            score: history.score.get(),
            hash: history.content_hash.as_ref().map(number),
        });
        if let Some(link) = link {
            let is_here = match &link.from {
                LinkSource::Page(from) => history.is_some() && self.class(from.as_str()) == self.class(url),
                LinkSource::Content(hash) => {
                    history.as_ref().is_some_and(|history| history.hash == Some(number(hash)))
                }
            };
            if !is_here && self.sources(&link.from).is_empty() {
                return;
            }
        }
        let (at, is_new) = self.sight(url);
        if is_new || adding == Adding::WithScore {
            self.set_score(at, new.score.get());
        }
        let page = &mut self.pages[at];
        (page.depth, page.attempts) = (0, 0);
        let same_content = match (&page.history, &history) {
            (Some(old), Some(new)) => old.hash == new.hash,
            _ => false,
        };
        if !same_content {
            page.links.clear();
        }
        let is_crawled = history.is_some();
        page.history = history;
        let status = match page.status {
            _ if is_crawled => Status::Crawled,
            Status::Leased { until } => Status::Leased { until },
            _ => self.waiting(0),
        };
        self.set_status(at, status);
        if let Some(link) = link {
            self.link_added(link);
        }
    }

    fn link_added(&mut self, link: &NewLink) {
        let sources = self.sources(&link.from);
        let Some(depth) = sources.iter().map(|&at| self.pages[at].depth).min() else { return };
        let (target, _) = self.sight(link.to.as_str());
        self.linked(target, depth + 1, link.score.get());
        for source in sources {
            self.pages[source].links.insert(target);
        }
    }

    /// Pages that a link from there stands on.
    fn sources(&self, from: &LinkSource) -> Vec<usize> {
        let stands = |at: &usize| match (from, &self.pages[*at].history) {
            (_, None) => false,
            (LinkSource::Page(url), _) => self.known(url.as_str()) == Some(*at),
            (LinkSource::Content(hash), Some(history)) => history.hash == Some(number(hash)),
        };
        self.by_url.values().copied().filter(stands).collect()
    }
}

fn number(hash: &ContentHash) -> u64 {
    match hash {
        ContentHash::Number(number) => *number,
        ContentHash::Text(text) => panic!("the tests use numbers, not {text}"),
    }
}
