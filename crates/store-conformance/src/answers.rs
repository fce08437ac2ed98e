//! Answers kept for a repeat of their request.

use model::{Json, Time};

use super::sample::json;
use super::snapshot::request;
use super::steps::{commit, take};
use super::{Fixture, Promise, promise};
use store::take::RequestKey;
use store::{AnswerChange, Changes, Clock, Store, Take};

pub(super) const PROMISES: &[Promise] = &[
    promise("an answer is found by subject, route and key together", by_all_three),
    promise("an answer is not found once it expired", expires),
    promise("an answer given again replaces the one before", replaced),
    promise("clearing expired answers away leaves the others", others_stay),
    promise("answers go by the time that is certain, not by the clock", by_what_is_certain),
];

fn answer(fixture: &dyn Fixture, key: RequestKey, body: &str, millis: i64) -> AnswerChange {
    let expires_at = Time::from_millis(fixture.clock().now().millis() + millis);
    AnswerChange { key, body: json(body), expires_at }
}

fn give(store: &dyn Store, answers: Vec<AnswerChange>) {
    commit(store, Changes { answers, ..Changes::default() });
}

fn given(store: &dyn Store, key: &RequestKey) -> Option<Json> {
    let mut taken = take(store, &Take { requests: vec![key.clone()], ..Take::nothing() });
    assert!(taken.answers.keys().all(|found| found == key), "nothing but what was asked for");
    taken.answers.remove(key)
}

fn by_all_three(fixture: &dyn Fixture) {
    let store = fixture.open();
    let key = request("r1");
    let others = [
        RequestKey { subject: "bob".into(), ..key.clone() },
        RequestKey { route: "POST /v1/other".into(), ..key.clone() },
        request("r2"),
    ];
    give(&*store, vec![answer(fixture, key.clone(), "{ \"id\":1 }", 1_000)]);
    assert_eq!(given(&*store, &key).as_ref().map(|body| body.as_str()), Some("{ \"id\":1 }"));
    for (n, other) in (2..).zip(&others) {
        assert_eq!(given(&*store, other), None);
        give(&*store, vec![answer(fixture, other.clone(), &n.to_string(), 1_000)]);
    }
    let all = [vec![key], others.to_vec()].concat();
    let taken = take(&*store, &Take { requests: all.clone(), ..Take::nothing() });
    let bodies: Vec<_> = all.iter().map(|key| taken.answers[key].as_str()).collect();
    assert_eq!(bodies, ["{ \"id\":1 }", "2", "3", "4"]);
}

fn expires(fixture: &dyn Fixture) {
    let store = fixture.open();
    give(&*store, vec![answer(fixture, request("r1"), "1", 1_000)]);
    fixture.clock().advance(999);
    assert_eq!(given(&*store, &request("r1")), Some(json("1")));
    fixture.clock().advance(1);
    assert_eq!(given(&*store, &request("r1")), None, "at the moment it expires");
    fixture.clock().advance(1);
    assert_eq!(given(&*store, &request("r1")), None);
}

fn replaced(fixture: &dyn Fixture) {
    let store = fixture.open();
    let key = request("r1");
    give(&*store, vec![answer(fixture, key.clone(), "1", 10)]);
    give(&*store, vec![answer(fixture, key.clone(), "2", 1_000)]);
    assert_eq!(given(&*store, &key), Some(json("2")));
    fixture.clock().advance(10);
    give(&*store, vec![answer(fixture, request("r2"), "0", 10)]);
    assert_eq!(given(&*store, &key), Some(json("2")), "the first one's end is not the second one's");
    fixture.clock().advance(990);
    give(&*store, vec![answer(fixture, key.clone(), "3", 10)]);
    assert_eq!(given(&*store, &key), Some(json("3")), "a key is free once its answer expired");
}

fn others_stay(fixture: &dyn Fixture) {
    let store = fixture.open();
    let many = |from: u32, millis| {
        let keys = (from..from + 3_000).map(|n| request(&n.to_string()));
        keys.map(|key| answer(fixture, key, "0", millis)).collect::<Vec<_>>()
    };
    give(&*store, many(0, 10));
    give(&*store, vec![answer(fixture, request("r1"), "1", 11)]);
    fixture.clock().advance(10);
    for n in 0..5 {
        give(&*store, vec![answer(fixture, request(&format!("later-{n}")), "0", 1_000)]);
        assert_eq!(given(&*store, &request("r1")), Some(json("1")));
        assert_eq!(given(&*store, &request("0")), None);
        assert_eq!(given(&*store, &request("2999")), None);
    }
    fixture.clock().advance(1);
    assert_eq!(given(&*store, &request("r1")), None);
    assert_eq!(given(&*store, &request("later-0")), Some(json("0")));
}

/// The clock runs ahead of what is certain: nothing is passed over or cleared away by it.
fn by_what_is_certain(fixture: &dyn Fixture) {
    let store = fixture.open();
    let begun = fixture.clock().now();
    let certain = move |_| begun;
    let first = answer(fixture, request("r1"), "1", 1_000);
    give(&*store, vec![first]);
    fixture.clock().advance(5_000);
    for n in 0..3 {
        let answers = vec![answer(fixture, request(&format!("later-{n}")), "0", 1_000)];
        let behind = Take { certain: &certain, requests: vec![request("r1")], ..Take::nothing() };
        let mut found = None;
        let committed = store.transact(&behind, &mut |taken| {
            found = taken.answers.get(&request("r1")).cloned();
            Changes { answers: answers.clone(), ..Changes::default() }
        });
        committed.expect("it is committed");
        assert_eq!(found, Some(json("1")));
    }
    assert_eq!(given(&*store, &request("r1")), None, "certain by now");
}
