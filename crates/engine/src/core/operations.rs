//! Operations: a filter and a deed, kept in the registry, done chunk by chunk. The chunk's moves, its results and how
//! far the operation has come are one commit, so a restart neither repeats nor skips anybody.

use std::collections::BTreeMap;

use model::command::{Acknowledge, Act, Migrate, Redrive};
use model::{Caller, Code, Command, Digest, Json, Name, Refusal, Role, Submission, SubmissionId};
use serde::Serialize;
use store::{RegistryChange, RegistryKey};

pub use wire::operation::{Deed, Filter, Operation, OperationResult, OperationStatus};

use super::administered;
use super::batch::Batch;
use super::{Outcome, Output};
use crate::bounds;

/// The registry kind of operations.
pub const OPERATIONS: &str = "operation";
/// The registry kind of operations that run, which are registered once more: whoever goes on with them does not look at
/// the others.
pub const RUNNING: &str = "operation-running";
/// Submissions of one chunk.
pub const CHUNK_MAX: usize = 100;

/// The next few submissions of an operation, as found by its filter's indexes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    pub operation: Name,
    /// The operation's position when the ids were looked up: another chunk may have been done since.
    pub after: Option<SubmissionId>,
    pub ids: Vec<SubmissionId>,
    /// The last that was looked at, whether it fits or not.
    pub next: Option<SubmissionId>,
    /// Set if there are no more.
    pub last: bool,
}

impl Chunk {
    /// Returns the chunk's first half, unless there is only one id. The rest is found again by the next look.
    pub(super) fn half(&self) -> Option<Chunk> {
        let ids = self.ids[..self.ids.len() / 2].to_vec();
        let next = Some(*ids.last()?);
        Some(Chunk { operation: self.operation.clone(), after: self.after, ids, next, last: false })
    }
}

pub(super) fn key(id: &str) -> RegistryKey {
    RegistryKey { kind: OPERATIONS.to_owned(), name: id.to_owned() }
}

/// The registry an operation's results are kept in, under the ids of their submissions.
#[must_use]
pub fn results_of(id: &str) -> String {
    format!("{OPERATIONS}/{id}")
}

/// The entry that says who started each operation that runs. Those of the engine itself are not in it.
pub(super) fn started_key() -> RegistryKey {
    RegistryKey { kind: "operations-started".to_owned(), name: "all".to_owned() }
}

/// The subjects that started operations, by the ids of those.
type Started = BTreeMap<Name, Name>;

impl Batch<'_> {
    pub(super) fn start_operation(&mut self, operation: &Operation) -> Outcome {
        if let Deed::Migrate { version, .. } = operation.deed
            && self.definitions().kept(&operation.filter.pipeline, version).is_none()
        {
            let message = format!("no version {version} of `{}`", operation.filter.pipeline);
            return Err(Refusal::new(Code::UnknownVersion, message));
        }
        let mut started = self.started();
        self.check_bound(&bounds::OPERATIONS, |subject| bounds::Taken {
            all: started.len(),
            own: started.values().filter(|starter| ***starter == *subject).count(),
        })?;
        started.insert(operation.id.clone(), operation.by.name.clone());
        self.put(started_key(), &started);
        let operation = Operation { started_at: self.now, ..operation.clone() };
        self.administered("operation-started", &operation.id, &administered::of_operation(&operation));
        Ok(self.keep_operation(operation))
    }

    /// Children of one that was cancelled are told by an operation of the machine's own, begun in the commit of that move:
    /// there may be any number of them. Its id says what it follows from, so it is begun once.
    pub(super) fn cancel_children(&mut self, parent: SubmissionId, pipeline: &Name, revision: u64) {
        if !self.versions().follow_parents(pipeline) {
            return;
        }
        let parts: [&[u8]; 3] = [b"parent-cancelled\0", parent.0.as_bytes(), &revision.to_be_bytes()];
        let hash = Digest::of_parts(&parts).0;
        let id = SubmissionId::new(self.now, std::array::from_fn(|index| hash[index]));
        self.keep_operation(Operation {
            id: id.to_string().into(),
            filter: Filter { parent: Some(parent), ..Filter::of(pipeline.clone()) },
            deed: Deed::ParentCancelled,
            reason: None,
            dry_run: false,
            by: Caller::new("system", Role::Admin),
            status: OperationStatus::Running,
            found: 0,
            done: 0,
            refused: BTreeMap::new(),
            started_at: self.now,
            ended_at: None,
            after: None,
        });
    }

    pub(super) fn stop_operation(&mut self, id: &Name) -> Outcome {
        let mut operation = self.operation(id)?;
        if operation.status != OperationStatus::Running {
            return Err(Refusal::new(Code::OperationOver, format!("operation {id} has ended")));
        }
        self.end(&mut operation, OperationStatus::Stopped);
        self.administered("operation-stopped", id, &[]);
        Ok(self.keep_operation(operation))
    }

    /// Does a chunk, unless somebody stopped the operation or did the chunk already.
    pub(super) fn operate(&mut self, chunk: &Chunk) -> Outcome {
        let mut operation = self.operation(&chunk.operation)?;
        if operation.status != OperationStatus::Running || operation.after != chunk.after {
            return Ok(Output::Operation(Box::new(operation)));
        }
        for id in &chunk.ids {
            // It may have moved on since it was found.
            let fits = self.taken.rows.get(id).filter(|stored| stored.row.fits(&operation.filter));
            let Some(row) = fits.map(|stored| stored.row.clone()) else { continue };
            let result = self.do_one(&operation, &row);
            operation.found += 1;
            match &result.code {
                None => operation.done += 1,
                Some(code) => *operation.refused.entry(code.clone()).or_default() += 1,
            }
            let key = RegistryKey { kind: results_of(&operation.id), name: id.to_string() };
            self.changes.registry.push(RegistryChange { key, body: Some(stored(&result)) });
        }
        operation.after = chunk.next.or(operation.after);
        if chunk.last {
            self.end(&mut operation, OperationStatus::Done);
        }
        Ok(self.keep_operation(operation))
    }

    /// Removes results; without any, the operation itself.
    pub(super) fn drop_operation(&mut self, id: &Name, results: &[String]) -> Outcome {
        let operation = self.operation(id)?;
        if operation.status == OperationStatus::Running {
            return Err(Refusal::new(
                Code::OperationOver,
                format!("operation {id} is running; stop it first"),
            ));
        }
        let result = |name: &String| RegistryKey { kind: results_of(id), name: name.clone() };
        let mut keys: Vec<_> = results.iter().map(result).collect();
        if keys.is_empty() {
            self.taken.registry.remove(&key(id));
            keys.push(key(id));
        }
        self.changes.registry.extend(keys.into_iter().map(|key| RegistryChange { key, body: None }));
        Ok(Output::Gone)
    }

    fn do_one(&mut self, operation: &Operation, row: &Submission) -> OperationResult {
        let seed = self.draw();
        let done = self.command_for(operation, row).and_then(|command| {
            if operation.dry_run {
                let decision = self.decided(&row.pipeline, row.version, Some(row.id), &command, seed)?;
                return Ok(decision.row.state);
            }
            self.command(row.id, &command, seed)?;
            Ok(self.taken.rows.get(&row.id).map_or(row.state.clone(), |stored| stored.row.state.clone()))
        });
        match done {
            Ok(state) => OperationResult { state: Some(state), code: None, message: None },
            Err(refusal) => OperationResult {
                state: None,
                code: Some(refusal.code.as_str().to_owned()),
                message: Some(refusal.message),
            },
        }
    }

    fn command_for(&self, operation: &Operation, row: &Submission) -> Result<Command, Refusal> {
        let (caller, reason) = (operation.by.clone(), operation.reason.clone());
        let act = |action: &Name, data: &Option<Json>, to: &Option<Name>| {
            let (caller, reason) = (operation.by.clone(), operation.reason.clone());
            let (action, data, to) = (action.clone(), data.clone(), to.clone());
            Command::Act(Act { caller, action, reason, data, to, if_match: None })
        };
        Ok(match &operation.deed {
            Deed::Act { action, data, to } => act(action, data, to),
            Deed::Resume { to } => {
                let state = self.pipeline_of(row).and_then(|pipeline| pipeline.state(&row.state));
                match state.and_then(|state| state.action("resume")) {
                    Some(action) => act(&action.name, &None, to),
                    None => Command::Redrive(Redrive { caller, reason }),
                }
            }
            Deed::Redrive => Command::Redrive(Redrive { caller, reason }),
            Deed::Acknowledge => Command::Acknowledge(Acknowledge { caller, note: reason, if_match: None }),
            Deed::ParentCancelled => Command::ParentCancelled,
            Deed::Migrate { version, map } => {
                let target = self.definitions().kept(&row.pipeline, *version).cloned().ok_or_else(|| {
                    Refusal::new(Code::UnknownVersion, format!("no version {version} of `{}`", row.pipeline))
                })?;
                Command::Migrate(Migrate { caller, target, map: map.clone(), reason })
            }
        })
    }

    fn operation(&self, id: &Name) -> Result<Operation, Refusal> {
        let Some(body) = self.taken.registry.get(&key(id)) else {
            return Err(Refusal::new(Code::UnknownOperation, format!("no operation {id}")));
        };
        serde_json::from_str(body.as_str())
            .map_err(|_| Refusal::new(Code::Internal, format!("operation {id} cannot be read")))
    }

    fn end(&mut self, operation: &mut Operation, status: OperationStatus) {
        operation.status = status;
        operation.ended_at = Some(self.now);
        let mut started = self.started();
        if started.remove(&operation.id).is_some() {
            self.put(started_key(), &started);
        }
    }

    fn started(&self) -> Started {
        let kept = self.taken.registry.get(&started_key());
        kept.and_then(|body| serde_json::from_str(body.as_str()).ok()).unwrap_or_default()
    }

    fn keep_operation(&mut self, operation: Operation) -> Output {
        let (key, body) = (key(&operation.id), stored(&operation));
        let running = RegistryKey { kind: RUNNING.to_owned(), name: key.name.clone() };
        let runs = (operation.status == OperationStatus::Running).then(|| body.clone());
        // Seen by what follows in the same batch.
        self.taken.registry.insert(key.clone(), body.clone());
        self.changes.registry.retain(|change| change.key != key && change.key != running);
        self.changes.registry.push(RegistryChange { key, body: Some(body) });
        self.changes.registry.push(RegistryChange { key: running, body: runs });
        Output::Operation(Box::new(operation))
    }
}

fn stored(value: &impl Serialize) -> Json {
    Json::from_stored(&serde_json::to_string(value).expect("it has only string keys"))
}
