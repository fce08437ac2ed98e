//! The state matrix of skill-review: of 10 × 10 moves, 13 are legal, and nothing anyone can send makes another.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{Story, act, fail, finish, json, shipped};
use model::Command;
use model::submission::Wait;

const LEGAL: [(&str, &str, &str, &str); 13] = [
    ("RECEIVED", "VENDOR_APPROVED", "vendor-auto-verify", "system"),
    ("RECEIVED", "TIER1_SCANNING", "non-vendor-submission", "system"),
    ("TIER1_SCANNING", "TIER2_SCANNING", "tier1-pass", "worker"),
    ("TIER1_SCANNING", "TIER1_FAILED", "tier1-fail", "worker"),
    ("TIER2_SCANNING", "AUTO_APPROVED", "tier2-pass", "worker"),
    ("TIER2_SCANNING", "NEEDS_REVIEW", "tier2-concerns", "worker"),
    ("TIER2_SCANNING", "REJECTED", "tier2-fail", "worker"),
    ("NEEDS_REVIEW", "TIER3_REVIEW", "escalate", "admin"),
    ("NEEDS_REVIEW", "REJECTED", "reject", "admin"),
    ("TIER3_REVIEW", "PUBLISHED", "approve", "admin"),
    ("TIER3_REVIEW", "REJECTED", "reject", "admin"),
    ("AUTO_APPROVED", "PUBLISHED", "publish-complete", "system"),
    ("VENDOR_APPROVED", "PUBLISHED", "publish-complete", "system"),
];

const STATES: [&str; 10] = [
    "RECEIVED",
    "TIER1_SCANNING",
    "TIER1_FAILED",
    "TIER2_SCANNING",
    "AUTO_APPROVED",
    "NEEDS_REVIEW",
    "TIER3_REVIEW",
    "PUBLISHED",
    "REJECTED",
    "VENDOR_APPROVED",
];

const VENDOR: &str = r#"{"repo_url":"https://github.com/Anthropics/skills","skill_name":"pdf"}"#;
const OTHER: &str = r#"{"repo_url":"https://github.com/somebody/skills","skill_name":"pdf"}"#;
const CHECKED: &str = r#"{"intent":true,"scope":true,"permissions":true,"security_notes":true,"scripts":true,
    "dependencies":true,"edge_cases":true}"#;

const SCANNED: &str = r#"{"commit":"0123456789abcdef0123456789abcdef01234567","content_hash":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}"#;

/// Everything a worker could say, with every score that matters.
fn answers() -> Vec<(&'static str, &'static str)> {
    let published = r#"{"version":"1.0.0","skill_id":"sk_1","commit":"0123456789abcdef0123456789abcdef01234567","content_hash":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}"#;
    let outputs = [
        r#"{"score":100,"high_privilege":false}"#,
        r#"{"score":80,"high_privilege":false}"#,
        r#"{"score":92,"high_privilege":true}"#,
        r#"{"score":79}"#,
        r#"{"score":60}"#,
        r#"{"score":59}"#,
        r#"{"findings":[]}"#,
        published,
        "{}",
    ];
    let outcomes = ["pass", "fail", "scored", "unjudged", "published", "approve", "PUBLISHED", "error", ""];
    outcomes.iter().flat_map(|outcome| outputs.iter().map(move |output| (*outcome, *output))).collect()
}

/// Every story one command further: claims, all answers, failures to the last, all actions, time.
fn onwards(story: &Story) -> Vec<Story> {
    let mut stories = Vec::new();
    let mut with = |command: &Command, mut story: Story| {
        if story.tell(command).is_ok() {
            stories.push(story);
        }
    };
    if matches!(story.row().wait, Wait::Worker { .. }) {
        let mut leased = story.clone();
        let token = leased.claim_any();
        for (outcome, output) in answers() {
            with(&finish(token, outcome, output), leased.clone());
        }
        for code in ["git-clone", "other"] {
            with(&fail(token, code, false), leased.clone());
        }
    }
    for action in ["escalate", "reject", "approve", "resume", "publish", "cancel"] {
        for data in [None, Some(json(CHECKED))] {
            for to in [None].into_iter().chain(STATES.map(Some)) {
                let mut act = act(action);
                act.reason = Some("because".to_owned());
                act.data = data.clone();
                act.to = to.map(Into::into);
                with(&Command::Act(act), story.clone());
            }
        }
    }
    let mut later = story.clone();
    later.pass("10w");
    with(&Command::Wake, later);
    stories
}

/// Walks every way there is and collects the moves it saw, with trigger and actor.
fn moves_seen() -> BTreeMap<(String, String), BTreeSet<(String, String)>> {
    let pipeline = shipped("skill-review");
    let mut seen = BTreeMap::<_, BTreeSet<_>>::new();
    let mut known = BTreeSet::new();
    let mut open = vec![Story::submitted(pipeline.clone(), VENDOR), Story::submitted(pipeline, OTHER)];
    while let Some(story) = open.pop() {
        for event in story.events.iter().filter(|event| event.leaf.kind.as_str() == "moved") {
            let leaf = &event.leaf;
            let from = leaf.from.as_deref().unwrap().to_owned();
            let trigger = (leaf.trigger.to_string(), leaf.actor.kind.as_str().to_owned());
            seen.entry((from, leaf.to.to_string())).or_default().insert(trigger);
        }
        let row = story.row();
        if known.insert(format!("{} {:?} {:?}", row.state, row.status, row.request.is_some())) {
            open.extend(onwards(&story));
        }
    }
    seen
}

#[test]
fn thirteen_moves_are_made_and_eighty_seven_are_not() {
    let seen = moves_seen();
    let pipeline = shipped("skill-review");
    assert_eq!(pipeline.states.len(), 10);
    let (mut accepted, mut refused) = (0, 0);
    for from in STATES {
        for to in STATES {
            let legal = LEGAL.iter().find(|(f, t, ..)| (*f, *t) == (from, to));
            let made = seen.get(&(from.to_owned(), to.to_owned()));
            assert_eq!(legal.is_some(), made.is_some(), "{from} to {to}");
            assert_eq!(legal.is_some(), pipeline.allows(Some(from), to), "{from} to {to} by declaration");
            if let (Some((_, _, trigger, actor)), Some(made)) = (legal, made) {
                let told = ((*trigger).to_owned(), (*actor).to_owned());
                assert!(made.contains(&told), "{from} to {to} is {told:?}, not {made:?}");
                accepted += 1;
            } else {
                refused += 1;
            }
        }
    }
    assert_eq!((accepted, refused), (13, 87));
}

#[test]
fn an_action_of_another_state_is_refused_with_the_legal_ones() {
    let mut story = Story::submitted(shipped("skill-review"), OTHER);
    let token = story.claim_any();
    story.finish(token, "pass", SCANNED).unwrap();
    let token = story.claim_any();
    story.finish(token, "scored", r#"{"score":70}"#).unwrap();
    assert_eq!(story.state(), "NEEDS_REVIEW");
    let mut approve = act("approve");
    approve.data = Some(json(CHECKED));
    let refusal = story.tell(&Command::Act(approve)).unwrap_err();
    assert_eq!(refusal.code.as_str(), "action-not-allowed");
    assert_eq!(refusal.details["actions"], serde_json::json!(["escalate", "reject"]));
}

#[test]
fn an_approval_runs_its_task_and_then_makes_one_move_in_the_approvers_name() {
    let mut story = Story::submitted(shipped("skill-review"), OTHER);
    for (outcome, output) in [("pass", SCANNED), ("scored", r#"{"score":60}"#)] {
        let token = story.claim_any();
        story.finish(token, outcome, output).unwrap();
    }
    story.act("escalate").unwrap();
    let mut approve = act("approve");
    assert_eq!(story.tell(&Command::Act(approve.clone())).unwrap_err().code.as_str(), "schema-violation");
    approve.data = Some(json(CHECKED));
    story.tell(&Command::Act(approve)).unwrap();
    assert_eq!(story.state(), "TIER3_REVIEW", "not before the task has run");
    let token = story.claim("skills.publish").unwrap();
    story.finish(token, "published", r#"{"version":"1.0.0","skill_id":"sk_1"}"#).unwrap();
    assert_eq!(story.state(), "PUBLISHED");
    let told = story.told();
    assert_eq!(told[told.len() - 2..], ["requested approve admin", "moved approve admin"]);
}

#[test]
fn an_approval_whose_task_fails_for_good_is_given_up_and_can_be_made_again() {
    let mut story = Story::submitted(shipped("skill-review"), OTHER);
    for (outcome, output) in [("pass", SCANNED), ("scored", r#"{"score":60}"#)] {
        let token = story.claim_any();
        story.finish(token, outcome, output).unwrap();
    }
    story.act("escalate").unwrap();
    let mut approve = act("approve");
    approve.data = Some(json(CHECKED));
    story.tell(&Command::Act(approve.clone())).unwrap();
    let token = story.claim_any();
    story.tell(&fail(token, "registry-gone", false)).unwrap();
    assert_eq!((story.state(), &story.row().wait), ("TIER3_REVIEW", &Wait::Person));
    assert_eq!(&*story.row().error.as_ref().unwrap().code, "registry-gone");
    story.tell(&Command::Act(approve)).unwrap();
}
