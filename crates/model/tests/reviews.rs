//! Reviews that one person takes on, whose right an action is, and notes.

use crate::support::{Story, act, pipeline};
use model::command::{Act, Note, Review, ReviewStep};
use model::decide::{CLAIM_MAX, NOTES_MAX};
use model::{Caller, Code, Command, Millis, Refusal, Role};

const FILE: &str = r#"
name = "review"
version = 1
amend = { fields = ["text"], role = "submitter" }
start = "REVIEW"

[states.REVIEW]
review = "reviewer"
actions.approve = { to = "DONE", approvals = 2 }
actions.pass = "DONE"
actions.board = { to = "DONE", reviewers = ["Alice", "bob", "role:admin"], approvals = 2 }
actions.withdraw = { to = "LOST", only = "submitter" }

[states.DONE]
final = "success"

[states.LOST]
final = "failure"
"#;

/// Submitted by Ada.
fn story() -> Story {
    Story::submitted(pipeline(FILE), r#"{"text":"a"}"#)
}

fn reviewer(name: &str) -> Caller {
    Caller::new(name, Role::Reviewer)
}

fn step(story: &mut Story, caller: Caller, step: ReviewStep) -> Result<(), Refusal> {
    story.tell(&Command::Review(Review { caller, step, if_match: None })).map(drop)
}

fn claim(story: &mut Story, name: &str, span: &str) -> Result<(), Refusal> {
    let span = Some(span.parse::<Millis>().unwrap());
    step(story, reviewer(name), ReviewStep::Claim { span })
}

fn does(story: &mut Story, caller: Caller, action: &str) -> Result<(), Refusal> {
    story.tell(&Command::Act(Act { caller, ..act(action) })).map(drop)
}

fn assigned(story: &Story) -> Option<&str> {
    story.row().assignment.as_ref().map(|held| &*held.to)
}

fn code(result: Result<(), Refusal>) -> Code {
    result.unwrap_err().code
}

#[test]
fn a_review_is_one_persons_until_its_time_is_over() {
    let mut story = story();
    claim(&mut story, "bob", "10m").unwrap();
    assert_eq!(assigned(&story), Some("bob"));
    assert_eq!(code(claim(&mut story, "cleo", "10m")), Code::ReviewTaken);
    let refusal = does(&mut story, reviewer("cleo"), "pass").unwrap_err();
    assert_eq!((refusal.code, &refusal.details["assigned_to"]), (Code::ReviewTaken, &"bob".into()));
    story.pass("9m");
    story.wake();
    assert_eq!(assigned(&story), Some("bob"), "not before its time");
    story.pass("1m");
    assert_eq!(story.row().timer, Some(story.now), "somebody looks in time");
    story.wake();
    assert_eq!(assigned(&story), None);
    assert_eq!(
        story.told(),
        ["submitted submit admin", "assigned assign reviewer", "released release system"]
    );
    does(&mut story, reviewer("cleo"), "pass").unwrap();
    assert_eq!(story.state(), "DONE");
}

#[test]
fn a_claim_whose_time_is_over_keeps_nobody_out_before_anybody_looks() {
    let mut story = story();
    claim(&mut story, "bob", "10m").unwrap();
    story.pass("11m");
    claim(&mut story, "cleo", "10m").unwrap();
    assert_eq!(assigned(&story), Some("cleo"));
}

#[test]
fn whoever_has_a_review_keeps_it_hands_it_over_or_lets_it_go() {
    let mut story = story();
    claim(&mut story, "bob", "10m").unwrap();
    claim(&mut story, "BOB", "1h").unwrap();
    let hand = |to: &str| ReviewStep::HandOver { to: to.into(), span: None };
    assert_eq!(code(step(&mut story, reviewer("cleo"), hand("cleo"))), Code::ReviewTaken);
    assert_eq!(code(step(&mut story, reviewer("cleo"), ReviewStep::Release)), Code::ReviewTaken);
    step(&mut story, reviewer("bob"), hand(" cleo ")).unwrap();
    assert_eq!(assigned(&story), Some("cleo"));
    assert_eq!(&*story.row().assignment.as_ref().unwrap().by, "bob");
    step(&mut story, Caller::new("root", Role::Admin), hand("dora")).unwrap();
    assert_eq!(assigned(&story), Some("dora"), "an admin disposes of everybody's");
    step(&mut story, reviewer("dora"), ReviewStep::Release).unwrap();
    assert_eq!(assigned(&story), None);
    let before = story.events.len();
    step(&mut story, reviewer("bob"), ReviewStep::Release).unwrap();
    assert_eq!(story.events.len(), before, "nothing to let go is no event");
    assert_eq!(code(step(&mut story, reviewer("bob"), hand("\u{200b}"))), Code::InvalidRequest);
}

#[test]
fn only_who_may_act_takes_a_review_on_and_only_where_a_person_is_waited_for() {
    let mut story = story();
    let viewer = Caller::new("vera", Role::Viewer);
    // Whoever submitted it may withdraw it, whatever their role: the state has something for everybody.
    step(&mut story, viewer, ReviewStep::Claim { span: None }).unwrap();
    let over = Some(CLAIM_MAX.plus(Millis::from_secs(1)));
    let root = Caller::new("root", Role::Admin);
    step(&mut story, root.clone(), ReviewStep::Release).unwrap();
    assert_eq!(
        code(step(&mut story, reviewer("bob"), ReviewStep::Claim { span: over })),
        Code::InvalidRequest
    );
    does(&mut story, reviewer("bob"), "pass").unwrap();
    assert_eq!(code(claim(&mut story, "bob", "1m")), Code::NotInReview);
}

#[test]
fn an_approval_lets_the_review_go_for_the_next() {
    let mut story = story();
    claim(&mut story, "bob", "1h").unwrap();
    does(&mut story, reviewer("bob"), "approve").unwrap();
    assert_eq!(assigned(&story), None);
    claim(&mut story, "cleo", "1h").unwrap();
    does(&mut story, Caller::new("root", Role::Admin), "board").unwrap();
    assert_eq!(assigned(&story), Some("cleo"), "an admin's word is no claim");
    does(&mut story, reviewer("cleo"), "approve").unwrap();
    assert_eq!((story.state(), assigned(&story)), ("DONE", None));
}

#[test]
fn named_people_and_roles_are_those_whose_right_it_is() {
    let mut story = story();
    let refusal = does(&mut story, reviewer("cleo"), "board").unwrap_err();
    assert_eq!(refusal.code, Code::RoleRequired);
    assert_eq!(refusal.message, "`board` in REVIEW is for Alice, bob, role:admin");
    does(&mut story, Caller::new("alice", Role::Submitter), "board").unwrap();
    does(&mut story, Caller::new("ALICE", Role::Admin), "board").unwrap();
    assert_eq!(story.state(), "REVIEW", "one person, however written");
    does(&mut story, Caller::new("bob", Role::Viewer), "board").unwrap();
    assert_eq!(story.state(), "DONE");
}

#[test]
fn what_only_the_submitter_may_do_nobody_else_does() {
    let mut story = story();
    assert_eq!(code(does(&mut story, Caller::new("root", Role::Admin), "withdraw")), Code::NotSubmitter);
    claim(&mut story, "bob", "1h").unwrap();
    does(&mut story, Caller::new("Ada", Role::Submitter), "withdraw").unwrap();
    assert_eq!(story.state(), "LOST", "another's review does not keep them from it");
}

#[test]
fn a_note_is_an_event_in_whatever_state_and_changes_nothing_else() {
    let mut story = story();
    claim(&mut story, "bob", "1h").unwrap();
    let write = |story: &mut Story, role: Role, text: &str| {
        let note = Note { caller: Caller::new("bob", role), text: text.to_owned(), if_match: None };
        story.tell(&Command::Note(note)).map(drop)
    };
    write(&mut story, Role::Reviewer, "asked the author").unwrap();
    assert_eq!((assigned(&story), story.row().notes), (Some("bob"), 1));
    let last = story.events.last().unwrap();
    assert_eq!(last.detail.metadata.as_ref().unwrap().as_str(), r#"{"note":"asked the author"}"#);
    does(&mut story, reviewer("bob"), "pass").unwrap();
    write(&mut story, Role::Submitter, "thank you").unwrap();
    assert_eq!((story.state(), story.row().notes), ("DONE", 2));
    assert_eq!(code(write(&mut story, Role::Viewer, "x")), Code::RoleRequired);
    assert_eq!(code(write(&mut story, Role::Admin, " ")), Code::InvalidRequest);
    assert_eq!(code(write(&mut story, Role::Admin, &"x".repeat(4_001))), Code::TooLarge);
    story.row.as_mut().unwrap().notes = NOTES_MAX;
    assert_eq!(code(write(&mut story, Role::Admin, "one more")), Code::TooLarge);
}
