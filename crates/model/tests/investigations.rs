//! Ends that somebody should look into: asked for by the state, acknowledged once, over when it goes on.

use crate::support::{Story, admin, pipeline};
use model::command::Acknowledge;
use model::decide::Answer;
use model::event::Kind;
use model::{Caller, Code, Command, Investigation, Pipeline, Refusal, Role, Status, evolve};

const LETTERS: &str = r#"
name = "letters"
version = 1
title = "Letters"
start = "SEND"
[defaults]
lease = "30s"
[states.SEND]
task = "letters.send"
on.sent = "SENT"
on.lost = "LOST"
on.burnt = "BURNT"
[states.SENT]
final = "success"
[states.LOST]
final = "failure"
investigate = true
actions.again = "SEND"
actions.search = { to = "SENT", task = "letters.search" }
[states.BURNT]
final = "failure"
investigate = "reviewer"
"#;

fn ended(outcome: &str) -> Story {
    let mut story = Story::submitted(pipeline(LETTERS), "{}");
    let token = story.claim_any();
    story.finish(token, outcome, "{}").unwrap();
    assert!(story.row().status.is_final());
    story
}

fn acknowledge(story: &mut Story, caller: Caller, note: Option<&str>) -> Result<Answer, Refusal> {
    let note = note.map(str::to_owned);
    story.tell(&Command::Acknowledge(Acknowledge { caller, note, if_match: None }))
}

#[test]
fn only_the_states_that_ask_for_it_are_investigated() {
    assert_eq!(ended("sent").row().investigation(), None);
    assert_eq!(ended("lost").row().investigation(), Some(&Investigation::Open));
    assert_eq!(ended("burnt").row().investigation(), Some(&Investigation::Open));
}

#[test]
fn an_acknowledgement_says_who_when_and_what_came_of_it() {
    let mut story = ended("lost");
    story.pass("1h");
    acknowledge(&mut story, admin(), Some("the bag was found")).unwrap();
    let note = Some("the bag was found".to_owned());
    let expected = Investigation::Acknowledged { by: "ada".into(), at: story.now, note };
    assert_eq!(story.row().investigation(), Some(&expected));
    assert_eq!((story.state(), story.row().status), ("LOST", Status::Failed), "it has ended as before");
    let event = story.events.last().unwrap();
    assert_eq!((event.leaf.kind, &*event.leaf.trigger), (Kind::Acknowledged, "acknowledge"));
    let metadata = event.detail.metadata.as_ref().unwrap().as_str();
    assert_eq!(metadata, r#"{"note":"the bag was found"}"#);
    assert!(event.leaf.metadata.is_some(), "the note is proven");
    let replayed = story.events.iter().fold(None, |row, event| Some(evolve(row, event))).unwrap();
    assert_eq!(replayed.investigation(), Some(&expected));
}

#[test]
fn an_end_is_acknowledged_once() {
    let mut story = ended("lost");
    acknowledge(&mut story, admin(), None).unwrap();
    let refusal = acknowledge(&mut story, admin(), None).unwrap_err();
    assert_eq!(refusal.code, Code::NothingToAcknowledge);
    assert!(refusal.message.starts_with("ada acknowledged it at "), "{}", refusal.message);
    let refusal = acknowledge(&mut ended("sent"), admin(), None).unwrap_err();
    assert_eq!(refusal.code, Code::NothingToAcknowledge);
    assert!(refusal.message.ends_with("is succeeded in state SENT, where nothing is to be investigated"));
}

#[test]
fn the_state_says_who_may_acknowledge() {
    let reviewer = || Caller::new("rob", Role::Reviewer);
    let refusal = acknowledge(&mut ended("lost"), reviewer(), None).unwrap_err();
    assert_eq!((refusal.code, &refusal.details["role"]), (Code::RoleRequired, &"admin".into()));
    acknowledge(&mut ended("burnt"), reviewer(), None).unwrap();
    acknowledge(&mut ended("burnt"), admin(), None).unwrap();
    let refusal = acknowledge(&mut ended("burnt"), Caller::new("w", Role::Worker), None).unwrap_err();
    assert_eq!(refusal.code, Code::RoleRequired);
}

#[test]
fn an_acknowledgement_is_bounded_and_fenced() {
    let mut story = ended("lost");
    let refusal = acknowledge(&mut story, admin(), Some(&"x".repeat(4_001))).unwrap_err();
    assert_eq!(refusal.code, Code::TooLarge);
    let at = |revision| Acknowledge { caller: admin(), note: None, if_match: Some(revision) };
    let revision = story.row().revision;
    let refusal = story.tell(&Command::Acknowledge(at(revision - 1))).unwrap_err();
    assert_eq!(refusal.code, Code::RevisionMismatch);
    story.tell(&Command::Acknowledge(at(revision))).unwrap();
}

#[test]
fn going_on_ends_an_investigation_and_ending_there_again_begins_another() {
    for acknowledged in [false, true] {
        let mut story = ended("lost");
        if acknowledged {
            acknowledge(&mut story, admin(), None).unwrap();
        }
        story.act("again").unwrap();
        assert_eq!((story.row().investigation(), &story.row().investigate), (None, &None));
        let token = story.claim_any();
        story.finish(token, "lost", "{}").unwrap();
        assert_eq!(story.row().investigation(), Some(&Investigation::Open));
    }
}

#[test]
fn an_end_that_an_action_has_open_is_not_investigated_meanwhile() {
    let mut story = ended("lost");
    story.act("search").unwrap();
    assert_eq!((story.row().status, story.row().investigation()), (Status::Open, None));
    assert_eq!(acknowledge(&mut story, admin(), None).unwrap_err().code, Code::NothingToAcknowledge);
    let token = story.claim("letters.search").unwrap();
    story.fail(token, "dark").unwrap();
    assert_eq!(story.row().investigation(), Some(&Investigation::Open), "the search was given up");
    acknowledge(&mut story, admin(), None).unwrap();
}

fn load(investigate: &str) -> Result<Pipeline, String> {
    let toml = LETTERS.replace("investigate = true", investigate);
    let source = model::pipeline::Source::new("letters.toml", toml);
    model::pipeline::load(&source).map_err(|problems| problems.render(&source))
}

#[test]
fn the_file_is_told_what_it_may_say() {
    let role = |pipeline: Pipeline| pipeline.state("LOST").unwrap().investigate();
    assert_eq!(role(load("investigate = false").unwrap()), None);
    assert_eq!(role(load("investigate = \"reviewer\"").unwrap()), Some(Role::Reviewer));
    let problem = load("investigate = 3").unwrap_err();
    assert!(problem.contains("true, false or a role") && problem.contains("letters.toml"), "{problem}");
    let problem = load("investigate = \"reviewr\"").unwrap_err();
    assert!(problem.contains("reviewer"), "{problem}");
}

#[test]
fn rows_from_before_are_read() {
    let mut story = ended("lost");
    let mut row = serde_json::to_value(story.row()).unwrap();
    row.as_object_mut().unwrap().remove("investigate").unwrap();
    let row: model::Submission = serde_json::from_value(row).unwrap();
    assert_eq!(row.investigation(), None, "it ended before anybody was asked to look");
    story.row = Some(row);
    assert_eq!(acknowledge(&mut story, admin(), None).unwrap_err().code, Code::NothingToAcknowledge);
    let sent = serde_json::to_value(ended("sent").row()).unwrap();
    assert!(sent.get("investigate").is_none(), "nothing is written where there is nothing to say");
}
