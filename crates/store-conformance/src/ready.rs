//! The queue workers are served from.

use model::submission::Wait;
use model::{Name, Status};

use super::sample::{Sample, id, json, labels, lease, names};
use super::steps::{claim, claimed, commit, insert, take, update};
use super::{Fixture, Promise, promise};
use store::{Changes, DocumentChange, Ready, Take};

pub(super) const PROMISES: &[Promise] = &[
    promise("ready rows come lowest rank first, ties by id", lowest_rank_first),
    promise("ready rows of several tasks come in one order", one_order),
    promise("a row is never handed to two claims of one take", never_to_two),
    promise("taking alone takes nothing away", taking_alone),
    promise("ready rows are filtered by task", by_task),
    promise("ready rows are filtered by pipeline", by_pipeline),
    promise("ready rows are filtered by every label asked for", by_label),
    promise("task, pipeline and label filters hold together", combined),
    promise("a match is found behind thousands of others", behind_others),
    promise("a take reads a bounded amount of documents for claims", bounded_documents),
    promise("a claim gets no more rows than it asked for", max_respected),
    promise("a leased row is not ready, and is again once it waits for a worker", leased_rows_vanish),
    promise("a row that ended, died or waits for something else is not ready", others_not_ready),
    promise("a row is found under its new labels and not under its old ones", labels_move),
];

fn bounded_documents(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, (1..=12).map(|n| Sample::row(n).ready("scan", 0).build()));
    let large = format!("\"{}\"", "x".repeat(1 << 20));
    let body = json(&large);
    let document = |n| DocumentChange { submission: id(n), name: "payload".to_owned(), body: body.clone() };
    let documents = (1..=12).map(document).collect();
    commit(&*store, Changes { documents, ..Changes::default() });
    let first: Vec<_> = (1..=8).map(id).collect();
    assert_eq!(claimed(&*store, claim(&["scan"], 12)), first, "as many as eight megabytes are");
    assert_eq!(claimed(&*store, claim(&["scan"], 3)), first[..3]);
}

fn lowest_rank_first(fixture: &dyn Fixture) {
    let store = fixture.open();
    let ranks = [(1, 5), (2, i64::MAX), (3, -5), (4, 5), (5, i64::MIN), (6, 0), (7, 5)];
    insert(&*store, ranks.map(|(n, rank)| Sample::row(n).ready("scan", rank).build()));
    assert_eq!(claimed(&*store, claim(&["scan"], 10)), [5, 3, 6, 1, 4, 7, 2].map(id));
    assert_eq!(claimed(&*store, claim(&["scan"], 3)), [5, 3, 6].map(id));
}

fn one_order(fixture: &dyn Fixture) {
    let store = fixture.open();
    let waiting = [(1, "scan", 3), (2, "build", 2), (3, "scan", 1), (4, "build", 3), (5, "publish", 0)];
    insert(&*store, waiting.map(|(n, task, rank)| Sample::row(n).ready(task, rank).build()));
    assert_eq!(claimed(&*store, claim(&["scan", "build"], 10)), [3, 2, 1, 4].map(id));
    assert_eq!(claimed(&*store, claim(&["build", "scan"], 3)), [3, 2, 1].map(id));
    assert_eq!(
        claimed(&*store, claim(&["scan", "scan"], 10)),
        [3, 1].map(id),
        "a task named twice is one task"
    );
}

fn never_to_two(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, (1..=5).map(|n| Sample::row(n).ready("scan", 0).label("owner", "ada").build()));
    insert(&*store, [Sample::row(6).ready("build", 0).build()]);
    let labelled = Ready { labels: labels(&[("owner", "ada")]), ..claim(&["scan"], 2) };
    let ready = vec![claim(&["scan"], 2), claim(&["build"], 2), labelled, claim(&["scan", "build"], 9)];
    let taken = take(&*store, &Take { ready, ..Take::nothing() });
    let expected = [vec![id(1), id(2)], vec![id(6)], vec![id(3), id(4)], vec![id(5)]];
    assert_eq!(taken.ready, expected, "a list for each claim, the earlier claim served first");
}

fn taking_alone(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).ready("scan", 0).build()]);
    for _ in 0..3 {
        assert_eq!(claimed(&*store, claim(&["scan"], 1)), [id(1)]);
    }
}

fn by_task(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).ready("scan", 0).build(), Sample::row(2).ready("scan-deep", 1).build()]);
    assert_eq!(claimed(&*store, claim(&["scan"], 9)), [id(1)]);
    assert_eq!(claimed(&*store, claim(&["scan-deep"], 9)), [id(2)]);
    assert_eq!(claimed(&*store, claim(&["SCAN"], 9)), []);
    assert_eq!(claimed(&*store, claim(&[], 9)), [], "who works on nothing gets nothing");
}

fn by_pipeline(fixture: &dyn Fixture) {
    let store = fixture.open();
    let pipelines = ["alpha", "beta", "gamma", "alpha"];
    insert(
        &*store,
        (1..).zip(pipelines).map(|(n, name)| Sample::row(n).pipeline(name).ready("scan", 0).build()),
    );
    let of = |pipelines: &[&str]| Ready { pipelines: names(pipelines), ..claim(&["scan"], 9) };
    assert_eq!(claimed(&*store, of(&["beta"])), [id(2)]);
    assert_eq!(claimed(&*store, of(&["gamma", "alpha"])), [1, 3, 4].map(id));
    assert_eq!(claimed(&*store, of(&["delta"])), []);
    assert_eq!(claimed(&*store, of(&[])), [1, 2, 3, 4].map(id), "none named is any");
}

fn by_label(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(
        &*store,
        [
            Sample::row(1).ready("scan", 0).build(),
            Sample::row(2).ready("scan", 0).label("owner", "ada").build(),
            Sample::row(3).ready("scan", 0).label("owner", "ada").label("tier", "2").build(),
            Sample::row(4).ready("scan", 0).label("owner", "bob").label("tier", "ada").build(),
            Sample::row(5).ready("scan", 0).label("owner", "ada").label("tier", "1").build(),
        ],
    );
    let of = |wanted: &[(&str, &str)]| Ready { labels: labels(wanted), ..claim(&["scan"], 9) };
    assert_eq!(claimed(&*store, of(&[("owner", "ada")])), [2, 3, 5].map(id));
    assert_eq!(claimed(&*store, of(&[("owner", "ada"), ("tier", "2")])), [id(3)]);
    assert_eq!(claimed(&*store, of(&[("owner", "bob"), ("tier", "2")])), []);
    assert_eq!(claimed(&*store, of(&[("ada", "owner")])), []);
}

fn combined(fixture: &dyn Fixture) {
    let store = fixture.open();
    let row = |n, pipeline, task, owner| {
        Sample::row(n).pipeline(pipeline).ready(task, 0).label("owner", owner).build()
    };
    insert(
        &*store,
        [
            row(1, "alpha", "scan", "bob"),
            row(2, "beta", "scan", "ada"),
            row(3, "alpha", "build", "ada"),
            row(4, "alpha", "scan", "ada"),
            row(5, "alpha", "scan", "ada"),
        ],
    );
    let wanted = Ready {
        tasks: names(&["scan"]),
        pipelines: names(&["alpha"]),
        labels: labels(&[("owner", "ada")]),
        max: 9,
    };
    assert_eq!(claimed(&*store, wanted.clone()), [4, 5].map(id));
    assert_eq!(claimed(&*store, Ready { max: 1, ..wanted }), [id(4)]);
}

fn behind_others(fixture: &dyn Fixture) {
    let store = fixture.open();
    for thousand in 0..5 {
        let others = thousand * 1_000 + 1..=(thousand + 1) * 1_000;
        insert(&*store, others.map(|n| Sample::row(n).ready("scan", 0).label("owner", "bob").build()));
    }
    let match_ = Sample::row(9_000).pipeline("beta").ready("scan", 1).label("owner", "ada").build();
    insert(&*store, [match_]);
    let by_label = Ready { labels: labels(&[("owner", "ada")]), ..claim(&["scan"], 1) };
    let by_pipeline = Ready { pipelines: names(&["beta"]), ..claim(&["scan"], 1) };
    let by_both = Ready { pipelines: names(&["beta"]), ..by_label.clone() };
    for wanted in [by_label, by_pipeline, by_both] {
        assert_eq!(claimed(&*store, wanted), [id(9_000)]);
    }
}

fn max_respected(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, (1..=20).map(|n| Sample::row(n).ready("scan", 0).build()));
    for max in [0, 1, 7, 20, 21] {
        assert_eq!(claimed(&*store, claim(&["scan"], max)).len(), max.min(20));
    }
}

fn leased_rows_vanish(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).ready("scan", 1).build(), Sample::row(2).ready("scan", 2).build()]);
    let wanted = Take { ready: vec![claim(&["scan"], 1)], ..Take::nothing() };
    let mut grant = |taken: store::Taken| {
        let before = taken.rows[&taken.ready[0][0]].row.clone();
        let after = model::Submission { wait: lease("scan", 1), ..(*before).clone() };
        Changes { rows: vec![store::RowChange::update(before, after)], ..Changes::default() }
    };
    store.transact(&wanted, &mut grant).expect("the claim is in order");
    assert_eq!(claimed(&*store, claim(&["scan"], 9)), [id(2)]);
    update(&*store, id(1), |row| row.wait = Wait::Worker { task: "scan".into(), rank: 9 });
    assert_eq!(claimed(&*store, claim(&["scan"], 9)), [2, 1].map(id), "under its new rank");
    update(&*store, id(1), |row| row.wait = Wait::Worker { task: "build".into(), rank: 9 });
    assert_eq!(claimed(&*store, claim(&["scan"], 9)), [id(2)]);
    assert_eq!(claimed(&*store, claim(&["build"], 9)), [id(1)], "under its new task");
}

fn others_not_ready(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, (1..=5).map(|n| Sample::row(n).ready("scan", 0).build()));
    let rows = (1..=4).zip([Wait::Person, Wait::Guard, Wait::Redrive, Wait::Nothing]).map(|(n, wait)| {
        super::steps::change(&*store, id(n), |row| {
            row.status = if wait == Wait::Nothing { Status::Succeeded } else { row.status };
            row.wait = wait;
        })
    });
    let rows = rows.collect();
    commit(&*store, Changes { rows, ..Changes::default() });
    assert_eq!(claimed(&*store, claim(&["scan"], 9)), [id(5)]);
}

fn labels_move(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).ready("scan", 0).label("owner", "ada").label("tier", "1").build()]);
    update(&*store, id(1), |row| {
        row.labels.insert("owner".into(), "bob".into());
        row.labels.remove(&Name::from("tier"));
    });
    let of = |label, value| Ready { labels: labels(&[(label, value)]), ..claim(&["scan"], 9) };
    assert_eq!(claimed(&*store, of("owner", "ada")), []);
    assert_eq!(claimed(&*store, of("tier", "1")), []);
    assert_eq!(claimed(&*store, of("owner", "bob")), [id(1)]);
}
