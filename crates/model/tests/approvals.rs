//! Actions that need several people, or somebody else than the submitter.

use crate::support::{Story, act, fail, json, pipeline};
use model::submission::Wait;
use model::{Caller, Code, Command, Role};

const REVIEW: &str = r#"
name = "review"
version = 1
amend = { fields = ["text"], role = "submitter" }
start = "REVIEW"

[states.REVIEW]
review = "reviewer"
lease = "30s"
sla = { target = "1h" }
actions.approve = { to = "DONE", approvals = 2, self_approval = false }
actions.reject = { to = "LOST", reason = true }
actions.publish = { to = "DONE", approvals = 2, task = "review.publish" }
actions.send = { to = ["DONE", "LOST"], approvals = 2 }
actions.own = { to = "LOST", self_approval = false }

[states.DONE]
final = "success"

[states.LOST]
final = "failure"
"#;

/// Submitted by Ada.
fn story() -> Story {
    Story::submitted(pipeline(REVIEW), r#"{"text":"a"}"#)
}

fn agreed(story: &Story) -> Vec<&str> {
    story.row().approvals.iter().map(|approval| &*approval.by).collect()
}

#[test]
fn two_people_make_the_move_and_the_last_of_them_is_its_actor() {
    let mut story = story();
    story.act_by("bob", "approve").unwrap();
    assert_eq!((story.state(), agreed(&story)), ("REVIEW", vec!["bob"]));
    assert_eq!(story.row().wait, Wait::Person);
    story.act_by("cleo", "approve").unwrap();
    assert_eq!((story.state(), agreed(&story)), ("DONE", vec![]));
    assert_eq!(story.told(), ["submitted submit admin", "approved approve admin", "moved approve admin"]);
    assert_eq!(&*story.events[2].detail.actor, "cleo");
    let metadata = story.events[1].detail.metadata.as_ref().unwrap().as_str();
    assert_eq!(metadata, r#"{"action":"approve","reason":null,"to":"DONE"}"#);
}

#[test]
fn the_same_person_twice_is_one() {
    let mut story = story();
    story.act_by("bob", "approve").unwrap();
    let before = story.row().clone();
    story.act_by("bob", "approve").unwrap();
    assert_eq!(story.row(), &before, "no event, no revision");
    assert_eq!(story.events.len(), 2);
    let mut other_role = act("approve");
    other_role.caller = Caller::new("bob", Role::Reviewer);
    story.tell(&Command::Act(other_role)).unwrap();
    assert_eq!(story.state(), "REVIEW", "another role is no other person");
}

#[test]
fn one_person_is_counted_once_however_their_name_is_spelled() {
    let mut story = story();
    story.act_by("bob", "approve").unwrap();
    for other in ["Bob", "bob ", "b\u{200b}ob", "\u{ff42}ob"] {
        story.act_by(other, "approve").unwrap();
        assert_eq!((story.state(), agreed(&story)), ("REVIEW", vec!["bob"]), "{other:?}");
    }
    for submitter in ["Ada", " ada", "ADA", "ad\u{2060}a"] {
        let refusal = story.act_by(submitter, "approve").unwrap_err();
        assert_eq!(refusal.code, Code::SelfApproval, "{submitter:?}");
    }
}

#[test]
fn the_submitter_cannot_approve_what_says_so() {
    let mut story = story();
    for action in ["approve", "own"] {
        let refusal = story.act_by("ada", action).unwrap_err();
        assert_eq!((refusal.code, refusal.code.as_str()), (Code::SelfApproval, "self-approval"));
    }
    assert_eq!(story.row().revision, 1);
    story.act_by("bob", "own").unwrap();
    assert_eq!(story.state(), "LOST");
}

#[test]
fn the_submitter_counts_where_nothing_says_otherwise() {
    let mut story = story();
    let mut send = act("send");
    send.to = Some("DONE".into());
    story.tell(&Command::Act(send.clone())).unwrap();
    send.caller = Caller::new("bob", Role::Reviewer);
    story.tell(&Command::Act(send)).unwrap();
    assert_eq!(story.state(), "DONE");
}

#[test]
fn a_role_that_may_not_act_may_not_agree_either() {
    let mut story = story();
    let mut by_submitter = act("approve");
    by_submitter.caller = Caller::new("bob", Role::Submitter);
    assert_eq!(story.tell(&Command::Act(by_submitter)).unwrap_err().code, Code::RoleRequired);
    assert_eq!(agreed(&story), [""; 0]);
}

#[test]
fn an_amendment_asks_everybody_again() {
    let mut story = story();
    story.act_by("bob", "approve").unwrap();
    story.amend(r#"{"text":"b"}"#).unwrap();
    assert_eq!(agreed(&story), [""; 0], "bob has seen another text");
    story.act_by("cleo", "approve").unwrap();
    assert_eq!(story.state(), "REVIEW");
    story.act_by("bob", "approve").unwrap();
    assert_eq!(story.state(), "DONE");
}

#[test]
fn who_agrees_to_one_end_has_not_agreed_to_another() {
    let mut story = story();
    for (name, to) in [("bob", "DONE"), ("cleo", "LOST")] {
        let mut send = act("send");
        (send.caller, send.to) = (Caller::new(name, Role::Admin), Some(to.into()));
        story.tell(&Command::Act(send)).unwrap();
        assert_eq!(story.state(), "REVIEW");
    }
    story.act_by("dora", "approve").unwrap();
    assert_eq!((story.state(), agreed(&story)), ("REVIEW", vec!["bob", "cleo", "dora"]));
    let mut send = act("send");
    (send.caller, send.to) = (Caller::new("dora", Role::Admin), Some("LOST".into()));
    story.tell(&Command::Act(send)).unwrap();
    assert_eq!(story.state(), "LOST");
}

#[test]
fn another_action_ends_the_vote() {
    let mut story = story();
    story.act_by("bob", "approve").unwrap();
    let mut reject = act("reject");
    reject.reason = Some("no".to_owned());
    story.tell(&Command::Act(reject)).unwrap();
    assert_eq!((story.state(), agreed(&story)), ("LOST", vec![]));
}

#[test]
fn a_late_event_leaves_the_vote_alone() {
    let mut story = story();
    story.act_by("bob", "approve").unwrap();
    story.pass("1h");
    story.wake();
    assert_eq!(story.told().last().unwrap(), "late sla system");
    assert_eq!(agreed(&story), ["bob"]);
}

#[test]
fn an_action_with_a_task_runs_it_once_enough_have_agreed() {
    let mut story = story();
    story.act_by("bob", "publish").unwrap();
    assert_eq!((story.row().request.as_ref(), &story.row().wait), (None, &Wait::Person));
    story.act_by("cleo", "publish").unwrap();
    assert_eq!(&*story.row().request.as_ref().unwrap().caller.name, "cleo");
    let token = story.claim("review.publish").unwrap();
    story.finish(token, "published", "{}").unwrap();
    assert_eq!(story.state(), "DONE");
    let told = story.told();
    assert_eq!(
        told[1..],
        ["approved approve admin", "requested publish admin", "moved publish admin"].map(str::to_owned)
    );
}

#[test]
fn asking_again_while_the_task_runs_changes_nothing() {
    let mut story = story();
    story.act_by("bob", "publish").unwrap();
    story.act_by("cleo", "publish").unwrap();
    let before = story.row().clone();
    for name in ["cleo", "bob", "dora"] {
        story.act_by(name, "publish").unwrap();
        assert_eq!(story.row(), &before, "{name}");
    }
}

#[test]
fn an_action_whose_task_fails_for_good_needs_everybody_again() {
    let mut story = story();
    story.act_by("bob", "publish").unwrap();
    story.act_by("cleo", "publish").unwrap();
    let token = story.claim_any();
    story.tell(&fail(token, "gone", false)).unwrap();
    assert_eq!((&story.row().wait, agreed(&story)), (&Wait::Person, vec![]));
    story.act_by("cleo", "publish").unwrap();
    assert_eq!(story.row().wait, Wait::Person);
    story.act_by("bob", "publish").unwrap();
    assert!(matches!(story.row().wait, Wait::Worker { .. }));
}

#[test]
fn a_vote_leaves_a_worker_its_lease() {
    let machine = pipeline(
        r#"
name = "work"
version = 1
start = "DOING"
[states.DOING]
task = "work.do"
lease = "30s"
on.done = "DONE"
actions.cancel = { to = "LOST", approvals = 2 }
[states.DONE]
final = "success"
[states.LOST]
final = "failure"
"#,
    );
    let mut story = Story::submitted(machine.clone(), "{}");
    let token = story.claim_any();
    story.act_by("bob", "cancel").unwrap();
    assert_eq!(story.row().lease_no, token.lease_no);
    story.renew(token).unwrap();
    story.finish(token, "done", "{}").unwrap();
    assert_eq!(story.state(), "DONE");

    let mut story = Story::submitted(machine, "{}");
    let token = story.claim_any();
    story.act_by("bob", "cancel").unwrap();
    story.act_by("cleo", "cancel").unwrap();
    assert_eq!(story.finish(token, "done", "{}").unwrap_err().code, Code::StaleLease);
}

#[test]
fn data_is_that_of_whoever_makes_the_move() {
    let mut source = model::pipeline::Source::new(
        "data.toml",
        "name = \"data\"\nversion = 1\nstart = \"A\"\n[states.A]\nreview = \"admin\"\nactions.go = { to = \"B\", approvals = 2, data = \"n.json\", metadata = { n = \"data.n\" } }\n[states.B]\nfinal = \"success\"\n",
    );
    source.files.insert("n.json".to_owned(), r#"{"type":"object","required":["n"]}"#.to_owned());
    let machine = model::pipeline::load(&source).unwrap();
    let mut story = Story::submitted(machine, "{}");
    assert_eq!(story.act_by("bob", "go").unwrap_err().code, Code::SchemaViolation, "a vote is checked, too");
    for (name, n) in [("bob", 1), ("cleo", 2)] {
        let mut go = act("go");
        (go.caller, go.data) = (Caller::new(name, Role::Admin), Some(json(&format!(r#"{{"n":{n}}}"#))));
        story.tell(&Command::Act(go)).unwrap();
    }
    assert_eq!(story.events[2].detail.metadata.as_ref().unwrap().as_str(), r#"{"n":2}"#);
}

#[test]
fn why_names_who_has_agreed() {
    let mut story = story();
    let around = model::why::Surroundings {
        now: story.now,
        holds: Vec::new(),
        line: None,
        key_holder: None,
        polled_ago: None,
        unsent: Vec::new(),
    };
    let told =
        |story: &Story| model::why::why(&story.pipeline, story.row(), None, &around)[0].sentence.clone();
    assert!(told(&story).contains("approve (reviewer, needs 2 people)"), "{}", told(&story));
    story.act_by("bob", "approve").unwrap();
    assert!(told(&story).contains("approve (reviewer, 1 of 2 agreed: bob)"), "{}", told(&story));
}
