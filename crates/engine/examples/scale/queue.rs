//! A core over an embedded store of its own, and a stopwatch.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use engine::core::{Ask, ClaimMany, Core, DUE_MAX, Input, Output, Step};
use engine::{Holds, Pipelines, SystemClock, clock};
use model::admit::{Application, admit};
use model::command::Finish;
use model::pipeline::{Source, load};
use model::{Caller, Command, Json, LeaseToken, Role};
use store::Clock as _;
use store_sqlite::SqliteStore;

/// Submissions of one commit.
const BATCH: usize = 1_000;

pub(crate) struct Queues {
    core: Core,
    pipelines: Pipelines,
    clock: Arc<SystemClock>,
    /// Goes, with all that was written, when the run is over.
    _folder: tempfile::TempDir,
}

#[derive(Clone, Copy)]
pub(crate) struct Claims<'a> {
    pub(crate) task: &'a str,
    pub(crate) zone: Option<&'a str>,
    pub(crate) max: usize,
}

impl Queues {
    pub(crate) fn open(files: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the store can be made");
        let clock = Arc::new(SystemClock::new());
        let store = SqliteStore::open(folder.path(), clock.clone()).expect("an empty folder takes a store");
        let pipelines = Pipelines::default();
        for file in files {
            let source = Source::new("scale.toml", *file);
            let pipeline = load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)));
            pipelines.insert(Arc::new(pipeline));
        }
        let core = Core::new(Arc::new(store), pipelines.clone(), Holds::default(), [0; 32]);
        Queues { core, pipelines, clock, _folder: folder }
    }

    fn step(&mut self, inputs: &[Input], due: usize) -> Step {
        let step = self.core.step(inputs, due, &mut clock::entropy);
        assert!(step.unreachable.is_none(), "the store failed: {:?}", step.unreachable);
        step
    }

    pub(crate) fn fill(&mut self, pipeline: &str, size: usize, payload: impl Fn(usize) -> String) {
        let pipeline = self.pipelines.current().in_force(pipeline).expect("it was loaded").clone();
        let submit = |n: usize| {
            let payload = Json::parse(&payload(n)).expect("payloads are JSON");
            let (caller, key, priority) = (Caller::new("scale", Role::Submitter), None, None);
            let (not_before, reason, door) = (None, None, model::admit::Door::Api);
            let application = Application { caller, payload, key, priority, not_before, reason, door };
            Input::from(Ask::Submit(
                admit(&pipeline, application, &mut model::schema::Fuel::whole())
                    .expect("payloads fit")
                    .into(),
            ))
        };
        for first in (0..size).step_by(BATCH) {
            let batch: Vec<Input> = (first..size.min(first + BATCH)).map(submit).collect();
            let step = self.step(&batch, 0);
            assert!(step.outcomes.iter().all(Result::is_ok), "a submission was refused");
        }
        self.settle();
    }

    /// Steps until nothing is owed and nothing is due.
    fn settle(&mut self) {
        while self.step(&[], DUE_MAX).next_timer.is_some_and(|at| at <= self.clock.now()) {}
    }

    /// One request in a step of its own, as a server that has nothing else to do makes it.
    pub(crate) fn timed(&mut self, ask: Ask) -> (Output, Duration) {
        let began = clock::instant();
        let mut step = self.step(&[ask.into()], DUE_MAX);
        let took = began.elapsed();
        let outcome = step.outcomes.pop().expect("every input is answered");
        (outcome.expect("nothing here is refused"), took)
    }

    pub(crate) fn claim(&mut self, claims: &Claims<'_>) -> (Vec<LeaseToken>, Duration) {
        let labels: BTreeMap<_, _> =
            claims.zone.map(|zone| ("zone".into(), zone.into())).into_iter().collect();
        let (tasks, pipelines) = (vec![claims.task.into()], Vec::new());
        let claim = ClaimMany {
            worker: "scale".into(),
            tasks,
            pipelines,
            labels,
            max: claims.max,
            arriving: false,
            only: None,
            lease: None,
        };
        match self.timed(Ask::Claim(claim)) {
            (Output::Tasks(granted), took) => (granted.iter().map(|task| task.token).collect(), took),
            (other, _) => panic!("a claim was answered {other:?}"),
        }
    }

    /// Tasks claimed in a second.
    pub(crate) fn claim_often(&mut self, claims: &Claims<'_>, times: usize) -> f64 {
        let (mut granted, mut took) = (0, Duration::ZERO);
        for _ in 0..times {
            let (tokens, time) = self.claim(claims);
            granted += tokens.len();
            took += time;
        }
        assert!(granted > 0, "there was nothing left to claim");
        super::rate(granted, took)
    }

    /// The longest of some claims of what is held.
    pub(crate) fn claim_nothing(&mut self, claims: &Claims<'_>, times: usize) -> Duration {
        let mut longest = Duration::ZERO;
        for _ in 0..times {
            let (tokens, took) = self.claim(claims);
            assert!(tokens.is_empty(), "something held was leased");
            longest = longest.max(took);
        }
        longest
    }

    /// One task claimed and finished, with what follows for others.
    pub(crate) fn round(&mut self, task: &str) -> Duration {
        let (tokens, mut took) = self.claim(&Claims { task, zone: None, max: 1 });
        let token = *tokens.first().expect("there is more to do");
        let finish = Finish {
            token,
            outcome: "done".into(),
            output: None,
            result: None,
            children: Vec::new(),
            entries: Vec::new(),
        };
        took += self.timed(Ask::Tell(token.submission, Command::Finish(finish))).1;
        let began = clock::instant();
        self.settle();
        took + began.elapsed()
    }
}
