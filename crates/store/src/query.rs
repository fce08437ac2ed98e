//! Questions that a store answers outside a transaction.

use std::collections::BTreeMap;

use model::event::Event;
use model::{InvestigationStatus, Name, Status, Submission, SubmissionId, Time};

use crate::entries::Place;

/// A filter over submissions and a page of it. Every condition given must hold.
#[derive(Debug, Clone, Default)]
pub struct Query {
    pub pipeline: Option<Name>,
    pub state: Option<Name>,
    pub status: Option<Status>,
    /// The progress of the investigation of the submission's end.
    pub investigation: Option<InvestigationStatus>,
    /// Finds the submission that holds the key: one that has not ended.
    pub key: Option<Name>,
    pub parent: Option<SubmissionId>,
    /// The lane that a submission holds or is in line for.
    pub lane: Option<Name>,
    pub labels: BTreeMap<Name, Name>,
    /// Created earlier than this, not at it.
    pub created_before: Option<Time>,
    /// The last id of the page before.
    pub after: Option<SubmissionId>,
    /// The number of rows wanted. See [`Query::page_size`].
    pub limit: usize,
}

impl Query {
    /// Tells whether the query asks for places: lists that rows are kept in.
    #[must_use]
    pub fn is_placed(&self) -> bool {
        self.pipeline.is_some()
            || self.state.is_some()
            || self.status.is_some()
            || self.investigation.is_some()
    }

    /// Tells whether rows that the query asks for may be in this place.
    #[must_use]
    pub fn covers(&self, place: &Place) -> bool {
        self.pipeline.as_ref().is_none_or(|pipeline| *pipeline == place.pipeline)
            && self.state.as_ref().is_none_or(|state| *state == place.state)
            && self.status.is_none_or(|status| status == place.status)
            && (self.investigation.is_none() || self.investigation == place.investigation)
    }

    /// Returns the number of rows a page has at most: `limit`, brought between 1 and 1,000.
    #[must_use]
    pub fn page_size(&self) -> usize {
        page_size(self.limit)
    }
}

/// The bound on a page of rows or events, in bytes as stored. A page ends with the row or event that reaches the
/// bound: so one is always there, and a page may have fewer than were wanted without being the last.
pub const PAGE_BYTES_MAX: usize = 4 << 20;

/// The bytes that a page has left.
#[derive(Debug, Clone, Copy)]
pub struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Room(PAGE_BYTES_MAX)
    }
}

impl Room {
    /// Makes room for a page of fewer bytes than the longest.
    #[must_use]
    pub fn of(bytes: usize) -> Room {
        Room(bytes)
    }

    /// Tells whether another one may follow.
    #[must_use]
    pub fn is_left(self) -> bool {
        self.0 > 0
    }

    pub fn take(&mut self, bytes: usize) {
        self.0 = self.0.saturating_sub(bytes);
    }

    /// The number of bytes left.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.0
    }
}

fn page_size(wanted: usize) -> usize {
    wanted.clamp(1, 1_000)
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    pub rows: Vec<Submission>,
    /// True if more rows follow.
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
    /// The progress of the investigation of these ends, where there is one.
    pub investigation: Option<InvestigationStatus>,
    pub count: u64,
}

impl Count {
    #[must_use]
    pub fn place(&self) -> Place {
        let Count { pipeline, state, status, investigation, .. } = self.clone();
        Place { pipeline, state, status, investigation }
    }

    /// The same submissions by pipeline, state and status alone, in that order.
    #[must_use]
    pub fn by_status(counts: &[Count]) -> Vec<Count> {
        let mut sums: BTreeMap<(&Name, &Name, Status), u64> = BTreeMap::new();
        for Count { pipeline, state, status, count, .. } in counts {
            *sums.entry((pipeline, state, *status)).or_default() += count;
        }
        let count = |((pipeline, state, status), count): ((&Name, &Name, Status), u64)| Count {
            pipeline: pipeline.clone(),
            state: state.clone(),
            status,
            investigation: None,
            count,
        };
        sums.into_iter().map(count).collect()
    }
}

/// The oldest submission that is open in a state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Oldest {
    pub pipeline: Name,
    pub state: Name,
    pub id: SubmissionId,
}

/// The events a reader wants. Every condition given must hold.
#[derive(Debug, Clone, Default)]
pub struct Feed {
    /// The position read so far.
    pub after: u64,
    /// The pipeline of the submission.
    pub pipeline: Option<Name>,
    /// The state the event leads to.
    pub state: Option<Name>,
    /// Labels of the submission, as of the event: as the commit left them that recorded it. An event of a submission
    /// without a row has no labels, and no pipeline unless it names one itself.
    pub labels: BTreeMap<Name, Name>,
    pub limit: usize,
    /// The bytes after which the page ends, where they are fewer than [`PAGE_BYTES_MAX`].
    pub bytes_max: Option<usize>,
}

impl Feed {
    /// The room of its page.
    #[must_use]
    pub fn room(&self) -> Room {
        Room(self.bytes_max.map_or(PAGE_BYTES_MAX, |bytes| bytes.clamp(1, PAGE_BYTES_MAX)))
    }
}

/// The number of events that one read of a feed passes over before it says how far it came.
pub const FEED_SCAN_MAX: u64 = 10_000;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct FeedPage {
    pub events: Vec<Recorded>,
    /// The position to go on from: that of the last event looked at, also where the event did not fit the filter;
    /// the position that was asked for, if none was looked at.
    pub next: u64,
    /// The oldest position still there; where none is, the next one to come. A reader that was before it has missed
    /// something.
    pub oldest: u64,
    /// The newest position, of acts and events alike; 0 where none was ever given. Only what comes later is beyond it.
    pub newest: u64,
}

/// Leaves, one position after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeafPage {
    /// The position of the first: the one asked for, or the oldest still there.
    pub first: u64,
    pub leaves: Vec<Vec<u8>>,
}

/// A lane's holder and those in line, first first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pub holder: Option<SubmissionId>,
    pub waiting: Vec<SubmissionId>,
}

/// The submissions of a pipeline that have missed a service level, the longest ago first; or one of the lists of what waits
/// for people ([`crate::entries::ReviewList`]), the first due first.
#[derive(Debug, Clone)]
pub struct Late {
    /// The pipeline, or the name of the list.
    pub pipeline: Name,
    /// Missed at this time or before.
    pub until: Time,
    /// The last of the page before: when it was missed, and by whom.
    pub after: Option<(Time, SubmissionId)>,
    /// The number of rows wanted. See [`Late::page_size`].
    pub limit: usize,
}

impl Late {
    /// Returns the number of rows a page has at most, as [`Query::page_size`] does.
    #[must_use]
    pub fn page_size(&self) -> usize {
        page_size(self.limit)
    }
}
