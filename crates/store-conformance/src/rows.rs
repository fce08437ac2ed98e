//! Rows and the versions that fence them.

use model::submission::{Cause, Children, Failure, GivenBack, Kept, Request, Seat, Settled, Stand, Wait};
use model::{Caller, Digest, Millis, Role, Status, Submission};

use super::sample::{Sample, at, id, json, lease};
use super::steps::{assert_conflict, change, claim, commit, insert, read, take, try_commit, update};
use super::{Fixture, Promise, promise};
use store::{Changes, Clock, RowChange, Take};

pub(super) const PROMISES: &[Promise] = &[
    promise("a committed row reads back whole", reads_back_whole),
    promise("rows of every wait and status read back as they were written", every_shape),
    promise("names may hold any text", any_text),
    promise("every write counts the row version up by one, whatever the change says", versions_count),
    promise("a row is written where its version still stands and nowhere else", stale_version),
    promise("a row that does not exist cannot be changed", change_of_nothing),
    promise("a new row under an id that exists is a conflict", existing_id),
    promise("a row that is in the changes twice is a conflict", row_twice),
    promise("missing ids are simply absent", missing_ids),
    promise("everything a take names comes with its row", named_rows),
    promise("the time comes with the take and is the clock's", now_is_the_clocks),
];

fn reads_back_whole(fixture: &dyn Fixture) {
    let store = fixture.open();
    let row = full_row();
    insert(&*store, [row.clone()]);
    let expected = Submission { row_version: 1, ..row };
    assert_eq!(read(&*store, expected.id), expected);
    let taken = take(&*store, &Take { ids: vec![expected.id], ..Take::nothing() });
    assert_eq!(*taken.rows[&expected.id].row, expected);
}

/// Every optional field filled.
fn full_row() -> Submission {
    let name = |text: &str| Some(text.into());
    Submission {
        version: 7,
        revision: 12,
        row_version: 99,
        lease_no: 41,
        attempt: 3,
        failures: [("git-clone".into(), 2)].into(),
        crashes: 1,
        given_back: GivenBack { times: 2, took: Millis::new(1_500) },
        requeues: 4,
        priority: -5,
        priority_given: Some(-5),
        key_waits: true,
        seat: Some(Seat::new("Lane 1", "b").standing(Stand::Holds)),
        parked: name("hold-3"),
        children: Children { total: 9, open: 4, succeeded: 3, failed: 2, cancelled: 0 },
        from: name("BEFORE"),
        failed_from: name("BROKEN"),
        last_good: name("GOOD"),
        error: Some(Failure { code: "git-clone".into(), message: "no such host\n`x`".to_owned() }),
        kept: Some(Kept { outcome: "scored".into(), worker: "worker-7".into(), lease_no: 40 }),
        request: Some(Request {
            action: "approve".into(),
            edge: 1,
            to: "PUBLISHED".into(),
            caller: Caller::new("ada", Role::Reviewer),
            reason: Some("fine".to_owned()),
            data: Some(json(r#"{"n":  9007199254740993}"#)),
            ended: true,
        }),
        sealed: true,
        settled: vec![Settled { digest: Digest::of(b"answer"), state: "GOOD".into(), status: Status::Open }],
        payload_revision: 9,
        entered_at: at(500),
        finished_at: Some(at(600)),
        ttl_at: Some(at(700)),
        state_ttl_at: Some(at(800)),
        ..Sample::row(1)
            .key("Grüße")
            .label("owner", "ada")
            .parent(id(0))
            .ready("scan", i64::MIN)
            .timer(at(700))
            .build()
    }
}

fn every_shape(fixture: &dyn Fixture) {
    let store = fixture.open();
    let waits = [
        Wait::Worker { task: "scan".into(), rank: i64::MAX },
        lease("scan", 3),
        Wait::Delay { until: at(9), cause: Cause::Retry },
        Wait::Delay { until: at(9), cause: Cause::Snooze },
        Wait::Delay { until: at(9), cause: Cause::NotBefore },
        Wait::Clock { until: at(10) },
        Wait::Person,
        Wait::Guard,
        Wait::Redrive,
        Wait::Nothing,
    ];
    let waiting = waits.into_iter().map(|wait| Sample::row(0).wait(wait).build());
    let standing = Status::ALL.into_iter().map(|status| Sample::row(0).status(status).build());
    let rows: Vec<_> =
        (1..).zip(waiting.chain(standing)).map(|(n, row)| Submission { id: id(n), ..row }).collect();
    insert(&*store, rows.clone());
    for row in rows {
        assert_eq!(read(&*store, row.id), Submission { row_version: 1, ..row });
    }
}

fn any_text(fixture: &dyn Fixture) {
    let store = fixture.open();
    let texts = ["o'hara; --", "a\"b", "a=b", "a/b", "Ünï cödé 🦀", "%_*", "a\u{1f}b", "tab\tline\n", ""];
    for (n, text) in (1..).zip(texts) {
        let row =
            Sample::row(n).pipeline(text).state(text).key(text).label(text, text).ready(text, 0).build();
        insert(&*store, [row.clone()]);
        assert_eq!(read(&*store, row.id), Submission { row_version: 1, ..row.clone() });
        let wanted = store::Ready { labels: row.labels, ..claim(&[text], 9) };
        assert_eq!(super::steps::claimed(&*store, wanted), [row.id], "by the name {text:?}");
    }
}

fn versions_count(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).build()]);
    for version in 1..5 {
        assert_eq!(read(&*store, id(1)).row_version, version);
        update(&*store, id(1), |row| row.row_version = 1_000);
    }
}

fn stale_version(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).build()]);
    let stale = change(&*store, id(1), |row| row.state = "STALE".into());
    update(&*store, id(1), |row| row.state = "FRESH".into());
    assert_conflict(&try_commit(&*store, Changes { rows: vec![stale.clone()], ..Changes::default() }));
    let row = read(&*store, id(1));
    let ahead = Submission { row_version: row.row_version + 1, ..row };
    let ahead = RowChange::update(ahead, stale.after);
    assert_conflict(&try_commit(&*store, Changes { rows: vec![ahead], ..Changes::default() }));
    let row = read(&*store, id(1));
    assert_eq!((&*row.state, row.row_version), ("FRESH", 2));
}

fn change_of_nothing(fixture: &dyn Fixture) {
    let store = fixture.open();
    for row_version in [0, 1] {
        let row = Submission { row_version, ..Sample::row(1).build() };
        let rows = vec![RowChange::update(row.clone(), row)];
        assert_conflict(&try_commit(&*store, Changes { rows, ..Changes::default() }));
    }
    assert_eq!(store.submission(id(1)), Ok(None));
}

fn existing_id(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).state("FIRST").build()]);
    let rows = vec![Sample::row(1).state("SECOND").new_row()];
    assert_conflict(&try_commit(&*store, Changes { rows, ..Changes::default() }));
    let row = read(&*store, id(1));
    assert_eq!((&*row.state, row.row_version), ("FIRST", 1));
}

fn row_twice(fixture: &dyn Fixture) {
    let store = fixture.open();
    let rows = vec![Sample::row(1).new_row(), Sample::row(1).new_row()];
    assert_conflict(&try_commit(&*store, Changes { rows, ..Changes::default() }));
    assert_eq!(store.submission(id(1)), Ok(None));
    insert(&*store, [Sample::row(1).build()]);
    let edit = change(&*store, id(1), |row| row.state = "NEXT".into());
    assert_conflict(&try_commit(&*store, Changes { rows: vec![edit.clone(), edit], ..Changes::default() }));
    assert_eq!(read(&*store, id(1)).row_version, 1);
}

fn missing_ids(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).build()]);
    let taken = take(&*store, &Take { ids: vec![id(2), id(1), id(1), id(3)], ..Take::nothing() });
    assert_eq!(taken.rows.keys().copied().collect::<Vec<_>>(), [id(1)]);
    assert_eq!(store.submission(id(2)), Ok(None));
}

fn named_rows(fixture: &dyn Fixture) {
    let store = fixture.open();
    let now = fixture.clock().now();
    insert(
        &*store,
        [
            Sample::row(1).build(),
            Sample::row(2).key("k1").build(),
            Sample::row(3).ready("scan", 1).build(),
            Sample::row(4).timer(now).build(),
            Sample::row(5).build(),
        ],
    );
    let taken = take(&*store, &Take { ids: vec![id(1)], ..super::snapshot::everything() });
    let mut ids: Vec<_> = taken.rows.into_iter().map(|(id, stored)| (id, stored.row.id)).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4].map(|n| (id(n), id(n))));
}

fn now_is_the_clocks(fixture: &dyn Fixture) {
    let store = fixture.open();
    for millis in [0, 1, 86_400_000] {
        fixture.clock().advance(millis);
        assert_eq!(take(&*store, &Take::nothing()).now, fixture.clock().now());
    }
    commit(&*store, Changes::default());
}
