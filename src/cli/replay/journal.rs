//! The files that outlive the run: what was handed out, what was acknowledged.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::graph::Graph;
use super::tracker::Tracker;

/// Appends to the files that the command line names; each note is in the file before the run goes on.
pub struct Journal {
    handed_out: Option<Log>,
    acknowledged: Option<Log>,
    /// Both, marked, to be read by the next run.
    state: Option<Log>,
}

struct Log {
    path: PathBuf,
    file: File,
}

const HANDED_OUT: &str = "handed-out ";
const ACKNOWLEDGED: &str = "acknowledged ";

impl Journal {
    pub fn open(
        handed_out: Option<&Path>,
        acknowledged: Option<&Path>,
        state: Option<&Path>,
    ) -> anyhow::Result<Journal> {
        let open = |path: Option<&Path>| path.map(Log::open).transpose();
        Ok(Journal { handed_out: open(handed_out)?, acknowledged: open(acknowledged)?, state: open(state)? })
    }

    pub fn handed_out<'a>(&mut self, urls: impl Iterator<Item = &'a str> + Clone) -> anyhow::Result<()> {
        append(&mut self.handed_out, "", urls.clone())?;
        append(&mut self.state, HANDED_OUT, urls)
    }

    pub fn acknowledged<'a>(&mut self, urls: impl Iterator<Item = &'a str> + Clone) -> anyhow::Result<()> {
        append(&mut self.acknowledged, "", urls.clone())?;
        append(&mut self.state, ACKNOWLEDGED, urls)
    }

    /// Whether acknowledged pages are to be noted.
    pub fn wants_acknowledged(&self) -> bool {
        self.acknowledged.is_some() || self.state.is_some()
    }
}

impl Log {
    fn open(path: &Path) -> anyhow::Result<Log> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        Ok(Log {
            path: path.to_owned(),
            file: file.with_context(|| format!("cannot open {}", path.display()))?,
        })
    }
}

fn append<'a>(log: &mut Option<Log>, mark: &str, urls: impl Iterator<Item = &'a str>) -> anyhow::Result<()> {
    let Some(log) = log else { return Ok(()) };
    let mut lines = String::new();
    for url in urls {
        lines.extend([mark, url, "\n"]);
    }
    log.file.write_all(lines.as_bytes()).with_context(|| format!("cannot write {}", log.path.display()))
}

/// Takes over what earlier runs left in their state file; none is no error. What they had not acknowledged may
/// come again.
pub fn load_state(path: &Path, graph: &mut Graph, tracker: &mut Tracker) -> anyhow::Result<()> {
    if !path.exists() {
        return Ok(());
    }
    let context = || format!("cannot read {}", path.display());
    let file = BufReader::new(File::open(path).with_context(context)?);
    for (nth, line) in file.lines().enumerate() {
        let line = line.with_context(context)?;
        if let Some(url) = line.strip_prefix(HANDED_OUT) {
            let number = graph.number_of_normal(url);
            tracker.handed_out(number, url, tracker.now());
        } else if let Some(url) = line.strip_prefix(ACKNOWLEDGED) {
            tracker.acknowledged(graph.number_of_normal(url));
        } else {
            bail!("{}:{}: no line of a state file", path.display(), nth + 1);
        }
    }
    tracker.connection_lost();
    Ok(())
}
