//! Moving committed pages from the log into the database file.
//!
//! Moving takes tens of milliseconds, and whoever commits meanwhile should not notice: a thread beside the writer
//! moves the pages. Only when commits come so fast that this thread never catches up does the writer move the rest.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use crate::connection;
use crate::error::{Fault, Result};

/// The growth of the log after which its pages are moved. More means fewer writes of the same page; less means less
/// to read after a crash. 2,000 pages are 16 MB.
const PAGES: i64 = 2_000;

/// The length of the log at which the writer moves pages itself and waits for readers. Readers last milliseconds, but
/// while each overlaps the next, or commits never pause, the log cannot be begun anew and would grow without end.
const PAGES_TO_WAIT: i64 = 4 * PAGES;

/// The time readers are waited for, while nobody commits.
const READERS: Duration = Duration::from_millis(100);

/// The passes of the thread, for what is committed meanwhile: the log begins anew only when all of it was moved.
const PASSES: usize = 4;

/// SQLite would do this by itself, but its own ignores every error on the way: a disk that fails would be noticed only
/// once the log has filled it.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    database: PathBuf,
    /// The number of pages the log had after the last commit.
    pages: Arc<AtomicI64>,
    /// The length of the log at the last try. A try that a reader cut short is not repeated at every commit.
    tried_at: i64,
    /// Started when there is first something to move.
    mover: Option<Mover>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Moves what no reader still needs from the log.
    Passive,
    /// Waits for readers, so that all is moved and the log begins anew.
    Restart,
}

impl Checkpoint {
    /// Makes the checkpoint of the connection that writes, which tells how long the log is.
    pub(crate) fn of(database: &Path, connection: &mut Connection) -> Result<Self> {
        let checkpoint = Checkpoint::at(database);
        let pages = checkpoint.pages.clone();
        connection.wal_hook(Some(move |_: &mut Wal, count| {
            pages.store(i64::from(count), Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(checkpoint)
    }

    fn at(database: &Path) -> Self {
        Checkpoint { database: database.to_owned(), pages: Arc::default(), tried_at: 0, mover: None }
    }

    /// Called after every commit. An error may be that of the thread, a little late.
    pub(crate) fn run(&mut self, connection: &Connection) -> Result<()> {
        if let Some(fault) = self.mover.as_ref().and_then(Mover::fault) {
            return Err(fault);
        }
        match self.due(self.pages.load(Ordering::Relaxed)) {
            None => Ok(()),
            Some(Mode::Restart) => restart(connection),
            Some(_) => {
                let mover = match self.mover.take() {
                    Some(mover) => mover,
                    None => Mover::start(&self.database)?,
                };
                self.mover.insert(mover).wake();
                Ok(())
            }
        }
    }

    fn due(&mut self, pages: i64) -> Option<Mode> {
        if pages < self.tried_at {
            self.tried_at = 0;
        }
        if pages - self.tried_at < PAGES {
            return None;
        }
        self.tried_at = pages;
        Some(if pages < PAGES_TO_WAIT { Mode::Passive } else { Mode::Restart })
    }
}

/// A reader that lasts, as a backup does, is not waited for: the log grows until it has ended.
fn restart(connection: &Connection) -> Result<()> {
    connection.busy_timeout(READERS)?;
    let done = log(connection, Mode::Restart);
    connection.busy_timeout(connection::BUSY)?;
    done.map(drop)
}

struct Log {
    pages: i64,
    moved: i64,
}

/// Runs a checkpoint and answers how far it came.
fn log(connection: &Connection, mode: Mode) -> Result<Log> {
    let checkpoint = match mode {
        Mode::Passive => "PRAGMA wal_checkpoint(passive)",
        Mode::Restart => "PRAGMA wal_checkpoint(restart)",
    };
    let mut statement = connection.prepare_cached(checkpoint)?;
    Ok(statement.query_row([], |row| Ok(Log { pages: row.get(1)?, moved: row.get(2)? }))?)
}

/// The thread and the way to it.
#[derive(Debug)]
struct Mover {
    /// Room for one: a second wish while it works is granted after the first.
    wake: Option<SyncSender<()>>,
    fault: Arc<Mutex<Option<Fault>>>,
    thread: Option<JoinHandle<()>>,
}

impl Mover {
    fn start(database: &Path) -> Result<Self> {
        let connection = connection::open_mover(database)?;
        let (wake, wishes) = sync_channel(1);
        let fault = Arc::new(Mutex::new(None));
        let found = fault.clone();
        let work = move || {
            if let Err(fault) = move_pages(&connection, &wishes) {
                *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
            }
        };
        let thread = std::thread::Builder::new().name("milepost-pages".to_owned()).spawn(work);
        let thread = thread.map_err(|error| Fault::corrupt(format!("a thread did not start: {error}")))?;
        Ok(Mover { wake: Some(wake), fault, thread: Some(thread) })
    }

    /// One that has ended has left its fault.
    fn wake(&self) {
        let _ = self.wake.as_ref().map(|wake| wake.try_send(()));
    }

    fn fault(&self) -> Option<Fault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Mover {
    /// The writer closes last, and tidies the log away.
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn move_pages(connection: &Connection, wishes: &Receiver<()>) -> Result<()> {
    while wishes.recv().is_ok() {
        for _ in 0..PASSES {
            let log = log(connection, Mode::Passive)?;
            if log.moved == log.pages {
                break;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_is_moved_each_time_it_has_grown() {
        let mut checkpoint = Checkpoint::at(Path::new("none"));
        assert_eq!(checkpoint.due(PAGES - 1), None);
        assert_eq!(checkpoint.due(PAGES), Some(Mode::Passive));
        assert_eq!(checkpoint.due(40), None, "begun anew");
        assert_eq!(checkpoint.due(PAGES + 3), Some(Mode::Passive));
    }

    #[test]
    fn readers_are_waited_for_once_the_log_is_long_and_not_at_every_commit() {
        let mut checkpoint = Checkpoint::at(Path::new("none"));
        let dues =
            (1..=6 * PAGES).filter_map(|pages| checkpoint.due(pages).map(|mode| (pages / PAGES, mode)));
        let expected = [
            (1, Mode::Passive),
            (2, Mode::Passive),
            (3, Mode::Passive),
            (4, Mode::Restart),
            (5, Mode::Restart),
            (6, Mode::Restart),
        ];
        assert_eq!(dues.collect::<Vec<_>>(), expected);
    }
}
