//! A data folder that is deleted, moved or replaced while it is open: nothing more is acknowledged.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use store::ManualClock;
use store::{Changes, Committed, Error, Store, Take};
use store_conformance::sample::{Sample, id, submitted};
use store_sqlite::SqliteStore;

fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder, Arc::new(ManualClock::new())).expect("the folder opens")
}

fn insert(store: &SqliteStore, n: u64) -> Result<Committed, Error> {
    store.transact(&Take::nothing(), &mut |_| Changes {
        rows: vec![Sample::row(n).new_row()],
        events: vec![submitted(n)],
        ..Changes::default()
    })
}

fn look(store: &SqliteStore) -> Result<Committed, Error> {
    store.transact(&Take::nothing(), &mut |_| Changes::default())
}

#[track_caller]
fn stops(outcome: Result<Committed, Error>, says: &[&str]) {
    match outcome {
        Err(Error::Corrupt(reason)) => {
            says.iter().for_each(|words| assert!(reason.contains(words), "{words}: {reason}"))
        }
        other => panic!("it was not noticed: {other:?}"),
    }
}

/// Opens a store, writes one row, and does something to its folder.
fn displaced(how: impl FnOnce(&Path)) -> (SqliteStore, tempfile::TempDir) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("data");
    let store = open(&folder);
    insert(&store, 1).unwrap();
    look(&store).unwrap();
    how(&folder);
    (store, parent)
}

#[test]
fn nothing_is_acknowledged_once_the_folder_is_deleted_or_moved() {
    for how in [
        |folder: &Path| fs::remove_dir_all(folder).unwrap(),
        |folder: &Path| fs::rename(folder, folder.with_file_name("moved")).unwrap(),
    ] {
        let (store, _parent) = displaced(how);
        stops(insert(&store, 2), &["milepost.db was deleted or moved away", "restore a backup"]);
        stops(insert(&store, 3), &["milepost.db was deleted or moved away"]);
    }
}

#[test]
fn a_missing_folder_is_noticed_though_nothing_is_written() {
    let (store, _parent) = displaced(|folder| fs::remove_dir_all(folder).unwrap());
    stops(look(&store), &["was deleted or moved away"]);
}

#[test]
fn a_file_that_is_gone_alone_is_noticed() {
    for name in ["milepost.db", "milepost.db-wal", "milepost.db-shm", "milepost.lock"] {
        let (store, parent) = displaced(|folder| fs::remove_file(folder.join(name)).unwrap());
        stops(insert(&store, 2), &[&format!("data/{name} was deleted")]);
        drop(store);
        if name != "milepost.db" {
            // The log is still open, and closing moves it into the database.
            let store = open(&parent.path().join("data"));
            assert!(store.submission(id(1)).unwrap().is_some(), "what was acknowledged before stays: {name}");
        }
    }
}

#[test]
fn a_folder_in_its_place_is_noticed_and_left_alone() {
    let (old, parent) = displaced(|folder| fs::rename(folder, folder.with_file_name("moved")).unwrap());
    let new = open(&parent.path().join("data"));
    insert(&new, 7).unwrap();
    stops(insert(&old, 2), &["milepost.db was replaced by another file"]);
    drop(old);
    insert(&new, 8).unwrap();
    drop(new);
    // A folder that was moved and is put back has all that was acknowledged.
    for (folder, rows) in [("data", vec![7, 8]), ("moved", vec![1])] {
        let store = open(&parent.path().join(folder));
        for n in rows {
            assert!(store.submission(id(n)).unwrap().is_some(), "{n} of {folder}");
        }
    }
}
