//! Operations: a filter and a deed, kept in the registry, done chunk by chunk. The chunk's moves, its results and how
//! far the operation has come are one commit, so a restart neither repeats nor skips anybody.

use std::collections::BTreeMap;

use model::command::{Acknowledge, Act, Migrate, Redrive};
use model::{Caller, Code, Command, Digest, Json, Name, Refusal, Role, Submission, SubmissionId};

pub use wire::operation::{Deed, Filter, Operation, OperationResult, OperationStatus};

use super::administered;
use super::commit::Commit;
use super::{Output, Reply};
use crate::bounds;
use crate::registry::{Entry, EntryKey, OneEntry, kind_within};

/// The registry kind of operations.
pub const OPERATIONS: &str = "operation";
/// The registry kind of operations that run, which are registered once more: whoever goes on with them does not look at
/// the others.
pub const RUNNING: &str = "operation-running";

#[derive(Debug)]
pub enum Operations {}

impl Entry for Operations {
    const KIND: &'static str = OPERATIONS;
    type Body = Operation;
}

/// The operations that run.
#[derive(Debug)]
pub enum RunningOperations {}

impl Entry for RunningOperations {
    const KIND: &'static str = RUNNING;
    type Body = Operation;
}

/// The results of an operation, under the ids of their submissions: each operation has a part of this kind.
#[derive(Debug)]
pub enum OperationResults {}

impl Entry for OperationResults {
    const KIND: &'static str = OPERATIONS;
    type Body = OperationResult;
}

/// The subjects that started operations, by the ids of those. Those of the engine itself are not in it.
pub(super) enum StartedOperations {}

impl Entry for StartedOperations {
    const KIND: &'static str = "operations-started";
    type Body = BTreeMap<Name, Name>;
}

impl OneEntry for StartedOperations {
    const NAME: &'static str = "all";
}

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

pub(super) fn key(id: &str) -> EntryKey<Operations> {
    EntryKey::new(id)
}

/// The registry an operation's results are kept in, under the ids of their submissions.
#[must_use]
pub fn results_of(id: &str) -> String {
    kind_within::<OperationResults>(id)
}

/// The entry that says who started each operation that runs.
pub(super) fn started_key() -> EntryKey<StartedOperations> {
    EntryKey::one()
}

impl Commit<'_> {
    pub(super) fn start_operation(&mut self, operation: &Operation) -> Reply {
        if let Deed::Migrate { version, .. } = operation.deed
            && self.definitions().kept(&operation.filter.pipeline, version).is_none()
        {
            let message = format!("no version {version} of `{}`", operation.filter.pipeline);
            return Err(Refusal::new(Code::UnknownVersion, message));
        }
        let mut started = self.readable(&started_key()).unwrap_or_default();
        self.check_bound(&bounds::OPERATIONS, |subject| bounds::Taken {
            all: started.len(),
            own: started.values().filter(|starter| ***starter == *subject).count(),
        })?;
        started.insert(operation.id.clone(), operation.by.name.clone());
        self.put(&started_key(), &started);
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

    pub(super) fn stop_operation(&mut self, id: &Name) -> Reply {
        let mut operation = self.operation(id)?;
        if operation.status != OperationStatus::Running {
            return Err(Refusal::new(Code::OperationOver, format!("operation {id} has ended")));
        }
        self.end(&mut operation, OperationStatus::Stopped);
        self.administered("operation-stopped", id, &[]);
        Ok(self.keep_operation(operation))
    }

    /// Does a chunk, unless somebody stopped the operation or did the chunk already.
    pub(super) fn operate(&mut self, chunk: &Chunk) -> Reply {
        let mut operation = self.operation(&chunk.operation)?;
        if operation.status != OperationStatus::Running || operation.after != chunk.after {
            return Ok(Output::Operation(Box::new(operation)));
        }
        let mut before = operation.after;
        for id in &chunk.ids {
            // It may have moved on since it was found.
            let fits = self.taken.rows.get(id).filter(|stored| stored.row.fits(&operation.filter));
            let Some(row) = fits.map(|stored| stored.row.clone()) else { continue };
            let result = self.do_one(&operation, &row);
            if result.code.as_deref() == Some(Code::Overloaded.as_str()) {
                // The documents of this step have taken long enough: the next look begins with this one.
                operation.after = before;
                return Ok(self.keep_operation(operation));
            }
            before = Some(*id);
            operation.found += 1;
            match &result.code {
                None => operation.done += 1,
                Some(code) => *operation.refused.entry(code.clone()).or_default() += 1,
            }
            self.put(&EntryKey::<OperationResults>::within(&operation.id, id.to_string()), &result);
        }
        operation.after = chunk.next.or(operation.after);
        if chunk.last {
            self.end(&mut operation, OperationStatus::Done);
        }
        Ok(self.keep_operation(operation))
    }

    /// Removes results; without any, the operation itself.
    pub(super) fn drop_operation(&mut self, id: &Name, results: &[String]) -> Reply {
        let operation = self.operation(id)?;
        if operation.status == OperationStatus::Running {
            return Err(Refusal::new(
                Code::OperationOver,
                format!("operation {id} is running; stop it first"),
            ));
        }
        if results.is_empty() {
            self.remove(&key(id));
        }
        results.iter().for_each(|name| self.remove(&EntryKey::<OperationResults>::within(id, name)));
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
        match self.get(&key(id)) {
            Ok(Some(operation)) => Ok(operation),
            Ok(None) => Err(Refusal::new(Code::UnknownOperation, format!("no operation {id}"))),
            Err(_) => Err(Refusal::new(Code::Internal, format!("operation {id} cannot be read"))),
        }
    }

    fn end(&mut self, operation: &mut Operation, status: OperationStatus) {
        operation.status = status;
        operation.ended_at = Some(self.now);
        let mut started = self.readable(&started_key()).unwrap_or_default();
        if started.remove(&operation.id).is_some() {
            self.put(&started_key(), &started);
        }
    }

    fn keep_operation(&mut self, operation: Operation) -> Output {
        let running = EntryKey::<RunningOperations>::new(&*operation.id);
        // Seen by what follows in the same batch.
        self.put(&key(&operation.id), &operation);
        if operation.status == OperationStatus::Running {
            self.put(&running, &operation);
        } else {
            self.remove(&running);
        }
        Output::Operation(Box::new(operation))
    }
}
