//! The order of events: no reader ever skips one or stalls, whatever others leave open.

use crate::support;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use store::{Changes, Committed, Feed, Store, Take};
use store_conformance::sample::{id, submitted};
use store_postgres::{PostgresStore, Settings};
use support::Session;

/// The last step of a commit, on a session that can stop in the middle. Its event is a copy of another.
const LATE: &str = "BEGIN;
INSERT INTO batch (no, events) VALUES (nextval('batch_no'), 1);
INSERT INTO event SELECT currval('batch_no'), 0, 0, 0, revision, pipeline, state, labels, leaf, detail
FROM event ORDER BY batch, no LIMIT 1;";

fn opened() -> (PostgresStore, Session, Settings) {
    let settings = support::fresh();
    let store = PostgresStore::open(&settings).unwrap();
    let session = Session::open(&settings);
    (store, session, settings)
}

fn record(store: &dyn Store, n: u64) -> Committed {
    let mut changes = Some(Changes { events: vec![submitted(n)], ..Changes::default() });
    store.transact(&Take::nothing(), &mut |_| changes.take().unwrap()).unwrap()
}

/// Positions after one, and where to go on.
fn read(store: &dyn Store, after: u64) -> (Vec<u64>, u64) {
    let page = store.feed(&Feed { after, limit: 100, ..Feed::default() }).unwrap();
    (page.events.iter().map(|recorded| recorded.seq).collect(), page.next)
}

#[test]
fn commit_that_comes_late_is_neither_skipped_nor_waited_for() {
    let (store, session, _) = opened();
    record(&store, 1);
    session.run(LATE);
    assert_eq!(record(&store, 2), Committed { first_seq: 2, last_seq: 2 });
    assert_eq!(record(&store, 3), Committed { first_seq: 3, last_seq: 3 });
    assert_eq!(read(&store, 0), (vec![1, 2, 3], 3), "nobody waits for it");
    assert_eq!(session.number("SELECT count(*) FROM gap"), 1);
    session.run("COMMIT");
    assert_eq!(read(&store, 3), (vec![4], 4), "a reader who was past its number sees it");
    assert_eq!(record(&store, 4), Committed { first_seq: 5, last_seq: 5 });
    assert_eq!(read(&store, 0), (vec![1, 2, 3, 4, 5], 5));
    assert_eq!(session.number("SELECT count(*) FROM gap"), 0);
}

#[test]
fn commit_of_the_youngest_transaction_is_found_however_late_it_comes() {
    let (store, session, settings) = opened();
    record(&store, 1);
    // The other one begins before and is done before, but gets the later number.
    let other = Session::open(&settings);
    other.run("BEGIN");
    other.run("SELECT pg_current_xact_id()");
    session.run(LATE);
    other.run(&LATE.replace("BEGIN;", ""));
    other.run("COMMIT");
    assert_eq!(read(&store, 1), (vec![2], 2), "whoever reads and is at the end gives out positions");
    for n in 3..=9 {
        assert_eq!(record(&store, n - 1).first_seq, n);
    }
    session.run("COMMIT");
    assert_eq!(read(&store, 9), (vec![10], 10));
}

#[test]
fn commit_that_is_rolled_back_leaves_no_gap() {
    let (store, session, _) = opened();
    record(&store, 1);
    session.run(LATE);
    record(&store, 2);
    session.run("ROLLBACK");
    record(&store, 3);
    assert_eq!(read(&store, 0), (vec![1, 2, 3], 3));
    assert_eq!(session.number("SELECT count(*) FROM gap"), 1, "nobody knows that it is gone");
    session.run("UPDATE gap SET noticed_at = now() - interval '61 minutes'");
    assert_eq!(record(&store, 4).first_seq, 4);
    assert_eq!(session.number("SELECT count(*) FROM gap"), 0, "nobody looks for it any more");
}

#[test]
fn commit_that_was_given_up_is_found_by_whoever_opens_the_store() {
    let (store, session, settings) = opened();
    record(&store, 1);
    session.run(LATE);
    record(&store, 2);
    Session::open(&settings).run("DELETE FROM gap");
    session.run("COMMIT");
    assert_eq!(record(&store, 3).first_seq, 3);
    assert_eq!(read(&store, 0), (vec![1, 2, 3], 3));
    let store = PostgresStore::open(&settings).unwrap();
    assert_eq!(read(&store, 3), (vec![4], 4));
}

#[test]
fn session_that_wrote_and_went_away_for_lunch_holds_up_nobody() {
    let (store, session, settings) = opened();
    record(&store, 1);
    let idle = Session::open(&settings);
    idle.run("CREATE TABLE elsewhere (n int)");
    idle.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    idle.run("INSERT INTO elsewhere VALUES (1)");
    session.run(LATE);
    for n in 2..=40 {
        assert_eq!(record(&store, n).first_seq, n);
        assert_eq!(read(&store, n - 1), (vec![n], n));
    }
    session.run("COMMIT");
    assert_eq!(read(&store, 40), (vec![41], 41), "a late one is found all the same");
    idle.run("COMMIT");
}

#[test]
fn events_of_a_server_that_died_before_it_gave_them_positions_are_read() {
    let (store, session, _) = opened();
    record(&store, 1);
    session.run(LATE);
    session.run("COMMIT");
    assert_eq!(read(&store, 0), (vec![1], 1), "there is something to read as it is");
    assert_eq!(read(&store, 1), (vec![2], 2), "whoever has read that gives the others their positions");
    session.run(LATE);
    session.run("UPDATE tip SET batch = currval('batch_no'), no = 0; COMMIT");
    let history = store.history(id(1), 0, 9).unwrap();
    assert_eq!(history.iter().map(|recorded| recorded.seq).collect::<Vec<_>>(), [3]);
}

#[test]
fn sequencer_that_is_busy_does_not_undo_a_commit() {
    let (store, session, _) = opened();
    session.run("BEGIN; SELECT FROM gate WHERE no = -1 FOR UPDATE");
    assert_eq!(record(&store, 1), Committed::default(), "committed, without a position yet");
    session.run("ROLLBACK");
    assert_eq!(read(&store, 0), (vec![1], 1));
}

#[test]
fn reader_sees_every_event_once_while_servers_commit_late_and_roll_back() {
    let (_, _, settings) = opened();
    let stores: Vec<_> = (0..3).map(|_| PostgresStore::open(&settings).unwrap()).collect();
    record(&stores[0], 0);
    let writing = AtomicBool::new(true);
    let (seen, late) = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen: Vec<u64> = Vec::new();
            loop {
                let last_round = !writing.load(Ordering::SeqCst);
                let (page, next) = read(&stores[2], seen.len() as u64);
                assert_eq!(next, seen.len() as u64 + page.len() as u64);
                let done = last_round && page.is_empty();
                seen.extend(page);
                if done {
                    return seen;
                }
            }
        });
        let late = scope.spawn(|| {
            let session = Session::open(&settings);
            let mut committed = 0;
            while writing.load(Ordering::SeqCst) {
                session.run(LATE);
                let before = session.number("SELECT max(last_seq) FROM position");
                // Somebody overtakes it.
                while writing.load(Ordering::SeqCst)
                    && session.number("SELECT max(last_seq) FROM position") < before + 3
                {
                    thread::yield_now();
                }
                let commits = before % 2 == 0;
                session.run(if commits { "COMMIT" } else { "ROLLBACK" });
                committed += usize::from(commits);
            }
            committed
        });
        let writers: Vec<_> = [1, 2]
            .map(|no: u64| {
                let store = &stores[usize::try_from(no - 1).unwrap()];
                scope.spawn(move || {
                    for n in 1..=100 {
                        record(store, no * 1_000 + n);
                    }
                })
            })
            .into_iter()
            .collect();
        let written: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        writing.store(false, Ordering::SeqCst);
        assert!(written.iter().all(Result::is_ok), "every commit is in order");
        let late = late.join().unwrap();
        (reader.join().unwrap(), late)
    });
    let (all, _) = (seen.iter().collect::<BTreeSet<_>>(), late);
    assert_eq!(all.len(), seen.len(), "none twice");
    let mut after = seen.len() as u64;
    loop {
        let (page, next) = read(&stores[0], after);
        if page.is_empty() {
            break;
        }
        after = next;
    }
    assert_eq!(after as usize, 1 + 200 + late, "none skipped");
    assert!(late > 3, "some were late");
}
