//! The embedded store: one file, one writer, every acknowledgement on disk.
//!
//! A transaction reads through slim index tables, decides, writes the difference and is synced to the log before it
//! is answered. Readers have connections of their own and never wait for the writer.

pub mod backup;
mod checkpoint;
mod codec;
mod connection;
mod encode;
mod error;
mod figures;
mod files;
mod find;
mod folder;
mod hot;
mod index_walk;
mod log;
mod past_keys;
pub mod private;
mod readers;
mod reading;
mod ready;
mod rows;
mod schema;
mod sql;
mod standing;
mod taking;
mod transfer;
mod writer;
mod writing;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{Documents, Json, Name, Submission, SubmissionId, Time};
use store::{
    Changes, Clock, Committed, Count, DeadKey, Error, Feed, FeedPage, LaneKey, Late, LeafPage, Line, Oldest,
    Page, Query, Recorded, SlotEntry, Store, Take, Taken,
};

use folder::Folder;
use readers::Readers;
use writer::Writer;

/// Dropped in this order: the writer closes last and tidies the log away, then the folder is free.
#[derive(Debug)]
pub struct SqliteStore {
    readers: Readers,
    writer: Mutex<Writer>,
    clock: Arc<dyn Clock>,
    folder: Folder,
}

impl SqliteStore {
    /// Opens the store in a folder of its own, which is made if it is missing.
    ///
    /// # Errors
    /// When the folder is in use by another process or cannot be written, and when what is in it is not a store or was
    /// written by a release this one does not understand.
    pub fn open(folder: &Path, clock: Arc<dyn Clock>) -> Result<SqliteStore, Error> {
        let store = SqliteStore::open_to_move(folder, clock)?;
        schema::check_moved(&store.writer().connection)?;
        Ok(store)
    }

    /// The same for a store that is about to be moved into, or was in the middle of that.
    ///
    /// # Errors
    /// The errors of [`SqliteStore::open`].
    pub fn open_to_move(folder: &Path, clock: Arc<dyn Clock>) -> Result<SqliteStore, Error> {
        let folder = Folder::open(folder)?;
        let database = folder.database();
        let writer = Writer::open(&folder)?;
        folder.sync()?;
        Ok(SqliteStore { readers: Readers::new(database), writer: Mutex::new(writer), clock, folder })
    }
}

impl SqliteStore {
    /// A panic of `decide` rolled its transaction back: poison says nothing.
    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for SqliteStore {
    fn transact(
        &self,
        take: &Take<'_>,
        decide: &mut dyn FnMut(Taken) -> Changes,
    ) -> Result<Committed, Error> {
        self.writer().transact(&*self.clock, take, decide)
    }

    fn submission(&self, id: SubmissionId) -> Result<Option<(Submission, Documents)>, Error> {
        self.readers.read(|connection| reading::submission(connection, id))
    }

    fn find(&self, query: &Query) -> Result<Page, Error> {
        self.readers.read(|connection| find::find(connection, query))
    }

    fn history(&self, id: SubmissionId, after: u64, limit: usize) -> Result<Vec<Recorded>, Error> {
        self.readers.read(|connection| reading::history(connection, id, after, limit))
    }

    fn feed(&self, feed: &Feed) -> Result<FeedPage, Error> {
        self.readers.read(|connection| reading::feed(connection, feed))
    }

    fn leaves(&self, after: u64, limit: usize) -> Result<LeafPage, Error> {
        self.readers.read(|connection| log::leaves(connection, after, limit))
    }

    fn act(&self, series: SubmissionId, revision: u64) -> Result<Option<(u64, Vec<u8>)>, Error> {
        self.readers.read(|connection| log::act(connection, series, revision))
    }

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, Error> {
        self.readers.read(|connection| log::tile(connection, level, index))
    }

    fn line(&self, lane: &LaneKey, limit: usize) -> Result<Line, Error> {
        self.readers.read(|connection| standing::line(connection, lane, limit))
    }

    fn counts(&self) -> Result<Vec<Count>, Error> {
        self.readers.read(reading::counts)
    }

    fn oldest(&self) -> Result<Vec<Oldest>, Error> {
        self.readers.read(reading::oldest)
    }

    fn late(&self, late: &Late) -> Result<Vec<Submission>, Error> {
        self.readers.read(|connection| reading::late(connection, late))
    }

    fn parked(&self, after: &str, limit: usize) -> Result<Vec<Name>, Error> {
        self.readers.read(|connection| reading::parked(connection, after, limit))
    }

    fn dead(&self, after: Option<&DeadKey>, limit: usize) -> Result<Vec<(DeadKey, u64)>, Error> {
        self.readers.read(|connection| figures::dead(connection, after, limit))
    }

    fn slots(&self, after: Option<&SlotEntry>, limit: usize) -> Result<Vec<SlotEntry>, Error> {
        self.readers.read(|connection| figures::slots(connection, after, limit))
    }

    fn lanes(&self, pipeline: &str, after: &str, limit: usize) -> Result<Vec<Name>, Error> {
        self.readers.read(|connection| figures::lanes(connection, pipeline, after, limit))
    }

    /// The database and its log, as the file system knows them.
    fn bytes(&self) -> Result<Option<u64>, Error> {
        let database = self.folder.database();
        let log = database.with_extension("db-wal");
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
        Ok(Some(size(&database) + size(&log)))
    }

    fn backed_up_at(&self) -> Result<Option<Time>, Error> {
        Ok(backup::noted(self.folder.path()))
    }

    fn registry(&self, kind: &str, after: &str, limit: usize) -> Result<Vec<(String, Json)>, Error> {
        self.readers
            .read(|connection| reading::registry(connection, sql::REGISTRY_PAGE, (kind, after, limit)))
    }

    fn registry_back(&self, kind: &str, upto: &str, limit: usize) -> Result<Vec<(String, Json)>, Error> {
        self.readers.read(|connection| reading::registry(connection, sql::REGISTRY_BACK, (kind, upto, limit)))
    }
}
