//! What a page that was not crawled yet gains from its domain.
//!
//! A link-based score knows a page by what links to it. What a crawl gains from the page is also what it will
//! link to, and of that the domain tells something: of a domain with many known pages for each crawled one, a crawl
//! has revealed much; of one with few, most is known already. So each waiting page of a domain d gets
//!
//! > share(d) = w · base · ln((K + s g) / (C + s)),  g = ΣK / ΣC
//!
//! with K known and C crawled pages of d, the score `base` of a page that nobody links to, and the weight w, the
//! setting `site_share`. The smoothing s = 10 pulls domains with few crawled pages towards g, the known pages for each
//! crawled one overall, which is also what a domain gets that the round did not know. The logarithm lets the first
//! evidence count most, and keeps a huge domain from swamping the scores. K is at least C, so no share is negative.
//!
//! It adds to the place in the schedule only; scores themselves stay what they are. `docs/ordering.md` has what it gains
//! and what else was tried.

/// Crawled pages that count as evidence of their domain as much as all others together.
const SMOOTHING: f64 = 10.0;

/// The shares of a round.
#[derive(Debug, Clone, Copy)]
pub struct SiteShares {
    /// `site_share` times the base.
    weight: f64,
    /// Known pages for each crawled one.
    known_a_crawled: f64,
}

impl SiteShares {
    /// `weight` is the setting `site_share`, `base` the score of a page that nobody links to.
    pub fn new(weight: f64, base: f64, known: u64, crawled: u64) -> SiteShares {
        let known_a_crawled = known.max(1) as f64 / crawled.clamp(1, known.max(1)) as f64;
        SiteShares { weight: weight * base, known_a_crawled }
    }

    /// The share of a domain; finite and not negative.
    pub fn of(&self, known: u64, crawled: u64) -> f64 {
        let crawled = crawled.min(known) as f64;
        let ratio = (known as f64 + SMOOTHING * self.known_a_crawled) / (crawled + SMOOTHING);
        self.weight * ratio.ln().max(0.0)
    }

    /// The share of a domain of which nothing is known.
    pub fn of_unknown(&self) -> f64 {
        self.of(0, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_domain_that_reveals_much_gives_its_pages_more() {
        let shares = SiteShares::new(0.2, 1e-3, 1_000, 100);
        assert!((shares.of_unknown() - 0.2e-3 * 10f64.ln()).abs() < 1e-12);
        assert!(shares.of(500, 10) > shares.of_unknown() && shares.of_unknown() > shares.of(100, 90));
        // Few crawled pages are little evidence.
        let (little, much) = (shares.of(20, 1), shares.of(2_000, 100));
        assert!(shares.of_unknown() < little && little < much);
        assert_eq!(SiteShares::new(0.0, 1e-3, 1_000, 100).of(500, 10), 0.0);
    }

    proptest! {
        #[test]
        fn shares_are_finite_and_not_negative(weight in 0f64..100.0, base in 0f64..1.0, counts: [u64; 4]) {
            let shares = SiteShares::new(weight, base, counts[0], counts[1]);
            let share = shares.of(counts[2], counts[3]);
            prop_assert!(share.is_finite() && share >= 0.0, "{share}");
        }
    }
}
