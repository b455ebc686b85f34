//! A synthetic link graph that looks like the web, the same for the same seed: for benchmarks and load tests.
//!
//! * About one domain in 40 pages (at least 50), their sizes by Zipf's law (exponent 0.9); the universe has
//!   eight times as many pages as are crawled.
//! * Out-degrees are log-normal, 30 on average, from 1 to 400; a page links to another page once.
//! * 75 % of the links stay inside the domain: 35 % of these go to its first 25 pages (its navigation), the
//!   others prefer low indices. Of those that leave, 70 % copy the target of an earlier one (preferential
//!   attachment), the others go to a domain by Zipf's law, half of them to its front page.
//! * Pages come in the order in which a crawl would meet them, from 20 front pages on.
//!
//! The text form is one page a line, `url<TAB>score<TAB>link score link score ...`, with scores from 0 to 1
//! in three decimals; [`crate::graph_file`] reads it. [`Synth::next_page`] gives the same without the text.

mod names;
mod random;
mod walk;

use std::io::{self, Write};

use names::Names;
use walk::Walk;

/// Pages that can be asked for: the universe, eight times as many, has 32-bit indices.
pub const MAX_PAGES: u64 = 500_000_000;

/// The order in which discovered pages are crawled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// At random among the 5,000 that wait longest, as politeness and scores would mix them.
    #[default]
    Mix,
    /// First discovered, first crawled.
    Fifo,
}

/// What was generated so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    pub pages: u64,
    pub links: u64,
    /// Links to another domain.
    pub cross_links: u64,
    /// Bytes of the URLs of all links.
    pub link_bytes: u64,
    /// URLs seen, crawled or only linked to.
    pub urls: u64,
    pub domains: u64,
}

/// The generator. Its memory is one byte a page of the universe and eight a URL seen.
pub struct Synth {
    walk: Walk,
    names: Names,
    link_bytes: u64,
    /// URL of the page, then those of its links.
    text: String,
    url_len: usize,
    spans: Vec<Span>,
}

/// Where a link's URL ends in the text, and the link's score in thousandths.
type Span = (u32, u16);

/// One generated page; scores are multiples of 0.001 from 0 to 1.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    pub url: &'a str,
    pub score: f64,
    text: &'a str,
    spans: &'a [Span],
}

impl<'a> Page<'a> {
    /// URL and score of each link.
    pub fn links(&self) -> impl ExactSizeIterator<Item = (&'a str, f64)> + use<'a> {
        let (text, mut start) = (self.text, self.url.len());
        self.spans.iter().map(move |&(end, thousandths)| {
            let url = &text[start..end as usize];
            start = end as usize;
            (url, f64::from(thousandths) / 1000.0)
        })
    }
}

impl Synth {
    /// A graph of `pages` crawled pages, at most [`MAX_PAGES`]; fewer if the crawl runs dry.
    pub fn new(pages: u64, seed: u64, order: Order) -> Synth {
        let walk = Walk::new(pages.min(MAX_PAGES), seed, order);
        let names = Names::new(walk.domains());
        Synth { walk, names, link_bytes: 0, text: String::new(), url_len: 0, spans: Vec::new() }
    }

    /// The next page in crawl order; `None` after the last.
    pub fn next_page(&mut self) -> Option<Page<'_>> {
        let score = self.generate()?;
        Some(Page {
            url: &self.text[..self.url_len],
            score: f64::from(score) / 1000.0,
            text: &self.text,
            spans: &self.spans,
        })
    }

    /// Writes all pages that are left as text.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_to(&mut self, out: &mut impl Write) -> io::Result<Totals> {
        let mut line = Vec::new();
        while let Some(score) = self.generate() {
            let text = self.text.as_bytes();
            line.clear();
            line.extend_from_slice(&text[..self.url_len]);
            line.push(b'\t');
            push_score(&mut line, score);
            let mut separator = b'\t';
            let mut start = self.url_len;
            for &(end, score) in &self.spans {
                line.push(separator);
                line.extend_from_slice(&text[start..end as usize]);
                line.push(b' ');
                push_score(&mut line, score);
                separator = b' ';
                start = end as usize;
            }
            if self.spans.is_empty() {
                line.push(separator);
            }
            line.push(b'\n');
            out.write_all(&line)?;
        }
        Ok(self.totals())
    }

    pub fn totals(&self) -> Totals {
        Totals { link_bytes: self.link_bytes, ..self.walk.totals() }
    }

    /// Makes the next page's text and spans; its score in thousandths.
    fn generate(&mut self) -> Option<u16> {
        let place = self.walk.step()?;
        self.text.clear();
        self.spans.clear();
        self.names.push_url(&mut self.text, place);
        self.url_len = self.text.len();
        let score = self.walk.random.thousandths();
        for &target in &self.walk.targets {
            self.names.push_url(&mut self.text, target);
            self.spans.push((self.text.len() as u32, self.walk.random.thousandths()));
        }
        self.link_bytes += (self.text.len() - self.url_len) as u64;
        Some(score)
    }
}

/// Three decimals, as C's `%.3f`.
fn push_score(out: &mut Vec<u8>, thousandths: u16) {
    let digit = |unit: u16| b'0' + (thousandths / unit % 10) as u8;
    out.extend_from_slice(&[digit(1000), b'.', digit(100), digit(10), digit(1)]);
}

#[cfg(test)]
mod tests;
