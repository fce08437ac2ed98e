//! The needs of a submission to go on that had stopped, ended or stood in line: its key, its lane, and nobody else's
//! lease.

use crate::support;

use model::admit::admit;
use model::command::{Redrive, Renew};
use model::owed::{Effect, Recipient};
use model::schema::Fuel;
use model::submission::Wait;
use model::{Code, Command, Status, SubmissionId};
use support::{Story, admin, pipeline};

const ROAD: &str = r#"
name = "road"
version = 1
title = "Road"
key = "payload.plate"
on_duplicate = "queue"
lane = { key = "payload.road" }
amend = { fields = ["load"], role = "submitter", lease = "restart" }
start = "DRIVE"
[defaults]
lease = "30s"
[states.DRIVE]
task = "road.drive"
on.there = "ARRIVED"
on.parked = "ASIDE"
[states.ASIDE]
lane = "free"
task = "road.rest"
on.rested = "DRIVE"
[states.ARRIVED]
final = "success"
actions.again = { to = ["DRIVE", "ASIDE"] }
actions.wash = { to = "ARRIVED", task = "road.wash" }
"#;

const PAYLOAD: &str = r#"{"plate":"p1","road":"r1","load":1}"#;

fn driving() -> Story {
    Story::submitted(pipeline(ROAD), PAYLOAD)
}

fn arrived() -> Story {
    let mut story = driving();
    let token = story.claim_any();
    story.finish(token, "there", "{}").unwrap();
    assert_eq!(story.row().status, Status::Succeeded);
    story
}

fn again(story: &mut Story, to: &str) -> Result<model::decide::Answer, model::Refusal> {
    let act = model::command::Act { to: Some(to.into()), ..support::act("again") };
    story.tell(&Command::Act(act))
}

#[test]
fn an_ended_submission_goes_on_only_with_its_key() {
    let mut story = arrived();
    story.key_holder = Some(SubmissionId::NIL);
    assert_eq!(again(&mut story, "DRIVE").unwrap_err().code, Code::DuplicateKey);
    story.key_holder = None;
    again(&mut story, "DRIVE").unwrap();
    assert_eq!((story.row().status, story.row().requeues), (Status::Open, 1));
}

#[test]
fn an_ended_submission_goes_on_only_with_its_lane() {
    let mut story = arrived();
    story.lane_free = false;
    assert_eq!(again(&mut story, "DRIVE").unwrap_err().code, Code::LaneTaken);
    assert_eq!(story.row().status, Status::Succeeded);
    let mut aside = story.clone();
    again(&mut aside, "ASIDE").unwrap();
    assert_eq!(aside.state(), "ASIDE", "a state that frees the lane needs none");
    story.lane_free = true;
    again(&mut story, "DRIVE").unwrap();
    assert!(story.row().seat.as_ref().unwrap().holds());
}

#[test]
fn a_dead_letter_goes_on_only_with_its_lane() {
    let mut story = driving();
    let token = story.claim_any();
    story.tell(&support::fail(token, "broken", false)).unwrap();
    assert_eq!(story.row().status, Status::Dead);
    let redrive = Command::Redrive(Redrive { caller: admin(), reason: None });
    story.lane_free = false;
    assert_eq!(story.tell(&redrive).unwrap_err().code, Code::LaneTaken);
    story.lane_free = true;
    story.tell(&redrive).unwrap();
    assert!(story.row().seat.as_ref().unwrap().holds());
}

#[test]
fn an_ended_submission_has_a_task_run_for_it_only_with_its_key() {
    let mut story = arrived();
    story.key_holder = Some(SubmissionId::NIL);
    assert_eq!(story.act("wash").unwrap_err().code, Code::DuplicateKey);
    (story.key_holder, story.lane_free) = (None, false);
    story.act("wash").unwrap();
    assert_eq!(story.row().status, Status::Open, "it keeps its key from others meanwhile, and needs no lane");
    let token = story.claim("road.wash").unwrap();
    story.fail(token, "broken").unwrap();
    assert_eq!(story.row().status, Status::Succeeded, "it has ended again");
}

#[test]
fn a_task_for_an_ended_submission_outlasts_its_time_to_live() {
    let with_ttl =
        ROAD.replace("start = \"DRIVE\"", "start = \"DRIVE\"\nttl = { after = \"1h\", to = \"ARRIVED\" }");
    let mut story = Story::submitted(pipeline(&with_ttl), PAYLOAD);
    let token = story.claim_any();
    story.finish(token, "there", "{}").unwrap();
    story.act("wash").unwrap();
    story.pass("2h");
    story.wake();
    assert_eq!(story.row().timer, None, "nothing is due");
    let token = story.claim("road.wash").unwrap();
    story.finish(token, "done", "{}").unwrap();
    assert_eq!(story.path(), ["DRIVE", "ARRIVED", "ARRIVED"]);
}

#[test]
fn an_end_owes_the_key_to_those_in_line_and_the_lane_to_the_next() {
    let story = arrived();
    let keys = story.owed.iter().filter(|owed| matches!(owed.to, Recipient::Key { .. })).count();
    let lanes = story.owed.iter().filter(|owed| matches!(owed.to, Recipient::Lane { .. })).count();
    assert_eq!((keys, lanes), (1, 1));
}

#[test]
fn an_amendment_that_restarts_takes_the_lease_back() {
    let mut story = driving();
    let token = story.claim_any();
    story.amend(r#"{"load":2}"#).unwrap();
    assert!(matches!(story.row().wait, Wait::Worker { .. }), "it is in its queue again");
    assert_eq!(story.finish(token, "there", "{}").unwrap_err().code, Code::StaleLease);
    assert_eq!(
        story.tell(&Command::Renew(Renew { token, progress: None })).unwrap_err().code,
        Code::StaleLease
    );
    let token = story.claim_any();
    story.finish(token, "there", "{}").unwrap();
}

/// One whose key another submission has.
fn in_line() -> Story {
    let mut story = driving();
    let admission = admit(&story.pipeline, Story::application(admin(), PAYLOAD), &mut Fuel::whole()).unwrap();
    let decision = story.decide(&Command::Submit(admission.into())).unwrap();
    story.row = Some(decision.row);
    assert_eq!(story.row().wait, Wait::Key);
    story
}

#[test]
fn a_key_is_taken_only_when_nobody_has_it() {
    let mut story = in_line();
    story.key_holder = Some(SubmissionId::NIL);
    story.tell(&Command::TakeKey).unwrap();
    assert_eq!(story.row().wait, Wait::Key);
}

#[test]
fn a_held_submission_takes_its_key_in_its_turn_and_is_held_in_its_queue() {
    let mut story = in_line();
    story.hold = Some("h1".into());
    story.tell(&Command::TakeKey).unwrap();
    assert!(!story.row().key_waits, "a hold stops no turn for a key");
    assert_eq!(story.ask(), model::decide::Answer::Parked);
}

/// The statuses a parent hears of, from one to the other.
fn told(story: &mut Story) -> Vec<(Status, Status)> {
    let owed = std::mem::take(&mut story.owed);
    let child = |owed: model::Owed| match owed.effect {
        Effect::Child { before, after } => Some((before, after)),
        _ => None,
    };
    owed.into_iter().filter_map(child).collect()
}

#[test]
fn whoever_made_an_ended_one_hears_of_it_when_it_moves_not_when_a_task_runs_for_that() {
    let mut story = arrived();
    story.row.as_mut().unwrap().parent = Some(SubmissionId::NIL);
    told(&mut story);
    // Given up: nothing has happened as far as others are concerned.
    story.act("wash").unwrap();
    assert_eq!(story.row().status, Status::Open);
    let token = story.claim_any();
    story.fail(token, "no-water").unwrap();
    assert_eq!((story.row().status, told(&mut story)), (Status::Succeeded, vec![]));
    // Done: it has ended anew, in the same way.
    story.act("wash").unwrap();
    let token = story.claim_any();
    story.finish(token, "washed", "{}").unwrap();
    assert_eq!((story.row().status, told(&mut story)), (Status::Succeeded, vec![]));
    again(&mut story, "DRIVE").unwrap();
    assert_eq!(told(&mut story), [(Status::Succeeded, Status::Open)]);
}

#[test]
fn a_key_or_a_lane_of_null_is_none() {
    let rules = ROAD
        .replace("\"payload.plate\"", "\"has(payload.plate) ? payload.plate : null\"")
        .replace("\"payload.road\"", "\"has(payload.road) ? payload.road : null\"");
    let mut story = Story::of(pipeline(&rules));
    story.lane_free = false;
    story.submit(admin(), r#"{"load":1}"#).unwrap();
    let row = story.row();
    assert_eq!((&row.key, &row.seat), (&None, &None));
    assert!(matches!(row.wait, Wait::Worker { .. }), "it waits for no lane: {:?}", row.wait);
    let named = Story::submitted(pipeline(&rules), PAYLOAD);
    assert_eq!(named.row().key.as_deref(), Some("p1"));
    assert!(named.row().seat.is_some());
}
