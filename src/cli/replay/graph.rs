//! The link graph that a simulated fleet finds pages in, in memory.

use std::path::Path;

use super::body::Body;
use super::urls::Interner;
use crate::graph_file::{GraphFileError, GraphReader};
use crate::types::{LinkResolver, PageUrl};

/// In `normal`: the text is no URL that can be crawled.
const BAD: u32 = u32::MAX;
/// In `normal`: what the text means depends on the page it stands on.
const RELATIVE: u32 = u32::MAX - 1;
/// In `page_of`: the URL is on no line of the graph, a page without links.
const NO_PAGE: u32 = u32::MAX;

/// URLs by number, the pages of the file and their links as they stand there: the server gets them as dirty
/// as they are. Of several lines whose URLs have one normal form the last one counts, as the last crawl would.
#[derive(Default)]
pub struct Graph {
    urls: Interner,
    /// The normal form of each URL.
    normal: Vec<u32>,
    page_of: Vec<u32>,
    pages: Vec<Page>,
    links: Vec<u32>,
    /// Scores of the links; empty if the file has none.
    scores: Vec<f32>,
    scored: bool,
    pub counts: Counts,
}

struct Page {
    first_link: u64,
    links: u32,
    score: f32,
}

/// What the file had.
#[derive(Debug, Default, Clone, Copy, serde::Serialize)]
pub struct Counts {
    pub lines: u64,
    pub links: u64,
    /// Distinct pages.
    pub pages: u64,
    /// Lines whose URL no server would take; they are left out.
    pub refused_lines: u64,
}

impl Graph {
    pub fn read(path: &Path) -> Result<Graph, GraphFileError> {
        let mut reader = GraphReader::open(path)?;
        let mut graph = Graph::default();
        while let Some(record) = reader.next_record()? {
            graph.counts.lines += 1;
            let Ok(url) = PageUrl::parse(record.url) else {
                graph.counts.refused_lines += 1;
                continue;
            };
            let first_link = graph.links.len() as u64;
            if record.scored && !graph.scored {
                graph.scored = true;
                graph.scores.resize(graph.links.len(), 0.0);
            }
            for (link, score) in record.links() {
                let number = graph.number_of(link);
                graph.links.push(number);
                if graph.scored {
                    graph.scores.push(score.get());
                }
            }
            let links = graph.links.len() as u64 - first_link;
            graph.counts.links += links;
            let number = graph.number_of_normal(url.as_str());
            let page = &mut graph.page_of[number as usize];
            if *page == NO_PAGE {
                graph.counts.pages += 1;
            }
            *page = graph.pages.len() as u32;
            graph.pages.push(Page { first_link, links: links as u32, score: record.score.get() });
        }
        Ok(graph)
    }

    /// URLs that have a number.
    pub fn len(&self) -> usize {
        self.urls.len()
    }

    pub fn url(&self, number: u32) -> &str {
        self.urls.get(number)
    }

    pub fn has_page(&self, number: u32) -> bool {
        self.page_of[number as usize] != NO_PAGE
    }

    /// The number of a URL in normal form.
    pub fn number_of_normal(&mut self, url: &str) -> u32 {
        let (number, new) = self.urls.intern(url);
        if new {
            self.normal.push(number);
            self.page_of.push(NO_PAGE);
        }
        number
    }

    /// The number of a link's text, in whatever form it is.
    fn number_of(&mut self, link: &str) -> u32 {
        let (number, new) = self.urls.intern(link);
        if new {
            self.normal.push(RELATIVE);
            self.page_of.push(NO_PAGE);
            if is_absolute(link) {
                self.normal[number as usize] = match PageUrl::parse(link) {
                    Ok(url) if url.as_str() == link => number,
                    Ok(url) => self.number_of_normal(url.as_str()),
                    Err(_) => BAD,
                };
            }
        }
        number
    }

    /// Adds a page to a request body: with its links if the graph has it, else as a page without links.
    pub fn push_page(&self, body: &mut Body, number: u32) {
        let url = self.url(number);
        match self.pages.get(self.page_of[number as usize] as usize) {
            None => body.push(url, 0.0, std::iter::empty(), false),
            Some(page) => {
                let range = page.first_link as usize..page.first_link as usize + page.links as usize;
                let scores = self.scores.get(range.clone()).unwrap_or_default();
                let links = self.links[range].iter().enumerate();
                let links =
                    links.map(|(nth, &link)| (self.url(link), scores.get(nth).copied().unwrap_or(0.0)));
                body.push(url, page.score, links, self.scored);
            }
        }
    }

    /// Which URLs, by number, can be reached from the seeds over links as the server normalises them.
    pub fn reachable(&mut self, seeds: &[PageUrl]) -> Vec<bool> {
        let mut waiting: Vec<u32> = seeds.iter().map(|seed| self.number_of_normal(seed.as_str())).collect();
        let mut reached = vec![false; self.len()];
        let mut targets = Vec::new();
        while let Some(number) = waiting.pop() {
            if std::mem::replace(&mut reached[number as usize], true) {
                continue;
            }
            self.push_targets(&mut targets, number);
            reached.resize(self.len(), false);
            let new = targets.drain(..).map(|(target, _)| target).filter(|&target| !reached[target as usize]);
            waiting.extend(new);
        }
        reached
    }

    /// Adds the pages that a page links to, in normal form, without those that cannot be crawled; and the scores
    /// of the links, 0 if the file has none.
    pub fn push_targets(&mut self, targets: &mut Vec<(u32, f32)>, number: u32) {
        let Some(page) = self.pages.get(self.page_of[number as usize] as usize) else { return };
        let range = page.first_link as usize..page.first_link as usize + page.links as usize;
        let mut resolved = Vec::new();
        let mut base = None;
        for at in range {
            let (link, score) = (self.links[at], self.scores.get(at).copied().unwrap_or(0.0));
            match self.normal[link as usize] {
                BAD => (),
                RELATIVE => {
                    let text = self.urls.get(link);
                    let base = base.get_or_insert_with(|| PageUrl::parse(self.urls.get(number)));
                    let Ok(base) = base else { continue };
                    resolved.extend(LinkResolver::new(base).resolve(text).ok().map(|url| (url, score)));
                }
                target => targets.push((target, score)),
            }
        }
        targets.extend(resolved.iter().map(|(url, score)| (self.number_of_normal(url.as_str()), *score)));
    }
}

/// Whether a link means the same on every page. Not so `http:a`, which is relative on a page of that scheme.
fn is_absolute(link: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| link.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme)))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::body::Shape;
    use super::*;

    fn graph(text: &str) -> Graph {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        Graph::read(file.path()).unwrap()
    }

    #[test]
    fn reachable_pages_are_those_of_the_normalised_links() {
        let mut graph = graph(
            "http://a.test/d/\tHTTP://A.test/%7ex ../up mailto:x http:rel http://b.test/#f\n\
             http://a.test/~x\thttp://c.test\n\
             http://nowhere.test/\thttp://d.test/\n\
             http://a.test/up\t?q\n",
        );
        let seed = PageUrl::parse("http://a.test/d/").unwrap();
        let reached = graph.reachable(&[seed]);
        let mut urls: Vec<&str> =
            (0..graph.len() as u32).filter(|&n| reached[n as usize]).map(|n| graph.url(n)).collect();
        urls.sort_unstable();
        assert_eq!(
            urls,
            [
                "http://a.test/d/",
                "http://a.test/d/rel",
                "http://a.test/up",
                "http://a.test/up?q",
                "http://a.test/~x",
                "http://b.test/",
                "http://c.test/",
            ]
        );
    }

    #[test]
    fn the_last_line_of_a_page_counts_and_links_stay_as_they_are() {
        let mut graph = graph("http://a.test/%7ex\told\nhttp://A.test/~x\tMAILTO:x ../y\nmailto:z\ta\n");
        assert_eq!((graph.counts.lines, graph.counts.pages, graph.counts.refused_lines), (3, 1, 1));
        let number = graph.number_of_normal("http://a.test/~x");
        let mut body = Body::new(Shape::Single);
        graph.push_page(&mut body, number);
        assert_eq!(body.finish(), r#"{"url":"http://a.test/~x","links":["MAILTO:x","../y"]}"#);
    }

    #[test]
    fn a_page_that_the_graph_has_not_is_one_without_links() {
        let mut graph = graph("http://a.test/\t0.25\thttp://b.test/ 0.5\n");
        let (a, b) = (graph.number_of_normal("http://a.test/"), graph.number_of_normal("http://b.test/"));
        assert!(graph.has_page(a) && !graph.has_page(b));
        let mut body = Body::new(Shape::Ndjson);
        graph.push_page(&mut body, a);
        graph.push_page(&mut body, b);
        let expected = "{\"url\":\"http://a.test/\",\"score\":0.25,\"links\":[[\"http://b.test/\",0.5]]}\n\
                        {\"url\":\"http://b.test/\",\"links\":[]}\n";
        assert_eq!(body.finish(), expected);
    }
}
