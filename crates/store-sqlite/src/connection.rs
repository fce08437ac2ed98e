//! Connections and how they are set up.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::Result;

/// A page holds several rows whole: those of a `WITHOUT ROWID` table overflow beyond a quarter of a page, and a row
/// near 1 KB would at 4,096.
const PAGE_BYTES: i64 = 8_192;
/// Negative: in KiB. One writer and four readers keep the whole below 50 MB.
const WRITER_CACHE: i64 = -16_384;
const READER_CACHE: i64 = -4_096;
/// The size the log is cut back to after it grew beyond.
const LOG_BYTES_KEPT: i64 = 64 << 20;
/// The time to wait for others. Nobody else should hold the database; a backup tool or a shell may, for a moment.
pub(crate) const BUSY: Duration = Duration::from_secs(5);
/// More than there are queries: none is ever prepared twice.
const STATEMENTS: usize = 128;

/// Opens the file without touching it, so that it can be looked at before anything is changed.
pub(crate) fn open_writer(path: &Path) -> Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    open(path, flags)
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Plans do not depend on what is bound. Otherwise a query whose limit is a parameter is compiled anew at every
    // execution, which takes longer than most of them run.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

pub(crate) fn set_up_writer(connection: &Connection) -> Result<()> {
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    // Every commit syncs the log before it returns: acknowledged means on disk.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", false)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "cache_size", WRITER_CACHE)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES_KEPT)?;
    // A read error in mapped memory would be a signal that ends the process instead of an answer.
    connection.pragma_update(None, "mmap_size", 0)?;
    // `checkpoint` does it: SQLite's own ignores what goes wrong.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    Ok(())
}

/// Opens the connection of the thread that moves pages beside the writer.
pub(crate) fn open_mover(path: &Path) -> Result<Connection> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    Ok(connection)
}

pub(crate) fn open_reader(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = open(path, flags)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "cache_size", READER_CACHE)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    Ok(connection)
}
