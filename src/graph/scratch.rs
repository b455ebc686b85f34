//! Files that nobody else sees: they lose their name as soon as they are open, so that nothing is left of
//! them, however the process ends.

use std::fs::{File, OpenOptions};
use std::hash::Hasher as _;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;
use twox_hash::XxHash3_64;

use super::GraphError;

const PREFIX: &str = "graph-";
const BUFFER_BYTES: usize = 1 << 17;

/// Opens a new file in `dir` that has no name.
///
/// # Errors
/// [`GraphError::Io`].
pub fn create(dir: &Path) -> Result<File, GraphError> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = dir.join(format!("{PREFIX}{}-{number}.tmp", std::process::id()));
    let io = |source| GraphError::Io { path: path.clone(), source };
    // What a process with this number has left behind between the two calls is overwritten.
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(true).open(&path).map_err(io)?;
    std::fs::remove_file(&path).map_err(io)?;
    Ok(file)
}

/// A file that is written once, front to back, and then mapped.
pub struct ScratchWriter {
    dir: PathBuf,
    out: BufWriter<File>,
    hash: XxHash3_64,
    bytes: u64,
}

impl ScratchWriter {
    /// # Errors
    /// [`GraphError::Io`], as all methods.
    pub fn create(dir: &Path) -> Result<Self, GraphError> {
        let out = BufWriter::with_capacity(BUFFER_BYTES, create(dir)?);
        Ok(ScratchWriter { dir: dir.to_owned(), out, hash: XxHash3_64::new(), bytes: 0 })
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), GraphError> {
        self.hash.write(bytes);
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes).map_err(|source| GraphError::Io { path: self.dir.clone(), source })
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Maps the file, whose bytes must be those that were written.
    ///
    /// # Errors
    /// [`GraphError::Damaged`] if they are not.
    pub fn finish(self) -> Result<Option<Mmap>, GraphError> {
        let ScratchWriter { dir, out, hash, bytes } = self;
        let io = |source| GraphError::Io { path: dir.clone(), source };
        let file = out.into_inner().map_err(|error| io(error.into_error()))?;
        if bytes == 0 {
            // Nothing cannot be mapped.
            return Ok(None);
        }
        // SAFETY: the file has no name, so no other process can open it to change or shorten it, and this
        // one writes to it no more.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        if map.len() as u64 != bytes || XxHash3_64::oneshot(&map) != hash.finish() {
            return Err(GraphError::Damaged);
        }
        Ok(Some(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_file_leaves_no_name_and_keeps_its_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = ScratchWriter::create(dir.path()).unwrap();
        for n in 0..100_000u32 {
            writer.write(&n.to_le_bytes()).unwrap();
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let map = writer.finish().unwrap().unwrap();
        assert_eq!(map.len(), 400_000);
        assert_eq!(map[399_996..], 99_999u32.to_le_bytes());
        assert!(ScratchWriter::create(dir.path()).unwrap().finish().unwrap().is_none());
    }

    #[test]
    fn bytes_that_changed_are_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = ScratchWriter::create(dir.path()).unwrap();
        writer.write(&[1, 2, 3]).unwrap();
        // What a medium that lies would do.
        writer.out.get_mut().write_all(&[9]).unwrap();
        assert!(matches!(writer.finish(), Err(GraphError::Damaged)));
    }

    #[test]
    fn a_folder_that_is_missing_is_named() {
        let error = create(Path::new("/nowhere/at/all")).unwrap_err();
        assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
    }
}
