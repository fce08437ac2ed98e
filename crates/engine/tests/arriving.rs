//! Work that meets its claim in the batch that brings it.

use crate::support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::core::{Ask, ClaimMany, Granted, Input, Output, Reply};
use engine::{Engine, Hold};
use model::submission::Wait;
use store::{Changes, MemoryStore, Store};

use support::wrapped::{Between, Wrapped};
use support::{Machine, application, hold, memory, submit};

fn arriving(max: usize) -> Input {
    Ask::Claim(ClaimMany { arriving: true, ..support::claim(max) }).into()
}

fn tasks(outcome: &Reply) -> &[Granted] {
    match outcome {
        Ok(Output::Tasks(tasks)) => tasks,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_waiting_claim_gets_what_its_batch_brings_and_it_is_in_no_queue() {
    let (store, _) = memory();
    let mut machine = Machine::over(store.clone());
    let step = machine.step(&[arriving(2), submit("a"), submit("b"), submit("c")]);
    let granted = tasks(&step.outcomes[0]);
    assert_eq!(granted.len(), 2);
    for task in granted {
        let (row, _) = store.submission(task.row.id).unwrap().unwrap();
        assert_eq!(row, *task.row);
        assert_eq!((row.row_version, row.revision), (1, 1), "written once");
        assert!(matches!(&row.wait, Wait::Lease(lease) if lease.no == task.token.lease_no));
        assert!(task.documents.payload.as_str().contains("id"));
    }
    assert_eq!(step.ready.get("work.do"), Some(&1), "the third is announced");
    assert_eq!(machine.claimed(9).len(), 1);
}

#[test]
fn a_waiting_claim_does_not_look_at_the_queue() {
    let (store, _) = memory();
    let mut machine = Machine::over(store);
    machine.one(submit("a")).unwrap();
    let step = machine.step(&[arriving(1)]);
    assert!(tasks(&step.outcomes[0]).is_empty());
    assert_eq!(machine.claimed(9).len(), 1);
}

#[test]
fn a_claim_that_found_some_gets_the_rest_of_what_arrives_after_those_with_nothing() {
    let (store, _) = memory();
    let mut machine = Machine::over(store);
    machine.one(submit("a")).unwrap();
    let looks = Ask::Claim(support::claim(3)).into();
    let step = machine.step(&[looks, arriving(1), submit("b"), submit("c"), submit("d")]);
    let counts: Vec<_> = step.outcomes[..2].iter().map(|outcome| tasks(outcome).len()).collect();
    assert_eq!(counts, [3, 1]);
    assert!(step.ready.is_empty());
}

#[test]
fn what_waits_longer_goes_first_even_if_more_arrives() {
    let (store, _) = memory();
    let mut machine = Machine::over(store);
    machine.one(submit("old")).unwrap();
    let step = machine.step(&[Ask::Claim(support::claim(1)).into(), submit("new")]);
    assert!(tasks(&step.outcomes[0])[0].documents.payload.as_str().contains("old"));
}

#[test]
fn a_claim_gets_only_what_it_asked_for() {
    let (store, _) = memory();
    let mut machine = Machine::over(store);
    let of = |pipelines: &[&str], labels: &[(&str, &str)]| -> Input {
        let labels: BTreeMap<_, _> =
            labels.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let pipelines = pipelines.iter().map(|name| (*name).into()).collect();
        Ask::Claim(ClaimMany { pipelines, labels, arriving: true, ..support::claim(1) }).into()
    };
    let asked = [of(&["other"], &[]), of(&[], &[("owner", "ada")]), of(&["work"], &[]), submit("a")];
    let step = machine.step(&asked);
    let counts: Vec<_> = step.outcomes[..3].iter().map(|outcome| tasks(outcome).len()).collect();
    assert_eq!(counts, [0, 0, 1]);
}

#[test]
fn a_hold_keeps_what_arrives_from_waiting_claims() {
    let (store, _) = memory();
    let mut machine = Machine::over(store);
    let held = Hold { pipeline: Some("work".into()), ..hold(1) };
    machine.one(Ask::Hold(Box::new(held))).unwrap();
    let step = machine.step(&[arriving(1), submit("a")]);
    assert!(tasks(&step.outcomes[0]).is_empty());
}

const TWO: &str = r#"
name = "two"
version = 1
start = "FIRST"
[states.FIRST]
task = "two.first"
on.done = "SECOND"
[states.SECOND]
task = "two.second"
on.done = "DONE"
[states.DONE]
final = "success"
"#;

#[test]
fn what_is_finished_goes_on_to_who_waits_in_one_commit_with_all_its_documents() {
    let (store, _) = memory();
    let mut machine = Machine::with(store.clone(), &[TWO]);
    let id = machine.submit_to("two", r#"{"id":"a"}"#);
    let token = machine.claim_task("two.first")[0].token;
    let output = Some(model::Json::parse(r#"{"pages":3}"#).unwrap());
    let finish = model::command::Finish {
        token,
        outcome: "done".into(),
        output,
        result: None,
        children: Vec::new(),
        entries: Vec::new(),
    };
    let waiting = ClaimMany { tasks: vec!["two.second".into()], arriving: true, ..support::claim(1) };
    let before = store.submission(id).unwrap().unwrap().0.row_version;
    let finished = Ask::Tell(id, model::Command::Finish(finish));
    let step = machine.step(&[finished.into(), Ask::Claim(waiting).into()]);
    let granted = tasks(&step.outcomes[1]);
    assert_eq!(granted.len(), 1);
    assert_eq!((&*granted[0].row.state, granted[0].row.row_version), ("SECOND", before + 1));
    let documents = &granted[0].documents;
    assert_eq!(
        (documents.payload.as_str(), documents.outputs["FIRST"].as_str()),
        (r#"{"id":"a"}"#, r#"{"pages":3}"#)
    );
    assert_eq!(store.submission(id).unwrap().unwrap().1, *documents);
    assert!(step.ready.is_empty(), "it was never in a queue");
}

/// Counts commits that wrote something.
#[derive(Debug, Default)]
struct Commits(AtomicU64);

impl Between for Arc<Commits> {
    fn decided(&self, changes: &Changes) {
        if !changes.rows.is_empty() {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[tokio::test]
async fn submit_to_start_is_one_commit() {
    let commits = Arc::new(Commits::default());
    let store = MemoryStore::new(Arc::new(engine::SystemClock::new()));
    let store = Wrapped { inner: Arc::new(store), between: commits.clone() };
    let store: Arc<dyn Store> = Arc::new(store);
    let engine = Engine::start(store, &engine::Options::default()).unwrap();
    engine.apply(&support::source()).await.unwrap();
    let waiting = {
        let engine = engine.clone();
        tokio::spawn(async move { engine.claim(support::claim(1), std::time::Duration::from_secs(60)).await })
    };
    // The claim is known to wait once it has found nothing.
    while engine.waiting() == 0 {
        tokio::task::yield_now().await;
    }
    engine.submit("work", application("a"), None).await.unwrap();
    assert_eq!(waiting.await.unwrap().unwrap().len(), 1);
    assert_eq!(commits.0.load(Ordering::SeqCst), 1);
}
