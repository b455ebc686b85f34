//! Writing a MapFile.

use std::cmp::Ordering;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::super::error::InFile;
use super::super::sequence_file::{Compression, Header, SequenceWriter, WriteOptions};
use super::super::{NutchError, Unwritable};
use super::{DATA, INDEX, KeyOrder, header, long_class};

/// Hadoop's `io.map.index.interval`: one key in so many is in the index.
pub const INDEX_INTERVAL: u64 = 128;

/// Appends records in ascending order of their keys.
pub struct MapWriter {
    path: PathBuf,
    order: KeyOrder,
    data: SequenceWriter<BufWriter<File>>,
    index: SequenceWriter<BufWriter<File>>,
    records: u64,
    last_key: Vec<u8>,
    /// Number of the record that was last put into the index, and its position.
    indexed: Option<(u64, u64)>,
}

impl MapWriter {
    /// Makes the folder `path`, which must not exist, for records with this header.
    ///
    /// # Errors
    /// [`Unwritable::KeyClass`] if the order of the keys is not known; [`NutchError::File`].
    pub fn create(path: &Path, data: Header) -> Result<MapWriter, NutchError> {
        MapWriter::with_options(path, data, WriteOptions::default())
    }

    /// # Errors
    /// As [`MapWriter::create`].
    pub fn with_options(path: &Path, data: Header, options: WriteOptions) -> Result<MapWriter, NutchError> {
        let order = KeyOrder::of_class(&data.key_class)?;
        fs::create_dir(path).in_file(path)?;
        let positions = long_class(data.version);
        let index = header(data.version, &data.key_class, positions, Compression::Block);
        Ok(MapWriter {
            path: path.to_owned(),
            order,
            data: open(&path.join(DATA), data, options)?,
            index: open(&path.join(INDEX), index, WriteOptions::default())?,
            records: 0,
            last_key: Vec::new(),
            indexed: None,
        })
    }

    /// # Errors
    /// [`Unwritable::KeyOrder`] if a greater key was appended before; [`NutchError::File`].
    pub fn append(&mut self, key: &[u8], value: &[u8]) -> Result<(), NutchError> {
        if self.records > 0 && self.order.compare(&self.last_key, key) == Ordering::Greater {
            return Err(Unwritable::KeyOrder.into());
        }
        let position = self.data.position();
        // Hadoop's rule. A block has one position, so it has at most one entry.
        let is_due = self.indexed.is_none_or(|(record, last_position)| {
            self.records >= record + INDEX_INTERVAL && position > last_position
        });
        self.data.append(key, value).in_file(&self.path.join(DATA))?;
        if is_due {
            self.index.append(key, &position.to_be_bytes()).in_file(&self.path.join(INDEX))?;
            self.indexed = Some((self.records, position));
        }
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
        self.records += 1;
        Ok(())
    }

    /// Brings both files to the disk. Returns the number of records.
    ///
    /// # Errors
    /// [`NutchError::File`].
    pub fn finish(self) -> Result<u64, NutchError> {
        close(self.data).in_file(&self.path.join(DATA))?;
        close(self.index).in_file(&self.path.join(INDEX))?;
        Ok(self.records)
    }
}

fn open(
    path: &Path,
    header: Header,
    options: WriteOptions,
) -> Result<SequenceWriter<BufWriter<File>>, NutchError> {
    let file = File::create_new(path).in_file(path)?;
    SequenceWriter::with_options(BufWriter::new(file), header, options).in_file(path)
}

fn close(writer: SequenceWriter<BufWriter<File>>) -> Result<(), NutchError> {
    let mut out = writer.finish()?;
    out.flush()?;
    Ok(out.get_ref().sync_all()?)
}
