//! A small machine, a store whose time stands still, and shorthands.
#![allow(dead_code, reason = "each test binary uses the part it needs")]

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::Pipelines;
use engine::core::{Ask, ClaimMany, Core, Granted, Input, Outcome, Output, Step};
use model::admit::{Admission, Application, admit};
use model::command::Finish;
use model::pipeline::{Source, load};
use model::{Caller, Command, Json, Pipeline, Role, SubmissionId, Token};
use store::conformance::TestClock;
use store::{MemoryStore, Store};

pub(crate) const WORK: &str = r#"
name = "work"
version = 1
title = "Work"
key = "payload.id"
start = "DOING"

[states.DOING]
task = "work.do"
lease = "30s"
on.done = "DONE"

[states.DONE]
final = "success"
"#;

pub(crate) fn source() -> Source {
    Source::new("work.toml", WORK)
}

pub(crate) fn work() -> Arc<Pipeline> {
    Arc::new(load(&source()).unwrap_or_else(|problems| panic!("{}", problems.render(&source()))))
}

pub(crate) fn memory() -> (Arc<dyn Store>, TestClock) {
    let clock = TestClock::new();
    (Arc::new(MemoryStore::new(Arc::new(clock.clone()))), clock)
}

pub(crate) fn application(id: &str) -> Application {
    let payload = Json::parse(&format!(r#"{{"id":"{id}"}}"#)).unwrap();
    let caller = Caller::new("bob", Role::Submitter);
    Application { caller, payload, key: None, priority: None, not_before: None, reason: None, parent: None }
}

pub(crate) fn admission(id: &str) -> Box<Admission> {
    Box::new(admit(&work(), application(id)).unwrap())
}

pub(crate) fn submit(id: &str) -> Input {
    Ask::Submit(admission(id)).into()
}

pub(crate) fn claim(max: usize) -> ClaimMany {
    let (pipelines, labels) = (Vec::new(), BTreeMap::new());
    ClaimMany { worker: "w1".into(), tasks: vec!["work.do".into()], pipelines, labels, max }
}

pub(crate) fn done(token: Token) -> Command {
    Command::Finish(Finish { token, outcome: "done".into(), output: None, result: None })
}

/// A core that knows the machine, with chance counted instead of drawn.
pub(crate) struct Machine {
    pub(crate) core: Core,
    drawn: u64,
}

impl Machine {
    pub(crate) fn over(store: Arc<dyn Store>) -> Self {
        let pipelines = Pipelines::default();
        pipelines.insert(work());
        Machine { core: Core::new(store, pipelines, [0; 32]), drawn: 0 }
    }

    pub(crate) fn step(&mut self, inputs: &[Input]) -> Step {
        let drawn = &mut self.drawn;
        let mut seed = || {
            *drawn += 1;
            let mut seed = [0; 32];
            seed[..8].copy_from_slice(&drawn.to_be_bytes());
            seed
        };
        self.core.step(inputs, engine::core::DUE_MAX, &mut seed)
    }

    pub(crate) fn one(&mut self, input: impl Into<Input>) -> Outcome {
        let mut step = self.step(&[input.into()]);
        assert_eq!(step.outcomes.len(), 1);
        step.outcomes.remove(0)
    }

    pub(crate) fn claimed(&mut self, max: usize) -> Vec<Granted> {
        match self.one(Ask::Claim(claim(max))).unwrap() {
            Output::Tasks(tasks) => tasks,
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) fn id_of(outcome: &Outcome) -> SubmissionId {
    match outcome {
        Ok(Output::Submission(answered)) => answered.row.id,
        other => panic!("{other:?}"),
    }
}
