//! Keys: unique among the submissions of a pipeline that have not ended.

use model::submission::Wait;
use model::{Status, SubmissionId};

use super::sample::{Sample, id};
use super::snapshot::open_key;
use super::steps::{assert_conflict, change, commit, insert, read, take, try_commit, update};
use super::{Fixture, Promise, promise};
use store::{Changes, Store, Take};

pub(super) const PROMISES: &[Promise] = &[
    promise("two open submissions of a pipeline never share a key", never_shared),
    promise("two rows of one commit never share a key", never_shared_within),
    promise("a key is held per pipeline", per_pipeline),
    promise("a key is free again once its holder ended", free_once_ended),
    promise("a dead letter keeps its key", dead_keeps),
    promise("an ended submission gets its key back only while it is free", back_while_free),
    promise("a key may pass from one row to another in one commit, whichever comes first", passes_on),
    promise("the holder of a key is taken by it, row included", holder_taken),
];

fn holder(store: &dyn Store, key: &str) -> Option<SubmissionId> {
    let key = open_key("alpha", key);
    let taken = take(store, &Take { keys: vec![key.clone()], ..Take::nothing() });
    taken.holders.get(&key).copied()
}

fn never_shared(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).key("k1").build(), Sample::row(2).key("k2").build()]);
    let rows = vec![Sample::row(3).key("k1").new_row()];
    assert_conflict(&try_commit(&*store, Changes { rows, ..Changes::default() }));
    let rows = vec![change(&*store, id(2), |row| row.key = Some("k1".into()))];
    assert_conflict(&try_commit(&*store, Changes { rows, ..Changes::default() }));
    assert_eq!(store.submission(id(3)), Ok(None));
    assert_eq!((holder(&*store, "k1"), holder(&*store, "k2")), (Some(id(1)), Some(id(2))));
}

fn never_shared_within(fixture: &dyn Fixture) {
    let store = fixture.open();
    let rows = vec![Sample::row(1).key("k1").new_row(), Sample::row(2).key("k1").new_row()];
    assert_conflict(&try_commit(&*store, Changes { rows, ..Changes::default() }));
    assert_eq!(holder(&*store, "k1"), None);
}

fn per_pipeline(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).key("k1").build(), Sample::row(2).pipeline("beta").key("k1").build()]);
    let keys = vec![open_key("alpha", "k1"), open_key("beta", "k1"), open_key("beta", "k2")];
    let taken = take(&*store, &Take { keys, ..Take::nothing() });
    assert_eq!(taken.holders.len(), 2);
    assert_eq!(taken.holders[&open_key("alpha", "k1")], id(1));
    assert_eq!(taken.holders[&open_key("beta", "k1")], id(2));
}

fn free_once_ended(fixture: &dyn Fixture) {
    let store = fixture.open();
    for (n, status) in (1..).zip([Status::Succeeded, Status::Failed, Status::Cancelled]) {
        insert(&*store, [Sample::row(n).key("k1").build()]);
        assert_eq!(holder(&*store, "k1"), Some(id(n)));
        update(&*store, id(n), |row| row.status = status);
        assert_eq!(holder(&*store, "k1"), None, "{status:?} ends it");
        assert_eq!(read(&*store, id(n)).key.as_deref(), Some("k1"), "the row still says what its key was");
    }
    insert(&*store, [Sample::row(9).key("k1").status(Status::Failed).build()]);
    assert_eq!(holder(&*store, "k1"), None, "a row that comes ended holds nothing");
}

fn dead_keeps(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).key("k1").build()]);
    update(&*store, id(1), |row| row.status = Status::Dead);
    assert_eq!(holder(&*store, "k1"), Some(id(1)));
    let rows = vec![Sample::row(2).key("k1").new_row()];
    assert_conflict(&try_commit(&*store, Changes { rows, ..Changes::default() }));
}

fn back_while_free(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(
        &*store,
        [Sample::row(1).key("k1").status(Status::Failed).build(), Sample::row(2).key("k1").build()],
    );
    let resumed = |row: &mut model::Submission| {
        row.status = Status::Open;
        row.wait = Wait::Person;
    };
    let rows = vec![change(&*store, id(1), resumed)];
    assert_conflict(&try_commit(&*store, Changes { rows, ..Changes::default() }));
    update(&*store, id(2), |row| row.status = Status::Succeeded);
    update(&*store, id(1), resumed);
    assert_eq!(holder(&*store, "k1"), Some(id(1)));
}

fn passes_on(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).key("k1").build(), Sample::row(2).key("k2").build()]);
    let ended = change(&*store, id(1), |row| row.status = Status::Succeeded);
    let rows = vec![Sample::row(3).key("k1").new_row(), ended];
    commit(&*store, Changes { rows, ..Changes::default() });
    assert_eq!(holder(&*store, "k1"), Some(id(3)), "the new holder came first");

    let ended = change(&*store, id(3), |row| row.status = Status::Succeeded);
    let rows = vec![ended, Sample::row(4).key("k1").new_row()];
    commit(&*store, Changes { rows, ..Changes::default() });
    assert_eq!(holder(&*store, "k1"), Some(id(4)), "the new holder came last");

    let rows = vec![
        change(&*store, id(4), |row| row.key = Some("k2".into())),
        change(&*store, id(2), |row| row.key = Some("k1".into())),
    ];
    commit(&*store, Changes { rows, ..Changes::default() });
    assert_eq!((holder(&*store, "k1"), holder(&*store, "k2")), (Some(id(2)), Some(id(4))), "exchanged");
}

fn holder_taken(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).key("k1").state("HELD").build()]);
    let key = open_key("alpha", "k1");
    let taken = take(&*store, &Take { keys: vec![key.clone()], ..Take::nothing() });
    assert_eq!(&*taken.rows[&taken.holders[&key]].row.state, "HELD");
}
