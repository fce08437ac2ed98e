//! The step core: takes a batch, decides it inside one transaction, answers everyone.

mod batch;
mod cursors;
mod input;
mod owed;
mod surroundings;

pub use cursors::{CURSORS, Cursor, MoveCursor};
pub use input::{Answered, Ask, ClaimMany, Granted, Input, Once, Outcome, Output};

use std::collections::BTreeMap;
use std::sync::Arc;

use model::admit::Admission;
use model::decide::{Current, Decision};
use model::{Code, Command, Context, Name, Pipeline, Refusal, Submission, Time};
use store::{LaneKey, OpenKey, Ready, RegistryKey, Store, Take};

use crate::holds::{Holds, InForce};
use crate::pipelines::Pipelines;
use batch::{Batch, Rules};

/// How a command is decided. The model's `decide`, unless a test wants to see one fail.
pub type Decide = fn(&Pipeline, Option<Current<'_>>, &Command, &Context) -> Result<Decision, Refusal>;

/// Rows whose time has come that one step looks at.
pub const DUE_MAX: usize = 256;
/// Owed rows one step applies.
pub const OWED_MAX: usize = 256;
/// Rows all claims of a batch for the same work look at together. The rest is there for the next batch.
const CLAIMS_MAX: usize = 1_000;
/// How often a batch that lost a race is decided anew before it is split.
const CONFLICTS_MAX: u32 = 3;

#[derive(Debug)]
pub struct Core {
    store: Arc<dyn Store>,
    pipelines: Pipelines,
    holds: Holds,
    secret: [u8; 32],
    decide: Decide,
    /// Since when the store has answered; `None` while it does not.
    reachable_since: Option<Time>,
    /// A commit was lost on its way: it may have placed or ended holds, so they are read again.
    holds_in_doubt: bool,
}

/// What a step did, beyond its answers.
#[derive(Debug, Default)]
pub struct Step {
    /// One for each input, in order.
    pub outcomes: Vec<Outcome>,
    /// How many submissions joined each task's queue.
    pub ready: BTreeMap<Name, usize>,
    /// The position of the last event, if there was one.
    pub last_seq: Option<u64>,
    /// When something is due next. A time in the past means: at once.
    pub next_timer: Option<Time>,
    /// The store's time, if something was committed or looked at.
    pub now: Option<Time>,
    /// Why the store could not be reached or written.
    pub unreachable: Option<String>,
    /// Set when the store is beyond use; the process has to stop.
    pub corrupt: Option<String>,
}

impl Core {
    #[must_use]
    pub fn new(store: Arc<dyn Store>, pipelines: Pipelines, holds: Holds, secret: [u8; 32]) -> Self {
        Core {
            store,
            pipelines,
            holds,
            secret,
            decide: model::decide,
            reachable_since: None,
            holds_in_doubt: false,
        }
    }

    #[must_use]
    pub fn with_decide(mut self, decide: Decide) -> Self {
        self.decide = decide;
        self
    }

    /// Decides and commits a batch, and whatever is due. Every input is answered, whatever happens.
    pub fn step(&mut self, inputs: &[Input], due: usize, seed: &mut dyn FnMut() -> [u8; 32]) -> Step {
        let mut step = Step::default();
        self.attempt(inputs, due, seed, &mut step);
        step
    }

    fn attempt(&mut self, inputs: &[Input], due: usize, seed: &mut dyn FnMut() -> [u8; 32], step: &mut Step) {
        for _ in 0..CONFLICTS_MAX {
            match self.commit(inputs, due, seed, step) {
                Ok(()) => return,
                Err(store::Error::Conflict(reason)) => {
                    tracing::debug!(reason, inputs = inputs.len(), "lost a race, deciding again");
                }
                Err(error) => return self.failed(inputs.len(), &error, step),
            }
        }
        self.split(inputs, due, seed, step);
    }

    /// A batch that cannot commit as a whole: each half alone, so that one bad input is answered alone.
    fn split(&mut self, inputs: &[Input], due: usize, seed: &mut dyn FnMut() -> [u8; 32], step: &mut Step) {
        match inputs {
            [] => {}
            [_] if due == 0 => {
                step.outcomes.push(Err(Refusal::new(
                    Code::Unavailable,
                    "others changed the same submission at the same time; try again",
                )));
            }
            [_] => self.attempt(inputs, 0, seed, step),
            _ => {
                let (first, second) = inputs.split_at(inputs.len() / 2);
                self.attempt(first, 0, seed, step);
                self.attempt(second, 0, seed, step);
            }
        }
    }

    fn commit(
        &mut self,
        inputs: &[Input],
        due: usize,
        seed: &mut dyn FnMut() -> [u8; 32],
        step: &mut Step,
    ) -> Result<(), store::Error> {
        let versions = self.pipelines.current();
        let wants_documents = |row: &Submission| {
            versions.version(&row.pipeline, row.version).is_none_or(|pipeline| pipeline.reads.any())
        };
        let plan = Plan::of(inputs);
        let take = plan.take(due, &wants_documents);
        let mut decided = None;
        let reachable_since = self.reachable_since;
        let rules = Rules { versions: &versions, decide: self.decide, secret: self.secret };
        if self.holds_in_doubt {
            self.holds.replace(InForce::stored(&*self.store)?);
            self.holds_in_doubt = false;
        }
        let holds = self.holds.current();
        let committed = self.store.transact(&take, &mut |taken| {
            let mut batch = Batch::new(taken, rules, InForce::clone(&holds));
            batch.reachable_since = reachable_since.unwrap_or(batch.now);
            batch.end_holds();
            let outcomes = plan.run(inputs, &mut batch, seed);
            batch.wake_due(seed);
            batch.pay_owed(seed);
            let (changes, news) = batch.finish(due);
            decided = Some((outcomes, news));
            changes
        })?;
        let Some((outcomes, news)) = decided else {
            return Err(store::Error::corrupt("the store committed without asking for a decision"));
        };
        self.reachable_since.get_or_insert(news.now);
        self.applied(inputs, &outcomes);
        if let Some(holds) = news.holds {
            self.holds.replace(holds);
        }
        step.outcomes.extend(outcomes);
        for (task, count) in news.ready {
            *step.ready.entry(task).or_default() += count;
        }
        step.last_seq = (committed.last_seq > 0).then_some(committed.last_seq).or(step.last_seq);
        step.next_timer = [step.next_timer, news.next_timer].into_iter().flatten().min();
        step.now = Some(news.now);
        Ok(())
    }

    /// Definitions come into force once they are on disk. One that was there already may not be in force yet: the
    /// commit that brought it was lost, and this is its repeat.
    fn applied(&self, inputs: &[Input], outcomes: &[Outcome]) {
        for (input, outcome) in inputs.iter().zip(outcomes) {
            let (Ask::Apply(pipeline), Ok(Output::Applied { .. })) = (&input.ask, outcome) else { continue };
            if self.pipelines.current().version(&pipeline.name, pipeline.version).is_none() {
                self.pipelines.insert(pipeline.clone());
            }
        }
    }

    fn failed(&mut self, inputs: usize, error: &store::Error, step: &mut Step) {
        self.reachable_since = None;
        self.holds_in_doubt = true;
        step.unreachable = Some(error.to_string());
        let refusal = match error {
            store::Error::Unavailable { outcome_unknown: true, .. } => Refusal::new(
                Code::OutcomeUnknown,
                "the store was lost while committing; look before you repeat",
            ),
            store::Error::Corrupt(reason) => {
                // A failed sync among them: what was written may be found when the store is opened again.
                step.corrupt = Some(reason.clone());
                Refusal::new(
                    Code::OutcomeUnknown,
                    "the store cannot be used and the server is stopping; look before you repeat",
                )
            }
            _ => Refusal::new(Code::Unavailable, "the store cannot be reached or written; try again"),
        };
        step.outcomes.extend(std::iter::repeat_n(Err(refusal), inputs));
    }
}

/// What a batch needs from the store. Claims for the same work share one look at its queue.
struct Plan {
    groups: Vec<Ready>,
    /// For each input, the group its claim draws from.
    group_of: Vec<Option<usize>>,
    ids: Vec<model::SubmissionId>,
    keys: Vec<OpenKey>,
    requests: Vec<store::RequestKey>,
    registry: Vec<RegistryKey>,
    lanes: Vec<LaneKey>,
}

impl Plan {
    fn of(inputs: &[Input]) -> Plan {
        let mut plan = Plan {
            groups: Vec::new(),
            group_of: Vec::with_capacity(inputs.len()),
            ids: Vec::new(),
            keys: Vec::new(),
            requests: Vec::new(),
            registry: Vec::new(),
            lanes: Vec::new(),
        };
        for input in inputs {
            let mut group = None;
            match &input.ask {
                Ask::Submit(admission) => {
                    plan.keys.extend(open_key(admission));
                    plan.lanes.extend(lane_key(admission));
                }
                Ask::Hold(_) | Ask::Release(_) => {}
                Ask::MoveCursor(cursor) => plan.registry.push(cursors::cursor_key(&cursor.name)),
                Ask::Tell(id, command) => {
                    plan.ids.push(*id);
                    for child in children_of(command) {
                        plan.ids.extend(child.child_id());
                        plan.keys.extend(open_key(child));
                        plan.lanes.extend(lane_key(child));
                    }
                }
                Ask::Claim(claim) => group = Some(plan.group(claim)),
                Ask::Apply(pipeline) => plan.registry.push(definition_key(&pipeline.name, pipeline.version)),
            }
            plan.group_of.push(group);
            plan.requests.extend(input.once.iter().map(|once| once.key.clone()));
        }
        plan
    }

    fn group(&mut self, claim: &ClaimMany) -> usize {
        let same = |ready: &Ready| {
            ready.tasks == claim.tasks && ready.pipelines == claim.pipelines && ready.labels == claim.labels
        };
        if let Some(index) = self.groups.iter().position(same) {
            let ready = &mut self.groups[index];
            ready.max = (ready.max + claim.max).min(CLAIMS_MAX);
            return index;
        }
        self.groups.push(Ready {
            tasks: claim.tasks.clone(),
            pipelines: claim.pipelines.clone(),
            labels: claim.labels.clone(),
            max: claim.max,
        });
        self.groups.len() - 1
    }

    fn take<'a>(&self, due: usize, documents: &'a dyn Fn(&Submission) -> bool) -> Take<'a> {
        Take {
            ids: self.ids.clone(),
            keys: self.keys.clone(),
            requests: self.requests.clone(),
            ready: self.groups.clone(),
            due,
            owed: if due > 0 { OWED_MAX } else { 0 },
            registry: self.registry.clone(),
            lanes: self.lanes.clone(),
            documents,
        }
    }

    fn run(
        &self,
        inputs: &[Input],
        batch: &mut Batch<'_>,
        seed: &mut dyn FnMut() -> [u8; 32],
    ) -> Vec<Outcome> {
        inputs.iter().zip(&self.group_of).map(|(input, group)| batch.answer(input, *group, seed)).collect()
    }
}

fn children_of(command: &Command) -> &[Admission] {
    match command {
        Command::Finish(finish) => &finish.children,
        Command::Spawn(spawn) => &spawn.children,
        _ => &[],
    }
}

fn open_key(admission: &Admission) -> Option<OpenKey> {
    let key = admission.key()?.clone();
    Some(OpenKey { pipeline: admission.pipeline().clone(), key })
}

fn lane_key(admission: &Admission) -> Option<LaneKey> {
    let lane = admission.lane()?.clone();
    Some(LaneKey { pipeline: admission.pipeline().clone(), lane })
}

/// Where a definition is registered.
pub(crate) fn definition_key(name: &str, version: u32) -> RegistryKey {
    RegistryKey { kind: DEFINITIONS.to_owned(), name: format!("{name}@{version}") }
}

pub(crate) const DEFINITIONS: &str = "pipeline";
