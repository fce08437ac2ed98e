//! Plans what a batch needs from the store, before anything is decided.

use std::collections::HashSet;

use model::admit::Admission;
use model::submission::Wait;
use model::{Command, Submission, SubmissionId};
use store::{LaneKey, OpenKey, Ready, RegistryKey, Take};

use super::commit::Commit;
use super::{
    Ask, ClaimMany, IDLE_MAX, INBOX_MAX, Input, LogActs, MoveCursor, OWED_MAX, PARKED_MAX, Reply,
    administered, compared_key, epoch, fleet, has_key_of, lane_key, open_key, operations, system_entries,
};
use crate::flow;
use crate::pipelines::{definition_key, history_key};
use crate::registry::EntryKey;

/// Rows all claims of a batch for the same work look at together. The rest is there for the next batch.
const CLAIMS_MAX: usize = 1_000;

/// Claims for the same work share one look at its queue.
pub(super) struct Plan {
    groups: Vec<Ready>,
    /// The group that each input's claim draws from.
    group_of: Vec<Option<usize>>,
    ids: Vec<SubmissionId>,
    /// The ids whose documents matter whatever their pipeline reads.
    whole: HashSet<SubmissionId>,
    /// The ids whose documents are brought if there is room: they may go to somebody in this commit.
    going: HashSet<SubmissionId>,
    keys: Vec<OpenKey>,
    /// The keys whose holders' payloads are compared with a new one.
    compared: HashSet<OpenKey>,
    requests: Vec<store::RequestKey>,
    registry: Vec<RegistryKey>,
    lanes: Vec<LaneKey>,
}

impl Plan {
    /// `scarce`: claims are likely to find less than they ask for.
    pub(super) fn of(inputs: &[Input], scarce: bool) -> Plan {
        let mut plan = Plan {
            groups: Vec::new(),
            group_of: Vec::with_capacity(inputs.len()),
            ids: Vec::new(),
            whole: HashSet::new(),
            going: HashSet::new(),
            keys: Vec::new(),
            compared: HashSet::new(),
            requests: Vec::new(),
            registry: vec![epoch::key().raw()],
            lanes: Vec::new(),
        };
        for input in inputs {
            let mut group = None;
            if administered::is_recorded(input) {
                plan.registry.push(administered::count_key().raw());
            }
            match &input.ask {
                Ask::Submit(admission) => plan.arrival(admission),
                Ask::Token(deed) => plan.registry.extend(deed.keys()),
                Ask::Endpoint(deed) => plan.registry.extend(deed.keys()),
                Ask::Measured(news) => {
                    plan.registry.extend(news.keys().map(|level| level.registered().raw()))
                }
                Ask::Flowed(news) => {
                    plan.registry.extend(news.parts.keys().map(|part| part.registered().raw()));
                    plan.registry
                        .extend(news.old.iter().map(|name| EntryKey::<flow::Registered>::new(name).raw()));
                }
                Ask::Log(_) => plan.registry.push(EntryKey::<LogActs>::one().raw()),
                Ask::Hold(_)
                | Ask::Release(_)
                | Ask::LookAside(_)
                | Ask::Retire { .. }
                | Ask::ConfirmClock => {}
                Ask::Tick(tick) => {
                    plan.registry.push(tick.key().raw());
                    tick.admission().into_iter().for_each(|admission| plan.arrival(admission));
                }
                Ask::PutEntry(change) => plan.registry.push(system_entries::key(change).raw()),
                Ask::Present { server, .. } => plan.registry.push(fleet::server_key(&server.id).raw()),
                Ask::Leave { server, duties } => {
                    plan.registry.push(fleet::server_key(server).raw());
                    plan.registry.extend(duties.iter().map(|duty| fleet::duty_key(duty).raw()));
                }
                Ask::TakeDuty { duty, .. } => plan.registry.push(fleet::duty_key(duty).raw()),
                Ask::Start(operation) => {
                    plan.registry
                        .extend([operations::key(&operation.id).raw(), operations::started_key().raw()]);
                }
                Ask::Stop(id) => {
                    plan.registry.extend([operations::key(id).raw(), operations::started_key().raw()])
                }
                Ask::Drop { operation: id, .. } => plan.registry.push(operations::key(id).raw()),
                Ask::Operate(chunk) => {
                    plan.registry
                        .extend([operations::key(&chunk.operation).raw(), operations::started_key().raw()]);
                    plan.ids.extend(&chunk.ids);
                    plan.whole.extend(&chunk.ids);
                }
                Ask::MoveCursor(MoveCursor { cursor, .. }) | Ask::DropCursor(cursor) => {
                    plan.registry.extend(cursor.keys());
                }
                Ask::Tell(id, command) => {
                    plan.ids.push(*id);
                    if matches!(command, Command::Migrate(_) | Command::Amend(_) | Command::Redrive(_)) {
                        plan.whole.insert(*id);
                    }
                    if let Command::Finish(finish) = command {
                        let keys = finish.entries.iter().map(|change| system_entries::key(change).raw());
                        plan.registry.extend(keys);
                    }
                    for child in super::children_of(command) {
                        plan.ids.extend(child.child_id());
                        plan.arrival(child);
                    }
                }
                Ask::Claim(claim) => group = (!claim.arriving).then(|| plan.group(claim)),
                Ask::Apply(apply) => {
                    plan.registry.push(definition_key(&apply.pipeline.name, apply.pipeline.version).raw());
                    plan.registry.push(history_key(&apply.pipeline.name).raw());
                }
                Ask::RetireVersion { pipeline, version } => {
                    plan.registry.push(definition_key(pipeline, *version).raw());
                }
            }
            plan.group_of.push(group);
            plan.requests.extend(input.once.iter().map(|once| once.key.clone()));
        }
        plan.bring_documents(inputs, scarce);
        plan
    }

    /// Asks for the documents of submissions that are finished and may be ready for their next task while somebody
    /// waits for one: they can go on in this very commit. No more of them than can be handed out.
    fn bring_documents(&mut self, inputs: &[Input], scarce: bool) {
        let wanted: usize = inputs
            .iter()
            .map(|input| match &input.ask {
                Ask::Claim(claim) if claim.arriving || scarce => claim.max,
                _ => 0,
            })
            .sum();
        let finished = inputs.iter().filter_map(|input| match &input.ask {
            Ask::Tell(id, Command::Finish(_)) => Some(*id),
            _ => None,
        });
        self.going.extend(finished.take(wanted));
    }

    /// Tells whether nothing can be decided about a submission without its documents, whatever its pipeline reads.
    pub(super) fn needs_documents(&self, row: &Submission) -> bool {
        self.whole.contains(&row.id) || has_key_of(&self.compared, row)
    }

    /// Tells whether a submission's documents are of use. Who is next in a lane may go to whoever waits for work, like
    /// what is finished.
    pub(super) fn wants_documents(&self, row: &Submission) -> bool {
        self.going.contains(&row.id) || (!self.going.is_empty() && row.wait == Wait::Line)
    }

    /// Asks who has the key and the lane of a submission to be made.
    fn arrival(&mut self, admission: &Admission) {
        self.keys.extend(open_key(admission));
        self.compared.extend(compared_key(admission));
        self.lanes.extend(lane_key(admission));
    }

    /// The lanes that new submissions will stand in, one for each of them.
    pub(super) fn lanes(&self) -> &[LaneKey] {
        &self.lanes
    }

    fn group(&mut self, claim: &ClaimMany) -> usize {
        let same = |ready: &Ready| {
            ready.tasks == claim.tasks && ready.pipelines == claim.pipelines && ready.labels == claim.labels
        };
        // One that is to be found anywhere in its queue is looked for among all that a batch looks at.
        let max = if claim.only.is_some() { CLAIMS_MAX } else { claim.max };
        if let Some(index) = self.groups.iter().position(same) {
            let ready = &mut self.groups[index];
            ready.max = (ready.max + max).min(CLAIMS_MAX);
            return index;
        }
        self.groups.push(Ready {
            tasks: claim.tasks.clone(),
            pipelines: claim.pipelines.clone(),
            labels: claim.labels.clone(),
            max,
        });
        self.groups.len() - 1
    }

    pub(super) fn take(&self, due: usize) -> Take<'static> {
        Take {
            ids: self.ids.clone(),
            keys: self.keys.clone(),
            requests: self.requests.clone(),
            ready: self.groups.clone(),
            due,
            idle: due.min(IDLE_MAX),
            owed: due.min(OWED_MAX),
            parked: due.min(PARKED_MAX),
            inbox: due.min(INBOX_MAX),
            registry: self.registry.clone(),
            lanes: self.lanes.clone(),
            ..Take::nothing()
        }
    }

    pub(super) fn run(&self, inputs: &[Input], batch: &mut Commit<'_>) -> Vec<Reply> {
        inputs.iter().zip(&self.group_of).map(|(input, group)| batch.answer(input, *group)).collect()
    }
}
