//! Effects on other submissions, waiting to be pulled.

use super::sample::{Sample, id, json};
use super::snapshot::{lane_key, open_key};
use super::steps::{commit, insert, take, update};
use super::{Fixture, Promise, promise};
use store::{Changes, LaneView, Owed, OwedId, OwedTo, Store, Take, Taken};

pub(super) const PROMISES: &[Promise] = &[
    promise("owed rows come oldest first, each once", oldest_first),
    promise("owed rows are no more than asked for", bounded),
    promise("an owed row stays until it is paid, and is gone then", paid),
    promise("paying twice, or what was never owed, changes nothing", paid_twice),
    promise("an owed row names whom it concerns, in any text", names_its_target),
    promise("an owed row brings the submission it names", brings_a_submission),
    promise("an owed row for a key brings its holder and who waits longest", brings_a_key),
    promise("an owed row for a lane brings its holder and who is first", brings_a_lane),
    promise(
        "an owed row for a hold brings what it parked, smallest id first and bounded",
        brings_what_is_parked,
    ),
    promise("an owed row for a hold brings the lanes of what it parked", brings_lanes_of_parked),
    promise("an owed row for the first that is parked brings it alone", brings_the_first_parked),
    promise("the names something is parked under are listed once each, in order", names_of_what_is_parked),
    promise("a name that is owed both brings all it parked, whichever came first", first_and_all),
    promise("an owed row that was not taken brings nobody", untaken_brings_nobody),
    promise("what is owed under the same id again is kept once, as it was", kept_once),
    promise("the numbers of what is owed have 63 bits", long_numbers),
];

fn owed(n: u64, no: u64) -> Owed {
    Owed {
        id: OwedId { submission: id(n), revision: 3, no },
        to: OwedTo::Submission(id(n + 100)),
        body: json(&format!("{{\"to\": \"{n}\",  \"no\":{no}}}")),
    }
}

fn owe(store: &dyn Store, owed: Vec<Owed>) {
    commit(store, Changes { owed, ..Changes::default() });
}

fn pay(store: &dyn Store, paid: &[Owed]) {
    let paid = paid.iter().map(|owed| owed.id.clone()).collect();
    commit(store, Changes { paid, ..Changes::default() });
}

fn pending(store: &dyn Store, max: usize) -> Vec<Owed> {
    take(store, &Take { owed: max, ..Take::nothing() }).owed
}

fn oldest_first(fixture: &dyn Fixture) {
    let store = fixture.open();
    let rows = [owed(9, 1), owed(9, 0), owed(1, 5), owed(4, 0), owed(1, 2)];
    owe(&*store, rows[..3].to_vec());
    owe(&*store, rows[3..].to_vec());
    assert_eq!(pending(&*store, 100), rows, "by when they came, not by id");
    pay(&*store, &rows[1..2]);
    owe(&*store, vec![owed(0, 0)]);
    assert_eq!(pending(&*store, 100), [owed(9, 1), owed(1, 5), owed(4, 0), owed(1, 2), owed(0, 0)]);
}

fn bounded(fixture: &dyn Fixture) {
    let store = fixture.open();
    owe(&*store, (1..=20).map(|n| owed(n, 0)).collect());
    for max in [0, 1, 7, 20, 21] {
        assert_eq!(pending(&*store, max), (1..=20).map(|n| owed(n, 0)).take(max).collect::<Vec<_>>());
    }
}

fn paid(fixture: &dyn Fixture) {
    let store = fixture.open();
    owe(&*store, vec![owed(1, 0), owed(1, 1), owed(2, 0)]);
    assert_eq!(pending(&*store, 9).len(), 3);
    assert_eq!(pending(&*store, 9).len(), 3, "taking alone pays nothing");
    pay(&*store, &[owed(1, 1), owed(2, 0)]);
    assert_eq!(pending(&*store, 9), [owed(1, 0)]);
    pay(&*store, &[owed(1, 0)]);
    assert_eq!(pending(&*store, 9), []);
}

fn paid_twice(fixture: &dyn Fixture) {
    let store = fixture.open();
    owe(&*store, vec![owed(1, 0), owed(2, 0)]);
    pay(&*store, &[owed(1, 0)]);
    pay(&*store, &[owed(1, 0), owed(7, 7)]);
    assert_eq!(pending(&*store, 9), [owed(2, 0)]);
}

fn kept_once(fixture: &dyn Fixture) {
    let store = fixture.open();
    owe(&*store, vec![owed(1, 0), owed(2, 0)]);
    let again = Owed { to: OwedTo::Parked("h1".into()), body: json("\"other\""), ..owed(1, 0) };
    owe(&*store, vec![again, owed(3, 0), owed(3, 0)]);
    assert_eq!(pending(&*store, 9), [owed(1, 0), owed(2, 0), owed(3, 0)]);
    pay(&*store, &[owed(1, 0)]);
    assert_eq!(pending(&*store, 9), [owed(2, 0), owed(3, 0)]);
}

fn long_numbers(fixture: &dyn Fixture) {
    let store = fixture.open();
    let numbers = [0, 1 << 31, 1 << 32, i64::MAX.unsigned_abs()];
    owe(&*store, numbers.map(|no| owed(1, no)).to_vec());
    assert_eq!(pending(&*store, 9), numbers.map(|no| owed(1, no)));
    pay(&*store, &[owed(1, 1 << 32), owed(1, i64::MAX.unsigned_abs())]);
    assert_eq!(pending(&*store, 9), [owed(1, 0), owed(1, 1 << 31)]);
}

/// Takes what is owed to these, once it is.
fn taken_for(store: &dyn Store, targets: &[OwedTo]) -> Taken {
    let all = (0..).zip(targets).map(|(no, to)| Owed { to: to.clone(), ..owed(900, no) });
    owe(store, all.collect());
    take(store, &Take { owed: 100, parked: 20, ..Take::nothing() })
}

fn ids(taken: &Taken) -> Vec<model::SubmissionId> {
    let mut ids: Vec<_> = taken.rows.keys().copied().collect();
    ids.sort_unstable();
    ids
}

fn names_its_target(fixture: &dyn Fixture) {
    let store = fixture.open();
    let texts = ["o'hara; --", "a\"b", "Ünï cödé 🦀", "tab\tline\n", ""];
    let mut targets = vec![OwedTo::Submission(id(7))];
    for text in texts {
        targets.extend([
            OwedTo::Key(open_key(text, text)),
            OwedTo::Lane(lane_key(text, text)),
            OwedTo::Parked(text.into()),
            OwedTo::FirstParked(text.into()),
        ]);
    }
    let taken = taken_for(&*store, &targets);
    assert_eq!(taken.owed.into_iter().map(|owed| owed.to).collect::<Vec<_>>(), targets);
    assert_eq!((taken.lanes.len(), taken.parked.len()), (5, 5));
    assert_eq!((taken.rows.len(), taken.holders.len(), taken.waiters.len()), (0, 0, 0), "nobody is there");
}

fn brings_a_submission(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, (1..=3).map(|n| Sample::row(n).build()));
    insert(&*store, [Sample::row(4).key("k1").build(), Sample::row(5).waits_for_key("k1").build()]);
    let targets = [2, 9, 5, 2].map(|n| OwedTo::Submission(id(n)));
    let taken = taken_for(&*store, &targets);
    assert_eq!(ids(&taken), [2, 4, 5].map(id));
    assert_eq!(taken.holders, [(open_key("alpha", "k1"), id(4))].into(), "it waits for its key");
    assert!(taken.rows.values().all(|stored| stored.documents.is_some()), "as the take wants them");
}

fn brings_a_key(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(4).key("k1").build(), Sample::row(5).waits_for_key("k2").build()]);
    insert(&*store, [3, 2].map(|n| Sample::row(n).waits_for_key("k1").build()));
    insert(&*store, [Sample::row(1).pipeline("beta").waits_for_key("k1").build()]);
    let taken = taken_for(&*store, &["k1", "k2", "k3"].map(|key| OwedTo::Key(open_key("alpha", key))));
    assert_eq!(taken.holders, [(open_key("alpha", "k1"), id(4))].into());
    let waiters = [(open_key("alpha", "k1"), id(2)), (open_key("alpha", "k2"), id(5))];
    assert_eq!(taken.waiters, waiters.into());
    assert_eq!(ids(&taken), [2, 4, 5].map(id));
}

fn brings_a_lane(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(4).holds_lane("l1").build()]);
    insert(&*store, [3, 2].map(|n| Sample::row(n).in_line("l1", "").build()));
    let taken = taken_for(&*store, &["l1", "l2"].map(|lane| OwedTo::Lane(lane_key("alpha", lane))));
    let view = LaneView { holder: Some(id(4)), first: Some(id(2)) };
    let lanes = [(lane_key("alpha", "l1"), view), (lane_key("alpha", "l2"), LaneView::default())];
    assert_eq!(taken.lanes, lanes.into());
    assert_eq!(ids(&taken), [2, 4].map(id));
}

fn brings_what_is_parked(fixture: &dyn Fixture) {
    let store = fixture.open();
    let many = 30;
    insert(&*store, (1..=many).rev().map(|n| Sample::row(n).ready("scan", 0).parked("h1").build()));
    insert(&*store, [Sample::row(many + 1).parked("h2").build()]);
    let taken = taken_for(&*store, &["h1", "h1", "h3"].map(|hold| OwedTo::Parked(hold.into())));
    assert_eq!(taken.parked["h1"], (1..=20).map(id).collect::<Vec<_>>());
    assert_eq!((taken.parked.len(), taken.rows.len()), (2, 20));
    assert_eq!(taken.parked["h3"], [], "nothing is parked there");
    update(&*store, id(1), |row| row.parked = None);
    update(&*store, id(2), |row| row.parked = Some("h2".into()));
    let taken = taken_for(&*store, &[]);
    assert_eq!(taken.parked["h1"], (3..=22).map(id).collect::<Vec<_>>());
}

fn brings_lanes_of_parked(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).in_line("l1", "").parked("h1").build()]);
    insert(
        &*store,
        [Sample::row(2).in_line("l2", "").parked("h1").build(), Sample::row(3).holds_lane("l2").build()],
    );
    let taken = taken_for(&*store, &[OwedTo::Parked("h1".into())]);
    let view = LaneView { holder: Some(id(3)), first: None };
    let lanes = [(lane_key("alpha", "l1"), LaneView::default()), (lane_key("alpha", "l2"), view)];
    assert_eq!(taken.lanes, lanes.into());
    assert_eq!(ids(&taken), [1, 2, 3].map(id));
}

fn untaken_brings_nobody(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).build(), Sample::row(2).parked("h1").build()]);
    let targets = [OwedTo::Submission(id(1)), OwedTo::Parked("h1".into())];
    assert_eq!(ids(&taken_for(&*store, &targets)).len(), 2);
    let taken = take(&*store, &Take { owed: 1, ..Take::nothing() });
    assert_eq!((ids(&taken), taken.parked.len()), (vec![id(1)], 0));
    assert_eq!(take(&*store, &Take::nothing()).rows.len(), 0);
}

fn brings_the_first_parked(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [3, 1, 2].map(|n| Sample::row(n).ready("scan", 0).parked("h1").build()));
    insert(
        &*store,
        [Sample::row(4).in_line("l1", "").parked("h2").build(), Sample::row(5).holds_lane("l1").build()],
    );
    let first = |name: &str| OwedTo::FirstParked(name.into());
    let taken = taken_for(&*store, &["h1", "h1", "h2", "h3"].map(first));
    let parked = [("h1".into(), vec![id(1)]), ("h2".into(), vec![id(4)]), ("h3".into(), vec![])];
    assert_eq!(taken.parked, parked.into());
    assert_eq!(ids(&taken), [1, 4, 5].map(id), "and whoever has the lane of one");
    update(&*store, id(1), |row| row.parked = None);
    assert_eq!(taken_for(&*store, &[]).parked["h1"], [id(2)]);
    insert(&*store, [Sample::row(0).parked("h1").build()]);
    assert_eq!(taken_for(&*store, &[]).parked["h1"], [id(0)], "the smallest id, not who was parked first");
}

fn names_of_what_is_parked(fixture: &dyn Fixture) {
    let store = fixture.open();
    let rows = [(1, "h2"), (2, "h1"), (3, "h2"), (4, "limit a b=c d"), (5, "h10")];
    insert(&*store, rows.map(|(n, name)| Sample::row(n).ready("scan", 0).parked(name).build()));
    let names = |after: &str, limit| {
        store
            .parked(after, limit)
            .expect("it can be read")
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(names("", 10), ["h1", "h10", "h2", "limit a b=c d"]);
    assert_eq!(names("h1", 2), ["h10", "h2"]);
    assert!(names("limit a b=c d", 10).is_empty());
    update(&*store, id(2), |row| row.parked = None);
    assert_eq!(names("", 1), ["h10"]);
}

fn first_and_all(fixture: &dyn Fixture) {
    let (all, first) = (OwedTo::Parked("h1".into()), OwedTo::FirstParked("h1".into()));
    for targets in [[all.clone(), first.clone()], [first, all]] {
        let store = fixture.open();
        insert(&*store, (1..=3).map(|n| Sample::row(n).parked("h1").build()));
        let taken = taken_for(&*store, &targets);
        assert_eq!(taken.parked["h1"], [1, 2, 3].map(id));
        let taken = take(&*store, &Take { owed: 1, parked: 20, ..Take::nothing() });
        let expected = if targets[0] == OwedTo::Parked("h1".into()) { 3 } else { 1 };
        assert_eq!((taken.parked["h1"].len(), taken.rows.len()), (expected, expected));
    }
}
