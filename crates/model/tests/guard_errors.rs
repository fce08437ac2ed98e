//! The ways of crashes, guard errors and answers that cannot be read.

use crate::support;

use model::decide::CRASHES_MAX;
use model::pipeline::{Source, load};
use model::submission::{Status, Wait};
use model::{Json, Pipeline};
use support::{Story, comparable, replay};

const ENDS: &str = "\n[states.DONE]\nfinal = \"success\"\n[states.FAILED]\nfinal = \"failure\"\n";

fn machine(rest: &str) -> Pipeline {
    let mut source = Source::new("test.toml", format!("name = \"mill\"\nversion = 1\n{rest}{ENDS}"));
    let schema = r#"{"type":"object","required":["grade"],"properties":{"grade":{"type":"integer"}}}"#;
    source.files.insert("grade.json".to_owned(), schema.to_owned());
    load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)))
}

fn code(story: &Story) -> Option<&str> {
    story.row().error.as_ref().map(|error| &*error.code)
}

fn answered(story: &mut Story, outcome: &str, output: &str) {
    let token = story.claim_any();
    story.finish(token, outcome, output).unwrap();
    assert_eq!(comparable(&replay(&story.events).unwrap()), comparable(story.row()));
}

const SIFT: &str = r#"
start = "SIFT"
[states.SIFT]
task = "t.sift"
retry = { times = 1, delay = "5s" }
on.sifted = [
  { to = "FAILED", when = "output.grade < 3", metadata = { by = "output.by" } },
  { to = "FAILED", when = "payload.limit < output.grade" },
  "DONE",
]
on.again = [{ to = "FAILED", when = "payload.limit > 3" }, "DONE"]
on.error = { to = "FAILED" }
"#;

#[test]
fn an_answer_that_its_guards_cannot_read_is_a_failed_attempt() {
    let mut story = Story::submitted(machine(SIFT), r#"{"limit":5}"#);
    answered(&mut story, "sifted", r#"{"grade":"high"}"#);
    let row = story.row();
    assert_eq!((row.status, &*row.state, row.attempt), (Status::Open, "SIFT", 2));
    assert_eq!(code(&story), Some("bad-output"));
    assert!(matches!(story.row().wait, Wait::Delay { .. }));
    assert!(story.documents.outputs.is_empty(), "nothing of it is kept");

    let mut other = story.clone();
    for story in [&mut story, &mut other] {
        story.pass("5s");
        story.wake();
    }
    answered(&mut story, "sifted", r#"{"grade":4}"#);
    assert_eq!((story.state(), code(&story)), ("DONE", None));
    // Metadata is part of what must be readable; and tries are used up as ever.
    answered(&mut other, "sifted", r#"{"grade":1}"#);
    assert_eq!((other.state(), code(&other)), ("FAILED", Some("bad-output")));
    assert_eq!(other.told().last().unwrap(), "moved error worker");
}

#[test]
fn a_guard_that_fails_on_something_else_is_no_fault_of_the_worker() {
    let mut story = Story::submitted(machine(SIFT), "{}");
    answered(&mut story, "again", r#"{"kept":true}"#);
    let row = story.row();
    assert_eq!((row.status, row.attempt, code(&story)), (Status::Dead, 1, Some("guard-error")));
    assert_eq!(&*row.kept.as_ref().unwrap().outcome, "again");
    assert_eq!(story.documents.outputs["SIFT"].as_str(), r#"{"kept":true}"#);
}

#[test]
fn an_output_must_fit_the_schema_its_outcome_declares() {
    for (declared, checked, free) in [
        ("output = \"grade.json\"", "spoilt", None),
        ("output.sifted = \"grade.json\"", "sifted", Some("spoilt")),
    ] {
        let machine = machine(&format!(
            "start = \"SIFT\"\n[states.SIFT]\ntask = \"t.sift\"\n{declared}\non.sifted = [{{ to = \"FAILED\", when = \"payload.bad\" }}, \"DONE\"]\non.spoilt = \"DONE\"\n"
        ));
        for (output, fits) in [(r#"{"grade":3}"#, true), (r#"{"grade":"3"}"#, false), ("null", false)] {
            let mut story = Story::submitted(machine.clone(), r#"{"bad":false}"#);
            answered(&mut story, checked, output);
            let expected = if fits { ("DONE", None) } else { ("SIFT", Some("bad-output")) };
            assert_eq!((story.state(), code(&story)), expected, "{output} of {checked}");
            assert_eq!(story.documents.outputs.contains_key("SIFT"), fits);
        }
        if let Some(outcome) = free {
            let mut story = Story::submitted(machine, r#"{"bad":false}"#);
            answered(&mut story, outcome, "null");
            assert_eq!(story.state(), "DONE");
        }
    }
}

#[test]
fn the_task_of_an_action_is_asked_again_for_an_answer_that_can_be_read() {
    let machine = machine(
        r#"
start = "LOOK"
[states.LOOK]
retry = { times = 1 }
actions.go = { to = "DONE", task = "t.go", metadata = { url = "output.url" } }
actions.stop = "FAILED"
"#,
    );
    let mut story = Story::submitted(machine, "{}");
    story.act("go").unwrap();
    answered(&mut story, "done", "{}");
    assert_eq!((story.row().attempt, code(&story)), (2, Some("bad-output")));
    story.wake();
    answered(&mut story, "done", "{}");
    assert_eq!(story.told().last().unwrap(), "abandoned abandoned worker");
    story.act("go").unwrap();
    answered(&mut story, "done", r#"{"url":"x"}"#);
    assert_eq!(story.state(), "DONE");
}

/// Guard errors of every kind of state, and of a time to live.
const CAUGHT: &str = r#"
dead_letters = false
start = [{ to = "PASS", when = "payload.way == 'pass'" }, { to = "TASK", when = "payload.way == 'task'" }, "WAIT"]
[defaults]
on.guard_error = { to = "ASIDE", metadata = { code = "error.code", weight = "payload.weight" } }
[states.PASS]
next = [{ to = "DONE", when = "payload.weight > 3" }, "FAILED"]
[states.TASK]
task = "t.task"
on.done = [{ to = "PASS", when = "payload.weight > 3" }, "DONE"]
on.error = "FAILED"
on.crashed = "FAILED"
[states.WAIT]
wait = "1h"
ttl = { after = "2h", to = "DONE", metadata = { weight = "payload.weight" } }
next = [{ to = "DONE", when = "payload.weight > 3" }, "FAILED"]
[states.ASIDE]
actions.end = "FAILED"
"#;

#[test]
fn a_guard_error_leads_where_the_state_says() {
    let aside = |story: &Story, from: &str, right: &str| {
        let row = story.row();
        assert_eq!((&*row.state, row.status, code(story)), ("ASIDE", Status::Open, Some("guard-error")));
        assert_eq!(row.failed_from.as_deref(), Some(from));
        let event = story.events.last().unwrap();
        assert_eq!(format!("{:?}", event.leaf.right), right);
        // What cannot be evaluated on this way is left out.
        assert_eq!(event.detail.metadata.as_ref().map(Json::as_str), Some(r#"{"code":"guard-error"}"#));
        assert_eq!(comparable(&replay(&story.events).unwrap()), comparable(row));
    };
    let mut story = Story::submitted(machine(CAUGHT), r#"{"way":"wait"}"#);
    let mut late = story.clone();
    story.pass("1h");
    story.wake();
    aside(&story, "WAIT", "Rule");
    // Held back all the while, so that it is the time to live that ends it.
    late.hold = Some("h1".into());
    late.pass("1h");
    late.wake();
    late.hold = None;
    late.pass("1h");
    late.wake();
    aside(&late, "WAIT", "Rule");

    let mut story = Story::submitted(machine(CAUGHT), r#"{"way":"task"}"#);
    answered(&mut story, "done", r#"{"kept":1}"#);
    aside(&story, "TASK", "Lease(1)");
    assert_eq!(story.documents.outputs["TASK"].as_str(), r#"{"kept":1}"#);

    // Whoever submits is there to be refused.
    assert!(Story::of(machine(CAUGHT)).submit(support::admin(), r#"{"way":"pass"}"#).is_err());
}

#[test]
fn guards_of_a_guard_errors_own_way_that_fail_do_not_hold() {
    let machine = machine(
        r#"
start = "WAIT"
priority = "from == null ? 0 : payload.weight"
[states.WAIT]
wait = "1h"
next = "DONE"
on.guard_error = [
  { to = "DONE", when = "payload.weight > 1" },
  { to = "FAILED", when = "error.code == 'guard-error'", error = { code = "payload.weight" } },
  {},
]
"#,
    );
    let mut story = Story::submitted(machine, "{}");
    story.pass("1h");
    story.wake();
    assert_eq!((story.state(), code(&story)), ("FAILED", Some("guard-error")));
}

#[test]
fn a_guard_error_after_a_guard_error_is_a_dead_letter() {
    let circle = machine(
        r#"
start = "WAIT"
[states.WAIT]
wait = "1h"
next = "PING"
[states.PING]
next = [{ to = "DONE", when = "payload.weight > 3" }, "FAILED"]
on.guard_error = "PONG"
[states.PONG]
next = [{ to = "DONE", when = "payload.weight > 3" }, "FAILED"]
on.guard_error = "PING"
"#,
    );
    let mut story = Story::submitted(circle, "{}");
    story.pass("1h");
    story.wake();
    assert_eq!((story.path(), story.row().status), (vec!["WAIT", "PING", "PONG"], Status::Dead));
    assert_eq!(code(&story), Some("guard-error"));

    // The state it would lead to cannot be entered: it stays where it was.
    let closed = machine(
        r#"
start = "WAIT"
[states.WAIT]
wait = "1h"
next = { to = "DONE", when = "payload.weight > 3" }
on.guard_error = "LATER"
[states.LATER]
wait = "payload.until"
next = "FAILED"
"#
        .replace(
            "next = { to = \"DONE\", when = \"payload.weight > 3\" }",
            "next = [{ to = \"DONE\", when = \"payload.weight > 3\" }, \"DONE\"]",
        )
        .as_str(),
    );
    let mut story = Story::submitted(closed, "{}");
    story.pass("1h");
    story.wake();
    assert_eq!((story.path(), story.row().status), (vec!["WAIT"], Status::Dead));
    story.redrive();
    assert_eq!(story.row().status, Status::Open);
}

#[test]
fn workers_that_crash_lead_where_the_state_says() {
    let machine = machine(
        r#"
start = "TASK"
[states.TASK]
task = "t.task"
lease = "30s"
on.done = "DONE"
on.crashed = [{ to = "FAILED", when = "payload.n == 1", error = { code = "'gone'", message = "error.code" } }, {}]
"#,
    );
    for (n, state, status, error) in
        [(1, "FAILED", Status::Failed, "gone"), (2, "TASK", Status::Dead, "crashing")]
    {
        let mut story = Story::submitted(machine.clone(), &format!("{{\"n\":{n}}}"));
        for _ in 0..CRASHES_MAX {
            story.claim_any();
            story.pass("31s");
            story.wake();
        }
        assert_eq!((story.state(), story.row().status, code(&story)), (state, status, Some(error)));
        assert_eq!(comparable(&replay(&story.events).unwrap()), comparable(story.row()));
    }
}

#[test]
fn check_says_what_can_end_as_a_dead_letter() {
    let letters = |pipeline: &Pipeline| -> Vec<String> {
        let told = pipeline.dead_letters().into_iter().map(|(state, causes)| {
            let causes: Vec<&str> = causes.iter().map(|cause| cause.as_str()).collect();
            format!("{}: {}", state.name, causes.join(" "))
        });
        told.collect()
    };
    assert_eq!(letters(&machine(SIFT)), ["SIFT: crashed guard_error"]);
    assert_eq!(letters(&machine(CAUGHT)), Vec::<String>::new());
    // A way that itself may fail catches nothing.
    let open = CAUGHT
        .replace("dead_letters = false", "")
        .replace("actions.end", "ttl = { after = \"payload.x\", to = \"FAILED\" }\nactions.end");
    assert_eq!(letters(&machine(&open)), ["PASS: guard_error", "TASK: guard_error", "WAIT: guard_error"]);

    let broken = format!(
        "name = \"mill\"\nversion = 1\n{}{ENDS}",
        CAUGHT.replace("on.crashed = \"FAILED\"\n", "").replace("on.error = \"FAILED\"", "on.error = {}")
    );
    let source = Source::new("test.toml", broken);
    let problems = load(&source).unwrap_err();
    let told: Vec<(&str, &str)> = problems.iter().map(|problem| (problem.code, &*problem.message)).collect();
    let message = "`TASK` can end as a dead letter: nothing follows its `on.error`, `on.crashed`";
    assert_eq!(told, [("dead-letter", message)]);
}

/// Times and words that parameters and labels alone decide.
const CERTAIN: &str = r#"
dead_letters = false
labels = { kind = "payload.kind" }
priority = "params.urgency"
start = "CHECK"
[params]
delay = "7d"
most = "1h"
urgency = 3
[defaults]
on.error = "FAILED"
on.crashed = "FAILED"
[states.CHECK]
task = "t.check"
ttl = { after = "params.most", to = "FAILED", error = { code = "'late'", message = "'not within ' + params.most" } }
on.done = "WAIT"
[states.WAIT]
wait = "labels.kind == 'urgent' ? duration('0s') : duration(params.delay)"
next = "DONE"
"#;

#[test]
fn what_parameters_and_labels_alone_decide_cannot_fail_later() {
    let file = |params: &str| {
        let toml = format!("name = \"mill\"\nversion = 1\n{CERTAIN}{ENDS}");
        let mut source = Source::new("test.toml", toml);
        source.params = Json::parse(params).unwrap().value();
        source
    };
    assert!(load(&file("{}")).unwrap().dead_letters().is_empty());
    load(&file(r#"{"delay":"2w","most":"5m","urgency":-1}"#)).unwrap();
    for (params, states) in [
        (r#"{"delay":"soon"}"#, vec!["CHECK", "WAIT"]),
        // The first state is entered while somebody is there to be refused.
        (r#"{"most":"soon"}"#, vec![]),
        (r#"{"urgency":99999999999999999999}"#, vec!["CHECK", "WAIT"]),
    ] {
        let problems = load(&file(params)).err();
        let told: Vec<String> =
            problems.iter().flat_map(|all| all.iter()).map(|problem| problem.message.clone()).collect();
        assert_eq!(told.len(), states.len(), "{params}: {told:?}");
        for (told, state) in told.iter().zip(states) {
            assert!(told.contains(&format!("`{state}` can end as a dead letter")), "{params}: {told}");
        }
    }
}
