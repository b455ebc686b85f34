//! The value of `domains`: a domain's name, its counters and its temperature.

use crate::types::codec::{Malformed, Reader, put_bytes, put_f32, put_f64, put_varint};
use crate::types::{DomainKey, PageKey, PageUrl, Score, Time};

/// `domains`: everything known of a domain as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct DomainRecord {
    /// The host, or the registrable domain.
    pub name: String,
    /// Sites in `sites`, numbered from 0.
    pub sites: u32,
    pub counters: DomainCounters,
    pub heat: Heat,
    /// What the last scoring round found a page of this domain that is not crawled yet to be worth, beside its own
    /// score; 0 without a scorer.
    pub share: Score,
}

/// Pages of a domain by status; `pages` is all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DomainCounters {
    pub pages: u64,
    pub crawled: u64,
    pub scheduled: u64,
    pub leased: u64,
}

/// A domain's temperature (Aduana, 3.8): `n` hand-outs in the window, as of `at`, the time of the last
/// one. Between hand-outs it cools by n' = -n/T.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Heat {
    pub n: f64,
    pub at: Time,
}

impl Heat {
    /// Hand-outs in the window at `now`, for a window of `window` seconds.
    pub fn n_at(&self, now: Time, window: f64) -> f64 {
        self.n * (-now.seconds_since(self.at) / window).exp()
    }

    /// The heat after one more hand-out at `now`.
    pub fn charged(&self, now: Time, window: f64) -> Heat {
        Heat { n: self.n_at(now, window) + 1.0, at: now.max(self.at) }
    }
}

impl DomainRecord {
    pub fn new(name: &str) -> DomainRecord {
        DomainRecord {
            name: name.to_owned(),
            sites: 0,
            counters: DomainCounters::default(),
            heat: Heat::default(),
            share: Score::ZERO,
        }
    }

    pub fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.name.as_bytes());
        put_varint(out, u64::from(self.sites));
        let c = &self.counters;
        for counter in [c.pages, c.crawled, c.scheduled, c.leased] {
            put_varint(out, counter);
        }
        put_f64(out, self.heat.n);
        put_varint(out, self.heat.at.0);
        if self.share != Score::ZERO {
            put_f32(out, self.share.get());
        }
    }

    pub fn decode(bytes: &[u8]) -> Result<DomainRecord, Malformed> {
        let mut reader = Reader::new(bytes);
        let name = reader.str()?.to_owned();
        let sites = reader.number()?;
        let [pages, crawled, scheduled, leased] =
            [reader.varint()?, reader.varint()?, reader.varint()?, reader.varint()?];
        let n = reader.f64()?;
        if !n.is_finite() || n < 0.0 {
            return Err(Malformed);
        }
        let heat = Heat { n, at: Time(reader.varint()?) };
        let mut share = Score::ZERO;
        if reader.remaining() > 0 {
            share = Score::new(f64::from(reader.f32()?)).map_err(|_| Malformed)?;
            // Nothing stands for 0.
            if share == Score::ZERO {
                return Err(Malformed);
            }
        }
        reader.end()?;
        let counters = DomainCounters { pages, crawled, scheduled, leased };
        Ok(DomainRecord { name, sites, counters, heat, share })
    }

    /// The name alone, without decoding the rest.
    pub fn name_of(bytes: &[u8]) -> Result<&str, Malformed> {
        Reader::new(bytes).str()
    }
}

/// The key of `sites`: domain and site number. The value is the site's text.
pub fn site_key(domain: DomainKey, site: u32) -> [u8; 8] {
    PageKey::new(domain, site).to_bytes()
}

/// A page's URL from its two stored parts.
pub fn join(site: &str, path: &str) -> PageUrl {
    PageUrl::from_parts(site, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::codec::example::assert_documented;
    use proptest::prelude::*;

    #[test]
    fn heat_halves_in_its_half_life() {
        let mut heat = Heat::default();
        for _ in 0..4 {
            heat = heat.charged(Time(1_000), 60.0);
        }
        let half_life = (60_000.0 * std::f64::consts::LN_2).round() as u64;
        assert!((heat.n_at(Time(1_000 + half_life), 60.0) - 2.0).abs() < 1e-4);
        // A clock that goes back neither cools nor heats.
        assert_eq!(heat.n_at(Time(0), 60.0), 4.0);
    }

    #[test]
    fn the_document_has_the_bytes() {
        let record = DomainRecord {
            name: "a.example".to_owned(),
            sites: 2,
            counters: DomainCounters { pages: 3, crawled: 1, scheduled: 2, leased: 0 },
            heat: Heat { n: 1.0, at: Time(1_435_048_846_000) },
            share: Score::ZERO,
        };
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        assert_documented("domains", &bytes);
        bytes.clear();
        DomainRecord { share: Score::new(0.5).unwrap(), ..record }.encode(&mut bytes);
        assert_documented("domains with a share", &bytes);
    }

    proptest! {
        #[test]
        fn records_come_back(
            name in "[a-z.]{1,20}", sites: u32, pages: u64, crawled: u64, scheduled: u64, leased: u64,
            n in 0f64..1e9, at: u64, share: f32
        ) {
            let Ok(share) = Score::new(f64::from(share)) else { return Ok(()) };
            let counters = DomainCounters { pages, crawled, scheduled, leased };
            let record = DomainRecord { name, sites, counters, heat: Heat { n, at: Time(at) }, share };
            let mut bytes = Vec::new();
            record.encode(&mut bytes);
            prop_assert_eq!(DomainRecord::name_of(&bytes), Ok(record.name.as_str()));
            prop_assert_eq!(DomainRecord::decode(&bytes), Ok(record));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(record) = DomainRecord::decode(&bytes) {
                let mut again = Vec::new();
                record.encode(&mut again);
                prop_assert_eq!(again, bytes);
            }
        }
    }
}
