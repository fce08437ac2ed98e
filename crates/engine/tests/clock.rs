//! Steps that cannot be taken back wait while the clock is in doubt.

use crate::support;

use std::sync::Arc;

use engine::core::{Ask, Asker, Doubt, Input, Once, Step, Trust, administered_count};
use engine::duty::{Duty as _, Housekeeping, Look, Schedules};
use model::{Caller, Digest, Millis, Role, SubmissionId};
use store::{Clock as _, RequestKey};
use support::bench::{Bench, over_memory, over_sqlite, serve};

const DAY_MS: i64 = 24 * 3_600_000;

const PAPERS: &str = r#"
name = "papers"
version = 1
title = "Papers"
start = "OPEN"
[states.OPEN]
actions.end = "DONE"
[states.DONE]
final = "success"
retention = "30d"
forget = "300d"
"#;

fn each(check: impl Fn(Bench)) {
    check(over_memory(&[PAPERS]));
    check(over_sqlite(&[PAPERS]));
}

/// The core as after a restart, with what is kept of the clock.
fn restart(bench: &mut Bench) -> Step {
    let trust = Trust::over(&*bench.store, None).unwrap();
    bench.machine.core = bench.machine.rebuilt(bench.store.clone()).watching_the_clock(trust);
    bench.machine.step(&[])
}

/// A submission that has ended.
fn ended(bench: &mut Bench) -> SubmissionId {
    let id = bench.machine.submit_to("papers", r#"{"text":"dear"}"#);
    bench.machine.act(id, "end").unwrap();
    id
}

fn has_documents(bench: &Bench, id: SubmissionId) -> bool {
    let (row, documents) = bench.store.submission(id).unwrap().unwrap();
    assert_eq!(row.erase_at.is_none(), documents.payload.as_str() == "null");
    documents.payload.as_str() != "null"
}

fn confirm(bench: &mut Bench) {
    let by = Asker::owner(Caller::new("ada", Role::Admin));
    bench.machine.one(Input::from(Ask::ConfirmClock).by(by)).unwrap();
    bench.machine.settle();
}

#[test]
fn nothing_is_erased_by_a_clock_that_comes_back_far_ahead_until_somebody_confirms_it() {
    each(|mut bench| {
        assert_eq!(restart(&mut bench).doubt, None);
        let id = ended(&mut bench);
        bench.clock.advance(60 * DAY_MS);
        let step = restart(&mut bench);
        assert!(matches!(step.doubt, Some(Doubt::Ahead { .. })), "{step:?}");
        assert!(step.next_timer.is_none(), "nobody is woken for what has to wait");
        bench.machine.settle();
        assert!(has_documents(&bench, id));
        // What happens meanwhile does not make it any truer.
        let later = ended(&mut bench);
        assert!(restart(&mut bench).doubt.is_some());
        bench.machine.settle();
        assert!(has_documents(&bench, id));
        confirm(&mut bench);
        assert!(!has_documents(&bench, id) && has_documents(&bench, later));
        assert_eq!(administered_count(&*bench.store).unwrap(), 1, "on record");
        assert_eq!(restart(&mut bench).doubt, None);
        confirm(&mut bench);
        assert_eq!(administered_count(&*bench.store).unwrap(), 1, "there was nothing to confirm");
    });
}

#[test]
fn a_clock_set_right_needs_no_word() {
    each(|mut bench| {
        restart(&mut bench);
        let (id, right) = (ended(&mut bench), bench.clock.now());
        bench.clock.advance(60 * DAY_MS);
        restart(&mut bench);
        bench.clock.set(right);
        assert_eq!(restart(&mut bench).doubt, None);
        for _ in 0..5 {
            bench.clock.advance(6 * DAY_MS);
            assert_eq!(restart(&mut bench).doubt, None, "a few days off are nothing");
        }
        bench.machine.settle();
        assert!(!has_documents(&bench, id), "when its time has come");
    });
}

#[test]
fn a_clock_that_comes_back_behind_does_not_turn_known_time_back() {
    each(|mut bench| {
        restart(&mut bench);
        let right = bench.clock.now();
        bench.clock.set(right.minus(Millis::from_secs(24 * 3_600)));
        let step = restart(&mut bench);
        assert!(matches!(step.doubt, Some(Doubt::Behind { .. })), "{step:?}");
        assert_eq!(step.known, Some(right));
        confirm(&mut bench);
        assert_eq!(restart(&mut bench).known, Some(bench.clock.now()));
    });
}

#[test]
fn an_orderly_end_keeps_the_time() {
    each(|mut bench| {
        restart(&mut bench);
        bench.clock.advance(30_000);
        let ended = bench.clock.now();
        bench.machine.core.keep_time(&mut || [0; 32]);
        bench.clock.set(ended.minus(Millis::from_secs(3_600)));
        assert_eq!(restart(&mut bench).known, Some(ended));
    });
}

#[test]
fn a_request_counts_once_while_the_clock_is_in_doubt() {
    each(|mut bench| {
        restart(&mut bench);
        let key = RequestKey { subject: "ada".into(), route: "papers".into(), key: "k".into() };
        let once = Once { key, digest: Digest::of(b"dear"), most: None };
        let submit =
            |bench: &mut Bench| bench.machine.submit_once("papers", r#"{"text":"dear"}"#, once.clone());
        let first = submit(&mut bench);
        let right = bench.clock.now();
        bench.clock.advance(60 * DAY_MS);
        assert!(restart(&mut bench).doubt.is_some());
        // Whatever is written meanwhile lets go of nothing that is in doubt.
        ended(&mut bench);
        assert_eq!(submit(&mut bench), first, "a clock far ahead makes no repeat a new request");
        bench.clock.set(right.plus(Millis::from_secs(23 * 3_600)));
        restart(&mut bench);
        assert_eq!(submit(&mut bench), first);
        bench.clock.set(right.plus(Millis::from_secs(25 * 3_600)));
        restart(&mut bench);
        assert_ne!(submit(&mut bench), first, "a day is over");
    });
}

#[test]
fn a_store_that_keeps_no_time_yet_is_compared_by_its_newest_event() {
    each(|mut bench| {
        let id = ended(&mut bench);
        bench.clock.advance(60 * DAY_MS);
        assert!(restart(&mut bench).doubt.is_some());
        bench.machine.settle();
        assert!(has_documents(&bench, id));
    });
}

#[test]
fn a_confirmation_is_heard_by_every_server_over_the_store() {
    let mut bench = over_memory(&[PAPERS]);
    restart(&mut bench);
    let id = ended(&mut bench);
    bench.clock.advance(60 * DAY_MS);
    let mut other = support::Machine::with(bench.store.clone(), &[PAPERS]);
    let trust = Trust::over(&*bench.store, None).unwrap();
    other.core = other.rebuilt(bench.store.clone()).watching_the_clock(trust);
    assert!(other.step(&[]).doubt.is_some() && restart(&mut bench).doubt.is_some());
    let by = Asker::owner(Caller::new("ada", Role::Admin));
    bench.machine.one(Input::from(Ask::ConfirmClock).by(by)).unwrap();
    assert_eq!(other.step(&[]).doubt, None);
    bench.machine.settle();
    assert!(!has_documents(&bench, id));
}

#[test]
fn events_are_kept_while_the_clock_is_in_doubt() {
    let mut bench = over_memory(&[PAPERS]);
    ended(&mut bench);
    bench.clock.advance(60 * DAY_MS);
    let versions = bench.machine.pipelines.current();
    let (store, now) = (Arc::clone(&bench.store), bench.clock.now());
    let mut housekeeping = Housekeeping { keep_events: Some(Millis::from_secs(3_600)), logged: false };
    let mut asked = |doubtful: bool| {
        let look = Look { store: &*store, versions: &versions, now, doubtful };
        housekeeping.pass(look).unwrap().inputs.len()
    };
    assert_eq!((asked(true), asked(false)), (0, 1));
}

#[test]
fn schedules_wait_while_the_clock_is_in_doubt() {
    let nightly = PAPERS.replace("version = 1", "version = 1\nschedule = { cron = \"0 3 * * *\" }");
    let mut bench = over_memory(&[&nightly]);
    serve(&mut bench, &mut Schedules);
    bench.clock.advance(60 * DAY_MS);
    let versions = bench.machine.pipelines.current();
    let asked = |doubtful: bool| {
        let look = Look { store: &*bench.store, versions: &versions, now: bench.clock.now(), doubtful };
        Schedules.pass(look).unwrap().inputs.len()
    };
    assert_eq!((asked(true), asked(false)), (0, 1));
}
