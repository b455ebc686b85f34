//! What a page found between two scoring rounds is worth at once.

/// The numbers that a scoring round leaves behind, so that a page found after it competes before the next one.
/// They are all that is left of a scorer in the tables; so applying an edit needs no scorer and no vector.
///
/// A new page scores `base`, and for each page p that links to it, once p is crawled,
/// `share * own(p) / outdegree(p) + hub * (sum of own(t) over the links t of p)`,
/// where `own` is the score without what the domain adds. For PageRank `share` is the damping and `hub` is 0; for
/// HITS it is the other way round.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Estimate {
    /// The score of a page that nobody links to; finite, greater than 0.
    pub base: f64,
    /// What part of its score a page passes on, in equal shares, to the pages it links to.
    pub share: f64,
    /// What part of a page's hub score, the sum of the scores behind its links, each of these pages gets.
    pub hub: f64,
    /// What a page gains from a domain that the round did not know, while it waits; a scorer leaves it 0.
    pub site: f64,
    /// Pages that the round knew: those with a smaller index have their score from it.
    pub pages: u64,
}

impl Estimate {
    /// The numbers before the first round, of any scale: the first round sets it.
    pub fn before_rounds(share: f64, hub: f64) -> Estimate {
        Estimate { base: 1e-3, share, hub, site: 0.0, pages: 0 }
    }

    /// Whether every number is finite and in range.
    pub fn is_valid(&self) -> bool {
        let finite = [self.base, self.share, self.hub, self.site].iter().all(|n| n.is_finite() && *n >= 0.0);
        finite && self.base > 0.0
    }
}
