//! Moving committed pages from the log into the database file.

use rusqlite::Connection;

use crate::error::Result;

/// How far the log grows before it is moved. Longer means fewer writes of the same page and rarer pauses; shorter
/// means shorter pauses and less to read after a crash. 4,000 pages are 32 MB.
const PAGES: i64 = 4_000;

/// When readers are waited for. They last milliseconds, but while each overlaps the next, the log cannot be begun anew
/// and would grow without end.
const PAGES_TO_WAIT: i64 = 4 * PAGES;

/// SQLite would do this by itself, but its own ignores every error on the way: a disk that fails would be noticed only
/// once the log has filled it.
#[derive(Debug, Default)]
pub(crate) struct Checkpoint {
    /// How long the log was at the last try. A try that a reader cut short is not repeated at every commit.
    tried_at: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Counts and moves nothing.
    Noop,
    /// Moves what no reader still needs from the log.
    Passive,
    /// Waits for readers, so that all is moved and the log begins anew.
    Restart,
}

impl Checkpoint {
    /// Called after every commit.
    pub(crate) fn run(&mut self, connection: &Connection) -> Result<()> {
        let pages = log_pages(connection, Mode::Noop)?;
        match self.due(pages) {
            Some(mode) => log_pages(connection, mode).map(drop),
            None => Ok(()),
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

/// Runs a checkpoint and answers how many pages the log has.
fn log_pages(connection: &Connection, mode: Mode) -> Result<i64> {
    let checkpoint = match mode {
        Mode::Noop => "PRAGMA wal_checkpoint(noop)",
        Mode::Passive => "PRAGMA wal_checkpoint(passive)",
        Mode::Restart => "PRAGMA wal_checkpoint(restart)",
    };
    Ok(connection.prepare_cached(checkpoint)?.query_row([], |row| row.get(1))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_is_moved_each_time_it_has_grown() {
        let mut checkpoint = Checkpoint::default();
        assert_eq!(checkpoint.due(PAGES - 1), None);
        assert_eq!(checkpoint.due(PAGES), Some(Mode::Passive));
        assert_eq!(checkpoint.due(40), None, "begun anew");
        assert_eq!(checkpoint.due(PAGES + 3), Some(Mode::Passive));
    }

    #[test]
    fn readers_are_waited_for_once_the_log_is_long_and_not_at_every_commit() {
        let mut checkpoint = Checkpoint::default();
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
