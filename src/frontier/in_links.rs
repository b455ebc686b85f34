//! Links by their target, exact at the moment of asking.
//!
//! No table has this order. The first who asks has a link graph built, with its transpose; from then on the writer
//! tells which pages' links have changed since. An answer is the graph's in-links but for those of pages that
//! have changed, and of these what their rows say now. When many have changed, the next who asks has the graph
//! built anew; when too many have and nobody asks, all of it is dropped, so that it costs memory for those only
//! who use it, and ingest next to nothing.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::{Frontier, FrontierError, Inner};
use crate::graph::{GraphOptions, LinkGraph, Watch};
use crate::log::Position;
use crate::pagedb::{PageDbError, Snapshot};
use crate::types::{Anchor, PageIndex, PageUrl};

/// So many changed pages are always put up with: their rows are read in a few milliseconds.
const FEW_CHANGED: usize = 20_000;

/// Beyond this share of the crawled pages the graph is built anew for the next who asks.
const CHANGED_SHARE: usize = 8;

/// Most changed pages that are remembered: eight bytes each, and what the set takes.
const MOST_CHANGED: usize = 2_000_000;

/// Links resolved in one read.
const CHUNK: usize = 1_000;

#[derive(Default)]
pub(super) struct InLinks {
    state: Mutex<State>,
    told: Condvar,
    /// Held while a graph is built.
    building: Mutex<()>,
}

#[derive(Default)]
struct State {
    graph: Option<Arc<LinkGraph>>,
    /// Pages whose links were written since the graph began to be built; none is noted before.
    changed: Option<HashSet<PageIndex, foldhash::fast::RandomState>>,
    /// The writer has told of everything up to here.
    told_to: Position,
}

/// What an answer is made of: for one snapshot.
struct View {
    snapshot: Snapshot,
    graph: Arc<LinkGraph>,
    /// Sorted.
    changed: Vec<PageIndex>,
}

impl InLinks {
    pub(super) fn new(applied: Position) -> InLinks {
        InLinks { state: Mutex::new(State { told_to: applied, ..State::default() }), ..InLinks::default() }
    }

    /// A batch was applied, in which the links of these pages were written.
    pub(super) fn changed(&self, relinked: &[PageIndex], applied: Position) {
        let mut state = self.state.lock();
        if let Some(changed) = &mut state.changed {
            changed.extend(relinked);
            if changed.len() > MOST_CHANGED {
                (state.graph, state.changed) = (None, None);
            }
        }
        state.told_to = applied;
        self.told.notify_all();
    }
}

impl Inner {
    /// A view in which the graph, what has changed since, and the tables fit together.
    fn links_view(&self) -> Result<View, FrontierError> {
        loop {
            self.build_graph()?;
            let snapshot = self.db.snapshot()?;
            let applied = snapshot.counters()?.applied;
            let mut state = self.in_links.state.lock();
            // The batch is committed; in a moment the writer tells of it.
            while state.told_to < applied {
                self.in_links.told.wait(&mut state);
            }
            // Dropped meanwhile, if very much has changed: once more.
            let (Some(graph), Some(changed)) = (&state.graph, &state.changed) else { continue };
            let graph = Arc::clone(graph);
            let mut changed: Vec<PageIndex> = changed.iter().copied().collect();
            drop(state);
            changed.sort_unstable();
            return Ok(View { snapshot, graph, changed });
        }
    }

    /// Builds the graph if there is none, or if too much has changed since.
    fn build_graph(&self) -> Result<(), FrontierError> {
        let is_good = |state: &State| match (&state.graph, &state.changed) {
            (Some(graph), Some(changed)) => {
                changed.len() <= FEW_CHANGED.max(graph.crawled() as usize / CHANGED_SHARE)
            }
            _ => false,
        };
        if is_good(&self.in_links.state.lock()) {
            return Ok(());
        }
        let _building = self.in_links.building.lock();
        {
            let mut state = self.in_links.state.lock();
            if is_good(&state) {
                return Ok(());
            }
            // Before the first row is read: what changes from now on may be in the graph or not.
            (state.graph, state.changed) = (None, Some(HashSet::default()));
        }
        let built = LinkGraph::build(&self.db, &GraphOptions::new(&self.options.path), Watch::none());
        let mut state = self.in_links.state.lock();
        match built {
            Ok(graph) if state.changed.is_some() => state.graph = Some(Arc::new(graph)),
            // So much has changed that nobody remembers what.
            Ok(_) => {}
            Err(error) => {
                state.changed = None;
                return Err(error.into());
            }
        }
        Ok(())
    }
}

impl View {
    fn has_changed(&self, page: PageIndex) -> bool {
        self.changed.binary_search(&page).is_ok()
    }

    /// The pages that link to `target`, in order of index.
    fn sources(&self, target: PageIndex) -> Result<Vec<PageIndex>, FrontierError> {
        let mut sources = self.graph.in_links(target)?;
        if !self.changed.is_empty() {
            sources.retain(|&source| !self.has_changed(source));
            let unchanged = sources.len();
            for &page in &self.changed {
                if self.snapshot.has_link(page, target)? {
                    sources.push(page);
                }
            }
            if sources.len() > unchanged {
                sources.sort_unstable();
            }
        }
        Ok(sources)
    }

    /// Target and source of every link of a page that has changed, sorted.
    fn changed_links(&self) -> Result<Vec<(PageIndex, PageIndex)>, PageDbError> {
        let mut links = Vec::new();
        for &source in &self.changed {
            let targets = self.snapshot.links(source)?.unwrap_or_default();
            links.extend(targets.into_iter().map(|target| (target, source)));
        }
        links.sort_unstable();
        Ok(links)
    }
}

impl Frontier {
    /// The pages that link to this page, as of the last batch, in order of first sight; `None` if the page is not
    /// known. The first call has the link graph built.
    ///
    /// # Errors
    /// What LMDB or the file system says.
    pub fn links_to(&self, url: &PageUrl) -> Result<Option<Vec<PageIndex>>, FrontierError> {
        let view = self.inner.links_view()?;
        match view.snapshot.find(url)? {
            Some((_, state)) => Ok(Some(view.sources(state.index)?)),
            None => Ok(None),
        }
    }

    /// Every link as of the last batch, as target and source, in order of targets and then of sources, by first
    /// sight; from `after` on. `visit` is called with some of them at a time, until it returns `false`.
    ///
    /// # Errors
    /// As [`Frontier::links_to`].
    pub fn links_by_target(
        &self,
        after: Option<(PageIndex, PageIndex)>,
        mut visit: impl FnMut(&[(PageIndex, PageIndex)]) -> bool,
    ) -> Result<(), FrontierError> {
        let view = self.inner.links_view()?;
        let end = view.snapshot.counters()?.next_index;
        let changed = view.changed_links()?;
        let View { snapshot, graph, changed: changed_pages } = view;
        // What follows reads memory alone.
        drop(snapshot);
        let first = after.map_or(0, |(target, _)| target.0);
        let mut next = changed.partition_point(|&(target, _)| target.0 < first);
        let mut links: Vec<(PageIndex, PageIndex)> = Vec::new();
        for target in (first..end).map(PageIndex) {
            let start = links.len();
            let sources = graph.in_links(target)?.into_iter();
            let unchanged = sources.filter(|source| changed_pages.binary_search(source).is_err());
            links.extend(unchanged.map(|source| (target, source)));
            while changed.get(next).is_some_and(|&(of, _)| of == target) {
                links.push(changed[next]);
                next += 1;
            }
            links[start..].sort_unstable();
            if target.0 == first
                && let Some(after) = after
            {
                links.retain(|&link| link > after);
            }
            if links.len() >= CHUNK || target.0 + 1 == end {
                if !links.is_empty() && !visit(&links) {
                    return Ok(());
                }
                links.clear();
            }
        }
        Ok(())
    }

    /// The anchors of links, given as source and target, as of the last batch; `None` for a link without one. Costs a
    /// read a source: links of one are best given next to each other.
    ///
    /// # Errors
    /// What LMDB says.
    pub fn anchors_of(&self, links: &[(PageIndex, PageIndex)]) -> Result<Vec<Option<Anchor>>, FrontierError> {
        let mut found = Vec::with_capacity(links.len());
        for links in links.chunks(CHUNK) {
            let snapshot = self.inner.db.snapshot()?;
            for links in links.chunk_by(|a, b| a.0 == b.0) {
                let mut anchors = snapshot.anchors(links[0].0)?;
                anchors.sort_unstable_by_key(|&(target, _)| target);
                found.extend(links.iter().map(|&(_, target)| {
                    let at = anchors.binary_search_by_key(&target, |&(of, _)| of).ok()?;
                    Some(anchors[at].1.clone())
                }));
            }
        }
        Ok(found)
    }

    /// The URLs of pages, each read for many at a time; those deleted meanwhile are left out.
    ///
    /// # Errors
    /// What LMDB says.
    pub fn urls_of(&self, pages: &[PageIndex]) -> Result<Vec<(PageIndex, PageUrl)>, FrontierError> {
        let mut urls = Vec::with_capacity(pages.len());
        for pages in pages.chunks(CHUNK) {
            let snapshot = self.inner.db.snapshot()?;
            for &page in pages {
                urls.extend(snapshot.url(page)?.map(|(_, url)| (page, url)));
            }
        }
        Ok(urls)
    }
}
