//! A copy of a store that may be in use, and a look at a copy before anybody relies on it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

use model::Time;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row};
use store::Error;

use crate::error::{Fault, Result};
use crate::folder::DATABASE;
use crate::{connection, schema};

/// Pages copied at a time: 8 MB, so that a bar moves.
const PAGES: i32 = 1_024;

/// The progress of a copy, in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub done: u64,
    pub total: u64,
}

/// The findings of a look at a store's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// The schema's version.
    pub version: i64,
    /// The first position that was not retired.
    pub first: u64,
    /// The newest position.
    pub last: u64,
    pub submissions: u64,
    /// The time of the newest event or act.
    pub newest_at: Option<Time>,
}

/// Copies the store in a folder into a file, as it is at one moment. A server over it goes on: readers keep no writer
/// waiting, only the write-ahead log cannot be cut back before the copy is done.
///
/// # Errors
/// When there is no store in the folder, when the file is there already, and when something cannot be read or written.
pub fn copy(folder: &Path, target: &Path, progress: &mut dyn FnMut(Progress)) -> Result<(), Error> {
    let source = folder.join(DATABASE);
    if !source.is_file() {
        return Err(Error::unavailable(format!("there is no store in the folder {}", folder.display())));
    }
    let failed = |error: io::Error| Error::unavailable(format!("cannot write {}: {error}", target.display()));
    private(target).map_err(failed)?;
    copy_pages(&source, target, progress).map_err(Fault::before_commit)?;
    File::open(target).and_then(|file| file.sync_all()).map_err(failed)
}

/// The file in a store's folder that says when it was backed up last.
pub(crate) const MADE: &str = "backup.made";

/// Notes in a store's folder that a backup of it is complete, which shows the store as it was at a time.
///
/// # Errors
/// When the note cannot be written.
pub fn note(folder: &Path, at: Time) -> io::Result<()> {
    let (note, draft) = (folder.join(MADE), folder.join("backup.made.new"));
    // One of a run that was cut off.
    let _ = std::fs::remove_file(&draft);
    private(&draft)?;
    std::fs::write(&draft, format!("{at}\n"))?;
    std::fs::rename(&draft, &note)
}

/// Returns the time that was noted last; none where nobody did.
pub(crate) fn noted(folder: &Path) -> Option<Time> {
    // A time has thirty letters.
    let mut text = String::new();
    File::open(folder.join(MADE)).ok()?.take(64).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn copy_pages(source: &Path, target: &Path, progress: &mut dyn FnMut(Progress)) -> Result<()> {
    let from = connection::open_reader(source)?;
    // Held until the end: all steps read the same moment, whatever is committed meanwhile.
    let moment = from.unchecked_transaction()?;
    moment.query_row("SELECT EXISTS (SELECT 1 FROM meta)", [], |_| Ok(()))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut to = Connection::open_with_flags(target, flags)?;
    let copying = Backup::new(&moment, &mut to)?;
    loop {
        let step = copying.step(PAGES)?;
        let reached = copying.progress();
        let pages = |count: std::ffi::c_int| u64::try_from(count).unwrap_or(0);
        let total = pages(reached.pagecount);
        progress(Progress { done: total - pages(reached.remaining).min(total), total });
        match step {
            StepResult::Done => break,
            StepResult::More => {}
            // Nobody else knows of the target, and the source is only read.
            _ => return Err(Fault::corrupt("somebody else has the copy open; choose another place for it")),
        }
    }
    drop(copying);
    moment.finish()?;
    to.close().map_err(|(_, error)| error.into())
}

/// Looks whether a file is a whole store that this release understands: its pages, its schema, and that no event is
/// missing. `thorough` compares every index with its table, too.
///
/// # Errors
/// When it is not.
pub fn look(database: &Path, thorough: bool) -> Result<Look, Error> {
    let connection = connection::open_reader(database).map_err(Fault::before_commit)?;
    schema::check(&connection)?;
    schema::check_moved(&connection)?;
    looked(&connection, thorough).map_err(Fault::before_commit)
}

fn looked(connection: &Connection, thorough: bool) -> Result<Look> {
    let pragma = if thorough { "integrity_check" } else { "quick_check" };
    let said: String = connection.query_row(&format!("PRAGMA {pragma}(1)"), [], |row| row.get(0))?;
    if said != "ok" {
        return Err(Fault::corrupt(format!("the database is damaged: {said}; restore another backup")));
    }
    let version = schema::meta(connection, "version")?;
    let retired = u64::try_from(schema::meta(connection, "retired")?).unwrap_or(0);
    let (count, last): (u64, u64) =
        connection.query_row("SELECT count(*), coalesce(max(seq), 0) FROM event", [], |row| {
            Ok((number(row, 0)?, number(row, 1)?))
        })?;
    if count > 0 && last != retired + count {
        let message =
            format!("{count} events are there between positions {retired} and {last}: some are missing");
        return Err(Fault::corrupt(message));
    }
    let submissions = connection.query_row("SELECT count(*) FROM submission", [], |row| number(row, 0))?;
    let newest: Option<Vec<u8>> = connection
        .query_row("SELECT leaf FROM event ORDER BY seq DESC LIMIT 1", [], |row| row.get(0))
        .optional()?;
    let newest_at = newest.as_deref().and_then(at);
    Ok(Look { version, first: retired + 1, last: last.max(retired), submissions, newest_at })
}

/// Every leaf says when it happened.
fn at(leaf: &[u8]) -> Option<Time> {
    let leaf: serde_json::Value = serde_json::from_slice(leaf).ok()?;
    leaf.get("at")?.as_str()?.parse().ok()
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|number| u64::try_from(number).unwrap_or(0))
}

/// A file that only its owner can read, and that was not there.
fn private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}
