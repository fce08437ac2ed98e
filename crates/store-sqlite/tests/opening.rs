//! Opening a data folder: what is refused, and what is there afterwards.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use model::{Status, Time};
use rusqlite::Connection;
use store::ManualClock;
use store::entries::ReviewList;
use store::{Changes, Error, Feed, Late, Query, Store, Take};
use store_conformance::sample::{Sample, id, submitted};
use store_sqlite::SqliteStore;

fn open(folder: &Path) -> Result<SqliteStore, Error> {
    SqliteStore::open(folder, Arc::new(ManualClock::new()))
}

fn refusal(folder: &Path) -> String {
    open(folder).expect_err("opening is refused").to_string()
}

fn insert(store: &SqliteStore, n: u64) {
    let insert = &mut |_| Changes {
        rows: vec![Sample::row(n).key(&n.to_string()).new_row()],
        events: vec![submitted(n)],
        ..Changes::default()
    };
    store.transact(&Take::nothing(), insert).expect("the row is new");
}

/// Counts the events after a position.
fn events(store: &SqliteStore, after: u64) -> usize {
    store.feed(&Feed { after, limit: 100, ..Feed::default() }).expect("reading works").events.len()
}

fn copy_files(from: &Path, to: &Path) {
    for file in ["milepost.db", "milepost.db-wal"] {
        fs::copy(from.join(file), to.join(file)).expect("the files are there");
    }
}

#[test]
fn missing_folder_is_made_with_every_folder_above() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("some/where/deep");
    insert(&open(&deep).unwrap(), 1);
    assert!(open(&deep).unwrap().submission(id(1)).unwrap().is_some());
}

#[test]
fn folder_is_refused_while_another_store_has_it_open() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path()).unwrap();
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, Error::Unavailable { outcome_unknown: false, .. }), "{error:?}");
    assert!(error.to_string().contains("is in use by another process"), "{error}");
    insert(&first, 1);
    drop(first);
    assert!(open(folder.path()).unwrap().submission(id(1)).unwrap().is_some(), "free once the first is gone");
}

#[test]
fn everything_acknowledged_is_there_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    (1..=50).for_each(|n| insert(&store, n));
    // The files as a crash would leave them: the log was never moved, the store never closed.
    let crashed = tempfile::tempdir().unwrap();
    copy_files(folder.path(), crashed.path());
    let reopened = open(crashed.path()).unwrap();
    for n in 1..=50 {
        assert_eq!(reopened.submission(id(n)), store.submission(id(n)));
        assert_eq!(reopened.history(id(n), 0, 10), store.history(id(n), 0, 10));
    }
    insert(&reopened, 51);
    assert_eq!(events(&reopened, 50), 1, "positions go on");
}

#[test]
fn torn_end_of_the_log_costs_only_what_was_not_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    (1..=10).for_each(|n| insert(&store, n));
    let log = folder.path().join("milepost.db-wal");
    let acknowledged = usize::try_from(fs::metadata(&log).unwrap().len()).unwrap();
    insert(&store, 11);
    let torn = tempfile::tempdir().unwrap();
    copy_files(folder.path(), torn.path());
    let bytes = fs::read(&log).unwrap();
    let middle_of_the_last = acknowledged + (bytes.len() - acknowledged) / 2;
    fs::write(torn.path().join("milepost.db-wal"), &bytes[..middle_of_the_last]).unwrap();
    let reopened = open(torn.path()).unwrap();
    assert_eq!(events(&reopened, 0), 10);
    assert!(reopened.submission(id(10)).unwrap().is_some() && reopened.submission(id(11)).unwrap().is_none());
}

#[test]
fn file_that_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("milepost.db");
    let text = "not a database, but long enough to have a header ".repeat(50);
    fs::write(&file, &text).unwrap();
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, Error::Corrupt(_)), "{error:?}");
    assert!(error.to_string().contains("is not a database"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn database_of_another_application_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("milepost.db");
    let other = Connection::open(&file).unwrap();
    other.execute_batch("CREATE TABLE meta (name TEXT, value INTEGER)").unwrap();
    drop(other);
    let before = fs::read(&file).unwrap();
    assert!(refusal(folder.path()).contains("belongs to another application"));
    assert_eq!(fs::read(&file).unwrap(), before);
}

/// Opens and closes a store, then says that a release wrote it whose schema has these numbers.
fn written_by(folder: &Path, version: i64, min_compatible: i64) {
    drop(open(folder).expect("a folder opens"));
    let database = Connection::open(folder.join("milepost.db")).expect("a store is a database");
    for (name, value) in [("version", version), ("min_compatible", min_compatible)] {
        let updated = database.execute("UPDATE meta SET value = ?2 WHERE name = ?1", (name, value));
        assert_eq!(updated, Ok(1));
    }
}

#[test]
fn store_of_a_newer_release_is_refused_unless_it_is_compatible() {
    let folder = tempfile::tempdir().unwrap();
    written_by(folder.path(), 900, 900);
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "the data is fine: {error:?}");
    assert!(error.to_string().contains("written by a newer release"), "{error}");

    let folder = tempfile::tempdir().unwrap();
    written_by(folder.path(), 900, 1);
    insert(&open(folder.path()).unwrap(), 1);
}

#[test]
fn store_of_the_release_before_learns_the_keys_of_what_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let rows = (1..=3).map(|n| Sample::row(n).key("k1").status(Status::Succeeded).new_row());
    let dead = Sample::row(5).status(Status::Dead).new_row();
    let rows: Vec<_> = rows.chain([Sample::row(4).key("k1").new_row(), dead]).collect();
    store.transact(&Take::nothing(), &mut |_| Changes { rows: rows.clone(), ..Changes::default() }).unwrap();
    drop(store);
    // As that release left it: no such table, and the number of its schema.
    let database = Connection::open(folder.path().join("milepost.db")).unwrap();
    database
        .execute_batch(
            "DROP TABLE past_key; DROP TABLE dead_kind; UPDATE meta SET value = 1 WHERE name = 'version'",
        )
        .unwrap();
    drop(database);
    let store = open(folder.path()).unwrap();
    let query = Query { key: Some("k1".into()), limit: 9, ..Query::default() };
    let found: Vec<_> = store.find(&query).unwrap().rows.iter().map(|row| row.id).collect();
    assert_eq!(found, [4, 3, 2, 1].map(id));
    assert_eq!(store.dead(None, 9).unwrap().iter().map(|(_, count)| *count).collect::<Vec<_>>(), [1]);
    drop(store);
    let database = Connection::open(folder.path().join("milepost.db")).unwrap();
    let version: i64 =
        database.query_row("SELECT value FROM meta WHERE name = 'version'", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 3, "and is not looked through again");
}

#[test]
fn store_that_was_cut_off_while_it_was_made_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("milepost.db"), "").unwrap();
    insert(&open(folder.path()).unwrap(), 1);
}

#[test]
fn folder_that_cannot_be_made_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(refusal(&file.join("below")).contains("cannot make the data folder"));
}

#[cfg(unix)]
#[test]
fn a_new_folder_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("data");
    drop(open(&folder).unwrap());
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn what_waits_for_people_is_listed_once_in_a_store_that_had_no_such_lists() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    (1..=3).for_each(|n| insert(&store, n));
    let row = Sample::row(1).build();
    let list = ReviewList::Unassigned { pipeline: row.pipeline, state: row.state };
    drop(store);
    let database = Connection::open(folder.path().join("milepost.db")).unwrap();
    database.execute_batch("DELETE FROM late; DELETE FROM meta WHERE name = 'reviews_listed'").unwrap();
    drop(database);
    for _ in 0..2 {
        let store = open(folder.path()).unwrap();
        let all = Late { pipeline: list.name(), until: Time::MAX, after: None, limit: 10 };
        assert_eq!(store.late(&all).unwrap().len(), 3);
    }
}
