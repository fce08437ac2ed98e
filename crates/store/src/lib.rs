//! The store: the one place where something is kept.
//!
//! A store knows rows, documents, events and index entries. It knows no rule: what to write is decided by the function
//! `transact` calls between reading and committing, and that function is pure. So a store is narrow, every store does
//! the same, and one suite (`conformance`) says what "the same" is.

pub mod changes;
pub mod conformance;
pub mod entries;
pub mod error;
pub mod memory;
pub mod query;
pub mod take;

pub use changes::{
    AnswerChange, Changes, Committed, DocumentChange, Owed, OwedId, OwedTo, RETIRED_MAX, RegistryChange,
    RowChange,
};
pub use entries::Entries;
pub use error::Error;
pub use memory::MemoryStore;
pub use query::{Count, FEED_SCAN_MAX, Feed, FeedPage, Line, Page, Query, Recorded};
pub use take::{
    LaneKey, LaneView, OpenKey, PARKED_MAX, READY_BYTES_MAX, Ready, RegistryKey, RequestKey, Stored, Take,
    Taken,
};

use model::{Documents, Json, Submission, SubmissionId, Time};

/// Where a store on one machine gets its time from. Never goes back.
pub trait Clock: Send + Sync + std::fmt::Debug {
    fn now(&self) -> Time;
}

/// What the engine needs kept. Object-safe: one virtual call a batch costs nothing.
pub trait Store: Send + Sync + std::fmt::Debug {
    /// One transaction: reads what `take` names, calls `decide` exactly once with it, commits what it returns.
    ///
    /// When this returns `Ok`, everything in the changes is durable: it survives a crash of process and machine. On
    /// `Err` nothing was changed, except that `Error::Unavailable` with `outcome_unknown` may have been committed
    /// whole. Nothing is ever committed in part. `decide` is not called when reading fails.
    fn transact(&self, take: &Take<'_>, decide: &mut dyn FnMut(Taken) -> Changes)
    -> Result<Committed, Error>;

    /// One submission with its documents.
    fn submission(&self, id: SubmissionId) -> Result<Option<(Submission, Documents)>, Error>;

    /// A page of rows, newest first.
    fn find(&self, query: &Query) -> Result<Page, Error>;

    /// A submission's events after a revision, oldest first.
    fn history(&self, id: SubmissionId, after: u64, limit: usize) -> Result<Vec<Recorded>, Error>;

    /// Events after a position that fit a filter, in sequence. No later call shows an event at or before a position
    /// already read. Passes over at most `FEED_SCAN_MAX` events, so that a narrow filter never stalls.
    fn feed(&self, feed: &Feed) -> Result<FeedPage, Error>;

    /// A lane's holder and at most `limit` of those in line.
    fn line(&self, lane: &LaneKey, limit: usize) -> Result<Line, Error>;

    /// How many submissions are where, in no order; a place without any is not listed. Maintained by `transact`,
    /// never counted by scanning.
    fn counts(&self) -> Result<Vec<Count>, Error>;

    /// The entries of a registry, by name.
    fn registry(&self, kind: &str) -> Result<Vec<(String, Json)>, Error>;
}
