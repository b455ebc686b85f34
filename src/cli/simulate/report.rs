//! What the simulations come to: a table, a CSV file, pictures.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;

use super::crawl::{Crawl, Setup};
use super::curve::Curve;
use super::order::Order;
use super::{picture, png, svg};

/// The part of a crawl that is looked at apart: a big crawl never gets further.
pub const FIRST_PART: f64 = 0.2;

/// One order.
pub struct Entry {
    pub name: String,
    pub curve: Curve,
    agreement: Vec<(usize, f64)>,
    rounds: u64,
    simulated: Duration,
    took: Duration,
}

/// The orders, the omniscient one first.
pub struct Report {
    entries: Vec<Entry>,
    pages: usize,
    known: usize,
    spiders: usize,
    limits: (f64, f64),
}

impl Entry {
    pub fn new(order: Order, setup: &Setup, crawl: &Crawl, took: Duration) -> Entry {
        let worth = crawl.pages.iter().map(|&page| setup.final_scores[page as usize]);
        Entry {
            name: setup.name_of(order),
            curve: Curve::new(worth),
            agreement: crawl.agreement.clone(),
            rounds: crawl.rounds,
            simulated: crawl.simulated,
            took,
        }
    }

    /// The mean over the crawl; `None` if the scores were never comparable.
    fn tau(&self) -> Option<f64> {
        let sum: f64 = self.agreement.iter().map(|&(_, tau)| tau).sum();
        (!self.agreement.is_empty()).then(|| sum / self.agreement.len() as f64)
    }
}

impl Report {
    /// `entries`: the omniscient order first.
    pub fn new(setup: &Setup, entries: Vec<Entry>) -> Report {
        Report {
            entries,
            pages: setup.reachable,
            known: setup.web.len(),
            spiders: setup.spiders,
            limits: (setup.soft_crawl_limit, setup.hard_crawl_limit),
        }
    }

    /// The area of a curve over the first `part`, as a fraction of the omniscient order's.
    fn area(&self, entry: &Entry, part: f64) -> f64 {
        entry.curve.area(part) / self.entries[0].curve.area(part)
    }

    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let Report { pages, known, spiders, limits: (soft, hard), .. } = self;
        writeln!(
            out,
            "{pages} of {known} pages can be reached; spiders {spiders}, limits {soft} and {hard}"
        )?;
        writeln!(out)?;
        writeln!(
            out,
            "{:<22} {:>7} {:>11} {:>8} {:>8} {:>6} {:>6} {:>10} {:>6}",
            "order", "area", "first fifth", "at 5 %", "at 20 %", "tau", "rounds", "simulated", "took"
        )?;
        for entry in &self.entries {
            let mass = |part: f64| 100.0 * entry.curve.mass_after((part * *pages as f64) as usize);
            let tau = entry.tau().map_or("-".to_owned(), |tau| format!("{tau:.3}"));
            writeln!(
                out,
                "{:<22} {:>7.3} {:>11.3} {:>6.1} % {:>6.1} % {tau:>6} {:>6} {:>8.0} s {:>4.0} s",
                entry.name,
                self.area(entry, 1.0),
                self.area(entry, FIRST_PART),
                mass(0.05),
                mass(0.2),
                entry.rounds,
                entry.simulated.as_secs_f64(),
                entry.took.as_secs_f64(),
            )?;
        }
        Ok(())
    }

    /// One row a mark of each curve; tau where it was taken since the row before.
    fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "order,pages,share_of_pages,share_of_mass,tau")?;
        for entry in &self.entries {
            let mut agreement = entry.agreement.iter().peekable();
            for mark in Curve::marks(self.pages) {
                let share = mark as f64 / self.pages as f64;
                write!(out, "{},{mark},{share:.6},{:.6},", entry.name, entry.curve.mass_after(mark))?;
                if let Some((_, tau)) = agreement.next_if(|&&(pages, _)| pages <= mark) {
                    write!(out, "{tau:.4}")?;
                }
                writeln!(out)?;
            }
        }
        Ok(())
    }

    /// Writes `output` with the endings `.csv`, `.svg` and `.png`.
    pub fn write_files(&self, output: &Path) -> anyhow::Result<()> {
        let mut csv = Vec::new();
        self.write_csv(&mut csv)?;
        let figure = picture::figure(self.curves());
        let pixels = png::encode(&figure).context("cannot encode the picture")?;
        for (ending, bytes) in [("csv", csv), ("svg", svg::write(&figure).into_bytes()), ("png", pixels)] {
            let path = with_ending(output, ending);
            fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    /// With the names that stand in the legend.
    fn curves(&self) -> Vec<(String, &Curve)> {
        let label = |entry: &Entry| {
            let (area, first) = (self.area(entry, 1.0), self.area(entry, FIRST_PART));
            format!("{} {area:.3} / {first:.3}", entry.name)
        };
        self.entries.iter().map(|entry| (label(entry), &entry.curve)).collect()
    }
}

/// Unlike `Path::with_extension` it leaves dots in the name alone.
fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.into();
    name.push(".");
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let entry = |name: &str, worth: &[f64], agreement: &[(usize, f64)]| Entry {
            name: name.to_owned(),
            curve: Curve::new(worth.iter().copied()),
            agreement: agreement.to_vec(),
            rounds: 2,
            simulated: Duration::from_secs(5),
            took: Duration::from_secs(1),
        };
        Report {
            entries: vec![
                entry("omniscient", &[0.4, 0.3, 0.1, 0.1, 0.1], &[(2, 1.0), (4, 0.5)]),
                entry("opic", &[0.2, 0.3, 0.3, 0.1, 0.1], &[]),
            ],
            pages: 5,
            known: 6,
            spiders: 1,
            limits: (f64::INFINITY, 1.0),
        }
    }

    #[test]
    fn the_report_reads_as_a_table_and_as_csv() {
        let mut text = Vec::new();
        report().write_text(&mut text).unwrap();
        writeln!(text).unwrap();
        report().write_csv(&mut text).unwrap();
        insta::assert_snapshot!("report", String::from_utf8(text).unwrap());
    }

    #[test]
    fn the_files_have_the_output_s_name_with_an_ending_more() {
        let dir = tempfile::tempdir().unwrap();
        report().write_files(&dir.path().join("a.b")).unwrap();
        let mut names: Vec<String> = fs::read_dir(dir.path())
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["a.b.csv", "a.b.png", "a.b.svg"]);
    }
}
