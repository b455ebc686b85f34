//! Arrays of scores by page index in files: written whole, then mapped. `docs/format.md`, "Score vectors", has
//! the bytes.
//!
//! A file is written under another name, synced, and renamed; so under its own name it is whole or not there.
//! All of it is checked when it is opened. A vector that does not open is no loss: the scores are computed
//! anew.

use std::fs::File;
use std::hash::Hasher as _;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use twox_hash::XxHash3_64;

/// First bytes of a file.
const MAGIC: [u8; 8] = *b"aduanasv";
const VERSION: u32 = 1;
/// A whole cache line, so that the numbers behind it are aligned.
const HEADER_BYTES: usize = 64;
const BUFFER_BYTES: usize = 1 << 18;

/// Why there is no vector.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    /// It must be computed anew.
    #[error("{path} is no score vector that can be used ({problem}): a round of scoring writes it anew")]
    Unusable { path: PathBuf, problem: &'static str },
}

/// A number that vectors are made of.
pub trait Number: Copy + Send + Sync + private::Sealed + 'static {
    /// Bytes of a number, its code in the header.
    const BYTES: usize;
    fn to_bytes(self) -> [u8; 8];
    fn from_bytes(bytes: &[u8]) -> Self;
    fn is_finite(self) -> bool;
}

mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! number {
    ($type:ty) => {
        impl Number for $type {
            const BYTES: usize = size_of::<$type>();
            fn to_bytes(self) -> [u8; 8] {
                let mut out = [0; 8];
                out[..Self::BYTES].copy_from_slice(&self.to_le_bytes());
                out
            }
            fn from_bytes(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$type>()];
                own.copy_from_slice(bytes);
                <$type>::from_le_bytes(own)
            }
            fn is_finite(self) -> bool {
                self.is_finite()
            }
        }
    };
}

number!(f32);
number!(f64);

/// A vector of scores by page index: a slice, in memory or in a mapped file.
pub struct Vector<T: Number> {
    kind: u32,
    generation: u64,
    numbers: Numbers<T>,
}

enum Numbers<T> {
    Memory(Vec<T>),
    /// A file whose header and numbers were checked.
    Mapped(Mmap, PhantomData<T>),
}

impl<T: Number> Vector<T> {
    /// A vector without a file. `kind` says whose scores they are, `generation` which round's.
    pub fn in_memory(kind: u32, generation: u64, numbers: Vec<T>) -> Self {
        Vector { kind, generation, numbers: Numbers::Memory(numbers) }
    }

    /// Writes `len` numbers as a file and maps it. A file that is there is replaced, and stays until the new
    /// one is durable; whoever has it mapped keeps it.
    ///
    /// # Errors
    /// [`VectorError::Io`]; [`VectorError::Unusable`] if there are not `len` numbers or one is not finite.
    pub fn write(
        path: &Path,
        kind: u32,
        generation: u64,
        len: u64,
        numbers: impl IntoIterator<Item = T>,
    ) -> Result<Self, VectorError> {
        let io = |source| VectorError::Io { path: path.into(), source };
        let unusable = |problem| VectorError::Unusable { path: path.into(), problem };
        let partial = path.with_extension("partial");
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, File::create(&partial).map_err(io)?);
        out.write_all(&[0; HEADER_BYTES]).map_err(io)?;
        let (mut hash, mut written) = (XxHash3_64::new(), 0);
        let mut buffer = Vec::with_capacity(BUFFER_BYTES);
        for number in numbers {
            if !number.is_finite() {
                return Err(unusable("a score is not finite"));
            }
            buffer.extend_from_slice(&number.to_bytes()[..T::BYTES]);
            written += 1;
            if buffer.len() == BUFFER_BYTES {
                hash.write(&buffer);
                out.write_all(&buffer).map_err(io)?;
                buffer.clear();
            }
        }
        hash.write(&buffer);
        out.write_all(&buffer).map_err(io)?;
        if written != len {
            return Err(unusable("it has another number of scores"));
        }
        let header = Header { number_bytes: T::BYTES as u32, kind, generation, len, checksum: hash.finish() };
        out.seek(SeekFrom::Start(0)).and_then(|_| out.write_all(&header.encode())).map_err(io)?;
        let file = out.into_inner().map_err(|error| io(error.into_error()))?;
        file.sync_all().map_err(io)?;
        std::fs::rename(&partial, path).map_err(io)?;
        sync_folder_of(path).map_err(io)?;
        Vector::open(path, kind)
    }

    /// Maps a file that [`Vector::write`] wrote for the same kind.
    ///
    /// # Errors
    /// [`VectorError::Io`] if it cannot be read; [`VectorError::Unusable`] if it is anything but whole.
    pub fn open(path: &Path, kind: u32) -> Result<Self, VectorError> {
        let io = |source| VectorError::Io { path: path.into(), source };
        let unusable = |problem| VectorError::Unusable { path: path.into(), problem };
        let file = File::open(path).map_err(io)?;
        if file.metadata().map_err(io)?.len() < HEADER_BYTES as u64 {
            return Err(unusable("it is too short"));
        }
        // SAFETY: files of vectors are never written in place nor shortened, only replaced as a whole, by the
        // one process that has the database open.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        let header = Header::decode(&map).map_err(unusable)?;
        let numbers = &map[HEADER_BYTES..];
        let bytes = header.len.checked_mul(T::BYTES as u64);
        let problem = if header.number_bytes as usize != T::BYTES {
            Some("its numbers have another size")
        } else if header.kind != kind {
            Some("it belongs to another scorer")
        } else if bytes != Some(numbers.len() as u64) {
            Some("its length is not what its header says")
        } else if XxHash3_64::oneshot(numbers) != header.checksum {
            Some("its checksum is wrong")
        } else if !numbers.chunks_exact(T::BYTES).all(|bytes| T::from_bytes(bytes).is_finite()) {
            Some("a score is not finite")
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(unusable(problem));
        }
        let numbers = if cfg!(target_endian = "little") {
            Numbers::Mapped(map, PhantomData)
        } else {
            Numbers::Memory(numbers.chunks_exact(T::BYTES).map(T::from_bytes).collect())
        };
        Ok(Vector { kind, generation: header.generation, numbers })
    }

    /// Whose scores they are.
    pub fn kind(&self) -> u32 {
        self.kind
    }

    /// The number of the round that made it.
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

impl<T: Number> Deref for Vector<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.numbers {
            Numbers::Memory(numbers) => numbers,
            Numbers::Mapped(map, _) => {
                // SAFETY: the numbers are floats, for which all bits are values, in the byte order of the
                // machine, as `open` has seen to; a map starts at a page, so they are aligned, and
                // `align_to` would only leave out what is not.
                let (before, numbers, after) = unsafe { map[HEADER_BYTES..].align_to::<T>() };
                debug_assert!(before.is_empty() && after.is_empty());
                numbers
            }
        }
    }
}

/// Makes the new name of a file durable.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Header {
    number_bytes: u32,
    kind: u32,
    generation: u64,
    len: u64,
    /// XXH3-64 of the numbers' bytes.
    checksum: u64,
}

impl Header {
    fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut out = Vec::with_capacity(HEADER_BYTES);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&self.number_bytes.to_le_bytes());
        out.extend_from_slice(&self.kind.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.generation.to_le_bytes());
        out.extend_from_slice(&self.len.to_le_bytes());
        out.extend_from_slice(&self.checksum.to_le_bytes());
        // The header's own checksum is the last number of it.
        out.extend_from_slice(&XxHash3_64::oneshot(&out).to_le_bytes());
        out.resize(HEADER_BYTES, 0);
        out.try_into().unwrap_or([0; HEADER_BYTES])
    }

    fn decode(bytes: &[u8]) -> Result<Header, &'static str> {
        let (u32_at, u64_at) = (number_at::<4>(bytes), number_at::<8>(bytes));
        if bytes.get(..8) != Some(&MAGIC) {
            return Err("it does not begin as one");
        }
        if u32::try_from(u32_at(8)) != Ok(VERSION) {
            return Err("another version has written it");
        }
        let header = Header {
            number_bytes: u32_at(12) as u32,
            kind: u32_at(16) as u32,
            generation: u64_at(24),
            len: u64_at(32),
            checksum: u64_at(40),
        };
        if bytes.get(..HEADER_BYTES) == Some(&header.encode()) {
            Ok(header)
        } else {
            Err("its header is damaged")
        }
    }
}

/// Reads little-endian numbers of `N` bytes; 0 where there are none.
fn number_at<const N: usize>(bytes: &[u8]) -> impl Fn(usize) -> u64 + '_ {
    move |at| {
        let mut wide = [0; 8];
        if let Some(number) = bytes.get(at..at + N) {
            wide[..N].copy_from_slice(number);
        }
        u64::from_le_bytes(wide)
    }
}

#[cfg(test)]
mod tests;
