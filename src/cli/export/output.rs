//! Where an export goes: standard output, or a file that appears when it is complete.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::cli::stdout::Stdout;

pub enum Output {
    Stdout(Stdout),
    File {
        out: BufWriter<File>,
        /// Its name until it is complete.
        partial: PathBuf,
        path: PathBuf,
        is_finished: bool,
    },
}

impl Output {
    /// `-` is the standard output.
    pub fn create(path: &Path) -> anyhow::Result<Output> {
        if path == Path::new("-") {
            return Ok(Output::Stdout(Stdout::lock()));
        }
        let mut partial: OsString = path.into();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let file = File::create(&partial).with_context(|| format!("cannot create {}", partial.display()))?;
        let out = BufWriter::with_capacity(1 << 20, file);
        Ok(Output::File { out, partial, path: path.to_owned(), is_finished: false })
    }

    pub fn finish(mut self) -> anyhow::Result<()> {
        self.flush()?;
        if let Output::File { partial, path, is_finished, .. } = &mut self {
            std::fs::rename(&*partial, &*path).with_context(|| format!("cannot write {}", path.display()))?;
            *is_finished = true;
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Output::File { partial, is_finished: false, .. } = self {
            std::fs::remove_file(partial).ok();
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Stdout(out) => out.write(bytes),
            Output::File { out, .. } => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Stdout(out) => out.flush(),
            Output::File { out, .. } => out.flush(),
        }
    }
}
