//! Missed service levels that tell somebody and move on; and business days wherever a stretch of time is written.

use crate::support::{Story, pipeline};
use model::submission::Wait;
use model::{Recipient, Time};

const FILE: &str = r#"
name = "desk"
version = 1
start = "REVIEW"

[notify.lead]
webhook = "'https://lead.example/'"

[sla.whole]
to = "DONE"
target = "5h"
missed = { to = "LAST", trigger = "too-long" }

[states.REVIEW]
review = "reviewer"
sla = { target = "1h", missed = { to = "LEAD", notify = "lead" } }
actions.publish = { to = "DONE", task = "desk.publish" }

[states.LEAD]
task = "desk.decide"
lease = "10h"
retry = { times = 1, delay = "1h" }
on.done = "DONE"

[states.LAST]
review = "admin"
actions.end = "DONE"

[states.DONE]
final = "success"
"#;

fn story() -> Story {
    Story::submitted(pipeline(FILE), "{}")
}

fn told(story: &Story) -> Vec<String> {
    let deliveries = story.owed.iter().filter(|owed| !matches!(owed.to, Recipient::Submission(_)));
    deliveries.map(|owed| format!("{:?}", owed.to)).collect()
}

#[test]
fn a_missed_service_level_tells_and_moves_on_in_one_commit() {
    let mut story = story();
    story.pass("59m");
    story.wake();
    assert_eq!(story.state(), "REVIEW");
    story.pass("1m");
    assert_eq!(story.row().timer, Some(story.now));
    story.wake();
    assert_eq!(story.told(), ["submitted submit admin", "late sla system", "moved sla system"]);
    assert_eq!(story.state(), "LEAD");
    assert_eq!(story.events[1].detail.notified.len(), 1, "{:?}", told(&story));
    assert!(story.events[2].detail.notified.is_empty(), "told once");
}

#[test]
fn an_escalation_waits_for_a_live_lease_and_happens_once() {
    let mut story = story();
    story.pass("1h");
    story.wake();
    let token = story.claim("desk.decide").unwrap();
    story.pass("4h");
    story.wake();
    assert_eq!((story.state(), story.events.len()), ("LEAD", 4), "the leg is late, its worker is awaited");
    story.fail(token, "x").unwrap();
    assert!(matches!(story.row().wait, Wait::Delay { .. }));
    assert!(story.row().timer.is_some_and(|at| at <= story.now), "and then it is due at once");
    story.wake();
    assert_eq!(story.state(), "LAST");
    assert_eq!(&*story.events.last().unwrap().leaf.trigger, "too-long");
    let before = story.events.len();
    story.pass("10h");
    story.wake();
    assert_eq!((story.state(), story.events.len()), ("LAST", before), "a leg moves it once");
    assert_eq!(story.row().timer, None);
}

#[test]
fn an_action_that_was_granted_comes_before_an_escalation() {
    let mut story = story();
    story.act("publish").unwrap();
    story.pass("2h");
    story.wake();
    assert_eq!(story.state(), "REVIEW", "somebody has acted");
    let token = story.claim("desk.publish").unwrap();
    story.finish(token, "done", "{}").unwrap();
    assert_eq!(story.state(), "DONE");
}

#[test]
fn what_is_done_first_leaves_nothing_to_escalate() {
    let mut story = story();
    story.pass("3h");
    story.act("publish").unwrap();
    assert_eq!(story.state(), "REVIEW");
    let plain = FILE.replace(", task = \"desk.publish\"", "");
    let mut story = Story::submitted(pipeline(&plain), "{}");
    story.pass("3h");
    story.act("publish").unwrap();
    assert_eq!(story.path(), ["REVIEW", "DONE"], "late, and done all the same");
}

#[test]
fn business_days_count_in_waits_and_times_to_live_by_the_default_calendar() {
    let file = r#"
name = "days"
version = 1
start = "COOLING"

[params]
patience = "1bd"

[calendars.default]
holidays = ["2026-11-16"]

[states.COOLING]
wait = "2bd"
next = "READY"

[states.READY]
review = "admin"
ttl = { after = "params.patience", to = "LOST" }
actions.end = "DONE"

[states.DONE]
final = "success"

[states.LOST]
final = "failure"
"#;
    let mut story = Story::of(pipeline(file));
    let time = |text: &str| text.parse::<Time>().unwrap();
    // A Thursday; Monday is a holiday.
    story.now = time("2026-11-12T15:00:00Z");
    story.submit(crate::support::admin(), "{}").unwrap();
    assert_eq!(story.row().timer, Some(time("2026-11-17T15:00:00Z")));
    story.now = time("2026-11-17T15:00:00Z");
    story.wake();
    assert_eq!((story.state(), story.row().timer), ("READY", Some(time("2026-11-18T15:00:00Z"))));
    story.now = time("2026-11-18T15:00:00Z");
    story.wake();
    assert_eq!(story.state(), "LOST");
}
