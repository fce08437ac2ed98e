//! Tests of what can only be brought about from inside: a full disk, and a log that grows.

use std::sync::Arc;

use rusqlite::{Connection, StatementStatus};
use store::ManualClock;
use store::{Changes, Committed, DocumentChange, Error, Query, Store, Take};
use store_conformance::sample::{Sample, id, json, submitted};

use crate::{SqliteStore, connection, sql};

fn open() -> (SqliteStore, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (SqliteStore::open(folder.path(), Arc::new(ManualClock::new())).unwrap(), folder)
}

/// Commits a row with a payload of some size.
fn insert(store: &SqliteStore, n: u64, bytes: usize) -> Result<Committed, Error> {
    let body = json(&format!("\"{}\"", "x".repeat(bytes)));
    store.transact(&Take::nothing(), &mut |_| Changes {
        rows: vec![Sample::row(n).ready("scan", 0).new_row()],
        events: vec![submitted(n)],
        documents: vec![DocumentChange { submission: id(n), name: "payload".to_owned(), body: body.clone() }],
        ..Changes::default()
    })
}

/// The database may have no more pages than this; 0 takes the limit away again.
fn limit_pages(store: &SqliteStore, pages: i64) {
    let writer = store.writer.lock().unwrap();
    let pages = if pages == 0 { i64::from(u32::MAX - 1) } else { pages };
    writer.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
}

fn pages(store: &SqliteStore) -> i64 {
    let writer = store.writer.lock().unwrap();
    writer.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap()
}

#[test]
fn full_disk_refuses_writes_while_reads_go_on_and_passes() {
    let (store, _folder) = open();
    insert(&store, 1, 100).unwrap();
    limit_pages(&store, pages(&store));
    for _ in 0..2 {
        let refused = insert(&store, 2, 100_000);
        assert!(matches!(refused, Err(Error::Unavailable { outcome_unknown: false, .. })), "{refused:?}");
    }
    assert_eq!(store.find(&Query { limit: 10, ..Query::default() }).unwrap().rows.len(), 1);
    assert!(store.submission(id(2)).unwrap().is_none(), "nothing of it was written");
    let taken = store.transact(&Take { ids: vec![id(1)], ..Take::nothing() }, &mut |taken| {
        assert_eq!(taken.rows.len(), 1, "takes go on too");
        Changes::default()
    });
    assert_eq!(taken, Ok(Committed::default()));
    limit_pages(&store, 0);
    assert_eq!(
        insert(&store, 2, 100_000),
        Ok(Committed { first_seq: 2, last_seq: 2 }),
        "no position was burnt"
    );
}

#[test]
fn no_query_is_compiled_twice() {
    let (store, folder) = open();
    let compiled_again = |connection: &Connection| {
        let mut timers = connection.prepare_cached(sql::TIMER_FIRST).unwrap();
        for max in 1..=3 {
            timers.query((false, max)).unwrap().next().unwrap();
        }
        timers.get_status(StatementStatus::RePrepare)
    };
    assert_eq!(compiled_again(&store.writer.lock().unwrap().connection), 0);
    let reader = connection::open_reader(&folder.path().join("milepost.db")).unwrap();
    assert_eq!(compiled_again(&reader), 0);
}

#[test]
fn damage_once_seen_stops_every_write() {
    let (store, _folder) = open();
    insert(&store, 1, 10).unwrap();
    store.writer.lock().unwrap().connection.execute("UPDATE submission SET row = 'torn'", []).unwrap();
    let take = Take { ids: vec![id(1)], ..Take::nothing() };
    let damaged = store.transact(&take, &mut |_| panic!("what cannot be read is not decided on"));
    assert!(matches!(damaged, Err(Error::Corrupt(_))), "{damaged:?}");
    assert_eq!(insert(&store, 2, 10), damaged, "the next one is not even tried");
}

#[test]
fn index_that_lost_an_entry_is_noticed() {
    let (store, _folder) = open();
    insert(&store, 1, 10).unwrap();
    store.writer.lock().unwrap().connection.execute("DELETE FROM ready", []).unwrap();
    let take = Take { ids: vec![id(1)], ..Take::nothing() };
    let outcome = store.transact(&take, &mut |taken| {
        let before = taken.rows[&id(1)].row.clone();
        let after = Sample::row(1).build();
        Changes { rows: vec![store::RowChange::update(before, after)], ..Changes::default() }
    });
    assert!(matches!(&outcome, Err(Error::Corrupt(why)) if why.contains("lacks an entry")), "{outcome:?}");
}

#[test]
fn erased_documents_are_gone_from_the_file() {
    let (store, folder) = open();
    for n in 1..=3 {
        insert(&store, n, 50_000).unwrap();
    }
    let file = folder.path().join("milepost.db");
    let written = |store| {
        drop(store);
        std::fs::read(&file)
            .unwrap()
            .windows(64)
            .filter(|bytes| bytes.iter().all(|byte| *byte == b'x'))
            .count()
    };
    assert!(written(store) > 140_000, "closing moves everything to the file");
    let store = SqliteStore::open(folder.path(), Arc::new(ManualClock::new())).unwrap();
    let forgotten = vec![store.submission(id(3)).unwrap().unwrap().0];
    let mut changes = Some(Changes { erased: vec![id(1), id(2)], forgotten, ..Changes::default() });
    store.transact(&Take::nothing(), &mut |_| changes.take().unwrap()).unwrap();
    assert_eq!(written(store), 0);
}

#[test]
fn log_is_moved_before_it_grows_far() {
    let (store, folder) = open();
    let log = folder.path().join("milepost.db-wal");
    for n in 0..100 {
        insert(&store, n, 1_000_000).unwrap();
        let megabytes = std::fs::metadata(&log).unwrap().len() >> 20;
        assert!(megabytes < 80, "{megabytes} MB after {n} commits of 1 MB");
    }
}
