//! Parameters that change while submissions are on their way: each event names the definition it was decided by, which
//! is the newest of its version.

use crate::common;

use audit::follow::put_definition;
use audit::leaf::{Applied, Record};
use audit::proof::{EvidenceRequest, LoggedDefinition, assemble};
use audit::verify::{EvidenceOptions, Fault, Finding, LogOptions, verify_evidence, verify_log};
use common::story::{Story, pipeline};
use common::{Deployment, leaves, trust};
use model::json::Value;
use model::{Pipeline, Time};

const GATE: &str = r#"
name = "gate"
version = 1
start = "OPEN"

[params]
bar = 10

[states.OPEN]
review = "reviewer"
actions.look = "HELD"

[states.HELD]
review = "reviewer"
actions.look = [{ to = "DONE", when = "payload.n > params.bar" }, "LOW"]

[states.LOW]
final = "failure"

[states.DONE]
final = "success"
"#;

fn revised(pipeline: &Pipeline, bar: i64, revision: u32) -> Pipeline {
    let set = [("bar".to_owned(), Value::from(bar))];
    let mut pipeline = pipeline.with_params(&set.into_iter().collect());
    pipeline.revision = revision;
    pipeline
}

fn applied(pipeline: &Pipeline, at: Time) -> Vec<u8> {
    Record::Applied(Applied {
        pipeline: pipeline.name.clone(),
        version: pipeline.version,
        revision: pipeline.revision,
        definition: pipeline.digest,
        at,
    })
    .bytes()
}

fn log(deployment: &mut Deployment, pipeline: &Pipeline, at: Time) {
    put_definition(&deployment.store, pipeline.definition.as_str().as_bytes()).unwrap();
    deployment.publish(&[applied(pipeline, at)]);
}

fn audit(deployment: &Deployment) -> Result<u64, Finding> {
    let report = verify_log(&deployment.store, &deployment.checkpoint(), &trust(), &LogOptions::default());
    report.map(|report| report.events)
}

/// A submission that is looked at under one set of parameters, and once more under another.
fn story() -> (Deployment, Story, Pipeline) {
    let first = pipeline(GATE);
    let mut deployment = Deployment::new();
    let mut story = Story::of(first.clone());
    log(&mut deployment, &first, story.now);
    story.submit(common::story::admin(), r#"{"n":15}"#).unwrap();
    story.act("look").unwrap();
    deployment.publish(&leaves(&story.events));
    (deployment, story, first)
}

#[test]
fn a_revision_decides_from_where_it_was_applied() {
    let (mut deployment, mut story, first) = story();
    story.pass("1h");
    let second = revised(&first, 20, 2);
    log(&mut deployment, &second, story.now);
    story.pipeline = second.clone();
    story.act("look").unwrap();
    assert_eq!(story.state(), "LOW");
    let last = leaves(&story.events[2..]);
    deployment.publish(&last);
    assert_eq!(audit(&deployment).unwrap(), 3);

    let definition = |pipeline: &Pipeline, leaf: Vec<u8>| LoggedDefinition {
        index: deployment.index_of(&leaf),
        leaf: String::from_utf8(leaf).unwrap(),
        definition: pipeline.definition.as_str().to_owned(),
    };
    let mut request = EvidenceRequest { definitions: Vec::new(), ..shell(&deployment, &story) };
    request.definitions.push(definition(&first, applied(&first, Time::from_millis(1_000_000_000_000))));
    request.definitions.push(definition(&second, applied(&second, story.now)));
    let evidence = assemble(request, &deployment.checkpoint(), &deployment.store).unwrap().to_text();
    let trust = trust();
    let options = EvidenceOptions { trust: Some(&trust), known: None };
    let report = verify_evidence(evidence.as_bytes(), &options).unwrap();
    assert_eq!(
        (report.events, report.guards_checked),
        (3, 1),
        "the guard is asked with the parameters of the day"
    );
}

/// The events of a story, without a definition.
fn shell(deployment: &Deployment, story: &Story) -> EvidenceRequest {
    let event = |event: &model::Event| audit::proof::LoggedEvent {
        index: deployment.index_of(&event.leaf.bytes()),
        leaf: String::from_utf8(event.leaf.bytes()).unwrap(),
        documents: common::documents(event),
    };
    EvidenceRequest {
        submission: story.row().id,
        state: story.row().state.clone(),
        revision: story.row().revision,
        events: story.events.iter().map(event).collect(),
        definitions: Vec::new(),
        known_size: None,
    }
}

#[test]
fn parameters_that_were_replaced_decide_nothing_any_more() {
    let (mut deployment, mut story, first) = story();
    log(&mut deployment, &revised(&first, 20, 2), story.now);
    story.pass("2m");
    story.act("look").unwrap();
    deployment.publish(&leaves(&story.events[2..]));
    let finding = audit(&deployment).unwrap_err();
    assert_eq!(finding.fault, Fault::Definition, "{finding}");
    assert!(finding.message.contains("parameters were replaced"), "{finding}");
}

#[test]
fn what_is_under_way_while_they_are_replaced_and_what_comes_back_is_legal() {
    let (mut deployment, mut story, first) = story();
    let second = revised(&first, 20, 2);
    log(&mut deployment, &second, story.now);
    let mut late = story.clone();
    late.act("look").unwrap();
    story.pass("1h");
    let mut third = first.clone();
    third.revision = 3;
    log(&mut deployment, &third, story.now);
    story.pass("1h");
    story.act("look").unwrap();
    let mut other = Deployment::new();
    let acts: Vec<Vec<u8>> = deployment.leaves.clone();
    for definition in [&story.pipeline, &second] {
        put_definition(&other.store, definition.definition.as_str().as_bytes()).unwrap();
    }
    other.publish(&acts[..4]);
    other.publish(&leaves(&late.events[2..]));
    assert_eq!(audit(&other).unwrap(), 3, "decided in the moment they were replaced");
    deployment.publish(&leaves(&story.events[2..]));
    assert_eq!(audit(&deployment).unwrap(), 3, "under the first parameters, which were set again");
}

#[test]
fn another_machine_under_the_same_version_is_no_revision() {
    let (mut deployment, mut story, _) = story();
    let other = pipeline(&GATE.replace("payload.n > params.bar", "payload.n < params.bar"));
    log(&mut deployment, &other, story.now);
    story.pipeline = other;
    story.act("look").unwrap();
    deployment.publish(&leaves(&story.events[2..]));
    let finding = audit(&deployment).unwrap_err();
    assert!(finding.message.contains("stays with the version"), "{finding}");
}
