//! Adding and deleting pages and links: the methods of Nutch's IWebDBWriter, each an edit in the log.

use super::{Frontier, Receipt, SubmitError};
use crate::frontier::writer::Hurry;
use crate::log::Position;
use crate::types::edit::web::{Adding, NewLink, NewPage};
use crate::types::{PageUrl, WebEdit};

impl Frontier {
    /// Submits edits, which are durable together or not at all, and are applied in their order.
    ///
    /// # Errors
    /// As [`Frontier::submit`].
    pub fn submit_edits(&self, edits: &[WebEdit]) -> Result<Receipt, SubmitError> {
        let encode = |edit: &WebEdit| {
            let mut bytes = Vec::new();
            edit.encode(&mut bytes);
            bytes
        };
        self.inner.submit(edits.iter().map(encode).collect())
    }

    /// Adds a page, or overwrites all that is known of one with the same URL but its score: crawl history and
    /// content, and with the content the links, unless it is the same.
    ///
    /// # Errors
    /// As [`Frontier::submit`], here and below.
    pub fn add_page(&self, page: NewPage) -> Result<Receipt, SubmitError> {
        self.submit_edits(&[WebEdit::AddPage { page, adding: Adding::KeepScore, link: None }])
    }

    /// As [`Frontier::add_page`], and overwrites the score too.
    pub fn add_page_with_score(&self, page: NewPage) -> Result<Receipt, SubmitError> {
        self.submit_edits(&[WebEdit::AddPage { page, adding: Adding::WithScore, link: None }])
    }

    /// Adds a page, unless there is one with the same URL.
    pub fn add_page_if_not_present(&self, page: NewPage) -> Result<Receipt, SubmitError> {
        self.submit_edits(&[WebEdit::AddPage { page, adding: Adding::IfAbsent, link: None }])
    }

    /// Adds a page and a link, both or none: none if there is a page with the same URL, or no page that the link
    /// could stand on.
    pub fn add_page_if_not_present_with_link(
        &self,
        page: NewPage,
        link: NewLink,
    ) -> Result<Receipt, SubmitError> {
        self.submit_edits(&[WebEdit::AddPage { page, adding: Adding::IfAbsent, link: Some(link) }])
    }

    /// Deletes a page, its links, and the links to it. Does nothing if there is no such page.
    pub fn delete_page(&self, url: PageUrl) -> Result<Receipt, SubmitError> {
        self.submit_edits(&[WebEdit::DeletePage(url)])
    }

    /// Adds a link to a page, or to all pages with a content; they must have been crawled, otherwise nothing
    /// happens. What it leads to becomes known.
    pub fn add_link(&self, link: NewLink) -> Result<Receipt, SubmitError> {
        self.submit_edits(&[WebEdit::AddLink(link)])
    }

    /// Waits until the edit at `position` (what [`Receipt::durable`] gives) is applied: then every read sees it.
    pub async fn applied_to(&self, position: Position) {
        self.inner.queue.hurry(Hurry::Now);
        self.inner.wait_applied(position).await;
    }
}
