//! Reading a MapFile: in order, or by key.

use std::cmp::Ordering;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::super::error::InFile;
use super::super::sequence_file::{Entry, Header, SequenceReader};
use super::super::{Fault, Limits, Malformed, NutchError, Unwritable};
use super::{DATA, INDEX, KeyOrder};

/// Keys and their positions in `data`, in ascending order.
type Index = Vec<(Box<[u8]>, u64)>;

/// A MapFile. Its index is read at the first [`MapReader::get`]; without one, it can still be read in order.
pub struct MapReader {
    path: PathBuf,
    data: SequenceReader<BufReader<File>>,
    /// `Err` with the class's name if its order is not known.
    order: Result<KeyOrder, Unwritable>,
    index: Option<Index>,
    limits: Limits,
}

impl MapReader {
    /// # Errors
    /// [`NutchError::File`].
    pub fn open(path: &Path) -> Result<MapReader, NutchError> {
        MapReader::with_limits(path, Limits::default())
    }

    /// # Errors
    /// [`NutchError::File`].
    pub fn with_limits(path: &Path, limits: Limits) -> Result<MapReader, NutchError> {
        let data = open(&path.join(DATA), limits)?;
        let order = KeyOrder::of_class(&data.header().key_class);
        Ok(MapReader { path: path.to_owned(), data, order, index: None, limits })
    }

    /// Of the file `data`.
    pub fn header(&self) -> &Header {
        self.data.header()
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The next record in order; `None` after the last.
    ///
    /// # Errors
    /// [`NutchError::File`].
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Entry<'_>>, NutchError> {
        let MapReader { path, data, .. } = self;
        data.next().map_err(|error| error.in_file(&path.join(DATA)))
    }

    /// The record that [`MapReader::next`] gave last, or [`MapReader::get`] found.
    pub fn current(&self) -> Option<Entry<'_>> {
        self.data.current()
    }

    /// Goes back to the first record.
    ///
    /// # Errors
    /// [`NutchError::File`].
    pub fn rewind(&mut self) -> Result<(), NutchError> {
        self.data.seek(self.data.start()).in_file(&self.path.join(DATA))
    }

    /// The value of a record with this key: a binary search in the index, then a look at up to 128 records.
    /// [`MapReader::next`] goes on behind it.
    ///
    /// # Errors
    /// [`Unwritable::KeyClass`] if the order of the keys is not known; [`NutchError::File`].
    pub fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, NutchError> {
        let order = self.order.clone()?;
        if self.index.is_none() {
            self.index = Some(self.read_index(order)?);
        }
        let index = self.index.as_deref().unwrap_or_default();
        let after = index.partition_point(|(first, _)| order.compare(first, key) != Ordering::Greater);
        let Some((_, position)) = after.checked_sub(1).map(|at| &index[at]) else { return Ok(None) };
        let position = *position;
        let path = self.path.join(DATA);
        self.data.seek(position).in_file(&path)?;
        scan(&mut self.data, order, key, position).in_file(&path)
    }

    fn read_index(&self, order: KeyOrder) -> Result<Index, NutchError> {
        let path = self.path.join(INDEX);
        let mut reader = open(&path, self.limits)?;
        index_entries(&mut reader, order, self.limits.index_bytes).in_file(&path)
    }
}

/// Goes on from the record at `position` until the key or a greater one comes.
fn scan<'r>(
    data: &'r mut SequenceReader<BufReader<File>>,
    order: KeyOrder,
    key: &[u8],
    position: u64,
) -> Result<Option<&'r [u8]>, NutchError> {
    if data.next()?.is_none() {
        let fault = Fault::CutOff("a record that the index names");
        return Err(Malformed { offset: position, fault }.into());
    }
    while let Some(entry) = data.current() {
        match order.compare(entry.key, key) {
            Ordering::Less => data.next()?,
            Ordering::Equal => break,
            Ordering::Greater => return Ok(None),
        };
    }
    Ok(data.current().map(|entry| entry.value))
}

fn index_entries(
    reader: &mut SequenceReader<BufReader<File>>,
    order: KeyOrder,
    limit: usize,
) -> Result<Index, NutchError> {
    let mut index = Index::new();
    let mut bytes = 0;
    while let Some(entry) = reader.next()? {
        let fault = |fault| Malformed { offset: entry.position, fault };
        let position = entry.value.try_into().ok().map(i64::from_be_bytes);
        let position = position.and_then(|position| u64::try_from(position).ok()).ok_or_else(|| {
            let length = entry.value.len() as i64;
            fault(Fault::Length { what: "a position in the index", length })
        })?;
        if let Some((last, _)) = index.last()
            && order.compare(last, entry.key) == Ordering::Greater
        {
            return Err(fault(Fault::KeyOrder).into());
        }
        bytes += size_of::<(Box<[u8]>, u64)>() + entry.key.len();
        if bytes > limit {
            let (length, limit) = (bytes as u64, limit as u64);
            return Err(fault(Fault::TooLong { what: "the index", length, limit }).into());
        }
        index.push((entry.key.into(), position));
    }
    Ok(index)
}

fn open(path: &Path, limits: Limits) -> Result<SequenceReader<BufReader<File>>, NutchError> {
    let file = File::open(path).in_file(path)?;
    SequenceReader::with_limits(BufReader::new(file), limits).in_file(path)
}
