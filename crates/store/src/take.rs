//! Everything that a transaction reads before it decides.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use model::{Documents, Json, Name, Submission, SubmissionId, Time};

use crate::changes::Owed;
use crate::inbox::{Arrival, Received};

/// Everything a batch needs, named up front, so that deciding needs no I/O.
pub struct Take<'a> {
    /// Submissions by id. Those that do not exist are simply absent from what is taken.
    pub ids: Vec<SubmissionId>,
    /// Keys whose open holders are wanted, rows included.
    pub keys: Vec<OpenKey>,
    /// Answers already given to these requests.
    pub requests: Vec<RequestKey>,
    /// Submissions waiting for a worker, lowest rank first, ties by id. No row is handed to two of these.
    pub ready: Vec<Ready>,
    /// At most so many submissions whose timer has come (at the time itself, too), earliest first, ties by id.
    pub due: usize,
    /// The same of those that have ended and whose time to be erased or forgotten has come.
    pub idle: usize,
    /// At most so many owed rows, oldest first.
    pub owed: usize,
    /// At most so many of what a hold parked, for each owed row that names one.
    pub parked: usize,
    /// At most so much of the inbox, smallest id first.
    pub inbox: usize,
    pub registry: Vec<RegistryKey>,
    /// Lanes whose holder and first in line are wanted, rows included.
    pub lanes: Vec<LaneKey>,
    /// Tells whether a row's documents are wanted. Ready rows always come with theirs: they go to a worker.
    pub documents: &'a dyn Fn(&Submission) -> bool,
    /// Once so many bytes of documents have been read, those of ready rows included, all others come without theirs.
    pub room: usize,
    /// Tells whether a row that holds its lane may leave it in this commit. Then the next in line is wanted.
    pub leaves_lane: &'a dyn Fn(&Submission) -> bool,
    /// The limits a ready row counts under once it is leased.
    pub limits: &'a dyn Fn(&Submission) -> Vec<LimitKey>,
    /// Tells where each of the inbox would stand: its key and its lane are looked at as if they had been asked for. Asked of all
    /// of them before `documents` is asked of anybody.
    pub arrival: &'a dyn Fn(&Received) -> Arrival,
    /// Returns the latest time that is certain to have come when the store's clock tells a time. Answers are let go by it: a clock
    /// that is wrong must not make a request count twice.
    pub certain: &'a dyn Fn(Time) -> Time,
}

impl std::fmt::Debug for Take<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Take").field("ids", &self.ids).field("keys", &self.keys).finish_non_exhaustive()
    }
}

impl Take<'_> {
    /// Takes nothing but the time.
    #[must_use]
    pub fn nothing() -> Take<'static> {
        Take {
            ids: Vec::new(),
            keys: Vec::new(),
            requests: Vec::new(),
            ready: Vec::new(),
            due: 0,
            idle: 0,
            owed: 0,
            parked: 0,
            inbox: 0,
            registry: Vec::new(),
            lanes: Vec::new(),
            documents: &|_| true,
            room: usize::MAX,
            leaves_lane: &|_| false,
            limits: &|_| Vec::new(),
            arrival: &|_| Arrival::default(),
            certain: &|now| now,
        }
    }
}

/// A key is unique among the submissions of a pipeline that have not ended.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OpenKey {
    pub pipeline: Name,
    pub key: Name,
}

/// A lane has one holder at a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LaneKey {
    pub pipeline: Name,
    pub lane: Name,
}

/// A limit bounds how many submissions of a pipeline that share a label's value are leased at once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LimitKey {
    pub pipeline: Name,
    pub label: Name,
    pub value: Name,
}

/// The holder of a lane, and the next: the smallest (created_at, tie, id) of those in line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LaneView {
    pub holder: Option<SubmissionId>,
    pub first: Option<SubmissionId>,
}

/// An `Idempotency-Key` as used by one subject on one route.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey {
    pub subject: Name,
    pub route: Name,
    pub key: Name,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegistryKey {
    pub kind: String,
    /// Never empty: pages begin after the empty name.
    pub name: String,
}

/// The waiting submissions that are wanted, and their number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    pub tasks: Vec<Name>,
    /// Empty: of any pipeline.
    pub pipelines: Vec<Name>,
    /// All of these label values.
    pub labels: BTreeMap<Name, Name>,
    pub max: usize,
}

/// Tells whether a submission is of what a claim names: of any pipeline where none is named, and with all of the label
/// values.
#[must_use]
pub fn is_wanted(pipelines: &[Name], labels: &BTreeMap<Name, Name>, row: &Submission) -> bool {
    (pipelines.is_empty() || pipelines.contains(&row.pipeline))
        && labels.iter().all(|(label, value)| row.labels.get(label) == Some(value))
}

/// A row with its documents, where they were wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    pub row: Arc<Submission>,
    /// `None`: not asked for, or there was no room.
    pub documents: Option<Documents>,
}

/// A map from the id of each submission of a batch to what the batch has of it.
pub type IdMap<V> = HashMap<SubmissionId, V, foldhash::fast::RandomState>;

/// A take reads no more documents of ready rows once it has this much of them: a thousand may bring a megabyte each.
pub const READY_BYTES_MAX: usize = 8 << 20;

/// The result of a take, as of one instant.
#[derive(Debug, PartialEq)]
pub struct Taken {
    pub now: Time,
    /// Every row any part of the take named, by id: by id itself, as ready, due or idle, as the id something of the
    /// inbox was promised, or by an owed row (a submission, or what a hold or limit parked). And those that the maps below name for them, which bring nobody
    /// else along.
    pub rows: IdMap<Stored>,
    /// True if there was no room for documents that were wanted.
    pub crowded: bool,
    /// The ids asked for, or promised by the inbox, that have no row and had events once, retired or not. They were
    /// forgotten, or never became a submission; either way they do not begin anew.
    pub gone: HashSet<SubmissionId>,
    /// The holders of the keys asked for, of the keys owed rows name, and of the keys of named rows that do not hold
    /// theirs (they ended, or wait for it). Rows included.
    pub holders: HashMap<OpenKey, SubmissionId>,
    /// The longest waiting submission (smallest id) for each key that owed rows name. Rows included.
    pub waiters: HashMap<OpenKey, SubmissionId>,
    /// The lanes asked for, the lanes owed rows name, and the lanes of named rows that do not hold theirs. Rows
    /// included, an entry for each even where nobody is there.
    pub lanes: HashMap<LaneKey, LaneView>,
    /// The first in line of each lane whose holder was asked for by id and may leave the lane. Rows included, an
    /// entry for each even where nobody is there. A store that others write to has none: they may have changed the
    /// line by the time this is committed.
    pub successors: HashMap<LaneKey, Option<SubmissionId>>,
    /// The submissions parked by each hold or limit that owed rows name, smallest id first: as many as were asked for
    /// (one, where only the first is owed something). Rows included, an entry for each even where nothing is parked.
    pub parked: HashMap<Name, Vec<SubmissionId>>,
    /// The taken slots of each limit of ready rows, an entry for each even where none is taken.
    pub slots: HashMap<LimitKey, BTreeSet<u32>>,
    pub answers: HashMap<RequestKey, Json>,
    /// One list for each `Ready`, in its order. Shorter than asked for where the documents of the rows before were
    /// `READY_BYTES_MAX` or more: the rest is there for the next take.
    pub ready: Vec<Vec<SubmissionId>>,
    pub due: Vec<SubmissionId>,
    pub idle: Vec<SubmissionId>,
    pub owed: Vec<Owed>,
    /// Fewer than asked for where their payloads are `INBOX_BYTES_MAX` or more: the rest is there for the next take.
    pub inbox: Vec<Received>,
    pub registry: HashMap<RegistryKey, Json>,
    /// The earliest timer that was not taken, of those that have not ended.
    pub next_timer: Option<Time>,
    /// The same of those that have.
    pub next_idle: Option<Time>,
}

/// Nothing, at no particular time: what a store fills in.
impl Default for Taken {
    fn default() -> Self {
        Taken {
            now: Time::EPOCH,
            rows: IdMap::default(),
            crowded: false,
            gone: HashSet::new(),
            holders: HashMap::new(),
            waiters: HashMap::new(),
            lanes: HashMap::new(),
            successors: HashMap::new(),
            parked: HashMap::new(),
            slots: HashMap::new(),
            answers: HashMap::new(),
            ready: Vec::new(),
            due: Vec::new(),
            idle: Vec::new(),
            owed: Vec::new(),
            inbox: Vec::new(),
            registry: HashMap::new(),
            next_timer: None,
            next_idle: None,
        }
    }
}
