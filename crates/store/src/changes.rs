//! The changes that a transaction commits.

use std::sync::Arc;

use model::event::Event;
use model::{Json, Name, Submission, SubmissionId, Time};
use serde::{Deserialize, Serialize};

use crate::inbox::Received;
use crate::take::{LaneKey, OpenKey, RegistryKey, RequestKey};

#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// Each row at most once, forgotten ones included. Keys, lanes and slots are looked at once all are written: one
    /// may pass from row to row in a commit.
    pub rows: Vec<RowChange>,
    /// Get the next positions of the sequence, before the events of the commit.
    pub acts: Vec<Record>,
    /// In the order they happened; they get the next positions of the sequence in this order.
    pub events: Vec<Event>,
    pub documents: Vec<DocumentChange>,
    pub answers: Vec<AnswerChange>,
    /// Effects on other submissions, for whoever pulls them. One that is owed already stays as it was.
    pub owed: Vec<Owed>,
    /// Owed rows this commit has applied. One that is gone already is no fault.
    pub paid: Vec<OwedId>,
    /// Put into the inbox. One that is there already stays as it was.
    pub received: Vec<Received>,
    /// Taken out of the inbox: this commit has decided them. One that is gone already is a conflict, because somebody
    /// else has.
    pub decided: Vec<SubmissionId>,
    /// An entry that was taken must still be as it was taken.
    pub registry: Vec<RegistryChange>,
    /// Entries of the registry that must still be as they were taken, though nothing is written to them. Whoever
    /// changes one next sees what this commit wrote.
    pub relies_on: Vec<RegistryKey>,
    /// Tiles of the log's hashes. One that is there already is replaced by a longer one and by nothing else.
    pub tiles: Vec<Tile>,
    /// Submissions whose documents are erased, those of this commit included, and what the digests of payloads and
    /// outputs were salted with in the events before this commit. Events stay; so does the row.
    pub erased: Vec<SubmissionId>,
    /// Rows removed for good, with their documents and entries, as they were taken: the store checks that
    /// `row_version` still stands. Events stay.
    pub forgotten: Vec<Submission>,
    /// Events before this position are let go: the past is retired, oldest first, at most `RETIRED_MAX` events a
    /// commit. `FeedPage::oldest` says how far it came; the rest goes when it is asked for again.
    pub retired_before: Option<u64>,
}

/// The number of events that one commit retires at most.
pub const RETIRED_MAX: u64 = 5_000;

impl Changes {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
            && self.acts.is_empty()
            && self.events.is_empty()
            && self.tiles.is_empty()
            && self.documents.is_empty()
            && self.answers.is_empty()
            && self.owed.is_empty()
            && self.paid.is_empty()
            && self.received.is_empty()
            && self.decided.is_empty()
            && self.registry.is_empty()
            && self.erased.is_empty()
            && self.forgotten.is_empty()
            && self.retired_before.is_none()
    }
}

/// A row as it was taken and as it shall be. The store checks that `before.row_version` still stands and writes
/// `before.row_version + 1` (1 for a new row); what `after.row_version` says is not looked at.
#[derive(Debug, Clone)]
pub struct RowChange {
    /// `None`: a new row.
    pub before: Option<Arc<Submission>>,
    pub after: Arc<Submission>,
}

impl RowChange {
    #[must_use]
    pub fn insert(row: impl Into<Arc<Submission>>) -> Self {
        RowChange { before: None, after: row.into() }
    }

    #[must_use]
    pub fn update(before: impl Into<Arc<Submission>>, after: impl Into<Arc<Submission>>) -> Self {
        RowChange { before: Some(before.into()), after: after.into() }
    }
}

/// An entry of the sequence that is no submission's event: what was done to the rules or to the log. No feed and no
/// history shows it; it is read by [`crate::Store::leaves`] and [`crate::Store::act`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The series that the act belongs to: never the id of a submission.
    pub series: SubmissionId,
    /// Goes up within the series.
    pub revision: u64,
    /// The exact bytes.
    pub leaf: Vec<u8>,
}

/// Hashes of the log's tree: up to 256 of them, 32 bytes each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    pub level: u8,
    pub index: u64,
    pub hashes: Vec<u8>,
}

/// A document set or replaced. Names are the model's: a store does not read them.
#[derive(Debug, Clone)]
pub struct DocumentChange {
    pub submission: SubmissionId,
    pub name: String,
    pub body: Json,
}

/// An answer kept for a repeat of its request, until it expires. It replaces one given before.
#[derive(Debug, Clone)]
pub struct AnswerChange {
    pub key: RequestKey,
    pub body: Json,
    pub expires_at: Time,
}

/// Named by its cause, so that the same cause never owes the same thing twice.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwedId {
    pub submission: SubmissionId,
    pub revision: u64,
    /// Tells apart what one revision owes. Stores keep 63 bits of it.
    pub no: u64,
}

impl OwedId {
    /// Names a row's debt: the `count`-th of the write that makes the row's version `row_version`, counted from zero.
    ///
    /// A turn in a queue has no revision of its own, so one revision may have many writes, and each of them any number of
    /// debts. The lowest 31 bits hold eight bits of the count and 23 of the version; what does not fit there stands above
    /// them, so no two debts share an id, and one in a usual number of debts is read by servers that know 32 bits.
    #[must_use]
    pub fn of_row(submission: SubmissionId, revision: u64, row_version: u64, count: u64) -> Self {
        let low = (row_version & 0x7F_FFFF) << 8 | count & 0xFF;
        let high = (row_version >> 23 & 0x7FFF) << 16 | count >> 8 & 0xFFFF;
        OwedId { submission, revision, no: high << 32 | low }
    }
}

/// An effect on another submission, written in the commit that causes it and applied once, as a command of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Owed {
    pub id: OwedId,
    /// The submissions the effect concerns: taking the owed row takes them, too.
    pub to: OwedTo,
    pub body: Json,
}

/// The submissions that an owed row concerns.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwedTo {
    Submission(SubmissionId),
    /// Whoever waits longest for a key.
    Key(OpenKey),
    /// Whoever is first in line of a lane.
    Lane(LaneKey),
    /// Whatever a hold parked.
    Parked(Name),
    /// The first of what a limit parked.
    FirstParked(Name),
}

#[derive(Debug, Clone)]
pub struct RegistryChange {
    pub key: RegistryKey,
    /// `None`: removed.
    pub body: Option<Json>,
}

/// The positions that a commit was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Committed {
    /// The position of its first act or event; 0 when it had none.
    pub first_seq: u64,
    /// The position of its last one; 0 when it had none.
    pub last_seq: u64,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_debts_of_a_row_share_an_id() {
        let versions = [0, 1, 2, 3, 255, 256, (1 << 23) - 1, 1 << 23, (1 << 23) + 1, (1 << 38) - 1];
        let counts = (0..1_030).chain([65_535, 65_536, (1 << 24) - 1]);
        let pairs: Vec<_> = counts.flat_map(|count| versions.map(|version| (version, count))).collect();
        let ids: BTreeSet<_> = pairs
            .iter()
            .map(|(version, count)| OwedId::of_row(SubmissionId::NIL, 1, *version, *count))
            .collect();
        assert_eq!(ids.len(), pairs.len());
        assert!(ids.iter().all(|id| i64::try_from(id.no).is_ok()), "stores keep 63 bits");
    }

    #[test]
    fn usual_debts_have_the_ids_that_they_always_had() {
        assert_eq!(OwedId::of_row(SubmissionId::NIL, 1, 7, 3).no, 7 << 8 | 3);
        assert_eq!(OwedId::of_row(SubmissionId::NIL, 1, (1 << 23) - 1, 255).no, (1 << 31) - 1);
    }
}
