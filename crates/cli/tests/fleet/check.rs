//! Compares what is stored with what was acknowledged.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::SubmissionId;
use model::event::Kind;
use store::{Feed, Query, Recorded, Store};
use store_postgres::{PostgresStore, Settings};

use crate::fleet::load::{Book, LANES};

/// Nothing acknowledged is lost, nothing happened twice, no lane was held by two, and no reader missed anything.
pub(crate) fn check(url: &str, book: &Book) {
    let store = PostgresStore::open(&Settings::new(url)).unwrap();
    let events = whole_feed(&store);
    let seen = book.feed.lock().unwrap();
    assert!(seen.is_sorted_by(|one, next| one.seq < next.seq), "positions are read in order, each once");
    assert!(!seen.is_empty() && seen.len() <= events.len(), "{} of {} were read", seen.len(), events.len());
    for (read, stored) in seen.iter().zip(&events) {
        assert_eq!((read.seq, read.submission), (stored.seq, stored.event.leaf.submission));
        assert_eq!(read.revision, stored.event.leaf.revision);
    }

    let moves = moves(&events);
    let submitted = book.submitted.lock().unwrap();
    lanes(&submitted, &events);
    let rows = rows(&store);
    let ids: HashSet<SubmissionId> = submitted.values().copied().collect();
    assert_eq!(ids.len(), submitted.len(), "every number has a submission of its own");
    assert_eq!(
        rows.len(),
        submitted.len(),
        "every submission was acknowledged, since it was asked for until it was"
    );
    for (n, id) in &*submitted {
        assert_eq!(rows.get(id).map(|state| &**state), Some("DONE"), "submission {n}");
    }
    for moved in &*book.moved.lock().unwrap() {
        assert!(moves.contains(moved), "the move {moved:?} was acknowledged and is gone");
    }
    let counted: u64 = store.counts().unwrap().iter().map(|count| count.count).sum();
    assert_eq!(counted, rows.len() as u64, "counters equal a recount");
    eprintln!("{} submissions, {} events", rows.len(), events.len());
}

fn whole_feed(store: &PostgresStore) -> Vec<Recorded> {
    let (mut events, mut after) = (Vec::new(), 0);
    loop {
        let page = store.feed(&Feed { after, limit: 1_000, ..Feed::default() }).unwrap();
        if page.events.is_empty() {
            return events;
        }
        after = page.next;
        events.extend(page.events);
    }
}

fn rows(store: &PostgresStore) -> BTreeMap<SubmissionId, String> {
    let mut rows = BTreeMap::new();
    let mut query = Query { limit: 1_000, ..Query::default() };
    loop {
        let page = store.find(&query).unwrap();
        query.after = page.rows.last().map(|row| row.id);
        rows.extend(page.rows.into_iter().map(|row| (row.id, row.state.to_string())));
        if !page.more {
            return rows;
        }
    }
}

/// Every move there was, each of them once.
fn moves(events: &[Recorded]) -> HashSet<(SubmissionId, String)> {
    let mut moves = HashSet::new();
    for Recorded { event, .. } in events {
        if event.leaf.kind == Kind::Moved {
            let moved = (event.leaf.submission, event.leaf.to.to_string());
            assert!(moves.insert(moved.clone()), "{moved:?} happened twice");
        }
    }
    moves
}

/// From its first move to its last, a submission has its lane for itself.
fn lanes(submitted: &HashMap<u64, SubmissionId>, events: &[Recorded]) {
    let lanes: HashMap<SubmissionId, u64> = submitted.iter().map(|(n, id)| (*id, n % LANES)).collect();
    let mut holders: HashMap<u64, SubmissionId> = HashMap::new();
    for Recorded { event, .. } in events.iter().filter(|event| event.event.leaf.kind == Kind::Moved) {
        let (id, lane) = (event.leaf.submission, lanes[&event.leaf.submission]);
        match &*event.leaf.to {
            "SECOND" => {
                let before = holders.insert(lane, id);
                assert_eq!(before, None, "{id} began in the lane {lane} while another had it");
            }
            _ => assert_eq!(holders.remove(&lane), Some(id), "the lane {lane} was another's"),
        }
    }
}

/// Checks what PostgreSQL says about how its transactions got on.
pub(crate) fn check_log(log: &str) {
    let deadlocks: Vec<_> = log.lines().filter(|line| line.contains("deadlock detected")).collect();
    assert!(deadlocks.is_empty(), "{deadlocks:#?}");
}
