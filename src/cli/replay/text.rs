//! The report for people.

use std::io::{self, Write};

use super::meters::{Bucket, LatencySummary};
use super::report::{HandedOut, Reachable, Report, Trouble};
use super::tracker::Named;

impl Report {
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        if let Some(graph) = &self.graph {
            row(out, "graph", format_args!("{} pages, {} links", graph.pages, graph.links))?;
            if graph.refused_lines > 0 {
                row(out, "", format_args!("{} lines whose URL cannot be crawled", graph.refused_lines))?;
            }
        }
        row(out, "time", format_args!("{:.2} s", self.seconds))?;
        if self.post.is_some() {
            let posted = &self.posted;
            row(out, "pages", format_args!("{} ({:.0}/s)", posted.pages, posted.pages_per_second))?;
            row(out, "links", format_args!("{} ({:.0}/s)", posted.links, posted.links_per_second))?;
        }
        latencies(out, "POST /crawled", self.post.as_ref())?;
        latencies(out, "GET /request", self.get.as_ref())?;
        if self.get.is_some() {
            handed_out(out, &self.handed_out)?;
        }
        if let Some(compared) = &self.reachable {
            reachable(out, compared)?;
        }
        self.write_domains(out)?;
        trouble(out, &self.trouble)?;
        match &self.failure {
            Some(failure) => row(out, "failed", format_args!("{failure}")),
            None => Ok(()),
        }
    }

    fn write_domains(&self, out: &mut impl Write) -> io::Result<()> {
        if self.domains.count == 0 {
            return Ok(());
        }
        row(out, "domains", format_args!("{}; the busiest:", self.domains.count))?;
        let known = |host: &str| self.domains.top.iter().any(|domain| domain.domain == host);
        let hottest = self.domains.hottest.iter().filter(|hottest| !known(&hottest.domain));
        for domain in self.domains.top.iter().chain(hottest) {
            let (count, mean, most) = (domain.handed_out, domain.mean_rate, domain.most_in_a_second);
            let name = &domain.domain;
            writeln!(out, "  {count:>9} handed out, {mean:>8.2}/s, at most {most:>6} in a second  {name}")?;
        }
        Ok(())
    }
}

fn row(out: &mut impl Write, name: &str, value: std::fmt::Arguments) -> io::Result<()> {
    writeln!(out, "{name:<16}{value}")
}

fn latencies(out: &mut impl Write, name: &str, summary: Option<&LatencySummary>) -> io::Result<()> {
    let Some(summary) = summary else { return Ok(()) };
    let LatencySummary { requests, per_second, mean_ms, p50_ms, p99_ms, p999_ms, max_ms, .. } = summary;
    row(out, name, format_args!("{requests} requests ({per_second:.0}/s)"))?;
    row(
        out,
        "  latency (ms)",
        format_args!(
            "mean {mean_ms:.2}  p50 {p50_ms:.2}  p99 {p99_ms:.2}  p99.9 {p999_ms:.2}  max {max_ms:.2}"
        ),
    )?;
    let bucket = |Bucket { up_to_ms, requests }: &Bucket| match up_to_ms {
        Some(end) => format!("to {end}: {requests}"),
        None => format!("longer: {requests}"),
    };
    let buckets: Vec<String> = summary.histogram.iter().map(bucket).collect();
    row(out, "  requests (ms)", format_args!("{}", buckets.join("  ")))?;
    row(out, "  over 50 ms", format_args!("{}", summary.over_50_ms))
}

fn handed_out(out: &mut impl Write, handed: &HandedOut) -> io::Result<()> {
    let HandedOut { urls, distinct, urls_per_second, .. } = handed;
    row(out, "handed out", format_args!("{urls} URLs ({urls_per_second:.0}/s), {distinct} distinct"))?;
    named(out, "  twice", &handed.twice)?;
    for (count, what) in [
        (handed.dead_spiders, "hand-outs whose spider died"),
        (handed.again_after_dead_spider, "came again after their spider died"),
        (handed.again_after_lost_connection, "came again after a connection was lost"),
        (handed.unanswered, "not acknowledged at the end"),
    ] {
        if count > 0 {
            row(out, "", format_args!("{count} {what}"))?;
        }
    }
    Ok(())
}

fn reachable(out: &mut impl Write, compared: &Reachable) -> io::Result<()> {
    let Reachable { pages, crawled_pages, .. } = compared;
    row(
        out,
        "reachable",
        format_args!("{pages} pages from the seeds, {crawled_pages} of them in the graph"),
    )?;
    named(out, "  missing", &compared.not_handed_out)?;
    named(out, "  unreachable", &compared.handed_out_unreachable)
}

fn trouble(out: &mut impl Write, trouble: &Trouble) -> io::Result<()> {
    row(out, "errors", format_args!("{}", trouble.errors.total()))?;
    for (status, count) in &trouble.errors.by_status {
        row(out, "", format_args!("{count} answers {status}"))?;
    }
    for text in &trouble.errors.first {
        row(out, "", format_args!("{text}"))?;
    }
    for (count, what) in [
        (trouble.busy_retries, "answers 503, sent again later"),
        (trouble.lost_connections, "connections lost"),
        (trouble.uncertain_posts, "POSTs whose answer was lost, sent again"),
        (trouble.uncertain_gets, "GETs whose answer was lost"),
    ] {
        if count > 0 {
            row(out, "", format_args!("{count} {what}"))?;
        }
    }
    Ok(())
}

/// How many, and the first of them.
fn named(out: &mut impl Write, name: &str, named: &Named) -> io::Result<()> {
    row(out, name, format_args!("{}", named.count))?;
    for url in &named.first {
        row(out, "", format_args!("{url}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::domains::DomainSummary;
    use super::super::graph::Counts;
    use super::super::meters::Errors;
    use super::super::report::{Domains, Posted};
    use super::*;

    fn named(count: u64, url: &str) -> Named {
        Named { count, first: if count > 0 { vec![url.to_owned()] } else { Vec::new() } }
    }

    fn sample() -> Report {
        let latency = LatencySummary {
            requests: 40,
            per_second: 20.0,
            mean_ms: 1.0,
            p50_ms: 0.75,
            p99_ms: 2.5,
            p999_ms: 3.25,
            max_ms: 4.0,
            over_50_ms: 0,
            histogram: vec![
                Bucket { up_to_ms: Some(1), requests: 30 },
                Bucket { up_to_ms: Some(5), requests: 10 },
            ],
        };
        let domain = DomainSummary {
            domain: "a.test".to_owned(),
            handed_out: 41,
            mean_rate: 20.5,
            most_in_a_second: 25,
        };
        Report {
            seconds: 2.0,
            graph: Some(Counts { lines: 31, links: 900, pages: 30, refused_lines: 1 }),
            posted: Posted { pages: 40, links: 900, pages_per_second: 20.0, links_per_second: 450.0 },
            post: Some(latency.clone()),
            get: Some(latency),
            handed_out: HandedOut {
                urls: 41,
                distinct: 40,
                urls_per_second: 20.5,
                empty_answers: 0,
                twice: named(1, "http://a.test/"),
                dead_spiders: 0,
                again_after_dead_spider: 0,
                again_after_lost_connection: 2,
                unanswered: 0,
            },
            reachable: Some(Reachable {
                pages: 42,
                crawled_pages: 30,
                not_handed_out: named(2, "http://a.test/b"),
                handed_out_unreachable: named(0, ""),
            }),
            domains: Domains { count: 1, top: vec![domain.clone()], hottest: Some(domain) },
            trouble: Trouble {
                errors: Errors {
                    by_status: [(400, 1)].into(),
                    other: 0,
                    first: vec!["400 Bad Request: url: no URL".to_owned()],
                },
                busy_retries: 3,
                lost_connections: 0,
                uncertain_posts: 0,
                uncertain_gets: 0,
            },
            failure: Some("the server is gone: connection refused".to_owned()),
        }
    }

    #[test]
    fn the_report_reads_as_a_table() {
        let mut text = Vec::new();
        sample().write_text(&mut text).unwrap();
        insta::assert_snapshot!("report", String::from_utf8(text).unwrap());
        let mut json = Vec::new();
        sample().write_json(&mut json).unwrap();
        insta::assert_snapshot!("report_json", String::from_utf8(json).unwrap());
    }

    #[test]
    fn errors_and_missing_pages_are_told_apart() {
        let mut report = sample();
        assert!(report.has_errors() && !report.is_complete());
        report.failure = None;
        report.trouble.errors = Errors::default();
        report.handed_out.twice = named(0, "");
        assert!(!report.has_errors() && !report.is_complete());
        report.reachable = None;
        assert!(report.is_complete());
    }
}
