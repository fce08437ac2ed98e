//! Partitions of events: made ahead of what is written, dropped behind what is retired.

use crate::support;

use store::{Changes, Feed, Store, Take};
use store_conformance::sample::submitted;
use store_postgres::{PostgresStore, Settings};
use support::Session;

const BATCHES: i64 = 1 << 20;

fn write(store: &PostgresStore, n: u64) -> u64 {
    let mut changes = Some(Changes { events: vec![submitted(n)], ..Changes::default() });
    store.transact(&Take::nothing(), &mut |_| changes.take().unwrap()).unwrap().last_seq
}

fn retire(store: &PostgresStore, before: u64) {
    let changes = || Changes { retired_before: Some(before), ..Changes::default() };
    store.transact(&Take::nothing(), &mut |_| changes()).unwrap();
}

fn partitions(session: &Session) -> Vec<String> {
    session.texts(
        "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid \
         WHERE i.inhparent = 'event'::regclass ORDER BY 1",
    )
}

/// Opens the store as if so many partitions had been filled since.
fn pass(session: &Session, settings: &Settings, partitions: i64) -> PostgresStore {
    session.run(&format!("SELECT setval('batch_no', {})", partitions * BATCHES + 5));
    PostgresStore::open(settings).unwrap()
}

#[test]
fn partitions_are_dropped_once_all_their_events_are_retired() {
    let settings = support::fresh();
    let store = PostgresStore::open(&settings).unwrap();
    let session = Session::open(&settings);
    write(&store, 1);
    let second = write(&store, 2);
    drop(store);
    let store = pass(&session, &settings, 1);
    let third = write(&store, 3);
    drop(store);
    let store = pass(&session, &settings, 3);
    let fourth = write(&store, 4);
    assert_eq!(partitions(&session).len(), 6);

    retire(&store, second);
    assert_eq!(partitions(&session).len(), 6, "the first has an event left");
    retire(&store, third);
    assert_eq!(partitions(&session), ["event_1", "event_2", "event_3", "event_4", "event_5"]);
    // Somebody has the table in hand: nobody waits long, and the next time it goes.
    let reader = Session::open(&settings);
    reader.run("BEGIN; SELECT FROM event LIMIT 1");
    retire(&store, fourth);
    assert_eq!(partitions(&session)[0], "event_1");
    reader.run("COMMIT");
    retire(&store, fourth);
    assert_eq!(partitions(&session), ["event_2", "event_3", "event_4", "event_5"], "the next to fill stay");
    let page = store.feed(&Feed { limit: 9, ..Feed::default() }).unwrap();
    assert_eq!((page.oldest, page.events.len()), (fourth, 1));
    assert_eq!(write(&store, 5), fourth + 1);
}
