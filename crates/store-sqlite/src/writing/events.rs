//! Appending events, each linked to the one before it of the same submission.

use model::{Name, Submission, SubmissionId};
use rusqlite::Connection;
use store::{IdMap, Record};

use super::Tip;
use crate::codec::{labels_text, signed};
use crate::encode::Sheets;
use crate::error::{Fault, Result};
use crate::rows::Rows;
use crate::sql;

/// A row of this commit, as it will be.
pub(super) struct Written<'c> {
    pub(super) row: &'c Submission,
    pub(super) is_new: bool,
}

pub(super) struct Log<'c, 't> {
    pub(super) connection: &'c Connection,
    /// The rows of this commit, as they will be.
    pub(super) written: IdMap<Written<'c>>,
    /// The newest event of each row that was taken.
    pub(super) tips: &'t IdMap<Tip>,
    /// The newest event of each submission that got one.
    pub(super) newest: IdMap<Tip>,
    pub(super) last_seq: u64,
}

impl Log<'_, '_> {
    /// Acts have no detail, no state, and nothing feeds filter by.
    pub(super) fn append_acts(&mut self, acts: &[Record]) -> Result<()> {
        let mut rows = Rows::new(self.connection)?;
        let mut insert = self.connection.prepare_cached(sql::EVENT_INSERT)?;
        for Record { series, revision, leaf } in acts {
            let tip = self.follow(&mut rows, *series, *revision)?;
            let (none, empty): (Option<&str>, &[u8]) = (None, &[]);
            let (seq, prev) = (signed(self.last_seq), signed(tip.seq));
            insert.execute((seq, prev, signed(*revision), none, "", none, leaf, empty))?;
        }
        Ok(())
    }

    /// Takes the next position for an entry of a submission or series, and returns the newest entry before.
    fn follow(&mut self, rows: &mut Rows<'_>, id: SubmissionId, revision: u64) -> Result<Tip> {
        let is_new = || self.written.get(&id).is_some_and(|written| written.is_new);
        let tip = match self.newest.get(&id).or_else(|| self.tips.get(&id)) {
            Some(tip) => *tip,
            None if is_new() => rows.tip_without_row(id)?,
            None => rows.tip(id)?,
        };
        // Versions fence revisions, so this means that rows and events have parted.
        if revision <= tip.revision {
            return Err(Fault::corrupt(format!("submission {id} has two events of revision {revision}")));
        }
        self.last_seq += 1;
        self.newest.insert(id, Tip { seq: self.last_seq, revision });
        Ok(tip)
    }

    pub(super) fn append(&mut self, sheets: &Sheets) -> Result<()> {
        let mut rows = Rows::new(self.connection)?;
        let mut insert = self.connection.prepare_cached(sql::EVENT_INSERT)?;
        for (no, event) in sheets.changes.events.iter().enumerate() {
            let (id, revision) = (event.leaf.submission, event.leaf.revision);
            let tip = self.follow(&mut rows, id, revision)?;
            let (leaf, detail) = (event.leaf_bytes(), sheets.detail(no).as_bytes());
            let (pipeline, labels) = match self.written.get(&id) {
                Some(written) => about(written.row),
                // Most often it has no row.
                None => {
                    rows.get(id)?.map_or((event.unborn_pipeline().cloned(), None), |found| about(&found.row))
                }
            };
            let (seq, prev) = (signed(self.last_seq), signed(tip.seq));
            let state = &event.leaf.to;
            insert.execute((seq, prev, signed(revision), pipeline, state, labels, &*leaf, detail))?;
        }
        Ok(())
    }
}

/// Returns the pipeline and the labels, by which feeds filter and which the event does not have.
fn about(row: &Submission) -> (Option<Name>, Option<String>) {
    (Some(row.pipeline.clone()), labels_text(&row.labels))
}
