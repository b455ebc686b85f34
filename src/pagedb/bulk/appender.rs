//! The thread that appends rows to the tables of a new environment, so that whoever makes them goes on.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use heed::{Env, PutFlags, WithoutTls};

use crate::pagedb::env::{PageDbError, Table, Tables, create_unsynced_env};

/// Bytes written in one commit: LMDB keeps the pages of a transaction in memory.
const COMMIT_BYTES: usize = 64 << 20;

/// Bytes of rows passed to the thread at a time.
const BATCH_BYTES: usize = 256 << 10;

/// Batches that may wait.
const BATCHES_WAITING: usize = 16;

/// The tables, in the order of [`Tables::NAMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum To {
    Info,
    Hash2idx,
    Hash2info,
    Urls,
    Links,
    Domains,
    Sites,
    Content,
    Schedule,
    Leases,
    Anchors,
}

/// Appends rows; each table's must come in order of key.
pub struct Appender {
    batch: Vec<u8>,
    rows: Option<SyncSender<Vec<u8>>>,
    empties: Receiver<Vec<u8>>,
    thread: Option<JoinHandle<Result<(), PageDbError>>>,
}

impl Appender {
    /// Creates the environment. `map_size` must hold all that will be appended.
    pub fn create(dir: &Path, map_size: usize) -> Result<Appender, PageDbError> {
        let (env, tables) = create_unsynced_env(dir, map_size)?;
        let (rows, received) = sync_channel(BATCHES_WAITING);
        let (recycle, empties) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new().name("aduana-append".into()).spawn(move || {
            let appended = append_all(&env, &tables, &received, &recycle);
            // What waits is dropped; the sender notices.
            drop(received);
            appended
        });
        let thread = thread.map_err(|source| PageDbError::Io { path: dir.into(), source })?;
        Ok(Appender { batch: Vec::new(), rows: Some(rows), empties, thread: Some(thread) })
    }

    pub fn put(&mut self, to: To, key: &[u8], value: &[u8]) -> Result<(), PageDbError> {
        self.batch.push(to as u8);
        self.batch.extend_from_slice(&(key.len() as u32).to_le_bytes());
        self.batch.extend_from_slice(&(value.len() as u32).to_le_bytes());
        self.batch.extend_from_slice(key);
        self.batch.extend_from_slice(value);
        if self.batch.len() >= BATCH_BYTES { self.flush() } else { Ok(()) }
    }

    /// Commits the last rows and makes all of them durable.
    pub fn finish(mut self) -> Result<(), PageDbError> {
        self.flush()?;
        self.join()
    }

    fn flush(&mut self) -> Result<(), PageDbError> {
        let next = self.empties.try_recv().unwrap_or_default();
        let full = std::mem::replace(&mut self.batch, next);
        match &self.rows {
            Some(rows) if rows.send(full).is_ok() => Ok(()),
            _ => self.join(),
        }
    }

    fn join(&mut self) -> Result<(), PageDbError> {
        self.rows = None;
        match self.thread.take() {
            Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => Ok(()),
        }
    }
}

impl Drop for Appender {
    /// The environment must be closed before its directory is removed.
    fn drop(&mut self) {
        self.rows = None;
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn append_all(
    env: &Env<WithoutTls>,
    tables: &Tables,
    batches: &Receiver<Vec<u8>>,
    recycle: &std::sync::mpsc::Sender<Vec<u8>>,
) -> Result<(), PageDbError> {
    let tables: Vec<Table> = tables.named().into_iter().map(|(_, table)| table).collect();
    let mut txn = env.write_txn()?;
    let mut uncommitted = 0;
    for mut batch in batches {
        let mut rest = &batch[..];
        while let Some((table, key, value, after)) = next_row(rest, &tables) {
            table.put_with_flags(&mut txn, PutFlags::APPEND, key, value)?;
            rest = after;
        }
        uncommitted += batch.len();
        if uncommitted >= COMMIT_BYTES {
            txn.commit()?;
            txn = env.write_txn()?;
            uncommitted = 0;
        }
        batch.clear();
        recycle.send(batch).ok();
    }
    txn.commit()?;
    Ok(env.force_sync()?)
}

type Row<'b> = (Table, &'b [u8], &'b [u8], &'b [u8]);

fn next_row<'b>(bytes: &'b [u8], tables: &[Table]) -> Option<Row<'b>> {
    let (&table, rest) = bytes.split_first()?;
    let (key, rest) = rest.split_first_chunk::<4>()?;
    let (value, rest) = rest.split_first_chunk::<4>()?;
    let (key, rest) = rest.split_at_checked(u32::from_le_bytes(*key) as usize)?;
    let (value, rest) = rest.split_at_checked(u32::from_le_bytes(*value) as usize)?;
    Some((*tables.get(usize::from(table))?, key, value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_to_their_tables_and_disorder_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let mut rows = Appender::create(dir.path(), 1 << 26).unwrap();
        for n in 0..50_000u32 {
            rows.put(To::Urls, &n.to_be_bytes(), &[1; 20]).unwrap();
            rows.put(To::Leases, &n.to_be_bytes(), &[]).unwrap();
        }
        rows.finish().unwrap();
        let other = tempfile::tempdir().unwrap();
        let mut rows = Appender::create(other.path(), 1 << 26).unwrap();
        rows.put(To::Urls, b"b", b"").unwrap();
        rows.put(To::Urls, b"a", b"").unwrap();
        assert!(rows.finish().is_err());
        assert_eq!(Tables::NAMES[To::Leases as usize], "leases");
        assert_eq!(Tables::NAMES[To::Hash2info as usize], "hash2info");
        assert_eq!(Tables::NAMES[To::Schedule as usize], "schedule");
        assert_eq!(Tables::NAMES[To::Anchors as usize], "anchors");
    }
}
