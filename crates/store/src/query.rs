//! What can be asked of a store outside a transaction.

use std::collections::BTreeMap;

use model::event::Event;
use model::{Name, Status, Submission, SubmissionId, Time};

/// A filter over submissions and a page of it. Every condition given must hold.
#[derive(Debug, Clone, Default)]
pub struct Query {
    pub pipeline: Option<Name>,
    pub state: Option<Name>,
    pub status: Option<Status>,
    /// Finds the submission that holds the key: one that has not ended.
    pub key: Option<Name>,
    pub parent: Option<SubmissionId>,
    pub labels: BTreeMap<Name, Name>,
    /// Created earlier than this, not at it.
    pub created_before: Option<Time>,
    /// The last id of the page before.
    pub after: Option<SubmissionId>,
    /// How many rows are wanted. See [`Query::page_size`].
    pub limit: usize,
}

impl Query {
    /// How many rows a page has at most: what was asked for, brought between 1 and 1,000.
    #[must_use]
    pub fn page_size(&self) -> usize {
        self.limit.clamp(1, 1_000)
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    pub rows: Vec<Submission>,
    /// Whether more follow.
    pub more: bool,
}

/// An event at its position in the sequence of all.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    pub seq: u64,
    pub event: Event,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count {
    pub pipeline: Name,
    pub state: Name,
    pub status: Status,
    pub count: u64,
}
