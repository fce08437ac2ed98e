//! Limits: at most so many leased at once per value of a label, and nobody forgotten beside the queue.

use crate::support::{Story, fail, migrate, pipeline};
use model::decide::Answer;
use model::submission::{Slot, Status, Wait};
use model::{Code, Command, Recipient};

const WORK: &str = r#"
name = "work"
version = 1
labels = { kind = "payload.kind", owner = "payload.owner" }
limits = { owner = 2 }
amend = { fields = ["owner", "note"], lease = "keep" }
ttl = { after = "1h", to = "LOST" }
start = "DOING"

[defaults]
lease = "30s"
retry = { times = 1, delay = "10s" }
actions.cancel = "LOST"

[states.DOING]
task = "work.do"
timeout = "5m"
on.done = "CHECKING"

[states.CHECKING]
task = "work.check"
on.good = "DONE"

[states.DONE]
final = "success"

[states.LOST]
final = "failure"
"#;

const ADAS: &str = r#"{"owner":"ada","kind":"plain"}"#;
/// Whoever waits beside the queue for a place of Ada's, by what it wants done.
const ADAS_LINE: [&str; 2] = ["limit work owner=ada work.check", "limit work owner=ada work.do"];

fn story() -> Story {
    Story::submitted(pipeline(WORK), ADAS)
}

fn two_limits() -> Story {
    Story::submitted(pipeline(&WORK.replace("{ owner = 2 }", "{ kind = 1, owner = 2 }")), ADAS)
}

fn slot(label: &str, value: &str, no: u32) -> Slot {
    Slot { label: label.into(), value: value.into(), no }
}

fn parked(story: &Story) -> Option<&str> {
    story.row().parked.as_deref()
}

#[test]
fn a_lease_takes_the_first_slot_that_is_free() {
    for (taken, no) in [(vec![], 0), (vec![0], 1), (vec![1], 0)] {
        let mut story = story();
        story.taken("owner", taken);
        story.claim_any();
        assert_eq!(story.row().lease().unwrap().slots, [slot("owner", "ada", no)]);
        assert_eq!(story.let_in(), [""; 0], "who takes a slot lets nobody in");
    }
}

#[test]
fn what_finds_no_slot_waits_beside_the_queue_under_the_limit_and_its_task() {
    let mut story = story();
    story.taken("owner", [0, 1]);
    assert_eq!(story.ask(), Answer::Parked);
    assert_eq!(parked(&story), Some("limit work owner=ada work.do"));
    assert!(matches!(story.row().wait, Wait::Worker { .. }));
    assert_eq!((story.row().revision, story.row().lease_no), (1, 0), "it leaves no trace in its history");
    assert_eq!(story.let_in(), [""; 0], "nobody else gets a place that is not there");
}

#[test]
fn a_slot_above_the_limit_is_nobodys_matter() {
    let mut story = story();
    story.taken("owner", [7]);
    story.claim_any();
    assert_eq!(
        story.row().lease().unwrap().slots,
        [slot("owner", "ada", 0)],
        "of a version that let more in"
    );
}

#[test]
fn a_claim_that_did_not_look_at_the_limit_gets_nothing() {
    let mut story = story();
    story.slots.clear();
    assert_eq!(story.claim("work.do").unwrap_err().code, Code::NotLeasable);
    assert_eq!(parked(&story), None);
}

#[test]
fn every_end_of_a_lease_lets_the_next_one_in() {
    type End = fn(&mut Story, model::LeaseToken);
    let ends: [(&str, End); 8] = [
        ("finish", |story, token| drop(story.finish(token, "done", "{}").unwrap())),
        ("a retry", |story, token| drop(story.fail(token, "broken").unwrap())),
        ("a failure for good", |story, token| drop(story.tell(&fail(token, "broken", false)).unwrap())),
        ("snooze", |story, token| drop(story.snooze(token, "1m").unwrap())),
        ("crash", |story, _| {
            story.pass("30s");
            story.wake();
        }),
        ("timeout", |story, token| {
            for _ in 0..12 {
                story.pass("25s");
                story.renew(token).unwrap();
            }
            story.wake();
        }),
        ("an action", |story, _| drop(story.act("cancel").unwrap())),
        ("ttl", |story, token| {
            story.pass("59m50s");
            story.renew(token).unwrap();
            story.pass("30s");
            story.wake();
        }),
    ];
    for (name, end) in ends {
        let mut story = story();
        let token = story.claim_any();
        assert_eq!(story.let_in(), [""; 0], "{name}");
        end(&mut story, token);
        assert!(story.row().lease().is_none(), "{name}");
        assert_eq!(story.let_in(), ADAS_LINE, "{name}");
    }
}

#[test]
fn a_dead_letter_gives_its_slot_back() {
    let mut story = story();
    let token = story.claim_any();
    story.tell(&fail(token, "broken", false)).unwrap();
    assert_eq!(story.row().status, Status::Dead);
    assert_eq!(story.let_in(), ADAS_LINE);
}

#[test]
fn a_renewal_and_an_unknown_outcome_keep_the_slot() {
    let mut story = story();
    let token = story.claim_any();
    story.pass("10s");
    story.renew(token).unwrap();
    story.finish(token, "nonsense", "{}").unwrap_err();
    story.wake();
    assert_eq!(story.row().lease().unwrap().slots, [slot("owner", "ada", 0)]);
    assert_eq!(story.let_in(), [""; 0]);
}

#[test]
fn a_repeated_answer_lets_nobody_in_again() {
    let mut story = story();
    let token = story.claim_any();
    story.finish(token, "done", "{}").unwrap();
    assert_eq!(story.let_in(), ADAS_LINE);
    story.finish(token, "done", "{}").unwrap();
    assert_eq!(story.let_in(), [""; 0]);
}

#[test]
fn who_leaves_the_queue_without_a_lease_lets_the_next_one_in() {
    // It may have been let in for a slot that it now never takes.
    let mut story = story();
    story.act("cancel").unwrap();
    assert_eq!(story.let_in(), ADAS_LINE);
    let mut late = self::story();
    late.pass("1h");
    late.wake();
    assert_eq!(late.state(), "LOST");
    assert_eq!(late.let_in(), ADAS_LINE);
}

#[test]
fn who_is_held_when_it_is_let_in_hands_the_place_on() {
    let mut story = story();
    story.taken("owner", [0, 1]);
    story.ask();
    assert_eq!(story.let_in(), [""; 0]);
    story.taken("owner", [0]);
    story.hold = Some("h1".into());
    story.tell(&Command::Unpark).unwrap();
    assert_eq!(parked(&story), Some("h1"));
    assert!(story.let_in().contains(&ADAS_LINE[1].to_owned()), "the next in line gets its place");
}

#[test]
fn who_is_held_in_the_queue_hands_the_place_on() {
    let mut story = story();
    story.hold = Some("h1".into());
    assert_eq!(story.ask(), Answer::Parked);
    assert_eq!(parked(&story), Some("h1"));
    assert_eq!(story.let_in(), ADAS_LINE);
}

#[test]
fn let_back_in_it_stands_in_its_queue_as_before() {
    let mut story = story();
    let place = story.row().wait.clone();
    story.taken("owner", [0, 1]);
    story.ask();
    story.tell(&Command::Unpark).unwrap();
    assert_eq!((parked(&story), &story.row().wait), (None, &place), "with the rank it had");
    story.taken("owner", [1]);
    story.claim_any();
}

#[test]
fn a_slot_that_was_taken_meanwhile_parks_it_anew_and_wakes_nobody() {
    let mut story = story();
    story.taken("owner", [0, 1]);
    for _ in 0..3 {
        assert_eq!(story.ask(), Answer::Parked);
        assert_eq!(story.let_in(), [""; 0], "or two of them would wake each other for ever");
        story.tell(&Command::Unpark).unwrap();
        assert_eq!(story.let_in(), [""; 0]);
    }
}

#[test]
fn of_two_limits_both_are_taken_and_both_are_given_back() {
    let mut story = two_limits();
    let token = story.claim_any();
    assert_eq!(story.row().lease().unwrap().slots, [slot("kind", "plain", 0), slot("owner", "ada", 0)]);
    story.finish(token, "done", "{}").unwrap();
    let line = ["kind=plain work.check", "kind=plain work.do", "owner=ada work.check", "owner=ada work.do"];
    assert_eq!(story.let_in(), line.map(|name| format!("limit work {name}")));
}

#[test]
fn of_two_limits_the_full_one_parks_it_and_the_other_goes_to_the_next() {
    let mut story = two_limits();
    story.taken("owner", [0, 1]);
    assert_eq!(story.ask(), Answer::Parked);
    assert_eq!(parked(&story), Some("limit work owner=ada work.do"));
    let line = ["kind=plain work.check", "kind=plain work.do"].map(|name| format!("limit work {name}"));
    assert_eq!(story.let_in(), line, "it may have been let in for a place of that kind");

    let mut story = two_limits();
    story.taken("kind", [0]);
    story.taken("owner", [0, 1]);
    story.ask();
    assert_eq!(parked(&story), Some("limit work kind=plain work.do"), "under one of them at a time");
}

#[test]
fn a_parked_one_whose_label_is_amended_stands_in_the_queue_again() {
    let mut story = story();
    story.taken("owner", [0, 1]);
    story.ask();
    story.amend(r#"{"owner":"bob"}"#).unwrap();
    assert_eq!(parked(&story), None, "Ada's limit is none of its business now");
    story.taken("owner", []);
    story.claim_any();
    assert_eq!(story.row().lease().unwrap().slots, [slot("owner", "bob", 0)]);
}

#[test]
fn a_queued_one_whose_label_is_amended_leaves_its_chance_to_the_others() {
    let mut story = story();
    story.amend(r#"{"note":"x"}"#).unwrap();
    assert_eq!(story.let_in(), [""; 0], "it is in the same queue as before");
    story.amend(r#"{"owner":"bob"}"#).unwrap();
    assert_eq!(story.let_in(), ADAS_LINE);
}

#[test]
fn a_leased_one_whose_label_is_amended_gives_back_the_slot_it_took() {
    let mut story = story();
    let token = story.claim_any();
    story.amend(r#"{"owner":"bob"}"#).unwrap();
    assert_eq!(story.row().lease().unwrap().slots, [slot("owner", "ada", 0)]);
    assert_eq!(story.let_in(), [""; 0]);
    story.finish(token, "done", "{}").unwrap();
    assert_eq!(story.let_in(), ADAS_LINE);
}

#[test]
fn an_amendment_that_takes_the_lease_back_frees_its_slot() {
    let restart = WORK.replace("lease = \"keep\"", "lease = \"restart\"");
    let mut story = Story::submitted(pipeline(&restart), ADAS);
    story.claim_any();
    story.amend(r#"{"note":"x"}"#).unwrap();
    assert!(matches!(story.row().wait, Wait::Worker { .. }));
    assert_eq!(story.let_in(), ADAS_LINE);
}

#[test]
fn the_task_of_an_action_counts_under_the_limit_too() {
    let asked =
        WORK.replace("actions.cancel = \"LOST\"", "actions.cancel = { to = \"LOST\", task = \"work.undo\" }");
    let mut story = Story::submitted(pipeline(&asked), ADAS);
    story.act("cancel").unwrap();
    assert!(!story.let_in().is_empty(), "it left the queue of its first task");
    story.taken("owner", [0, 1]);
    assert_eq!(story.ask(), Answer::Parked);
    assert_eq!(parked(&story), Some("limit work owner=ada work.undo"));
    story.tell(&Command::Unpark).unwrap();
    story.taken("owner", []);
    let token = story.claim_any();
    story.let_in();
    story.finish(token, "undone", "{}").unwrap();
    let tasks = ["check", "do", "undo"].map(|task| format!("limit work owner=ada work.{task}"));
    assert_eq!(story.state(), "LOST");
    assert_eq!(story.let_in(), tasks);
}

#[test]
fn a_ttl_reaches_what_waits_beside_the_queue() {
    let mut story = story();
    story.taken("owner", [0, 1]);
    story.ask();
    story.pass("1h");
    assert!(story.row().timer.unwrap() <= story.now);
    story.wake();
    assert_eq!((story.state(), parked(&story)), ("LOST", None));
}

#[test]
fn a_label_without_a_limit_owes_nobody_anything() {
    let free = WORK.replace("limits = { owner = 2 }\n", "");
    let mut story = Story::submitted(pipeline(&free), ADAS);
    let token = story.claim_any();
    story.finish(token, "done", "{}").unwrap();
    assert!(!story.owed.iter().any(|owed| matches!(owed.to, Recipient::FirstParked(_))));
}

#[test]
fn a_slot_is_given_back_even_under_a_version_that_has_no_limits() {
    let mut story = story();
    let token = story.claim_any();
    let free = WORK.replace("limits = { owner = 2 }\n", "").replace("version = 1", "version = 2");
    story.tell(&migrate(&pipeline(&free), &[])).unwrap();
    story.let_in();
    story.finish(token, "done", "{}").unwrap();
    assert!(story.let_in().contains(&ADAS_LINE[1].to_owned()), "those of the first version wait for it");
}

#[test]
fn why_names_the_limit() {
    let mut story = story();
    story.taken("owner", [0, 1]);
    story.ask();
    let around = model::why::Surroundings {
        now: story.now,
        holds: Vec::new(),
        line: None,
        key_holder: None,
        polled_ago: None,
        unsent: Vec::new(),
    };
    let reasons = model::why::why(&story.pipeline, story.row(), None, &around);
    let codes: Vec<_> = reasons.iter().map(|reason| reason.code.as_str()).collect();
    assert_eq!(codes, ["limit", "worker"]);
    assert_eq!(reasons[0].sentence, "2 with owner ada are with workers, which is the limit");
}

#[test]
fn what_waits_beside_the_queue_is_not_leased_before_it_is_let_back_in() {
    let mut story = story();
    story.taken("owner", [0, 1]);
    story.ask();
    story.taken("owner", []);
    assert_eq!(story.claim("work.do").unwrap_err().code, Code::NotLeasable);
}

#[test]
fn an_action_with_a_task_leaves_the_place_beside_the_other_queue() {
    let asks = WORK.replace(
        "on.done = \"CHECKING\"",
        "on.done = \"CHECKING\"\nactions.look = { to = \"CHECKING\", task = \"work.look\" }",
    );
    let mut story = Story::submitted(pipeline(&asks), ADAS);
    story.taken("owner", [0, 1]);
    story.ask();
    assert_eq!(parked(&story), Some("limit work owner=ada work.do"));
    story.act("look").unwrap();
    assert_eq!(parked(&story), None, "it queues for work.look now");
    story.taken("owner", [0]);
    story.claim("work.look").unwrap();
}
