//! The tries of workers that are kept with a submission.

use crate::support;

use model::decide::CRASHES_MAX;
use model::event::Kind;
use support::{Story, fail, pipeline};
use wire::api::{AttemptEnd, AttemptView};

const WORK: &str = r#"
name = "work"
version = 1
title = "Work"
start = "DOING"

[states.DOING]
task = "work.do"
lease = "30s"
retry = { times = 30, delay = "1s" }
on.done = "DONE"
actions.stop = "STOPPED"

[states.DONE]
final = "success"

[states.STOPPED]
final = "cancelled"
"#;

fn story() -> Story {
    Story::submitted(pipeline(WORK), "{}")
}

fn attempts(story: &Story) -> Vec<AttemptView> {
    story.row().attempts.shown().collect()
}

#[test]
fn a_try_has_its_worker_its_times_and_its_end() {
    let mut story = story();
    let token = story.claim_any();
    story.pass("4s");
    story.tell(&fail(token, "flaky", true)).unwrap();
    story.pass("1s");
    story.wake();
    let token = story.claim_any();
    story.pass("2s");
    story.finish(token, "done", "{}").unwrap();
    let attempts = attempts(&story);
    let told: Vec<_> =
        attempts.iter().map(|one| (&*one.state, one.attempt, one.end, &*one.trigger)).collect();
    assert_eq!(told, [("DOING", 1, AttemptEnd::Failed, "retry"), ("DOING", 2, AttemptEnd::Finished, "done")]);
    let took: Vec<_> = attempts.iter().map(|one| one.ended_at.since(one.started_at).millis()).collect();
    assert_eq!(took, [4_000, 2_000]);
    assert!(attempts.iter().all(|one| !one.worker.is_empty()));
    assert_eq!(attempts[0].error.as_ref().map(|error| &*error.code), Some("flaky"));
    assert_eq!(attempts[1].error, None);
}

#[test]
fn a_crash_names_the_worker_that_vanished() {
    let mut story = story();
    for _ in 0..CRASHES_MAX {
        story.claim_any();
        story.pass("31s");
        story.wake();
    }
    let crashed: Vec<_> = story.events.iter().filter(|event| event.leaf.kind == Kind::Crashed).collect();
    assert_eq!(crashed.len() as u32, CRASHES_MAX - 1);
    assert!(crashed.iter().all(|event| event.vanished().is_some()));
    let attempts = attempts(&story);
    assert_eq!(attempts.len() as u32, CRASHES_MAX);
    assert!(attempts.iter().all(|one| one.end == AttemptEnd::Crashed), "{attempts:?}");
}

#[test]
fn a_try_that_something_else_ended_was_revoked() {
    let mut story = story();
    story.claim_any();
    story.act("stop").unwrap();
    let attempts = attempts(&story);
    assert_eq!((attempts.len(), attempts[0].end, &*attempts[0].trigger), (1, AttemptEnd::Revoked, "stop"));
}

#[test]
fn what_a_worker_gives_back_or_puts_off_was_no_try() {
    let mut story = story();
    let token = story.claim_any();
    story.give_back(token).unwrap();
    let token = story.claim_any();
    story.snooze(token, "10s").unwrap();
    assert!(attempts(&story).is_empty() && story.row().attempts.is_none());
}

#[test]
fn of_many_tries_the_first_two_and_the_last_eight_are_kept() {
    let mut story = story();
    for _ in 0..25 {
        let token = story.claim_any();
        story.tell(&fail(token, "flaky", true)).unwrap();
        story.pass("1s");
        story.wake();
    }
    let numbers: Vec<_> = attempts(&story).iter().map(|one| one.attempt).collect();
    assert_eq!(numbers, [1, 2, 18, 19, 20, 21, 22, 23, 24, 25]);
    assert_eq!(story.row().attempts.left_out(), 15);
    let text = serde_json::to_string(&story.row().attempts).unwrap();
    assert!(text.len() < 2_500, "{} bytes", text.len());
}
