//! Writing what was decided, all of it within the transaction that read.

mod entries;
mod events;
mod forgetting;
mod holdings;
mod lazy;
mod rows;
mod side_tables;

use model::{Submission, SubmissionId, Time};
use rusqlite::Connection;
use store::{Changes, Committed, IdMap, RowChange};

use crate::encode::Sheets;
use crate::error::Result;
use crate::hot::Warm;

/// The facts that writing needs beside the changes.
pub(crate) struct Circumstances {
    /// The latest time that is certain to have come.
    pub(crate) certain: Time,
    /// The position of the newest event of all.
    pub(crate) last_seq: u64,
    /// The newest event of each row that was taken.
    pub(crate) tips: IdMap<Tip>,
}

/// The newest event of a submission: its position and its revision.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tip {
    pub(crate) seq: u64,
    pub(crate) revision: u64,
}

impl Tip {
    /// Returns the tip of a row whose newest event is at this position; 0 before the first.
    pub(crate) fn of(row: &Submission, last_seq: u64) -> Self {
        match last_seq {
            0 => Tip::default(),
            seq => Tip { seq, revision: row.revision },
        }
    }
}

/// The entries of rows that are there already.
pub(crate) fn write_entries(connection: &Connection, changes: &Changes) -> Result<()> {
    entries::write(connection, changes)
}

/// The outcome of a commit, and the rows worth remembering.
pub(crate) struct Written {
    pub(crate) committed: Committed,
    /// Submissions whose row or newest event is another now.
    pub(crate) touched: Vec<SubmissionId>,
    pub(crate) hot: Vec<Warm>,
}

pub(crate) fn write(connection: &Connection, sheets: &Sheets, with: Circumstances) -> Result<Written> {
    let Circumstances { certain, last_seq, tips } = with;
    let changes = &sheets.changes;
    let mut newest = IdMap::with_capacity_and_hasher(changes.events.len(), Default::default());
    let mut committed = Committed::default();
    forgetting::erase_salts(connection, changes)?;
    if !(changes.acts.is_empty() && changes.events.is_empty()) {
        let written = changes.rows.iter().map(|RowChange { before, after }| {
            (after.id, events::Written { row: after, is_new: before.is_none() })
        });
        let written = written.collect();
        let mut log = events::Log { connection, written, tips: &tips, newest, last_seq };
        log.append_acts(&changes.acts)?;
        log.append(sheets)?;
        newest = log.newest;
        committed = Committed { first_seq: last_seq + 1, last_seq: log.last_seq };
    }
    forgetting::forget_rows(connection, changes)?;
    let hot = rows::write(connection, sheets, &mut newest, &tips)?;
    rows::link(connection, &newest)?;
    entries::write(connection, changes)?;
    side_tables::write(connection, changes, certain)?;
    forgetting::erase_documents(connection, changes)?;
    if let Some(before) = changes.retired_before {
        forgetting::retire_events(connection, before)?;
    }
    let rows = changes.rows.iter().map(|change| change.after.id);
    let gone = changes.forgotten.iter().map(|row| row.id);
    Ok(Written { committed, touched: rows.chain(gone).chain(newest.into_keys()).collect(), hot })
}
