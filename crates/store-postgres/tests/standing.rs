//! Races of those who join a line with those who leave and those who look: stopped at the moment that matters.

use crate::support;

use std::collections::BTreeSet;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use model::submission::{Seat, Stand, Wait};
use model::{Status, Submission};
use store::{
    Changes, Committed, Error, LaneKey, LaneView, LimitKey, OpenKey, Owed, OwedId, OwedTo, Ready, RowChange,
    Store, Take, Taken,
};
use store_conformance::sample::{Sample, id, json, labels, lease_with, names};
use store_postgres::{PostgresStore, Settings};
use support::Session;

/// Two servers, and a session that sees what they wait for.
struct Race {
    one: PostgresStore,
    two: PostgresStore,
    session: Session,
}

fn race() -> Race {
    let settings = support::fresh();
    Race {
        one: PostgresStore::open(&named(&settings, "one")).unwrap(),
        two: PostgresStore::open(&named(&settings, "two")).unwrap(),
        session: Session::open(&settings),
    }
}

/// Tells the connections of two servers apart.
fn named(settings: &Settings, server: &str) -> Settings {
    let url = format!("{}?application_name={}_{server}", settings.url, settings.schema);
    Settings { url, ..settings.clone() }
}

impl Race {
    /// Blocks until a server waits for a lock, where the other one stops it. Its thread must not end before that.
    fn until_waiting<T>(&self, server: &str, thread: &thread::ScopedJoinHandle<'_, T>) {
        let schema = &self.session.texts("SELECT current_schema()")[0];
        let waiting = format!(
            "SELECT count(*) FROM pg_stat_activity
             WHERE application_name = '{schema}_{server}' AND wait_event_type = 'Lock'"
        );
        while self.session.number(&waiting) == 0 {
            assert!(!thread.is_finished(), "nobody stopped server {server}");
            thread::yield_now();
        }
    }
}

/// The point where a thread stops until it is told to go on, or until there is nobody left to tell it.
struct Pause(Sender<()>, Receiver<()>);

/// The other end of a pause.
struct Here(Receiver<()>, Sender<()>);

impl Pause {
    fn new() -> (Pause, Here) {
        let ((here, arrived), (go, told)) = (mpsc::channel(), mpsc::channel());
        (Pause(here, told), Here(arrived, go))
    }

    fn here(&self) {
        self.0.send(()).unwrap();
        let _ = self.1.recv();
    }
}

impl Here {
    fn wait(&self) {
        self.0.recv().unwrap();
    }

    fn go_on(&self) {
        self.1.send(()).unwrap();
    }
}

fn commit(store: &dyn Store, changes: Changes) -> Committed {
    let mut changes = Some(changes);
    store.transact(&Take::nothing(), &mut |_| changes.take().unwrap()).unwrap()
}

fn lane() -> LaneKey {
    LaneKey { pipeline: "alpha".into(), lane: "l1".into() }
}

fn key() -> OpenKey {
    OpenKey { pipeline: "alpha".into(), key: "k1".into() }
}

fn owed(to: OwedTo) -> Owed {
    Owed { id: OwedId { submission: id(1), revision: 1, no: 1 }, to, body: json("{}") }
}

/// Row 1 changes, and owes a look.
fn leave(store: &dyn Store, change: impl Fn(&mut Submission), to: OwedTo) {
    let leaving = Take { ids: vec![id(1)], ..Take::nothing() };
    let mut decide = |taken: Taken| {
        let before = taken.rows[&id(1)].row.clone();
        let mut after = Submission::clone(&before);
        change(&mut after);
        let rows = vec![RowChange::update(before, after)];
        Changes { rows, owed: vec![owed(to.clone())], ..Changes::default() }
    };
    store.transact(&leaving, &mut decide).unwrap();
}

fn leave_lane(store: &dyn Store) {
    leave(store, |row| row.seat = None, OwedTo::Lane(lane()));
}

/// Joins the line if somebody has the lane, and takes it otherwise.
fn join(taken: &Taken) -> Changes {
    let held = taken.lanes[&lane()].holder.is_some();
    let seat = Seat::new("l1", "").standing(if held { Stand::InLine } else { Stand::Holds });
    Changes { rows: vec![Sample::row(2).seat(seat).new_row()], ..Changes::default() }
}

/// Pays a look at a lane, and says what was seen.
fn pay_lane(store: &dyn Store) -> LaneView {
    let mut view = LaneView::default();
    let paying = Take { owed: 9, parked: 9, ..Take::nothing() };
    let mut decide = |taken: Taken| {
        assert_eq!(taken.owed.len(), 1);
        view = taken.lanes[&lane()];
        let first = view.first.filter(|_| view.holder.is_none());
        let rows = first.map(|first| {
            let before = taken.rows[&first].row.clone();
            let seat = before.seat.clone().map(|seat| seat.standing(Stand::Holds));
            RowChange::update(before.clone(), Submission { seat, ..Submission::clone(&before) })
        });
        Changes {
            rows: rows.into_iter().collect(),
            paid: vec![taken.owed[0].id.clone()],
            ..Changes::default()
        }
    };
    store.transact(&paying, &mut decide).unwrap();
    view
}

#[test]
fn who_pays_a_look_at_a_lane_waits_for_whoever_is_about_to_join() {
    let race = race();
    commit(
        &race.one,
        Changes { rows: vec![Sample::row(1).holds_lane("l1").new_row()], ..Changes::default() },
    );
    thread::scope(|scope| {
        let (pause, here) = Pause::new();
        let (one, two) = (&race.one, &race.two);
        let joining = scope.spawn(move || {
            let take = Take { lanes: vec![lane()], ..Take::nothing() };
            let mut decide = |taken: Taken| {
                pause.here();
                join(&taken)
            };
            one.transact(&take, &mut decide).unwrap();
        });
        here.wait();
        leave_lane(&race.two);
        let paying = scope.spawn(|| pay_lane(two));
        race.until_waiting("two", &paying);
        here.go_on();
        joining.join().unwrap();
        assert_eq!(paying.join().unwrap(), LaneView { holder: None, first: Some(id(2)) });
    });
    assert_eq!(race.one.line(&lane(), 9).unwrap().holder, Some(id(2)));
}

#[test]
fn who_was_about_to_join_a_lane_looks_again_after_waiting() {
    let race = race();
    commit(
        &race.one,
        Changes { rows: vec![Sample::row(1).holds_lane("l1").new_row()], ..Changes::default() },
    );
    race.session.run("BEGIN; SELECT FROM gate FOR UPDATE");
    thread::scope(|scope| {
        let joining = scope.spawn(|| {
            let take = Take { lanes: vec![lane()], ..Take::nothing() };
            race.one.transact(&take, &mut |taken| join(&taken)).unwrap();
        });
        // It has seen the holder and comes to the gate.
        race.until_waiting("one", &joining);
        leave_lane(&race.two);
        race.session.run("COMMIT");
        joining.join().unwrap();
    });
    assert_eq!(race.one.line(&lane(), 9).unwrap().holder, Some(id(2)), "the lane was free");
}

#[test]
fn who_pays_a_look_at_a_key_waits_for_whoever_is_about_to_queue() {
    let race = race();
    commit(&race.one, Changes { rows: vec![Sample::row(1).key("k1").new_row()], ..Changes::default() });
    thread::scope(|scope| {
        let (pause, here) = Pause::new();
        let (one, two) = (&race.one, &race.two);
        let queueing = scope.spawn(move || {
            let take = Take { keys: vec![key()], ..Take::nothing() };
            let mut decide = |taken: Taken| {
                assert_eq!(taken.holders.get(&key()), Some(&id(1)));
                pause.here();
                Changes { rows: vec![Sample::row(2).waits_for_key("k1").new_row()], ..Changes::default() }
            };
            one.transact(&take, &mut decide).unwrap();
        });
        here.wait();
        leave(&race.two, |row| row.status = Status::Succeeded, OwedTo::Key(key()));
        let paying = scope.spawn(|| {
            let mut waiter = None;
            let paying = Take { owed: 9, parked: 9, ..Take::nothing() };
            let mut decide = |taken: Taken| {
                waiter = taken.waiters.get(&key()).copied();
                Changes { paid: vec![taken.owed[0].id.clone()], ..Changes::default() }
            };
            two.transact(&paying, &mut decide).unwrap();
            waiter
        });
        race.until_waiting("two", &paying);
        here.go_on();
        queueing.join().unwrap();
        assert_eq!(paying.join().unwrap(), Some(id(2)), "whoever came last is seen");
    });
}

fn limit() -> LimitKey {
    LimitKey { pipeline: "alpha".into(), label: "owner".into(), value: "ada".into() }
}

fn limits(row: &Submission) -> Vec<LimitKey> {
    row.labels.get("owner").map(|_| limit()).into_iter().collect()
}

fn claim() -> Take<'static> {
    let ready = Ready { tasks: names(&["scan"]), pipelines: Vec::new(), labels: [].into(), max: 1 };
    Take { ready: vec![ready], limits: &limits, ..Take::nothing() }
}

/// A limit of one: row 1 has its slot, row 2 waits for a worker.
fn full_limit() -> Race {
    let race = race();
    let rows = vec![
        Sample::row(1).wait(lease_with("scan", 1, &[("owner", "ada", 0)])).new_row(),
        Sample::row(2).ready("scan", 0).label("owner", "ada").new_row(),
    ];
    assert_eq!(rows[1].after.labels, labels(&[("owner", "ada")]));
    commit(&race.one, Changes { rows, ..Changes::default() });
    race
}

/// Grants the slot if it is free, and parks the row otherwise.
fn grant_or_park(taken: &Taken) -> Changes {
    let before = taken.rows[&id(2)].row.clone();
    let after = if taken.slots[&limit()] == BTreeSet::from([0]) {
        Submission { parked: Some("limit".into()), ..Submission::clone(&before) }
    } else {
        Submission { wait: lease_with("scan", 1, &[("owner", "ada", 0)]), ..Submission::clone(&before) }
    };
    Changes { rows: vec![RowChange::update(before, after)], ..Changes::default() }
}

fn free_slot(store: &dyn Store) {
    leave(store, |row| row.wait = Wait::Person, OwedTo::FirstParked("limit".into()));
}

#[test]
fn who_finds_a_limit_full_that_became_free_decides_again() {
    let race = full_limit();
    let outcome = race.one.transact(&claim(), &mut |taken| {
        free_slot(&race.two);
        let paying = Take { owed: 9, parked: 9, ..Take::nothing() };
        let mut pay = |taken: Taken| {
            assert!(taken.parked["limit"].is_empty(), "nobody is seen beside the queue");
            Changes { paid: vec![taken.owed[0].id.clone()], ..Changes::default() }
        };
        race.two.transact(&paying, &mut pay).unwrap();
        grant_or_park(&taken)
    });
    assert!(matches!(outcome, Err(Error::Conflict(_))), "{outcome:?}");
    race.one.transact(&claim(), &mut |taken| grant_or_park(&taken)).unwrap();
    let row = race.one.submission(id(2)).unwrap().unwrap().0;
    assert!(row.lease().is_some(), "the second look finds the slot");
}

#[test]
fn who_pays_a_look_at_a_limit_finds_whoever_was_parked_before() {
    let race = full_limit();
    race.one.transact(&claim(), &mut |taken| grant_or_park(&taken)).unwrap();
    free_slot(&race.two);
    let paying = Take { owed: 9, parked: 9, ..Take::nothing() };
    let mut pay = |taken: Taken| {
        assert_eq!(taken.parked["limit"], [id(2)]);
        Changes { paid: vec![taken.owed[0].id.clone()], ..Changes::default() }
    };
    race.two.transact(&paying, &mut pay).unwrap();
}

#[test]
fn claims_that_count_under_one_limit_come_one_by_one() {
    let race = full_limit();
    free_slot(&race.one);
    commit(
        &race.one,
        Changes {
            rows: vec![Sample::row(3).ready("scan", 1).label("owner", "ada").new_row()],
            ..Changes::default()
        },
    );
    thread::scope(|scope| {
        let (pause, here) = Pause::new();
        let (one, two) = (&race.one, &race.two);
        let first = scope.spawn(move || {
            let mut decide = |taken: Taken| {
                pause.here();
                grant_or_park(&taken)
            };
            one.transact(&claim(), &mut decide).unwrap();
        });
        here.wait();
        let second = scope.spawn(|| {
            let mut seen = None;
            let mut decide = |taken: Taken| {
                seen = Some((taken.ready[0].clone(), taken.slots[&limit()].clone()));
                Changes::default()
            };
            two.transact(&claim(), &mut decide).unwrap();
            seen.unwrap()
        });
        race.until_waiting("two", &second);
        here.go_on();
        first.join().unwrap();
        assert_eq!(
            second.join().unwrap(),
            (vec![id(3)], BTreeSet::from([0])),
            "it passes over row 2 and sees its slot"
        );
    });
}

#[test]
fn row_that_somebody_keeps_locked_is_a_conflict_in_the_end() {
    let race = race();
    commit(&race.one, Changes { rows: vec![Sample::row(1).new_row()], ..Changes::default() });
    race.session.run("BEGIN; SELECT FROM submission FOR UPDATE");
    let mut called = false;
    let outcome = race.one.transact(&Take { ids: vec![id(1)], ..Take::nothing() }, &mut |_| {
        called = true;
        Changes::default()
    });
    assert!(matches!(outcome, Err(Error::Conflict(_))), "{outcome:?}");
    assert!(!called, "what could not be taken was not decided");
    race.session.run("ROLLBACK");
    commit(&race.one, Changes { rows: vec![Sample::row(2).new_row()], ..Changes::default() });
}

#[test]
fn owed_row_whose_submission_is_in_other_hands_is_left_for_later() {
    let race = race();
    let rows = vec![Sample::row(1).new_row(), Sample::row(2).new_row()];
    let to_one = owed(OwedTo::Submission(id(1)));
    let to_nobody =
        Owed { id: OwedId { submission: id(9), revision: 1, no: 1 }, ..owed(OwedTo::Submission(id(9))) };
    commit(&race.one, Changes { rows, owed: vec![to_one.clone(), to_nobody.clone()], ..Changes::default() });
    race.session.run("BEGIN; SELECT FROM submission FOR UPDATE");
    let taking = Take { owed: 9, parked: 9, ..Take::nothing() };
    let mut look = |taken: Taken| {
        assert_eq!(
            taken.owed,
            std::slice::from_ref(&to_nobody),
            "one who is not there has nobody's hands on it"
        );
        assert!(taken.next_timer.is_some(), "the other one is looked at again soon");
        Changes::default()
    };
    race.one.transact(&taking, &mut look).unwrap();
    race.session.run("ROLLBACK");
    let mut look = |taken: Taken| {
        assert_eq!(taken.owed, [to_one.clone(), to_nobody.clone()]);
        assert!(taken.next_timer.is_none());
        Changes::default()
    };
    race.one.transact(&taking, &mut look).unwrap();
}

#[test]
fn same_request_on_two_servers_is_answered_by_one() {
    let race = race();
    let request = store::RequestKey { subject: "ada".into(), route: "POST".into(), key: "r1".into() };
    let take = || Take { requests: vec![request.clone()], ..Take::nothing() };
    let answer = |n: u64, now: model::Time| Changes {
        rows: vec![Sample::row(n).new_row()],
        answers: vec![store::AnswerChange {
            key: request.clone(),
            body: json(&n.to_string()),
            expires_at: model::Time::from_millis(now.millis() + 60_000),
        }],
        ..Changes::default()
    };
    let outcome = race.one.transact(&take(), &mut |taken| {
        assert!(taken.answers.is_empty());
        race.two.transact(&take(), &mut |taken| answer(2, taken.now)).unwrap();
        answer(1, taken.now)
    });
    assert!(matches!(outcome, Err(Error::Conflict(_))), "{outcome:?}");
    race.one
        .transact(&take(), &mut |taken| {
            assert_eq!(taken.answers[&request].as_str(), "2");
            Changes::default()
        })
        .unwrap();
}
