//! Lanes: one holder each, and a line of those who come after.

use model::submission::{Seat, Stand};
use model::{Status, Submission, SubmissionId};

use super::sample::{Sample, at, id, labels};
use super::snapshot::{lane_key, open_key};
use super::steps::{assert_conflict, change, claim, commit, found, insert, read, take, try_commit, update};
use super::{Fixture, Promise, promise};
use store::{Changes, Clock, LaneView, Line, Query, RowChange, Store, Take, Taken};

pub(super) const PROMISES: &[Promise] = &[
    promise("two submissions never hold one lane", never_shared),
    promise("two rows of one commit never hold one lane", never_shared_within),
    promise("a lane is held per pipeline", per_pipeline),
    promise("a lane may pass from one row to another in one commit, whichever comes first", passes_on),
    promise("those in line come by creation, then tie, numbers as numbers, then id", in_order),
    promise("a line is as long as asked for and follows those who come and go", follows),
    promise("a seat that changes in place changes the line", seat_changes),
    promise("a lane that is asked for comes with holder and first, rows included", asked_for),
    promise("a lane that is asked for comes even where nobody is there", nobody_there),
    promise("a row that does not hold its lane brings holder and first", unheld_brings),
    promise("a row that holds its lane brings nobody", holder_brings_nobody),
    promise("a row that may leave its lane brings who comes next, if nobody else writes", successor),
    promise("rows that come along bring nobody else", one_step_only),
    promise("a parked row is out of line but keeps the lane it holds", parked),
    promise("rows are found by lane, of one pipeline or of all", found_by_lane),
    promise("a lane is a condition of a query like any other", one_of_many_conditions),
    promise("lanes and ties may hold any text", any_text),
];

fn seated(holds: bool) -> impl Fn(&mut Submission) {
    let stand = if holds { Stand::Holds } else { Stand::InLine };
    move |row| row.seat = row.seat.take().map(|seat| seat.standing(stand))
}

#[track_caller]
fn assert_line(store: &dyn Store, lane: &str, holder: Option<u64>, waiting: &[u64]) {
    let line = store.line(&lane_key("alpha", lane), 100).expect("reading works");
    let waiting = waiting.iter().map(|&n| id(n)).collect();
    assert_eq!(line, Line { holder: holder.map(id), waiting });
}

fn try_rows(store: &dyn Store, rows: Vec<RowChange>) -> Result<store::Committed, store::Error> {
    try_commit(store, Changes { rows, ..Changes::default() })
}

fn view(holder: Option<u64>, first: Option<u64>) -> LaneView {
    LaneView { holder: holder.map(id), first: first.map(id) }
}

fn taken_ids(taken: &Taken) -> Vec<SubmissionId> {
    let mut ids: Vec<_> = taken.rows.keys().copied().collect();
    ids.sort_unstable();
    ids
}

fn never_shared(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).holds_lane("l1").build(), Sample::row(2).in_line("l1", "").build()]);
    assert_conflict(&try_rows(&*store, vec![Sample::row(3).holds_lane("l1").new_row()]));
    let both = vec![change(&*store, id(2), seated(true))];
    assert_conflict(&try_rows(&*store, both));
    assert_eq!(store.submission(id(3)), Ok(None));
    assert_line(&*store, "l1", Some(1), &[2]);
    insert(&*store, [Sample::row(4).holds_lane("l2").status(Status::Dead).build()]);
    assert_conflict(&try_rows(&*store, vec![Sample::row(5).holds_lane("l2").new_row()]));
}

fn never_shared_within(fixture: &dyn Fixture) {
    let store = fixture.open();
    let rows = [1, 2].map(|n| Sample::row(n).holds_lane("l1").new_row()).to_vec();
    assert_conflict(&try_rows(&*store, rows));
    assert_line(&*store, "l1", None, &[]);
}

fn per_pipeline(fixture: &dyn Fixture) {
    let store = fixture.open();
    let beta = |n| Sample::row(n).pipeline("beta");
    insert(&*store, [Sample::row(1).holds_lane("l1").build(), beta(2).holds_lane("l1").build()]);
    insert(&*store, [beta(3).in_line("l1", "").build()]);
    assert_line(&*store, "l1", Some(1), &[]);
    let line = store.line(&lane_key("beta", "l1"), 9).expect("reading works");
    assert_eq!(line, Line { holder: Some(id(2)), waiting: vec![id(3)] });
}

fn passes_on(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).holds_lane("l1").build(), Sample::row(2).in_line("l1", "").build()]);
    let next = change(&*store, id(2), seated(true));
    let rows = vec![next, change(&*store, id(1), |row| row.seat = None)];
    commit(&*store, Changes { rows, ..Changes::default() });
    assert_line(&*store, "l1", Some(2), &[]);

    let rows = vec![change(&*store, id(2), |row| row.seat = None), Sample::row(3).holds_lane("l1").new_row()];
    commit(&*store, Changes { rows, ..Changes::default() });
    assert_line(&*store, "l1", Some(3), &[]);

    let rows = vec![change(&*store, id(3), seated(false)), Sample::row(4).holds_lane("l1").new_row()];
    commit(&*store, Changes { rows, ..Changes::default() });
    assert_line(&*store, "l1", Some(4), &[3]);
}

fn successor(fixture: &dyn Fixture) {
    let store = fixture.open();
    let in_line = |n| Sample::row(n).in_line("l1", "").build();
    insert(&*store, [Sample::row(1).holds_lane("l1").build(), in_line(2), in_line(3)]);
    insert(&*store, [Sample::row(4).holds_lane("l2").build(), Sample::row(5).holds_lane("l3").build()]);
    let may_leave = |row: &Submission| row.id != id(5);
    let ids = [1, 2, 4, 5].map(id).to_vec();
    let taken = take(&*store, &Take { ids, leaves_lane: &may_leave, ..Take::nothing() });
    if store.is_shared() {
        assert_eq!(taken.successors, [].into());
        return;
    }
    let expected = [(lane_key("alpha", "l1"), Some(id(2))), (lane_key("alpha", "l2"), None)];
    assert_eq!(taken.successors, expected.into());
    let lone = Take { ids: vec![id(1)], leaves_lane: &may_leave, ..Take::nothing() };
    assert_eq!(taken_ids(&take(&*store, &lone)), [1, 2].map(id));
}

fn in_order(fixture: &dyn Fixture) {
    let store = fixture.open();
    let came = |n: u64, millis: u64, tie: &str| Submission {
        created_at: at(millis),
        ..Sample::row(n).in_line("l1", tie).build()
    };
    insert(
        &*store,
        [
            came(1, 9, "a"),
            came(2, 7, "c"),
            came(3, 7, "b"),
            came(4, 7, "B"),
            came(6, 7, "b10"),
            came(5, 7, "b"),
            came(7, 8, ""),
            came(8, 6, "10"),
            came(9, 6, "9"),
            came(10, 6, "-1"),
            came(11, 6, "18446744073709551616"),
        ],
    );
    assert_line(&*store, "l1", None, &[10, 9, 8, 11, 4, 3, 5, 6, 2, 7, 1]);
    let taken = take(&*store, &Take { lanes: vec![lane_key("alpha", "l1")], ..Take::nothing() });
    assert_eq!(taken.lanes[&lane_key("alpha", "l1")], view(None, Some(10)));
}

fn follows(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, (2..=9).map(|n| Sample::row(n).in_line("l1", "").build()));
    for limit in [0, 1, 5, 8, 9] {
        let line = store.line(&lane_key("alpha", "l1"), limit).expect("reading works");
        let expected: Vec<_> = (2..=9).map(id).take(limit).collect();
        assert_eq!(line, Line { holder: None, waiting: expected });
    }
    update(&*store, id(2), seated(true));
    update(&*store, id(5), |row| row.seat = None);
    insert(&*store, [Sample::row(1).in_line("l1", "").build()]);
    assert_line(&*store, "l1", Some(2), &[1, 3, 4, 6, 7, 8, 9]);
    assert_line(&*store, "l2", None, &[]);
}

fn seat_changes(fixture: &dyn Fixture) {
    let store = fixture.open();
    let came =
        |n: u64, tie: &str| Submission { created_at: at(0), ..Sample::row(n).in_line("l1", tie).build() };
    insert(&*store, [came(1, "a"), came(2, "b"), came(3, "c")]);
    update(&*store, id(1), |row| row.seat = Some(Seat::new("l1", "d")));
    assert_line(&*store, "l1", None, &[2, 3, 1]);
    update(&*store, id(2), |row| row.seat = Some(Seat::new("l2", "b")));
    assert_line(&*store, "l1", None, &[3, 1]);
    assert_line(&*store, "l2", None, &[2]);
    update(&*store, id(3), |row| row.state = "NEXT".into());
    assert_line(&*store, "l1", None, &[3, 1]);
}

fn asked_for(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).holds_lane("l1").state("HELD").build()]);
    insert(&*store, (2..=4).map(|n| Sample::row(n).in_line("l1", "").build()));
    let lanes = vec![lane_key("alpha", "l1"), lane_key("alpha", "l1")];
    let taken = take(&*store, &Take { lanes, documents: &|row| &*row.state == "HELD", ..Take::nothing() });
    assert_eq!(taken.lanes, [(lane_key("alpha", "l1"), view(Some(1), Some(2)))].into());
    assert_eq!(taken_ids(&taken), [1, 2].map(id));
    assert_eq!(*taken.rows[&id(1)].row, read(&*store, id(1)));
    assert!(taken.rows[&id(1)].documents.is_some() && taken.rows[&id(2)].documents.is_none());
}

fn nobody_there(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).holds_lane("l2").build(), Sample::row(2).in_line("l3", "").build()]);
    let lanes = ["l1", "l2", "l3"].map(|lane| lane_key("alpha", lane));
    let taken = take(&*store, &Take { lanes: lanes.to_vec(), ..Take::nothing() });
    assert_eq!(
        lanes.map(|lane| taken.lanes[&lane]),
        [view(None, None), view(Some(1), None), view(None, Some(2))]
    );
    assert_eq!(taken.lanes.len(), 3);
}

fn unheld_brings(fixture: &dyn Fixture) {
    let store = fixture.open();
    let now = fixture.clock().now();
    insert(&*store, [Sample::row(1).holds_lane("l1").build()]);
    insert(&*store, [2, 3].map(|n| Sample::row(n).in_line("l1", "").build()));
    insert(&*store, [Sample::row(4).in_line("l1", "").ready("scan", 1).build()]);
    insert(&*store, [Sample::row(5).in_line("l1", "").timer(now).build()]);
    insert(&*store, [Sample::row(6).in_line("l1", "").parked("h1").build()]);
    let takes = [
        (3, Take { ids: vec![id(3)], ..Take::nothing() }),
        (4, Take { ready: vec![claim(&["scan"], 1)], ..Take::nothing() }),
        (5, Take { due: 1, ..Take::nothing() }),
        (6, Take { ids: vec![id(6)], ..Take::nothing() }),
    ];
    for (n, wanted) in takes {
        let taken = take(&*store, &wanted);
        assert_eq!(taken.lanes, [(lane_key("alpha", "l1"), view(Some(1), Some(2)))].into(), "row {n}");
        assert_eq!(taken_ids(&taken), [1, 2, n].map(id));
    }
    update(&*store, id(1), |row| row.seat = None);
    let taken = take(&*store, &Take { ids: vec![id(2)], ..Take::nothing() });
    assert_eq!(taken.lanes[&lane_key("alpha", "l1")], view(None, Some(2)), "it may be the first itself");
}

fn holder_brings_nobody(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).holds_lane("l1").build(), Sample::row(2).in_line("l1", "").build()]);
    insert(&*store, [Sample::row(3).build()]);
    let taken = take(&*store, &Take { ids: vec![id(1), id(3)], ..Take::nothing() });
    assert_eq!((taken.lanes.len(), taken_ids(&taken)), (0, [1, 3].map(id).to_vec()));
}

/// The holder of a lane is itself in want of a key: whoever has that is not asked for.
fn one_step_only(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(
        &*store,
        [
            Sample::row(1).key("k1").build(),
            Sample::row(2).holds_lane("l1").waits_for_key("k1").build(),
            Sample::row(3).in_line("l1", "").key("k2").build(),
            Sample::row(4).in_line("l1", "").waits_for_key("k2").build(),
        ],
    );
    let taken = take(&*store, &Take { ids: vec![id(4)], ..Take::nothing() });
    assert_eq!(taken_ids(&taken), [2, 3, 4].map(id));
    assert_eq!(taken.holders, [(open_key("alpha", "k2"), id(3))].into());
}

fn parked(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).holds_lane("l1").build()]);
    insert(&*store, [2, 3].map(|n| Sample::row(n).in_line("l1", "").build()));
    update(&*store, id(1), |row| row.parked = Some("h1".into()));
    update(&*store, id(2), |row| row.parked = Some("h1".into()));
    assert_line(&*store, "l1", Some(1), &[3]);
    assert_conflict(&try_rows(&*store, vec![change(&*store, id(3), seated(true))]));
    let by_lane = Query { lane: Some("l1".into()), limit: 9, ..Query::default() };
    assert_eq!(found(&*store, &by_lane), [3, 1].map(id));
    update(&*store, id(2), |row| row.parked = None);
    assert_line(&*store, "l1", Some(1), &[2, 3]);
}

fn found_by_lane(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(5).holds_lane("l1").build(), Sample::row(6).holds_lane("l2").build()]);
    insert(&*store, [9, 1, 7].map(|n| Sample::row(n).in_line("l1", "").build()));
    insert(&*store, [Sample::row(8).pipeline("beta").in_line("l1", "").build(), Sample::row(2).build()]);
    let by_lane = Query { lane: Some("l1".into()), limit: 3, ..Query::default() };
    assert_eq!(found(&*store, &by_lane), [9, 8, 7].map(id));
    assert_eq!(found(&*store, &Query { after: Some(id(7)), ..by_lane.clone() }), [5, 1].map(id));
    let beta = Query { pipeline: Some("beta".into()), ..by_lane.clone() };
    assert_eq!(found(&*store, &beta), [id(8)]);
    assert_eq!(found(&*store, &Query { lane: Some("l3".into()), ..by_lane }), []);
}

fn one_of_many_conditions(fixture: &dyn Fixture) {
    let store = fixture.open();
    let full = |n| Sample::row(n).state("A").label("owner", "ada").parent(id(100)).key(&n.to_string());
    insert(
        &*store,
        [
            full(1).holds_lane("l1").build(),
            full(2).in_line("l1", "").build(),
            full(3).in_line("l2", "").build(),
            full(4).in_line("l1", "").state("B").build(),
            full(5).in_line("l1", "").label("owner", "bob").build(),
            full(6).in_line("l1", "").parent(id(101)).build(),
            full(7).in_line("l1", "").status(Status::Dead).build(),
            full(8).build(),
        ],
    );
    let query = Query {
        lane: Some("l1".into()),
        state: Some("A".into()),
        status: Some(Status::Open),
        labels: labels(&[("owner", "ada")]),
        parent: Some(id(100)),
        limit: 9,
        ..Query::default()
    };
    assert_eq!(found(&*store, &query), [2, 1].map(id));
    assert_eq!(found(&*store, &Query { key: Some("2".into()), ..query.clone() }), [id(2)]);
    assert_eq!(found(&*store, &Query { key: Some("3".into()), ..query.clone() }), []);
    assert_eq!(found(&*store, &Query { created_before: Some(at(2)), ..query }), [id(1)]);
}

fn any_text(fixture: &dyn Fixture) {
    let store = fixture.open();
    let texts = ["o'hara; --", "a\"b", "Ünï cödé 🦀", "%_*", "tab\tline\n", ""];
    for (n, text) in (1..).step_by(2).zip(texts) {
        insert(
            &*store,
            [Sample::row(n).holds_lane(text).build(), Sample::row(n + 1).in_line(text, text).build()],
        );
        assert_line(&*store, text, Some(n), &[n + 1]);
        let by_lane = Query { lane: Some(text.into()), limit: 9, ..Query::default() };
        assert_eq!(found(&*store, &by_lane), [n + 1, n].map(id), "by the lane {text:?}");
    }
}
