//! The store: the one place where something is kept.
//!
//! A store knows rows, documents, events and index entries. It knows no rule: what to write is decided by the function
//! `transact` calls between reading and committing, and that function is pure. So a store is narrow, every store does
//! the same, and one suite (`store-conformance`) says what "the same" is.

pub mod changes;
pub mod clock;
pub mod entries;
pub mod error;
pub mod inbox;
pub mod layer;
pub mod memory;
pub mod query;
pub mod take;
pub mod transfer;

pub use changes::{
    AnswerChange, Changes, Committed, DocumentChange, Owed, OwedId, OwedTo, RETIRED_MAX, Record,
    RegistryChange, RowChange, Tile,
};
pub use clock::{Clock, ManualClock};
pub use entries::{DeadKey, Entries, LateEntry, SlotEntry, TimerEntry};
pub use error::Error;
pub use inbox::{Arrival, INBOX_BYTES_MAX, Received};
pub use layer::Layer;
pub use memory::MemoryStore;
pub use query::{
    Count, FEED_SCAN_MAX, FIND_SCAN_MAX, Feed, FeedPage, Filling, Late, LeafPage, Line, Narrowed, Oldest,
    PAGE_BYTES_MAX, Page, Query, Recorded, Room,
};
pub use take::{
    IdMap, LaneKey, LaneView, LimitKey, OpenKey, READY_BYTES_MAX, Ready, RegistryKey, RequestKey, Stored,
    Take, Taken,
};

use model::{Documents, Json, Name, Submission, SubmissionId, Time};

/// The news for those who wait for something to happen.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Hint {
    /// The number of submissions that joined each task's queue.
    pub ready: std::collections::BTreeMap<Name, usize>,
    /// The position of the newest event.
    pub seq: Option<u64>,
}

/// The storage that the engine needs. Object-safe: one virtual call a batch costs nothing.
pub trait Store: Send + Sync + std::fmt::Debug {
    /// One transaction: reads what `take` names, calls `decide` exactly once with it, commits what it returns.
    ///
    /// When this returns `Ok`, everything in the changes is durable: it survives a crash of process and machine. On
    /// `Err` nothing was changed, except that `Error::Unavailable` with `outcome_unknown` and `Error::Corrupt` (a sync
    /// that failed) may have been committed whole. Nothing is ever committed in part. `decide` is not called when
    /// reading fails.
    fn transact(&self, take: &Take<'_>, decide: &mut dyn FnMut(Taken) -> Changes)
    -> Result<Committed, Error>;

    /// One submission with its documents.
    fn submission(&self, id: SubmissionId) -> Result<Option<(Submission, Documents)>, Error>;

    /// A page of rows, newest first, of [`PAGE_BYTES_MAX`] at most; [`Filling`] says when it ends.
    fn find(&self, query: &Query) -> Result<Page, Error>;

    /// A submission's events after a revision, oldest first: so many at most, of [`PAGE_BYTES_MAX`] at most. There are no
    /// more where there are none; a page that is short may be followed by another. See [`history_all`].
    fn history(&self, id: SubmissionId, after: u64, limit: usize) -> Result<Vec<Recorded>, Error>;

    /// Events after a position that fit a filter, in sequence. No later call shows an event at or before a position
    /// already read. Passes over at most `FEED_SCAN_MAX` events, so that a narrow filter never stalls, and shows as many
    /// bytes as [`Feed::room`] says.
    fn feed(&self, feed: &Feed) -> Result<FeedPage, Error>;

    /// The exact bytes of everything that has a position, acts and events, after one of them, in sequence and without
    /// gaps. What was once read at a position is there for ever, or retired.
    fn leaves(&self, after: u64, limit: usize) -> Result<LeafPage, Error>;

    /// One act, with its position.
    fn act(&self, series: SubmissionId, revision: u64) -> Result<Option<(u64, Vec<u8>)>, Error>;

    /// The hashes of one tile, as far as they are known.
    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, Error>;

    /// A lane's holder and at most `limit` of those in line.
    fn line(&self, lane: &LaneKey, limit: usize) -> Result<Line, Error>;

    /// Returns the number of submissions in each place, in no order; a place without any is not listed. The numbers
    /// are maintained by `transact`, never counted by scanning.
    fn counts(&self) -> Result<Vec<Count>, Error>;

    /// Returns the smallest id in each place with open submissions, in no order: one search a place.
    fn oldest(&self) -> Result<Vec<Oldest>, Error>;

    /// Returns the number of dead letters by place and error, in the order of their keys: so many at most, after one. The
    /// numbers are maintained by `transact`.
    fn dead(&self, after: Option<&DeadKey>, limit: usize) -> Result<Vec<(DeadKey, u64)>, Error>;

    /// Returns the taken slots of limits, in their order: so many at most, after one.
    fn slots(&self, after: Option<&SlotEntry>, limit: usize) -> Result<Vec<SlotEntry>, Error>;

    /// Returns the lanes of a pipeline that somebody is in line for, in the order of their bytes: so many at most, after one.
    fn lanes(&self, pipeline: &str, after: &str, limit: usize) -> Result<Vec<Name>, Error>;

    /// Returns the bytes that the store takes, where that is known without looking at what it holds.
    fn bytes(&self) -> Result<Option<u64>, Error> {
        Ok(None)
    }

    /// Returns when the last backup was made, as far as somebody said so.
    fn backed_up_at(&self) -> Result<Option<Time>, Error> {
        Ok(None)
    }

    /// Tells whether other servers may be at work over the same store.
    fn is_shared(&self) -> bool {
        false
    }

    /// Tells the other servers to look. A hint: it may get lost, and nobody waits for it.
    fn announce(&self, _hint: &Hint) {}

    /// Hears what other servers announce from now on.
    fn listen(&self, _heard: Box<dyn Fn(Hint) + Send + Sync>) {}

    /// A page of those that have missed a service level: by when they missed it, ties by id.
    fn late(&self, late: &Late) -> Result<Vec<Submission>, Error>;

    /// At most so many of the names that something is parked under, those after one, in the order of their bytes.
    fn parked(&self, after: &str, limit: usize) -> Result<Vec<Name>, Error>;

    /// A page of a registry: at most so many entries with names after one (`""`: from the first), in the order of
    /// their bytes.
    fn registry(&self, kind: &str, after: &str, limit: usize) -> Result<Vec<(String, Json)>, Error>;

    /// A page of a registry backwards: at most so many entries with names up to one, itself included ([`LAST_NAME`]: from
    /// the last), the last first.
    fn registry_back(&self, kind: &str, upto: &str, limit: usize) -> Result<Vec<(String, Json)>, Error>;
}

/// A name that no entry's comes after.
pub const LAST_NAME: &str = "\u{10FFFF}";

/// One entry of a registry by its name, without reading the others.
pub fn registry_entry(store: &dyn Store, kind: &str, name: &str) -> Result<Option<Json>, Error> {
    let nearest = store.registry_back(kind, name, 1)?.pop();
    Ok(nearest.filter(|(found, _)| found == name).map(|(_, body)| body))
}

/// The newest position that has been given: what `next` of a feed is for one that has read all of it.
pub fn newest(store: &dyn Store) -> Result<u64, Error> {
    Ok(store.feed(&Feed { after: u64::MAX, limit: 0, ..Feed::default() })?.newest)
}

/// All events of a submission that are there.
pub fn history_all(store: &dyn Store, id: SubmissionId) -> Result<Vec<Recorded>, Error> {
    const PAGE: usize = 1_000;
    let mut all: Vec<Recorded> = Vec::new();
    loop {
        let after = all.last().map_or(0, |last| last.event.leaf.revision);
        let page = store.history(id, after, PAGE)?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// All entries of a registry that is known to be small, by name.
pub fn registry_all(store: &dyn Store, kind: &str) -> Result<Vec<(String, Json)>, Error> {
    const PAGE: usize = 1_000;
    let mut all: Vec<(String, Json)> = Vec::new();
    loop {
        let after = all.last().map_or("", |(name, _)| name);
        let page = store.registry(kind, after, PAGE)?;
        let last = page.len() < PAGE;
        all.extend(page);
        if last {
            return Ok(all);
        }
    }
}
