//! Slots: what leases take of limits, each by one alone.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use model::submission::Wait;
use model::{Status, Submission, SubmissionId};

use super::sample::{Sample, entry, id, json, lease_with, moved};
use super::snapshot::limit_key;
use super::steps::{assert_conflict, change, claim, commit, insert, read, take, try_commit, update};
use super::{Fixture, Promise, promise};
use store::{Changes, Clock, DocumentChange, LimitKey, RowChange, Store, Take};

pub(super) const PROMISES: &[Promise] = &[
    promise("two submissions never have one slot", never_shared),
    promise("two rows of one commit never have one slot, nor one row a slot twice", never_shared_within),
    promise("a slot is one of a pipeline, a label, a value and a number", all_four),
    promise("a slot may pass from one row to another in one commit, whichever comes first", passes_on),
    promise("a lease that ends frees its slots", free_once_ended),
    promise("a lease that is written in place keeps its slots", kept_in_place),
    promise("a lease may have slots of several limits, and change one of them", several),
    promise("ready rows bring the slots taken of their limits", brought),
    promise("a limit of a ready row comes even where no slot is taken", none_taken),
    promise("limits are asked of ready rows alone", ready_rows_alone),
    promise("a ready row that was left to the next take brings no limit", left_out),
    promise("limits may hold any text", any_text),
];

const ADA: (&str, &str) = ("owner", "ada");
const NONE: [u32; 0] = [];

fn slot(no: u32) -> Vec<(&'static str, &'static str, u32)> {
    vec![(ADA.0, ADA.1, no)]
}

/// Leased, with one slot of the sample's limit.
fn leased(n: u64, no: u32) -> Sample {
    Sample::row(n).slots(&slot(no))
}

fn try_rows(store: &dyn Store, rows: Vec<RowChange>) -> Result<store::Committed, store::Error> {
    try_commit(store, Changes { rows, ..Changes::default() })
}

/// The slots that are taken, as ready rows bring them to whoever claims them.
fn slots_of(store: &dyn Store, limits: &[LimitKey]) -> HashMap<LimitKey, BTreeSet<u32>> {
    if store.submission(id(900)) == Ok(None) {
        insert(store, [Sample::row(900).ready("look", 0).build()]);
    }
    let limits = |_: &Submission| limits.to_vec();
    take(store, &Take { ready: vec![claim(&["look"], 1)], limits: &limits, ..Take::nothing() }).slots
}

/// Returns the taken slots of the sample's limit.
fn taken(store: &dyn Store) -> Vec<u32> {
    let limit = limit_key("alpha", ADA.0, ADA.1);
    let slots = slots_of(store, std::slice::from_ref(&limit));
    assert_eq!(slots.len(), 1, "an entry for each limit and no other");
    slots[&limit].iter().copied().collect()
}

fn never_shared(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [leased(1, 0).build(), leased(2, 1).build(), Sample::row(3).ready("scan", 0).build()]);
    assert_conflict(&try_rows(&*store, vec![leased(4, 0).new_row()]));
    for n in [2, 3] {
        let claimed = change(&*store, id(n), |row| row.wait = lease_with("scan", 1, &slot(0)));
        assert_conflict(&try_rows(&*store, vec![claimed]));
    }
    assert_eq!(store.submission(id(4)), Ok(None));
    assert_eq!(taken(&*store), [0, 1]);
    update(&*store, id(3), |row| row.wait = lease_with("scan", 1, &slot(7)));
    assert_eq!(taken(&*store), [0, 1, 7], "numbers need not be dense");
}

fn never_shared_within(fixture: &dyn Fixture) {
    let store = fixture.open();
    assert_conflict(&try_rows(&*store, vec![leased(1, 0).new_row(), leased(2, 0).new_row()]));
    let twice = Sample::row(1).slots(&[slot(3), slot(3)].concat());
    assert_conflict(&try_rows(&*store, vec![twice.new_row()]));
    assert_eq!(taken(&*store), NONE);
}

fn all_four(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(
        &*store,
        [
            leased(1, 0).build(),
            leased(2, 0).pipeline("beta").build(),
            Sample::row(3).slots(&[("tier", "ada", 0)]).build(),
            Sample::row(4).slots(&[("owner", "bob", 0)]).build(),
            leased(5, u32::MAX).build(),
        ],
    );
    let limits = [
        limit_key("alpha", "owner", "ada"),
        limit_key("beta", "owner", "ada"),
        limit_key("alpha", "tier", "ada"),
        limit_key("alpha", "owner", "bob"),
    ];
    let slots = slots_of(&*store, &limits);
    assert_eq!(slots[&limits[0]], [0, u32::MAX].into());
    assert!(slots.len() == 4 && limits[1..].iter().all(|limit| slots[limit] == [0].into()));
}

fn passes_on(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [leased(1, 0).build(), Sample::row(2).ready("scan", 0).build()]);
    let claimed = |n| change(&*store, id(n), |row| row.wait = lease_with("scan", 2, &slot(0)));
    let settled = |n| change(&*store, id(n), |row| row.wait = Wait::Person);
    let rows = vec![claimed(2), settled(1)];
    commit(&*store, Changes { rows, ..Changes::default() });
    assert_eq!((taken(&*store), read(&*store, id(2)).row_version), (vec![0], 2));

    let rows = vec![settled(2), leased(3, 0).new_row()];
    commit(&*store, Changes { rows, ..Changes::default() });
    assert_conflict(&try_rows(&*store, vec![claimed(1)]));

    insert(&*store, [leased(4, 1).build()]);
    let rows = vec![
        change(&*store, id(3), |row| row.wait = lease_with("scan", 1, &slot(1))),
        change(&*store, id(4), |row| row.wait = lease_with("scan", 1, &slot(0))),
    ];
    commit(&*store, Changes { rows, ..Changes::default() });
    assert_eq!(taken(&*store), [0, 1], "exchanged");
    update(&*store, id(3), |row| row.wait = Wait::Person);
    assert_eq!(taken(&*store), [0], "each frees what it has, not what it had");
}

fn free_once_ended(fixture: &dyn Fixture) {
    let store = fixture.open();
    let waits = [
        (Wait::Person, Status::Open),
        (Wait::Worker { task: "scan".into(), rank: 1 }, Status::Open),
        (Wait::Redrive, Status::Dead),
        (Wait::Nothing, Status::Succeeded),
        (lease_with("scan", 9, &[]), Status::Open),
    ];
    for (n, (wait, status)) in (1..).zip(waits) {
        insert(&*store, [leased(n, 0).build()]);
        assert_eq!(taken(&*store), [0]);
        let before = read(&*store, id(n));
        let event = moved(&before, "NEXT", entry(wait, status));
        let after = model::evolve(Some(before.clone()), &event);
        let rows = vec![RowChange::update(before, after)];
        commit(&*store, Changes { rows, events: vec![event], ..Changes::default() });
        assert_eq!(taken(&*store), NONE, "{status:?}");
    }
}

fn kept_in_place(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [leased(1, 2).build()]);
    update(&*store, id(1), |row| row.wait = lease_with("scan", 5, &slot(2)));
    assert_eq!(taken(&*store), [2], "a renewal");
    update(&*store, id(1), |row| row.attempt += 1);
    assert_eq!(taken(&*store), [2]);
    assert_conflict(&try_rows(&*store, vec![leased(2, 2).new_row()]));
}

fn several(fixture: &dyn Fixture) {
    let store = fixture.open();
    let limits = [limit_key("alpha", "owner", "ada"), limit_key("alpha", "tier", "eve")];
    let both = |first, second| [("owner", "ada", first), ("tier", "eve", second)];
    insert(&*store, [Sample::row(1).slots(&both(0, 4)).build(), Sample::row(2).slots(&both(1, 5)).build()]);
    let now = || {
        let slots = slots_of(&*store, &limits);
        limits.each_ref().map(|limit| slots[limit].iter().copied().collect::<Vec<_>>())
    };
    assert_eq!(now(), [vec![0, 1], vec![4, 5]]);
    assert_conflict(&try_rows(&*store, vec![Sample::row(3).slots(&both(2, 5)).new_row()]));
    update(&*store, id(1), |row| row.wait = lease_with("scan", 1, &both(0, 6)));
    assert_eq!(now(), [vec![0, 1], vec![5, 6]]);
    update(&*store, id(2), |row| row.wait = lease_with("scan", 1, &[("tier", "eve", 5)]));
    assert_eq!(now(), [vec![0], vec![5, 6]]);
    update(&*store, id(1), |row| row.wait = Wait::Person);
    assert_eq!(now(), [vec![], vec![5]]);
}

/// A limit for each label.
fn by_label(row: &Submission) -> Vec<LimitKey> {
    row.labels.iter().map(|(label, value)| limit_key(&row.pipeline, label, value)).collect()
}

fn brought(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [leased(1, 3).build(), leased(2, 1).build(), leased(3, 0).pipeline("beta").build()]);
    insert(&*store, [Sample::row(4).slots(&[("owner", "bob", 0)]).build()]);
    let waiting = |n: u64, rank| Sample::row(n).ready("scan", rank);
    insert(
        &*store,
        [
            waiting(5, 0).label("owner", "ada").build(),
            waiting(6, 1).label("owner", "ada").label("tier", "eve").build(),
            waiting(7, 2).build(),
            waiting(8, 3).label("owner", "bob").build(),
        ],
    );
    let claim_of = |max| {
        let wanted = Take { ready: vec![claim(&["scan"], max)], limits: &by_label, ..Take::nothing() };
        let taken = take(&*store, &wanted);
        assert_eq!(taken.rows.len(), max, "slots bring no row along");
        taken.slots
    };
    let ada = (limit_key("alpha", "owner", "ada"), BTreeSet::from([1, 3]));
    let eve = (limit_key("alpha", "tier", "eve"), BTreeSet::new());
    let bob = (limit_key("alpha", "owner", "bob"), BTreeSet::from([0]));
    assert_eq!(claim_of(0), [].into());
    assert_eq!(claim_of(1), [ada.clone()].into());
    assert_eq!(claim_of(3), [ada.clone(), eve.clone()].into(), "a limit of two rows comes once");
    assert_eq!(claim_of(4), [ada, eve, bob].into());
    let two = vec![claim(&["scan"], 3), claim(&["scan"], 9)];
    let taken = take(&*store, &Take { ready: two, limits: &by_label, ..Take::nothing() });
    assert_eq!(taken.slots.len(), 3, "of every claim");
}

fn none_taken(fixture: &dyn Fixture) {
    let store = fixture.open();
    assert_eq!(taken(&*store), NONE);
    insert(&*store, [leased(1, 0).build()]);
    update(&*store, id(1), |row| row.wait = Wait::Person);
    assert_eq!(taken(&*store), NONE);
    assert_eq!(slots_of(&*store, &[]), [].into(), "a row under no limit brings none");
}

fn ready_rows_alone(fixture: &dyn Fixture) {
    let store = fixture.open();
    let now = fixture.clock().now();
    let labelled = |n| Sample::row(n).label("owner", "ada");
    insert(
        &*store,
        [
            labelled(1).ready("scan", 0).build(),
            labelled(2).ready("scan", 1).build(),
            labelled(3).timer(now).build(),
            labelled(4).timer(now).status(Status::Failed).build(),
            labelled(5).build(),
            labelled(6).key("k1").build(),
            labelled(7).ready("scan", 2).parked("h1").build(),
        ],
    );
    let asked: RefCell<BTreeSet<SubmissionId>> = RefCell::default();
    let limits = |row: &Submission| {
        asked.borrow_mut().insert(row.id);
        by_label(row)
    };
    let rest = Take {
        ids: vec![id(5), id(2)],
        keys: vec![super::snapshot::open_key("alpha", "k1")],
        due: 9,
        idle: 9,
        limits: &limits,
        ..Take::nothing()
    };
    let found = take(&*store, &rest);
    assert_eq!((found.rows.len(), found.slots.len(), asked.borrow().len()), (5, 0, 0));
    take(&*store, &Take { ready: vec![claim(&["scan"], 1)], ..rest });
    assert_eq!(asked.into_inner(), [id(1)].into(), "ready, and handed out");
}

fn left_out(fixture: &dyn Fixture) {
    let store = fixture.open();
    let body = json(&format!("\"{}\"", "x".repeat(store::READY_BYTES_MAX)));
    insert(
        &*store,
        (1..)
            .zip(["ada", "bob"])
            .map(|(n, owner)| Sample::row(n).ready("scan", 0).label("owner", owner).build()),
    );
    let documents = vec![DocumentChange { submission: id(1), name: "payload".to_owned(), body }];
    commit(&*store, Changes { documents, ..Changes::default() });
    let wanted = Take { ready: vec![claim(&["scan"], 9)], limits: &by_label, ..Take::nothing() };
    let taken = take(&*store, &wanted);
    assert_eq!(taken.ready, [[id(1)]]);
    assert_eq!(taken.slots.into_keys().collect::<Vec<_>>(), [limit_key("alpha", "owner", "ada")]);
}

fn any_text(fixture: &dyn Fixture) {
    let store = fixture.open();
    let texts = ["o'hara; --", "a\"b", "Ünï cödé 🦀", "tab\tline\n", "", "%_"];
    for (n, text) in (1..).zip(texts) {
        insert(&*store, [Sample::row(n).pipeline(text).slots(&[(text, text, 5)]).build()]);
    }
    let limits = texts.map(|text| limit_key(text, text, text));
    let slots = slots_of(&*store, &limits);
    assert!(limits.iter().all(|limit| slots[limit] == [5].into()), "{slots:?}");
    for (n, text) in (11..).zip(texts) {
        assert_conflict(&try_rows(
            &*store,
            vec![Sample::row(n).pipeline(text).slots(&[(text, text, 5)]).new_row()],
        ));
    }
}
