//! Hand-outs of each domain, to see politeness from outside.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use serde::Serialize;

use crate::types::url::host_of_site;

const WINDOW: Duration = Duration::from_secs(1);

/// Counts by host, at the time when the answers came: a hand-out that travelled slowly may seem close to the
/// next, so that a window can show a little more than the server gave in it.
#[derive(Default)]
pub struct Domains(HashMap<Box<str>, Domain>);

#[derive(Default)]
struct Domain {
    handed_out: u64,
    first: Duration,
    last: Duration,
    /// Times of the last second.
    window: VecDeque<Duration>,
    most: usize,
}

#[derive(Debug, Clone, Serialize)]
pub struct DomainSummary {
    pub domain: String,
    pub handed_out: u64,
    /// Hand-outs a second between the first and the last of the domain.
    pub mean_rate: f64,
    /// Most hand-outs in any one second.
    pub most_in_a_second: usize,
}

impl Domains {
    /// Notes that a URL in normal form was handed out, so long after the start.
    pub fn handed_out(&mut self, url: &str, at: Duration) {
        let host = host_of_site(site(url));
        match self.0.get_mut(host) {
            Some(domain) => domain.handed_out(at),
            None => self.0.entry(host.into()).or_default().handed_out(at),
        }
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The domains with the most hand-outs.
    pub fn top(&self, n: usize) -> Vec<DomainSummary> {
        let mut all: Vec<(&str, &Domain)> = self.0.iter().map(|(host, domain)| (&**host, domain)).collect();
        all.sort_unstable_by(|(host_a, a), (host_b, b)| {
            b.handed_out.cmp(&a.handed_out).then(host_a.cmp(host_b))
        });
        all.truncate(n);
        all.iter().map(|(host, domain)| domain.summary(host)).collect()
    }

    /// The domain that had the most hand-outs in any one second.
    pub fn hottest(&self) -> Option<DomainSummary> {
        let hottest =
            self.0.iter().max_by(|(host_a, a), (host_b, b)| a.most.cmp(&b.most).then(host_b.cmp(host_a)));
        hottest.map(|(host, domain)| domain.summary(host))
    }
}

impl Domain {
    fn handed_out(&mut self, at: Duration) {
        if self.handed_out == 0 {
            self.first = at;
        }
        self.handed_out += 1;
        self.last = at;
        while self.window.front().is_some_and(|&oldest| at.saturating_sub(oldest) >= WINDOW) {
            self.window.pop_front();
        }
        self.window.push_back(at);
        self.most = self.most.max(self.window.len());
    }

    fn summary(&self, host: &str) -> DomainSummary {
        let seconds = self.last.saturating_sub(self.first).as_secs_f64();
        let mean_rate = if seconds > 0.0 { (self.handed_out - 1) as f64 / seconds } else { 0.0 };
        DomainSummary {
            domain: host.to_owned(),
            handed_out: self.handed_out,
            mean_rate,
            most_in_a_second: self.most,
        }
    }
}

/// The part before the path.
fn site(url: &str) -> &str {
    let host = url.find("://").map_or(0, |colon| colon + 3);
    url[host..].find('/').map_or(url, |slash| &url[..host + slash])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_second_is_found() {
        let mut domains = Domains::default();
        for millis in [0, 400, 900, 1000, 1399, 3000] {
            domains.handed_out("http://user@a.test:80/x", Duration::from_millis(millis));
        }
        domains.handed_out("http://b.test/", Duration::ZERO);
        let top = domains.top(5);
        let shown: Vec<_> = top.iter().map(|d| (&*d.domain, d.handed_out, d.most_in_a_second)).collect();
        assert_eq!(shown, [("a.test", 6, 4), ("b.test", 1, 1)]);
        assert_eq!(top[0].mean_rate, 5.0 / 3.0);
        assert_eq!(domains.hottest().unwrap().domain, "a.test");
        assert_eq!(domains.len(), 2);
    }
}
