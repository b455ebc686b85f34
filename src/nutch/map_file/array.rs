//! ArrayFile: records by their number.

use std::path::Path;

use super::super::sequence_file::{Compression, Version};
use super::super::{Fault, Limits, Malformed, NutchError};
use super::{KeyOrder, MapReader, MapWriter, header, long_class};

/// Appends values; they are numbered from 0.
pub struct ArrayWriter {
    map: MapWriter,
    next: i64,
}

impl ArrayWriter {
    /// Makes the folder `path`, which must not exist. `compression` is for version 6.
    ///
    /// # Errors
    /// [`NutchError::File`].
    pub fn create(
        path: &Path,
        value_class: &str,
        version: Version,
        compression: Compression,
    ) -> Result<ArrayWriter, NutchError> {
        let data = header(version, long_class(version), value_class, compression);
        Ok(ArrayWriter { map: MapWriter::create(path, data)?, next: 0 })
    }

    /// Returns the number of the record.
    ///
    /// # Errors
    /// [`NutchError::File`].
    pub fn append(&mut self, value: &[u8]) -> Result<i64, NutchError> {
        let number = self.next;
        self.map.append(&number.to_be_bytes(), value)?;
        self.next += 1;
        Ok(number)
    }

    /// Brings both files to the disk. Returns the number of records.
    ///
    /// # Errors
    /// [`NutchError::File`].
    pub fn finish(self) -> Result<u64, NutchError> {
        self.map.finish()
    }
}

/// A numbered record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbered<'a> {
    pub number: i64,
    /// Offset in the file `data`, or that of its block.
    pub position: u64,
    pub value: &'a [u8],
}

/// Reads values by their number, or in order.
pub struct ArrayReader(MapReader);

impl ArrayReader {
    /// # Errors
    /// [`NutchError::File`], also if the keys are no numbers.
    pub fn open(path: &Path) -> Result<ArrayReader, NutchError> {
        ArrayReader::with_limits(path, Limits::default())
    }

    /// # Errors
    /// As [`ArrayReader::open`].
    pub fn with_limits(path: &Path, limits: Limits) -> Result<ArrayReader, NutchError> {
        let map = MapReader::with_limits(path, limits)?;
        let found = &map.header().key_class;
        if KeyOrder::of_class(found) != Ok(KeyOrder::Long) {
            let (what, found) = ("the key class", found.clone());
            let fault = Fault::Class { what, found, expected: "long".to_owned() };
            // Right behind the version.
            return Err(NutchError::from(Malformed { offset: 4, fault }).in_file(path));
        }
        Ok(ArrayReader(map))
    }

    pub fn map(&self) -> &MapReader {
        &self.0
    }

    /// The value with this number.
    ///
    /// # Errors
    /// [`NutchError::File`].
    pub fn get(&mut self, number: i64) -> Result<Option<&[u8]>, NutchError> {
        self.0.get(&number.to_be_bytes())
    }

    /// The next record in order; `None` after the last.
    ///
    /// # Errors
    /// [`NutchError::File`].
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Numbered<'_>>, NutchError> {
        self.0.next()?;
        let Some(entry) = self.0.current() else { return Ok(None) };
        let number = entry.key.try_into().map(i64::from_be_bytes).map_err(|_| {
            let fault = Fault::Length { what: "the key", length: entry.key.len() as i64 };
            NutchError::from(Malformed { offset: entry.position, fault }).in_file(self.0.path())
        })?;
        Ok(Some(Numbered { number, position: entry.position, value: entry.value }))
    }
}
