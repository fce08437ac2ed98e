//! Questions that a store answers outside a transaction.

use std::collections::BTreeMap;

use model::event::Event;
use model::submission::Fingerprint;
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
    /// Finds all that have the key: its holder, those that wait for it, those that ended with it.
    pub key: Option<Name>,
    /// Finds the submission that holds the key: one that has not ended.
    pub held_key: Option<Name>,
    pub parent: Option<SubmissionId>,
    /// The lane that a submission holds or is in line for.
    pub lane: Option<Name>,
    pub labels: BTreeMap<Name, Name>,
    /// Created earlier than this, not at it.
    pub created_before: Option<Time>,
    /// Created at this or later.
    pub created_after: Option<Time>,
    /// The least and the greatest id there may be.
    pub ids: Option<(SubmissionId, SubmissionId)>,
    /// Conditions that no list is kept for: looked at row by row.
    pub narrowed: Narrowed,
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
            || self.narrowed.worker.is_some()
    }

    /// Tells whether rows that the query asks for may be in this place.
    #[must_use]
    pub fn covers(&self, place: &Place) -> bool {
        self.pipeline.as_ref().is_none_or(|pipeline| *pipeline == place.pipeline)
            && self.state.as_ref().is_none_or(|state| *state == place.state)
            && self.status.is_none_or(|status| status == place.status)
            && (self.investigation.is_none() || self.investigation == place.investigation)
            // Only what is open is leased.
            && (self.narrowed.worker.is_none() || place.status == Status::Open)
    }

    /// Returns the greatest id that may be on the page; none if there can be none. Ids begin with the milliseconds of
    /// their making, so every bound of time is one of ids, too.
    #[must_use]
    pub fn greatest(&self) -> Option<SubmissionId> {
        let before = |id: u128| id.checked_sub(1);
        let after = self.after.map_or(Some(u128::MAX), |id| before(id.0.as_u128()));
        let created = self.created_before.map_or(Some(u128::MAX), |time| before(first_id(time)?));
        // Nothing has been in a state for longer than it exists.
        let entered = self.narrowed.entered_before.map_or(Some(u128::MAX), |time| before(first_id(time)?));
        let given = self.ids.map_or(u128::MAX, |(_, greatest)| greatest.0.as_u128());
        Some(SubmissionId(uuid::Uuid::from_u128(after?.min(created?).min(entered?).min(given))))
    }

    /// Returns the least id that may be on a page.
    #[must_use]
    pub fn least(&self) -> SubmissionId {
        let created = self.created_after.and_then(first_id).unwrap_or(0);
        let given = self.ids.map_or(0, |(least, _)| least.0.as_u128());
        SubmissionId(uuid::Uuid::from_u128(created.max(given)))
    }

    /// Returns the number of rows a page has at most: `limit`, brought between 1 and 1,000.
    #[must_use]
    pub fn page_size(&self) -> usize {
        page_size(self.limit)
    }

    /// Returns the number of rows a page looks at at most.
    #[must_use]
    pub fn scan_max(&self) -> usize {
        if self.narrowed.is_none() { self.page_size() } else { FIND_SCAN_MAX }
    }
}

/// Conditions that rows are tried on one by one, because no list is kept for them.
///
/// A list for each would be written at every move or claim. So a page passes over no more than [`FIND_SCAN_MAX`] rows that
/// fit otherwise, and says how far it came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Narrowed {
    /// In its state since before this time, not since it.
    pub entered_before: Option<Time>,
    /// The code of its last error.
    pub error: Option<Name>,
    /// The fingerprint of its last error.
    pub fingerprint: Option<Fingerprint>,
    /// Leased to this worker.
    pub worker: Option<Name>,
}

impl Narrowed {
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Narrowed::default()
    }

    /// Tells whether a row fits every condition.
    #[must_use]
    pub fn fits(&self, row: &Submission) -> bool {
        self.entered_before.is_none_or(|before| row.entered_at < before)
            && self
                .error
                .as_ref()
                .is_none_or(|code| row.error.as_ref().is_some_and(|error| error.code == *code))
            && self
                .fingerprint
                .is_none_or(|wanted| row.error.as_ref().is_some_and(|error| error.fingerprint() == wanted))
            && self
                .worker
                .as_ref()
                .is_none_or(|worker| row.lease().is_some_and(|lease| lease.worker == *worker))
    }
}

/// The number of rows that a page passes over at most where it is narrowed.
pub const FIND_SCAN_MAX: usize = 2_000;

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

/// Returns the least id that is made at a time; none before there were any.
fn first_id(time: Time) -> Option<u128> {
    u128::try_from(time.millis()).ok().map(|millis| millis.saturating_mul(1 << 80))
}

fn page_size(wanted: usize) -> usize {
    wanted.clamp(1, 1_000)
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    pub rows: Vec<Submission>,
    /// True if more rows follow, or may: a narrowed page ends where it has passed over enough.
    pub more: bool,
    /// The last row that was looked at.
    pub last: Option<SubmissionId>,
}

impl Page {
    /// Returns the place that the next page begins after; none if there is none.
    #[must_use]
    pub fn next(&self) -> Option<SubmissionId> {
        self.last.filter(|_| self.more)
    }
}

/// A page under construction: what is on it, and whether it is full.
#[derive(Debug)]
pub struct Filling<'q> {
    query: &'q Query,
    page: Page,
    room: Room,
    seen: usize,
}

impl<'q> Filling<'q> {
    #[must_use]
    pub fn new(query: &'q Query) -> Self {
        Filling { query, page: Page::default(), room: Room::default(), seen: 0 }
    }

    /// Tells whether no other row is looked at.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.page.rows.len() == self.query.page_size()
            || self.seen == self.query.scan_max()
            || !self.room.is_left()
    }

    /// Tells whether the page has reached its bound of bytes.
    #[must_use]
    pub fn is_out_of_room(&self) -> bool {
        !self.room.is_left()
    }

    /// Looks at the next row that every list has, of so many bytes as it is stored.
    pub fn look(&mut self, row: Submission, bytes: usize) {
        self.room.take(bytes);
        self.seen += 1;
        self.page.last = Some(row.id);
        if self.query.narrowed.fits(&row) {
            self.page.rows.push(row);
        }
    }

    /// Ends the page. `more`: another row follows in the lists.
    #[must_use]
    pub fn page(self, more: bool) -> Page {
        Page { more, ..self.page }
    }
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
