//! Several servers on one database: nothing is lost, nothing happens twice, nobody waits for ever.

use crate::support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use model::submission::{Seat, Stand, Wait};
use model::{Event, Status, Submission, SubmissionId, evolve};
use store::{
    Changes, Committed, Count, Entries, Error, Feed, LaneKey, Owed, OwedId, OwedTo, Query, Ready, Recorded,
    RowChange, Store, Take, Taken,
};
use store_conformance::sample::{Sample, entry, id, lease, moved, names, submitted};
use store_postgres::{PostgresStore, Settings};

const LANES: u64 = 5;
const ROWS: u64 = 120;

/// Takes and decides again until it is not a conflict, as the engine does.
fn persist(store: &dyn Store, take: &Take<'_>, decide: &mut dyn FnMut(&Taken) -> Changes) -> Committed {
    in_the_end(|| store.transact(take, &mut |taken| decide(&taken)))
}

/// Asks until there is an answer: conflicts are in the nature of a race, and a machine that stands still for seconds loses
/// connections, which is no fault of the store's.
fn in_the_end<T>(mut ask: impl FnMut() -> Result<T, Error>) -> T {
    for _ in 0..10_000 {
        match ask() {
            Ok(answer) => return answer,
            Err(Error::Conflict(_) | Error::Unavailable { outcome_unknown: false, .. }) => {}
            Err(error) => panic!("this is not tried again: {error}"),
        }
    }
    panic!("conflicts without end: somebody's commit has to come through");
}

fn lane(no: u64) -> LaneKey {
    LaneKey { pipeline: "alpha".into(), lane: format!("l{no}").into() }
}

fn look_at(lane: &LaneKey, cause: &Submission) -> Owed {
    Owed {
        id: OwedId { submission: cause.id, revision: cause.revision, no: u64::from(cause.seat.is_none()) },
        to: OwedTo::Lane(lane.clone()),
        body: store_conformance::sample::json("{}"),
    }
}

/// Joins a lane: takes it if nobody is there, stands in line if somebody has it, owes a look if nobody does.
fn join(store: &dyn Store, n: u64) {
    let lane = lane(n % LANES);
    let take = Take { lanes: vec![lane.clone()], ..Take::nothing() };
    persist(store, &take, &mut |taken| {
        let view = taken.lanes[&lane];
        let free = view.holder.is_none() && view.first.is_none();
        let seat = Seat::new(lane.lane.clone(), "").standing(if free { Stand::Holds } else { Stand::InLine });
        let row = Sample::row(n).seat(seat).new_row();
        let owed = if view.holder.is_none() && !free { vec![look_at(&lane, &row.after)] } else { Vec::new() };
        Changes { rows: vec![row], owed, events: vec![submitted(n)], ..Changes::default() }
    });
}

/// Ends the row that holds a lane, which leaves the lane and owes a look at the line. Returns whether there was one.
fn leave(store: &dyn Store, no: u64) -> bool {
    let lane = lane(no);
    let Some(holder) = in_the_end(|| store.line(&lane, 0)).holder else { return false };
    let take = Take { ids: vec![holder], ..Take::nothing() };
    let mut left = false;
    persist(store, &take, &mut |taken| {
        let before = taken.rows[&holder].row.clone();
        left = before.seat.as_ref().is_some_and(|seat| seat.holds());
        if !left {
            return Changes::default();
        }
        let event = moved(&before, "DONE", entry(Wait::Nothing, Status::Succeeded));
        let after = Submission { seat: None, ..evolve(Some(Submission::clone(&before)), &event) };
        Changes {
            owed: vec![look_at(&lane, &after)],
            rows: vec![RowChange::update(before, after)],
            events: vec![event],
            ..Changes::default()
        }
    });
    left
}

/// Pays what is owed: the first in line gets a lane that nobody has. Returns how much was paid.
fn pay(store: &dyn Store) -> usize {
    let mut count = 0;
    persist(store, &Take { owed: 3, ..Take::nothing() }, &mut |taken| {
        let mut changes = Changes::default();
        let mut moved = BTreeSet::new();
        for owed in &taken.owed {
            let OwedTo::Lane(lane) = &owed.to else { panic!("only lanes are owed a look") };
            if !moved.insert(lane.clone()) {
                continue;
            }
            let view = taken.lanes[lane];
            if let (None, Some(first)) = (view.holder, view.first) {
                let before = taken.rows[&first].row.clone();
                let seat = before.seat.clone().map(|seat| seat.standing(Stand::Holds));
                let after = Submission { seat, ..Submission::clone(&before) };
                changes.rows.push(RowChange::update(before, after));
            }
            changes.paid.push(owed.id.clone());
        }
        count = changes.paid.len();
        changes
    });
    count
}

fn servers(count: u64) -> (Vec<PostgresStore>, support::Session) {
    // Nobody here is silent on purpose: a call that takes minutes is one on a machine that has no time for it.
    let settings = Settings { patience: Duration::from_secs(600), ..support::fresh() };
    let stores: Vec<_> = (0..count).map(|_| in_the_end(|| PostgresStore::open(&settings))).collect();
    (stores, support::Session::open(&settings))
}

fn race_for_lanes(count: u64) {
    let (stores, session) = servers(count);
    let next = AtomicU64::new(0);
    thread::scope(|scope| {
        for store in &stores {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::SeqCst);
                    if n >= ROWS {
                        break;
                    }
                    join(store, n);
                }
            });
            scope.spawn(|| {
                while next.load(Ordering::SeqCst) < ROWS {
                    for no in 0..LANES {
                        leave(store, no);
                    }
                }
            });
            scope.spawn(|| {
                while next.load(Ordering::SeqCst) < ROWS {
                    pay(store);
                }
            });
        }
    });
    // What is left is served by one: whoever was forgotten in a line stays there.
    while (0..LANES).filter(|no| leave(&stores[0], *no)).count() + pay(&stores[0]) > 0 {}
    for no in 0..LANES {
        assert_eq!(in_the_end(|| stores[0].line(&lane(no), 99)), store::Line::default(), "lane {no}");
    }
    let done = Query { status: Some(Status::Succeeded), limit: 1_000, ..Query::default() };
    assert_eq!(in_the_end(|| stores[0].find(&done)).rows.len() as u64, ROWS, "everybody had a turn");
    check_books(&stores[0]);
    assert_eq!(session.number("SELECT count(*) FROM owed"), 0);
}

/// Counters equal a recount, and events are there once each, in order.
fn check_books(store: &dyn Store) {
    let mut places: BTreeMap<_, u64> = BTreeMap::new();
    let mut query = Query { limit: 1_000, ..Query::default() };
    loop {
        let page = in_the_end(|| store.find(&query));
        query.after = page.rows.last().map(|row| row.id);
        for row in page.rows {
            *places.entry(Entries::of(&row).place).or_default() += 1;
        }
        if !page.more {
            break;
        }
    }
    let recount = places.into_iter();
    let recount = recount.map(|(place, count)| Count {
        pipeline: place.pipeline,
        state: place.state,
        status: place.status,
        investigation: place.investigation,
        count,
    });
    assert_eq!(in_the_end(|| store.counts()), recount.collect::<Vec<_>>());
    let events = all_events(store);
    let seqs: Vec<_> = events.iter().map(|recorded| recorded.seq).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>(), "positions have no gap");
    let mut revisions: BTreeMap<SubmissionId, Vec<u64>> = BTreeMap::new();
    for Recorded { event: Event { leaf, .. }, .. } in &events {
        revisions.entry(leaf.submission).or_default().push(leaf.revision);
    }
    for (id, revisions) in revisions {
        assert_eq!(revisions, (1..=revisions.len() as u64).collect::<Vec<_>>(), "{id}");
        assert_eq!(in_the_end(|| store.history(id, 0, 99)).len(), revisions.len());
    }
}

fn all_events(store: &dyn Store) -> Vec<Recorded> {
    let mut events: Vec<Recorded> = Vec::new();
    loop {
        let after = events.last().map_or(0, |recorded| recorded.seq);
        let page = in_the_end(|| store.feed(&Feed { after, limit: 1_000, ..Feed::default() }));
        if page.events.is_empty() {
            return events;
        }
        events.extend(page.events);
    }
}

#[test]
fn two_servers_leave_nobody_standing_in_a_lane() {
    race_for_lanes(2);
}

#[test]
fn four_servers_leave_nobody_standing_in_a_lane() {
    race_for_lanes(4);
}

/// Leases what waits, finishes what is leased, until nothing is left. How often each was leased.
fn work(store: &dyn Store) -> Vec<SubmissionId> {
    let mut leased = Vec::new();
    loop {
        let ready = Ready { tasks: names(&["scan"]), pipelines: Vec::new(), labels: [].into(), max: 7 };
        let mut granted: Vec<SubmissionId> = Vec::new();
        persist(store, &Take { ready: vec![ready], ..Take::nothing() }, &mut |taken| {
            granted.clone_from(&taken.ready[0]);
            let rows = granted.iter().map(|id| {
                let before = taken.rows[id].row.clone();
                let no = before.lease_no + 1;
                let after =
                    Submission { wait: lease("scan", no), lease_no: no, ..Submission::clone(&before) };
                RowChange::update(before, after)
            });
            Changes { rows: rows.collect(), ..Changes::default() }
        });
        if granted.is_empty() {
            return leased;
        }
        persist(store, &Take { ids: granted.clone(), ..Take::nothing() }, &mut |taken| {
            let mut changes = Changes::default();
            for id in &granted {
                let before = taken.rows[id].row.clone();
                let event = moved(&before, "DONE", entry(Wait::Nothing, Status::Succeeded));
                let after = evolve(Some(Submission::clone(&before)), &event);
                changes.rows.push(RowChange::update(before, after));
                changes.events.push(event);
            }
            changes
        });
        leased.extend(granted);
    }
}

fn race_for_work(count: u64) {
    let (stores, _session) = servers(count);
    for chunk in (0..600).collect::<Vec<u64>>().chunks(100) {
        persist(&stores[0], &Take::nothing(), &mut |_| Changes {
            rows: chunk.iter().map(|n| Sample::row(*n).ready("scan", 0).new_row()).collect(),
            events: chunk.iter().map(|n| submitted(*n)).collect(),
            ..Changes::default()
        });
    }
    let mut leased: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = stores.iter().map(|store| scope.spawn(|| work(store))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    // A claim passes over what others have in hand, so the last ones may stop early.
    leased.extend(work(&stores[0]));
    leased.sort_unstable();
    assert_eq!(leased, (0..600).map(id).collect::<Vec<_>>(), "each was leased, none twice");
    check_books(&stores[0]);
}

#[test]
fn two_servers_hand_out_each_submission_once() {
    race_for_work(2);
}

#[test]
fn four_servers_hand_out_each_submission_once() {
    race_for_work(4);
}
