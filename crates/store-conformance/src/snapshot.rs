//! Everything that can be seen of a store, to say that nothing of it changed.

use std::collections::BTreeMap;

use model::{Documents, Json, Submission, SubmissionId, Time};

use super::sample::{PIPELINES, TASKS, names};
use super::steps;
use store::take::{LaneKey, LimitKey, OpenKey, RegistryKey, RequestKey};
use store::{
    Arrival, Count, Feed, FeedPage, Late, Line, Query, Ready, Recorded, Store, Take, Taken, registry_all,
};

/// More than any check writes.
pub(super) const ALL: usize = 100_000;

/// The names that checks give to things, so that a look at a store can name them all.
pub(super) const KEYS: [&str; 4] = ["k1", "k2", "k3", "k4"];
pub(super) const LANES: [&str; 3] = ["l1", "l2", "l3"];
pub(super) const HOLDS: [&str; 2] = ["h1", "h2"];
/// The labels limits count by, and their values.
pub(super) const LIMITED: [&str; 2] = ["owner", "tier"];
pub(super) const OWNERS: [&str; 3] = ["ada", "bob", "eve"];
pub(super) const KINDS: [&str; 2] = ["cursor", "hold"];
pub(super) const ENTRIES: [&str; 3] = ["first", "second", "third"];
pub(super) const REQUESTS: [&str; 3] = ["r1", "r2", "r3"];

#[derive(Debug, PartialEq)]
pub(super) struct Sight {
    pub(super) rows: BTreeMap<SubmissionId, (Submission, Documents)>,
    pub(super) events: Vec<Recorded>,
    /// The first page of them: where the past begins, and how far a reader comes.
    pub(super) feed: FeedPage,
    pub(super) histories: Vec<Recorded>,
    pub(super) lines: Vec<Line>,
    pub(super) late: Vec<Submission>,
    pub(super) counts: Vec<Count>,
    pub(super) registry: Vec<(String, Json)>,
    /// Slots are seen while anything is ready: every limit is taken to be one of every ready row.
    pub(super) taken: Taken,
}

/// Looks at everything at once.
pub(super) fn look(store: &dyn Store) -> Sight {
    let ids: Vec<_> = steps::find_all(store, &Query { limit: 1_000, ..Query::default() })
        .into_iter()
        .map(|row| row.id)
        .collect();
    let rows = ids.iter().map(|&id| {
        let stored = store.submission(id).expect("reading works");
        (id, stored.expect("a row that was found is there"))
    });
    let histories = ids.iter().flat_map(|&id| store.history(id, 0, ALL).expect("reading works"));
    let mut counts = store.counts().expect("counting works");
    counts.sort();
    let registry = KINDS.iter().flat_map(|kind| registry_all(store, kind).expect("reading works")).collect();
    Sight {
        rows: rows.collect(),
        events: steps::feed_all(store, &Feed { limit: ALL, ..Feed::default() }),
        feed: steps::feed(store, &Feed { limit: 10, ..Feed::default() }),
        histories: histories.collect(),
        lines: lane_keys().iter().map(|lane| store.line(lane, ALL).expect("reading works")).collect(),
        late: PIPELINES.iter().flat_map(|pipeline| steps::late_all(store, &ever_late(pipeline))).collect(),
        counts,
        registry,
        taken: steps::take(store, &everything()),
    }
}

/// Checks that two stores show the same.
///
/// # Panics
/// When they do not.
pub fn assert_same_store(a: &dyn Store, b: &dyn Store) {
    assert_same(&look(a), &look(b), "two stores");
}

/// Takes all there is under the names of this module.
pub(super) fn everything() -> Take<'static> {
    let ready = TASKS.map(|task| Ready {
        tasks: names(&[task]),
        pipelines: Vec::new(),
        labels: BTreeMap::new(),
        max: ALL,
    });
    Take {
        ids: Vec::new(),
        keys: open_keys(),
        requests: REQUESTS.map(request).to_vec(),
        ready: ready.to_vec(),
        due: ALL,
        idle: ALL,
        owed: ALL,
        parked: ALL,
        inbox: ALL,
        registry: registry_keys(),
        lanes: lane_keys(),
        documents: &|_| true,
        room: usize::MAX,
        leaves_lane: &|_| false,
        limits: &|_| limit_keys(),
        arrival: &|_| Arrival::default(),
        certain: &|now| now,
    }
}

/// All that are late or ever will be.
pub(super) fn ever_late(pipeline: &str) -> Late {
    Late { pipeline: pipeline.into(), until: Time::from_millis(i64::MAX), after: None, limit: 1_000 }
}

pub(super) fn limit_key(pipeline: &str, label: &str, value: &str) -> LimitKey {
    LimitKey { pipeline: pipeline.into(), label: label.into(), value: value.into() }
}

fn limit_keys() -> Vec<LimitKey> {
    let values = |pipeline, label| OWNERS.map(|value| limit_key(pipeline, label, value));
    let labels = |pipeline| LIMITED.into_iter().flat_map(move |label| values(pipeline, label));
    PIPELINES.into_iter().flat_map(labels).collect()
}

pub(super) fn open_key(pipeline: &str, key: &str) -> OpenKey {
    OpenKey { pipeline: pipeline.into(), key: key.into() }
}

pub(super) fn open_keys() -> Vec<OpenKey> {
    PIPELINES.iter().flat_map(|pipeline| KEYS.map(|key| open_key(pipeline, key))).collect()
}

pub(super) fn lane_key(pipeline: &str, lane: &str) -> LaneKey {
    LaneKey { pipeline: pipeline.into(), lane: lane.into() }
}

pub(super) fn lane_keys() -> Vec<LaneKey> {
    PIPELINES.iter().flat_map(|pipeline| LANES.map(|lane| lane_key(pipeline, lane))).collect()
}

pub(super) fn request(key: &str) -> RequestKey {
    RequestKey { subject: "ada".into(), route: "POST /v1/submissions".into(), key: key.into() }
}

pub(super) fn registry_key(kind: &str, name: &str) -> RegistryKey {
    RegistryKey { kind: kind.to_owned(), name: name.to_owned() }
}

pub(super) fn registry_keys() -> Vec<RegistryKey> {
    KINDS.iter().flat_map(|kind| ENTRIES.map(|name| registry_key(kind, name))).collect()
}

/// Says which part differs instead of printing two whole stores.
#[track_caller]
pub(super) fn assert_same(one: &Sight, other: &Sight, why: &str) {
    assert_eq!(one.rows, other.rows, "rows and documents: {why}");
    assert_eq!(one.events, other.events, "events: {why}");
    assert_eq!(one.feed, other.feed, "the feed: {why}");
    assert_eq!(one.lines, other.lines, "lines: {why}");
    assert_eq!(one.histories, other.histories, "histories: {why}");
    assert_eq!(one.late, other.late, "late rows: {why}");
    assert_eq!(one.counts, other.counts, "counts: {why}");
    assert_eq!(one.registry, other.registry, "registry: {why}");
    assert_eq!(one.taken, other.taken, "what is taken: {why}");
}
