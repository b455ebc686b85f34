//! Pages by their content: all of them in order of content hash, so that duplicates stand together, or those
//! with one (Nutch's `pagesByMD5`, `getPages`, `pageExists`).

use std::collections::{BTreeSet, VecDeque};
use std::ops::Bound;

use super::env::{InTable, PageDb, PageDbError, Snapshot};
use super::page_state::Slot;
use super::schedule_key::{content_key, decode_content_key};
use super::stream::{CHUNK_ROWS, Page, Rows, Stream};
use crate::types::{ContentHash, PageIndex, PageKey};

/// Pages that have a content hash, in order of it.
pub type ContentStream<'db> = Stream<'db, ContentRows>;

/// The rows of a [`ContentStream`].
pub struct ContentRows {
    only: Option<ContentHash>,
}

impl PageDb {
    /// Every page with a content hash, in order of the hashes: numbers first, then texts; of pages with one hash
    /// in order of key. Where one text begins another, as hashes of one kind never do, their pages may mix.
    pub fn pages_by_content(&self) -> ContentStream<'_> {
        Stream::new(self, ContentRows { only: None })
    }

    /// The pages with this content hash.
    pub fn pages_with_content(&self, hash: ContentHash) -> ContentStream<'_> {
        Stream::new(self, ContentRows { only: Some(hash) })
    }
}

impl Rows for ContentRows {
    type Item = Page;
    type Cursor = (ContentHash, PageKey);

    fn cursor(item: &Page) -> (ContentHash, PageKey) {
        let hash = item.record.as_ref().and_then(|record| record.content_hash.clone());
        (hash.unwrap_or(ContentHash::Number(0)), item.key)
    }

    fn read(
        &mut self,
        snapshot: &Snapshot,
        after: Option<(ContentHash, PageKey)>,
        out: &mut VecDeque<Page>,
    ) -> Result<bool, PageDbError> {
        let after = after.map(|(hash, key)| content_key(&hash, key));
        let first = self.only.as_ref().map(ContentHash::to_bytes);
        let start = match (&after, &first) {
            (Some(after), _) => Bound::Excluded(&after[..]),
            (None, Some(first)) => Bound::Included(&first[..]),
            (None, None) => Bound::Unbounded,
        };
        for row in snapshot.tables.content.range(&snapshot.txn, &(start, Bound::Unbounded))? {
            let (row, _) = row?;
            if first.as_ref().is_some_and(|first| !row.starts_with(first)) {
                break;
            }
            let (hash, key) = decode_content_key(row).in_table("content", row)?;
            // A longer text that begins with the wanted one.
            if self.only.as_ref().is_some_and(|only| *only != hash) {
                continue;
            }
            let Some(Slot::Page(state)) = snapshot.finder().slot(key)? else { continue };
            out.push_back(snapshot.page_of(key, state)?);
            if out.len() == CHUNK_ROWS {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Snapshot {
    /// Whether any page has this content.
    ///
    /// # Errors
    /// As every method here: what LMDB says, or [`PageDbError::Corrupted`].
    pub fn has_content(&self, hash: &ContentHash) -> Result<bool, PageDbError> {
        Ok(!self.keys_with_content(hash, 1)?.is_empty())
    }

    /// The pages that this content links to: those that the pages with it link to, in order of index.
    pub fn links_of_content(&self, hash: &ContentHash) -> Result<Vec<PageIndex>, PageDbError> {
        let mut targets = BTreeSet::new();
        for key in self.keys_with_content(hash, usize::MAX)? {
            if let Some(state) = self.state(key)? {
                targets.extend(self.links(state.index)?.unwrap_or_default());
            }
        }
        Ok(targets.into_iter().collect())
    }

    fn keys_with_content(&self, hash: &ContentHash, limit: usize) -> Result<Vec<PageKey>, PageDbError> {
        let prefix = hash.to_bytes();
        let mut keys = Vec::new();
        for row in self.tables.content.range(&self.txn, &(Bound::Included(&prefix[..]), Bound::Unbounded))? {
            let (row, _) = row?;
            if keys.len() == limit || !row.starts_with(&prefix) {
                break;
            }
            let (found, key) = decode_content_key(row).in_table("content", row)?;
            if found == *hash {
                keys.push(key);
            }
        }
        Ok(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pagedb::test_db::{TestDb, page};

    fn told(stream: ContentStream<'_>) -> Vec<String> {
        stream.map(|page| page.unwrap().url.to_string()).collect()
    }

    #[test]
    fn duplicates_stand_together_and_a_hash_that_begins_another_is_another() {
        let mut db = TestDb::new();
        for (n, hash) in ["b", "abc", "ab", "abc"].into_iter().enumerate() {
            let mut page = page(&format!("http://a.example/{n}"), None, &[&format!("http://b.example/{n}")]);
            page.content_hash = Some(ContentHash::Text(hash.into()));
            db.crawl(&page);
        }
        db.crawl(&page("http://a.example/5", Some(9), &["http://b.example/1"]));
        let all = told(db.db.pages_by_content());
        assert_eq!((all[0].as_str(), all[4].as_str()), ("http://a.example/5", "http://a.example/0"));
        let place = |url: &str| all.iter().position(|found| found == url).unwrap();
        assert_eq!(place("http://a.example/1").abs_diff(place("http://a.example/3")), 1);
        let text = |text: &str| ContentHash::Text(text.into());
        assert_eq!(told(db.db.pages_with_content(text("ab"))), ["http://a.example/2"]);
        assert_eq!(told(db.db.pages_with_content(text("abc"))).len(), 2);
        assert_eq!(told(db.db.pages_with_content(text("a"))), [""; 0]);
        let snapshot = db.db.snapshot().unwrap();
        assert!(snapshot.has_content(&text("abc")).unwrap());
        assert!(!snapshot.has_content(&text("a")).unwrap() && !snapshot.has_content(&text("abcd")).unwrap());
        assert_eq!(snapshot.links_of_content(&text("abc")).unwrap().len(), 2);
        // From any cursor the stream goes on behind it.
        let mut stream = db.db.pages_by_content();
        let mut seen = Vec::new();
        while let Some(page) = stream.next() {
            seen.push(page.unwrap().url.to_string());
            let cursor = stream.cursor().unwrap();
            stream = db.db.pages_by_content().after(cursor);
        }
        assert_eq!(seen, all);
    }
}
