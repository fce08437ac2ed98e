//! `error = { code, message }` of an edge: the error a submission has after the move.

use crate::support;

use model::event::Change;
use model::submission::Status;
use model::{Code, Event};
use support::{Story, comparable, pipeline, replay};

/// The error of the submission, as `code: message`.
fn error(story: &Story) -> Option<String> {
    story.row().error.as_ref().map(|error| format!("{}: {}", error.code, error.message))
}

fn told(event: &Event) -> Option<&str> {
    event.error().map(|error| &*error.code)
}

fn machine(rest: &str) -> model::Pipeline {
    pipeline(&format!(
        r#"
name = "intake"
version = 1
{rest}
[states.DONE]
final = "success"
[states.FAILED]
final = "failure"
"#
    ))
}

const SCANNING: &str = r#"
start = "SCAN"
[states.SCAN]
task = "t.scan"
retry = { times = 1 }
on.clean = "SORT"
on.invalid = { to = "FAILED", error = { code = "output.code", message = "output.message" } }
on.odd = { to = "LOOK", error = { code = "'odd'" } }
on.error = { to = "SORT", error = { code = "'scan-' + error.code", message = "error.message" } }
[states.LOOK]
actions.pass = "DONE"
actions.refuse = { to = "FAILED", error = { code = "'refused'", message = "data" }, data = "any.json" }
[states.SORT]
next = [{ to = "FAILED", when = "error != null", error = { code = "'sorted-out'", message = "error.code" } }, "DONE"]
"#;

fn scanning() -> model::Pipeline {
    let toml = format!(
        "name = \"intake\"\nversion = 1\n{SCANNING}\n[states.DONE]\nfinal = \"success\"\n[states.FAILED]\nfinal = \"failure\"\n"
    );
    let mut source = model::pipeline::Source::new("test.toml", toml);
    source.files.insert("any.json".to_owned(), r#"{"type":"string"}"#.to_owned());
    model::pipeline::load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)))
}

#[test]
fn a_submission_that_fails_at_the_start_says_why() {
    let machine = machine(
        r#"
start = [
  { to = "FAILED", when = "payload.size > 10", error = { code = "'too-large'", message = "'size ' + string(payload.size)" } },
  { to = "GATE", error = { code = "'noted'" } },
]
[states.GATE]
next = [{ to = "FAILED", when = "error.code == 'noted' && payload.size < 0" }, "DONE"]
"#,
    );
    let story = Story::submitted(machine.clone(), r#"{"size":11}"#);
    assert_eq!((story.state(), story.row().status), ("FAILED", Status::Failed));
    assert_eq!(error(&story).as_deref(), Some("too-large: size 11"));
    assert_eq!(told(&story.events[0]), Some("too-large"));
    assert_eq!(replay(&story.events).unwrap(), *story.row());

    // Guards after it see it, and a pass state hands it on.
    let story = Story::submitted(machine.clone(), r#"{"size":-1}"#);
    assert_eq!(error(&story).as_deref(), Some("noted: "));

    // An error that cannot be said refuses the submission, as every expression of the way in does.
    let refusal = Story::of(machine).submit(support::admin(), r#"{"size":"eleven"}"#).unwrap_err();
    assert_eq!(refusal.code, Code::GuardError);
}

#[test]
fn an_outcome_may_be_an_error() {
    let mut story = Story::submitted(scanning(), "{}");
    let token = story.claim_any();
    story.finish(token, "invalid", r#"{"code":"no-headers","message":"there are none"}"#).unwrap();
    assert_eq!(error(&story).as_deref(), Some("no-headers: there are none"));
    assert_eq!((story.state(), story.row().failed_from.as_deref()), ("FAILED", Some("SCAN")));
    assert_eq!(comparable(&replay(&story.events).unwrap()), comparable(story.row()));
}

#[test]
fn what_left_with_an_error_was_not_good() {
    let mut story = Story::submitted(scanning(), "{}");
    let token = story.claim_any();
    story.finish(token, "odd", "null").unwrap();
    assert_eq!((story.state(), error(&story).as_deref()), ("LOOK", Some("odd: ")));
    let row = story.row();
    assert_eq!((row.last_good.as_deref(), row.failed_from.as_deref()), (None, Some("SCAN")));
    // The next move is another matter: it says its own error, or there is none.
    let mut other = story.clone();
    let act = model::command::Act { data: Some(support::json("\"no\"")), ..support::act("refuse") };
    story.tell(&model::Command::Act(act)).unwrap();
    assert_eq!(error(&story).as_deref(), Some("refused: no"));
    other.act("pass").unwrap();
    assert_eq!(error(&other), None);
}

#[test]
fn an_error_can_be_said_in_other_words() {
    let mut story = Story::submitted(scanning(), "{}");
    for _ in 0..2 {
        let token = story.claim_any();
        story.fail(token, "broken").unwrap();
        story.wake();
    }
    assert_eq!((story.state(), error(&story).as_deref()), ("FAILED", Some("sorted-out: scan-broken")));
    // What failed is the state of the worker, not the one that sorted it out; and what moved it is still known.
    assert_eq!(story.row().failed_from.as_deref(), Some("SCAN"));
    let causes: Vec<Option<String>> = story
        .events
        .iter()
        .filter_map(|event| match &event.detail.change {
            Change::Moved(moved) => Some(moved.cause().map(|cause| cause.code.to_string())),
            _ => None,
        })
        .collect();
    assert_eq!(causes, [Some("broken".to_owned()), Some("scan-broken".to_owned())]);
    assert_eq!(comparable(&replay(&story.events).unwrap()), comparable(story.row()));
}

#[test]
fn a_time_to_live_may_end_in_an_error() {
    let mut story = Story::submitted(
        machine(
            r#"
start = "WAIT"
[states.WAIT]
ttl = { after = "1h", to = "FAILED", error = { code = "'no-answer'", message = "'nobody came'" } }
actions.go = "DONE"
"#,
        ),
        "{}",
    );
    story.pass("1h");
    story.wake();
    assert_eq!(error(&story).as_deref(), Some("no-answer: nobody came"));
}

#[test]
fn messages_are_bounded_and_codes_are_codes() {
    let machine = machine(
        r#"start = [{ to = "FAILED", when = "payload.bad", error = { code = "payload.code", message = "payload.message" } }, "DONE"]"#,
    );
    let long = format!(r#"{{"bad":true,"code":"x","message":"{}"}}"#, "ä".repeat(3_000));
    let story = Story::submitted(machine.clone(), &long);
    assert_eq!(story.row().error.as_ref().unwrap().message.chars().count(), 2_000);
    let story = Story::submitted(machine.clone(), r#"{"bad":true,"code":"x","message":{"a":[1]}}"#);
    assert_eq!(error(&story).as_deref(), Some(r#"x: {"a":[1]}"#));
    for code in ["", "Not Plain", "-x"] {
        let payload = format!(r#"{{"bad":true,"code":"{code}","message":null}}"#);
        let refusal = Story::of(machine.clone()).submit(support::admin(), &payload).unwrap_err();
        assert_eq!(refusal.code, Code::GuardError, "{code:?}");
        assert!(!refusal.message.contains("Not Plain"), "a value of a payload is never repeated");
    }
}
