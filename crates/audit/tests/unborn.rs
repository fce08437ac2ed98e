//! Requests that never became a submission: the one event of each is verified, and nothing may follow it.

use crate::common::story::{Story, pipeline};
use crate::common::{Deployment, REPORT, applied, leaves, trust};
use audit::proof::{Document, Documents, EvidenceRequest, LoggedDefinition, LoggedEvent, assemble};
use audit::verify::{
    EvidenceOptions, EvidenceReport, Fault, Finding, LogOptions, LogReport, verify_evidence, verify_log,
};
use model::decide::{Fate, Unborn, unborn};
use model::event::Leaf;
use model::{Caller, Code, Context, Digest, Event, Name, Pipeline, Refusal, Right, Role, SubmissionId, Time};

const PAYLOAD: &str = r#"{"id":"r-9","pages":3}"#;

fn id(n: u8) -> SubmissionId {
    SubmissionId::new(Time::from_millis(1_300_000_000_000), [n; 10])
}

fn sent(n: u8, definition: Option<&Pipeline>, fate: Fate<'_>) -> Event {
    let context = Context {
        now: Time::from_millis(1_400_000_000_000),
        reachable_since: Time::EPOCH,
        hold: None,
        lane_free: false,
        arrivals: 0,
        key_holder: None,
        slots: [].into(),
        settler: None,
        seed: [n; 32],
        tank: model::schema::Tank::full(),
        pseudonyms: [9; 32],
        links: None,
    };
    let (caller, name) = (Caller::new("sql:shop", Role::Submitter), Name::from("report"));
    let sent = Unborn { id: id(n), caller: &caller, pipeline: &name, definition, payload: PAYLOAD };
    unborn(sent, fate, &context)
}

fn refused(n: u8, definition: Option<&Pipeline>, code: Code) -> Event {
    sent(n, definition, Fate::Refused(&Refusal::new(code, "no")))
}

fn audit(deployment: &Deployment) -> Result<LogReport, Finding> {
    verify_log(&deployment.store, &deployment.checkpoint(), &trust(), &LogOptions::default())
}

/// A log of a definition, a submission, and these leaves.
fn logged(more: &[Vec<u8>]) -> Deployment {
    let story = Story::submitted(pipeline(REPORT), r#"{"id":"r-1","pages":1}"#);
    let mut deployment = Deployment::new();
    deployment.apply(&story.pipeline);
    deployment.publish(&leaves(&story.events));
    deployment.publish(more);
    deployment
}

fn evidence(
    deployment: &Deployment,
    event: &Event,
    rules: Option<&Pipeline>,
) -> Result<EvidenceReport, Finding> {
    let leaf = event.leaf.bytes();
    let salt = event.detail.salts.payload.unwrap();
    let payload = Some(Document { salt, text: PAYLOAD.to_owned() });
    let logged = LoggedEvent {
        index: deployment.index_of(&leaf),
        leaf: String::from_utf8(leaf).unwrap(),
        documents: Documents { payload, ..Documents::default() },
    };
    let definition = |pipeline: &Pipeline| LoggedDefinition {
        index: deployment.index_of(&applied(pipeline)),
        leaf: String::from_utf8(applied(pipeline)).unwrap(),
        definition: pipeline.definition.as_str().to_owned(),
    };
    let request = EvidenceRequest {
        submission: event.leaf.submission,
        state: event.leaf.to.clone(),
        revision: 1,
        events: vec![logged],
        definitions: rules.map(definition).into_iter().collect(),
        known_size: None,
    };
    let text = assemble(request, &deployment.checkpoint(), &deployment.store).unwrap().to_text();
    verify_evidence(text.as_bytes(), &EvidenceOptions { trust: Some(&trust()), known: None })
}

#[test]
fn refused_and_merged_are_verified_in_a_log_and_as_evidence() {
    let rules = pipeline(REPORT);
    let unknown = refused(1, None, Code::UnknownPipeline);
    let misfit = refused(2, Some(&rules), Code::SchemaViolation);
    let merged = sent(3, Some(&rules), Fate::Merged(id(9)));
    let deployment = logged(&leaves(&[unknown.clone(), misfit.clone(), merged.clone()]));
    let report = audit(&deployment).unwrap();
    assert_eq!((report.events, report.submissions), (4, 1), "what never was is no submission");
    for (event, rules, state) in
        [(unknown, None, "refused"), (misfit, Some(&rules), "refused"), (merged, Some(&rules), "merged")]
    {
        let report = evidence(&deployment, &event, rules).unwrap();
        assert_eq!((report.events, &*report.state, report.documents), (1, state, 1));
    }
}

#[test]
fn nothing_comes_before_or_after_it() {
    let rules = pipeline(REPORT);
    let story = Story::submitted(rules.clone(), r#"{"id":"r-2","pages":1}"#);
    let mut event = refused(1, Some(&rules), Code::SchemaViolation);
    event.leaf.submission = story.row().id;
    let own = leaves(&story.events);
    for order in [[event.leaf.bytes(), own[0].clone()], [own[0].clone(), event.leaf.bytes()]] {
        let mut deployment = Deployment::new();
        deployment.apply(&rules);
        deployment.publish(&order);
        assert_eq!(audit(&deployment).unwrap_err().fault, Fault::Move);
    }
    let twice = [event.leaf.bytes(), Leaf { attempt: 1, at: Time::EPOCH, ..event.leaf.clone() }.bytes()];
    assert_eq!(audit(&logged(&twice)).unwrap_err().fault, Fault::Move);
}

#[test]
fn what_does_not_fit_is_found() {
    let rules = pipeline(REPORT);
    let misfit = || refused(1, Some(&rules), Code::SchemaViolation).leaf;
    let merged = || sent(2, Some(&rules), Fate::Merged(id(9))).leaf;
    let wrong = [
        (Leaf { revision: 2, ..misfit() }, Fault::Revision),
        (Leaf { previous: Some(Digest::of(b"x")), ..misfit() }, Fault::Revision),
        (Leaf { to: "SENT".into(), ..misfit() }, Fault::Move),
        (Leaf { from: Some("SENT".into()), ..misfit() }, Fault::Move),
        (Leaf { right: Right::Rule, ..misfit() }, Fault::Right),
        (Leaf { definition: Digest::NONE, ..misfit() }, Fault::Trigger),
        (Leaf { trigger: "unknown-pipeline".into(), ..misfit() }, Fault::Trigger),
        (Leaf { definition: Digest::of(b"other"), ..misfit() }, Fault::Definition),
        (Leaf { definition: Digest::NONE, ..merged() }, Fault::Move),
        (Leaf { trigger: "other".into(), ..merged() }, Fault::Trigger),
    ];
    for (leaf, fault) in wrong {
        let found = audit(&logged(&[leaf.bytes()])).unwrap_err();
        assert_eq!(found.fault, fault, "{leaf:?}");
    }
}

#[test]
fn only_what_the_definition_lets_stand_for_another_is_merged() {
    for (says, merges) in [
        ("\"return\"", true),
        ("{ same = \"return\", differs = \"return\" }", true),
        ("\"reject\"", false),
        ("\"queue\"", false),
    ] {
        let rules = pipeline(&REPORT.replace("key =", &format!("on_duplicate = {says}\nkey =")));
        let mut deployment = Deployment::new();
        deployment.apply(&rules);
        deployment.publish(&[sent(2, Some(&rules), Fate::Merged(id(9))).leaf.bytes()]);
        let found = audit(&deployment).err().map(|finding| finding.fault);
        assert_eq!(found, (!merges).then_some(Fault::Move), "{says}");
    }
}
