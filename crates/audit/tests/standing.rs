//! Events that are legal somewhere, but not as the submission stands: granted actions, dead letters, redrives.

use crate::common::story::{Story, admin, pipeline};
use crate::common::{Deployment, leaves, trust};
use audit::verify::{Fault, Finding, LogOptions, LogReport, verify_log};
use model::admit::admit;
use model::command::{Acknowledge, Note, Redrive, Review, ReviewStep};
use model::event::Leaf;
use model::{Caller, Command, Digest, Right, Role};

const DESK: &str = r#"
name = "desk"
version = 1
title = "Desk"
start = "WORKING"

[states.WORKING]
task = "desk.work"
lease = "30s"
on.done = "REVIEW"
on.error = {}

[states.REVIEW]
review = "reviewer"
actions.publish = { to = "DONE", task = "desk.publish" }
actions.close = "DONE"

[states.DONE]
final = "success"
investigate = "reviewer"
"#;

/// Worked on, dead, redriven, reviewed, asked to be published, published.
fn story() -> Story {
    let mut story = Story::submitted(pipeline(DESK), "{}");
    let token = story.claim_any();
    story.fail(token, "broken").unwrap();
    story.tell(&Command::Redrive(Redrive { caller: Caller::new("ada", Role::Admin), reason: None })).unwrap();
    let token = story.claim_any();
    story.finish(token, "done", "{}").unwrap();
    story.act("publish").unwrap();
    let token = story.claim_any();
    story.finish(token, "published", "{}").unwrap();
    let kinds: Vec<&str> = story.events.iter().map(|event| event.leaf.kind.as_str()).collect();
    assert_eq!(kinds, ["submitted", "died", "redriven", "moved", "requested", "moved"]);
    story
}

fn audited(change: impl FnOnce(&mut Vec<Leaf>)) -> Result<LogReport, Finding> {
    audited_story(&story(), change)
}

fn audited_story(story: &Story, change: impl FnOnce(&mut Vec<Leaf>)) -> Result<LogReport, Finding> {
    let mut changed: Vec<Leaf> = story.events.iter().map(|event| event.leaf.clone()).collect();
    change(&mut changed);
    let mut previous = None;
    for (revision, leaf) in (1..).zip(&mut changed) {
        (leaf.revision, leaf.previous) = (revision, previous);
        previous = Some(Leaf::hash(&leaf.bytes()));
    }
    let mut deployment = Deployment::new();
    deployment.apply(&story.pipeline);
    deployment.publish(&changed.iter().map(Leaf::bytes).collect::<Vec<_>>());
    audit(&deployment)
}

fn audit(deployment: &Deployment) -> Result<LogReport, Finding> {
    verify_log(&deployment.store, &deployment.checkpoint(), &trust(), &LogOptions::default())
}

#[track_caller]
fn fault(change: impl FnOnce(&mut Vec<Leaf>)) -> (Fault, u64) {
    let finding = audited(change).unwrap_err();
    (finding.fault, finding.place.revision.unwrap())
}

#[test]
fn the_story_itself_is_legal() {
    let report = audited(|_| {}).unwrap();
    assert_eq!((report.events, leaves(&story().events).len()), (6, 6));
}

#[test]
fn an_event_that_names_another_leaf_before_it_is_found() {
    let story = story();
    let mut changed: Vec<Leaf> = story.events.iter().map(|event| event.leaf.clone()).collect();
    changed[3].previous = changed[2].previous;
    let mut deployment = Deployment::new();
    deployment.apply(&story.pipeline);
    deployment.publish(&changed.iter().map(Leaf::bytes).collect::<Vec<_>>());
    let finding = audit(&deployment).unwrap_err();
    assert_eq!((finding.fault, finding.place.revision), (Fault::Chain, Some(4)), "{finding}");
}

#[test]
fn a_dead_letter_goes_on_only_when_it_is_redriven() {
    assert_eq!(fault(|leaves| drop(leaves.remove(2))), (Fault::Move, 3));
    assert_eq!(fault(|leaves| leaves.insert(3, leaves[2].clone())), (Fault::Move, 4), "what is not dead");
    assert_eq!(fault(|leaves| leaves[2].right = Right::Role(Role::Reviewer)), (Fault::Right, 3));
}

#[test]
fn an_outcome_without_a_lease_needs_a_redrive_before_it() {
    let by_the_machine = |leaf: &mut Leaf| {
        leaf.right = Right::Rule;
        leaf.actor.kind = model::ActorKind::System;
    };
    audited(|leaves| by_the_machine(&mut leaves[3])).unwrap();
    let alone = |leaves: &mut Vec<Leaf>| {
        by_the_machine(&mut leaves[3]);
        leaves.drain(1..3);
    };
    assert_eq!(fault(alone), (Fault::Right, 2));
}

#[test]
fn the_machine_itself_submits_only_what_a_schedule_asks_for() {
    let scheduled = DESK.replace("version = 1\n", "version = 1\nschedule = { cron = \"0 3 * * *\" }\n");
    for (toml, legal) in [(scheduled.as_str(), true), (DESK, false)] {
        let mut story = Story::of(pipeline(toml));
        let application = Story::application(admin(), "{}");
        let admission =
            admit(&story.pipeline, application, &mut model::schema::Fuel::whole()).unwrap().by_clock();
        story.tell(&Command::Submit(admission.into())).unwrap();
        let mut deployment = Deployment::new();
        deployment.apply(&story.pipeline);
        deployment.publish(&leaves(&story.events));
        let found = audit(&deployment).map_err(|finding| finding.fault);
        assert_eq!(found.map(|report| report.events).ok(), legal.then_some(1), "{toml}");
    }
}

#[test]
fn people_agree_to_another_action_while_the_task_of_a_granted_one_runs() {
    let several =
        DESK.replace("actions.close = \"DONE\"", "actions.close = { to = \"DONE\", approvals = 2 }");
    let mut story = Story::submitted(pipeline(&several), "{}");
    let token = story.claim_any();
    story.finish(token, "done", "{}").unwrap();
    story.act("publish").unwrap();
    let token = story.claim_any();
    story.act("close").unwrap();
    assert!(story.row().lease().is_some(), "who agrees takes nothing from a worker");
    story.finish(token, "published", "{}").unwrap();
    let kinds: Vec<&str> = story.events.iter().map(|event| event.leaf.kind.as_str()).collect();
    assert_eq!(kinds, ["submitted", "moved", "requested", "approved", "moved"]);
    let mut deployment = Deployment::new();
    deployment.apply(&story.pipeline);
    deployment.publish(&leaves(&story.events));
    assert_eq!(audit(&deployment).unwrap().events, 5);
}

#[test]
fn an_action_with_a_task_moves_only_for_whoever_was_granted_it() {
    assert_eq!(fault(|leaves| drop(leaves.remove(4))), (Fault::Move, 5), "never asked for");
    assert_eq!(fault(|leaves| leaves[5].actor.id = Digest([3; 32])), (Fault::Move, 6), "somebody else");
    let lesser = |leaves: &mut Vec<Leaf>| {
        leaves[5].right = Right::Role(Role::Reviewer);
        leaves[5].actor.kind = model::ActorKind::Reviewer;
    };
    assert_eq!(fault(lesser), (Fault::Move, 6), "another right than the one it was granted by");
    assert_eq!(fault(|leaves| leaves[4].right = Right::Role(Role::Worker)), (Fault::Right, 5));
    let closed = |leaves: &mut Vec<Leaf>| leaves[5].trigger = "close".into();
    audited(closed).unwrap();
}

/// The story, and somebody with this role who has looked into its end.
fn acknowledged(change: impl FnOnce(&mut Vec<Leaf>)) -> Result<LogReport, Finding> {
    let mut story = story();
    let caller = Caller::new("rob", Role::Reviewer);
    story.tell(&Command::Acknowledge(Acknowledge { caller, note: None, if_match: None })).unwrap();
    let end = story.events.last().unwrap().leaf.clone();
    audited(|leaves| {
        leaves.push(end);
        change(leaves);
    })
}

#[test]
fn an_end_is_acknowledged_once_by_whoever_may() {
    assert_eq!(acknowledged(|_| {}).unwrap().events, 7);
    let fault = |change: fn(&mut Vec<Leaf>)| acknowledged(change).unwrap_err().fault;
    assert_eq!(fault(|leaves| leaves[6].right = Right::Rule), Fault::Right);
    let worker = |leaves: &mut Vec<Leaf>| {
        leaves[6].right = Right::Role(Role::Worker);
        leaves[6].actor.kind = Role::Worker.into();
    };
    assert_eq!(fault(worker), Fault::Right);
    assert_eq!(fault(|leaves| leaves[6].trigger = "close".into()), Fault::Trigger);
    assert_eq!(fault(|leaves| leaves.push(leaves[6].clone())), Fault::Move, "twice");
    let early = |leaves: &mut Vec<Leaf>| {
        let mut early = leaves[6].clone();
        (early.from, early.to) = (leaves[3].from.clone(), leaves[3].from.clone().unwrap());
        leaves.insert(3, early);
    };
    assert_eq!(fault(early), Fault::Move, "nothing is to be looked into where it works");
}

const OFFICE: &str = r#"
name = "office"
version = 1
title = "Office"
start = "REVIEW"

[states.REVIEW]
review = "reviewer"
sla = { target = "1bd", missed = { to = "LEAD" } }
actions.close = { to = "DONE", approvals = 2, reviewers = ["bob", "role:admin"] }
actions.withdraw = { to = "DONE", only = "submitter" }

[states.LEAD]
wait = "2bd"
next = "DONE"

[states.DONE]
final = "success"
"#;

/// Taken on, noted, let go when its time was over, late, escalated, waited for.
fn office() -> Story {
    let mut story = Story::of(pipeline(OFFICE));
    story.now = "2026-11-13T15:00:00Z".parse().unwrap();
    story.submit(admin(), "{}").unwrap();
    let caller = Caller::new("bob", Role::Viewer);
    let claim = ReviewStep::Claim { span: None };
    story.tell(&Command::Review(Review { caller, step: claim, if_match: None })).unwrap();
    let caller = Caller::new("rita", Role::Reviewer);
    story.tell(&Command::Note(Note { caller, text: "seen".to_owned(), if_match: None })).unwrap();
    for at in ["2026-11-13T16:00:00Z", "2026-11-16T15:00:00Z", "2026-11-18T15:00:00Z"] {
        story.now = at.parse().unwrap();
        story.tell(&Command::Wake).unwrap();
    }
    let kinds: Vec<&str> = story.events.iter().map(|event| event.leaf.kind.as_str()).collect();
    assert_eq!(kinds, ["submitted", "assigned", "noted", "released", "late", "moved", "moved"]);
    story
}

fn of_office(change: impl FnOnce(&mut Vec<Leaf>)) -> Result<LogReport, Finding> {
    audited_story(&office(), change)
}

#[test]
fn reviews_notes_and_escalations_are_legal_as_they_happened() {
    assert_eq!(of_office(|_| {}).unwrap().events, 7);
}

#[test]
fn reviews_notes_and_escalations_that_could_not_be_are_found() {
    let found = |change: fn(&mut Vec<Leaf>)| {
        let finding = of_office(change).unwrap_err();
        (finding.fault, finding.place.revision.unwrap())
    };
    assert_eq!(found(|leaves| leaves[1].trigger = "note".into()), (Fault::Trigger, 2));
    assert_eq!(found(|leaves| leaves[3].trigger = "assign".into()), (Fault::Trigger, 4));
    let viewer = |leaves: &mut Vec<Leaf>| {
        (leaves[2].right, leaves[2].actor.kind) = (Right::Role(Role::Viewer), Role::Viewer.into());
    };
    assert_eq!(found(viewer), (Fault::Right, 3));
    // A second release of what was let go.
    let twice = |leaves: &mut Vec<Leaf>| leaves.insert(4, leaves[3].clone());
    assert_eq!(found(twice), (Fault::Move, 5));
    // Before the business day was over.
    let early = |leaves: &mut Vec<Leaf>| leaves[5].at = "2026-11-16T14:59:59Z".parse().unwrap();
    assert_eq!(found(early), (Fault::Move, 6));
    let hurried = |leaves: &mut Vec<Leaf>| leaves[6].at = "2026-11-18T14:59:59Z".parse().unwrap();
    assert_eq!(found(hurried), (Fault::Move, 7));
}
