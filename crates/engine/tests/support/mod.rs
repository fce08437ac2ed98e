//! A small machine, a store whose time stands still, and shorthands.

pub(crate) mod bench;
pub(crate) mod wrapped;

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::core::{
    Ask, ClaimMany, Core, Deed, Filter, Granted, Input, Once, Operation, OperationStatus, Output, Reply, Step,
};
use engine::{Hold, Holds, Pipelines};
use model::admit::{Admission, Application, Door, admit};
use model::command::{Act, Finish};
use model::pipeline::{Source, load};
use model::{Actor, Caller, Command, Json, LeaseToken, Pipeline, Role, SubmissionId, Time};
use store::ManualClock;
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

pub(crate) fn loaded(toml: &str) -> Pipeline {
    let source = Source::new("test.toml", toml);
    load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)))
}

pub(crate) fn memory() -> (Arc<dyn Store>, ManualClock) {
    let clock = ManualClock::new();
    (Arc::new(MemoryStore::new(Arc::new(clock.clone()))), clock)
}

pub(crate) fn application(id: &str) -> Application {
    let payload = Json::parse(&format!(r#"{{"id":"{id}"}}"#)).unwrap();
    let caller = Caller::new("bob", Role::Submitter);
    Application {
        caller,
        payload,
        key: None,
        priority: None,
        not_before: None,
        reason: None,
        door: Door::Api,
    }
}

pub(crate) fn admission(id: &str) -> Arc<Admission> {
    admit(&work(), application(id), &mut model::schema::Fuel::whole()).unwrap().into()
}

pub(crate) fn submit(id: &str) -> Input {
    Ask::Submit(admission(id)).into()
}

pub(crate) fn claim(max: usize) -> ClaimMany {
    let (pipelines, labels) = (Vec::new(), BTreeMap::new());
    ClaimMany {
        worker: "w1".into(),
        tasks: vec!["work.do".into()],
        pipelines,
        labels,
        max,
        arriving: false,
        only: None,
        lease: None,
    }
}

pub(crate) fn done(token: LeaseToken) -> Command {
    Command::Finish(Finish {
        token,
        outcome: "done".into(),
        output: None,
        result: None,
        children: Vec::new(),
        entries: Vec::new(),
    })
}

/// A core that knows the machine, with chance counted instead of drawn.
pub(crate) struct Machine {
    pub(crate) core: Core,
    pub(crate) pipelines: Pipelines,
    drawn: u64,
}

impl Machine {
    pub(crate) fn over(store: Arc<dyn Store>) -> Self {
        Machine::with(store, &[WORK])
    }

    /// A core that knows these pipeline files.
    pub(crate) fn with(store: Arc<dyn Store>, files: &[&str]) -> Self {
        let pipelines = Pipelines::default();
        for file in files {
            pipelines.insert(Arc::new(loaded(file)));
        }
        Machine { core: Core::new(store, pipelines.clone(), Holds::default(), [0; 32]), pipelines, drawn: 0 }
    }

    /// A core as after a restart: it knows what the store knows.
    pub(crate) fn rebuilt(&self, store: Arc<dyn Store>) -> Core {
        Core::new(store, self.pipelines.clone(), Holds::default(), [0; 32])
    }

    pub(crate) fn submit_to(&mut self, pipeline: &str, payload: &str) -> SubmissionId {
        let pipeline = self.pipelines.current().in_force(pipeline).unwrap().clone();
        let mut application = application("");
        application.payload = Json::parse(payload).unwrap();
        id_of(
            &self.one(Ask::Submit(
                model::admit::admit_any(&pipeline, application, &mut model::schema::Fuel::whole())
                    .unwrap()
                    .into(),
            )),
        )
    }

    /// Submits under a key that makes a repeat get the same answer.
    pub(crate) fn submit_once(&mut self, pipeline: &str, payload: &str, once: Once) -> SubmissionId {
        let pipeline = self.pipelines.current().in_force(pipeline).unwrap().clone();
        let mut application = application("");
        application.payload = Json::parse(payload).unwrap();
        let fuel = &mut model::schema::Fuel::whole();
        let ask = Ask::Submit(model::admit::admit_any(&pipeline, application, fuel).unwrap().into());
        id_of(&self.one(Input::from(ask).once(Some(once))))
    }

    /// Steps until nothing is owed.
    pub(crate) fn settle(&mut self) {
        for _ in 0..50 {
            self.step(&[]);
        }
    }

    pub(crate) fn claim_task(&mut self, task: &str) -> Vec<Granted> {
        let claim = ClaimMany { tasks: vec![task.into()], ..claim(100) };
        match self.one(Ask::Claim(claim)).unwrap() {
            Output::Tasks(tasks) => tasks,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn finish(&mut self, token: LeaseToken, outcome: &str) -> Reply {
        let finish = Finish {
            token,
            outcome: outcome.into(),
            output: None,
            result: None,
            children: Vec::new(),
            entries: Vec::new(),
        };
        let outcome = self.one(Ask::Tell(token.submission, Command::Finish(finish)));
        self.settle();
        outcome
    }

    pub(crate) fn act(&mut self, id: SubmissionId, action: &str) -> Reply {
        let act = Act {
            caller: Caller::new("ada", Role::Admin),
            action: action.into(),
            reason: Some("because".to_owned()),
            data: None,
            to: None,
            if_match: None,
        };
        let outcome = self.one(Ask::Tell(id, Command::Act(act)));
        self.settle();
        outcome
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

    pub(crate) fn one(&mut self, input: impl Into<Input>) -> Reply {
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

/// Holds nothing yet.
pub(crate) fn hold(id: u128) -> Hold {
    Hold {
        id: uuid_text(id).into(),
        pipeline: None,
        labels: BTreeMap::new(),
        lane: None,
        submission: None,
        reason: "storm".to_owned(),
        owner: Actor::system(),
        created_at: Time::EPOCH,
        expires_at: None,
    }
}

fn uuid_text(n: u128) -> String {
    format!("00000000-0000-7000-8000-{n:012x}")
}

/// One for everything of a pipeline.
pub(crate) fn operation(now: Time, pipeline: &str, deed: Deed) -> Operation {
    Operation {
        id: SubmissionId::new(now, [7; 10]).to_string().into(),
        filter: Filter::of(pipeline.into()),
        deed,
        reason: Some("because".to_owned()),
        dry_run: false,
        by: Caller::new("ada", Role::Admin),
        status: OperationStatus::Running,
        found: 0,
        done: 0,
        refused: BTreeMap::new(),
        started_at: Time::EPOCH,
        ended_at: None,
        after: None,
    }
}

pub(crate) fn id_of(outcome: &Reply) -> SubmissionId {
    match outcome {
        Ok(Output::Submission(answered)) => answered.row.id,
        other => panic!("{other:?}"),
    }
}
