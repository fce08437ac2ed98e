//! A copy taken while somebody writes is the store as it was at one moment.

use std::sync::Arc;

use model::Json;
use store::ManualClock;
use store::{Changes, Record, RegistryChange, RegistryKey, Store as _, Take};
use store_sqlite::{SqliteStore, backup};

/// One commit with these.
fn write(store: &SqliteStore, numbers: std::ops::RangeInclusive<u64>) {
    let mut changes = Changes::default();
    for n in numbers {
        let key = RegistryKey { kind: "k".to_owned(), name: format!("{n:08}") };
        let body = Json::from(serde_json::json!("x".repeat(4_000)));
        let series = model::SubmissionId::of_series("k");
        changes.acts.push(Record { series, revision: n, leaf: n.to_string().into_bytes() });
        changes.registry.push(RegistryChange { key, body: Some(body) });
    }
    let mut changes = Some(changes);
    store.transact(&Take::nothing(), &mut |_| changes.take().unwrap()).unwrap();
}

#[test]
fn a_copy_is_of_one_moment_though_others_write_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let (data, other) = (folder.path().join("data"), folder.path().join("other"));
    let store = SqliteStore::open(&data, Arc::new(ManualClock::default())).unwrap();
    write(&store, 1..=3_000);
    std::fs::create_dir(&other).unwrap();
    let (mut steps, mut n) = (0, 3_000);
    backup::copy(&data, &other.join("milepost.db"), &mut |_| {
        // Between two steps of the copy somebody commits.
        n += 1;
        write(&store, n..=n);
        steps += 1;
    })
    .unwrap();
    assert!(steps > 1, "it was copied in steps");
    let look = backup::look(&other.join("milepost.db"), true).unwrap();
    assert_eq!((look.first, look.last), (1, 3_000));
    let copy = SqliteStore::open(&other, Arc::new(ManualClock::default())).unwrap();
    assert_eq!(store::registry_all(&copy, "k").unwrap().len(), 3_000);
    assert_eq!(store::registry_all(&store, "k").unwrap().len(), 3_000 + steps);
}

#[test]
fn a_copy_replaces_nothing_and_damage_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let store = SqliteStore::open(&data, Arc::new(ManualClock::default())).unwrap();
    write(&store, 1..=200);
    let copy = folder.path().join("copy.db");
    backup::copy(&data, &copy, &mut |_| {}).unwrap();
    assert!(backup::copy(&data, &copy, &mut |_| {}).is_err(), "it is there already");
    assert!(backup::copy(folder.path(), &folder.path().join("x"), &mut |_| {}).is_err(), "no store there");
    backup::look(&copy, false).unwrap();
    assert_eq!(store.backed_up_at(), Ok(None), "nobody said that it is one");
    for at in [model::Time::from_millis(1_800_000_000_000), model::Time::from_millis(1_800_000_000_001)] {
        backup::note(&data, at).unwrap();
        assert_eq!(store.backed_up_at(), Ok(Some(at)));
    }
    let mut bytes = std::fs::read(&copy).unwrap();
    let middle = bytes.len() / 2 / 8_192 * 8_192;
    bytes[middle..middle + 512].fill(0xff);
    std::fs::write(&copy, bytes).unwrap();
    assert!(backup::look(&copy, true).is_err(), "a page is damaged");
}
