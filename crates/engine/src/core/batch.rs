//! The working set of one transaction: rows as taken, rows as decided so far, and what will be written.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};

use model::admit::Admission;
use model::command::Claim;
use model::decide::{Answer, Current, Decision};
use model::submission::Wait;
use model::{
    Code, Command, Context, Documents, Json, Millis, Name, Pipeline, Refusal, Submission, SubmissionId, Time,
};
use store::changes::AnswerChange;
use store::{Changes, DocumentChange, OpenKey, RegistryChange, RowChange, Stored, Taken};

use super::input::Receipt;
use super::{
    Answered, Ask, ClaimMany, Decide, Granted, Input, Once, Outcome, Output, definition_key, open_key,
};
use crate::pipelines::Versions;

/// How long a repeat of a request is recognised.
const ONCE_FOR: Millis = Millis::from_secs(24 * 3600);

/// A claim stops granting once its answer is this large: a thousand tasks may carry a megabyte each.
const CLAIM_BYTES_MAX: usize = 8 << 20;

pub(super) struct Batch<'a> {
    versions: &'a Versions,
    decide: Decide,
    secret: [u8; 32],
    pub(super) now: Time,
    pub(super) reachable_since: Time,
    taken: Taken,
    ready: Vec<VecDeque<SubmissionId>>,
    /// Rows as they were taken, for those that changed.
    before: HashMap<SubmissionId, Option<Submission>>,
    /// In the order they were first changed: stores see the same order for the same inputs.
    changed: Vec<SubmissionId>,
    changes: Changes,
    /// Keys that ended submissions take up again.
    pub(super) keys_again: Vec<OpenKey>,
}

/// What a batch has to say besides its answers.
pub(super) struct News {
    pub(super) now: Time,
    pub(super) ready: BTreeMap<Name, usize>,
    pub(super) next_timer: Option<Time>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(mut taken: Taken, versions: &'a Versions, decide: Decide, secret: [u8; 32]) -> Self {
        let ready = std::mem::take(&mut taken.ready).into_iter().map(VecDeque::from).collect();
        Batch {
            versions,
            decide,
            secret,
            now: taken.now,
            reachable_since: taken.now,
            taken,
            ready,
            before: HashMap::new(),
            changed: Vec::new(),
            changes: Changes::default(),
            keys_again: Vec::new(),
        }
    }

    pub(super) fn answer(
        &mut self,
        input: &Input,
        group: Option<usize>,
        seed: &mut dyn FnMut() -> [u8; 32],
    ) -> Outcome {
        if let Some(once) = &input.once
            && let Some(answer) = self.repeated(once)
        {
            return answer;
        }
        let outcome = match &input.ask {
            Ask::Submit(admission) => self.submit(admission, seed()),
            Ask::Tell(id, command) => self.tell(*id, command, seed()),
            Ask::Claim(claim) => self.claim(claim, group.expect("every claim has its group"), seed),
            Ask::Apply(pipeline) => self.apply(pipeline),
        };
        if let (Some(once), Ok(Output::Submission(answered))) = (&input.once, &outcome) {
            self.keep(once, answered);
        }
        outcome
    }

    /// Does what is due in the rows that were taken for it.
    pub(super) fn wake_due(&mut self, seed: &mut dyn FnMut() -> [u8; 32]) {
        for id in std::mem::take(&mut self.taken.due) {
            // A settlement earlier in the batch may have moved the timer on.
            let due =
                self.taken.rows.get(&id).and_then(|stored| stored.row.timer).is_some_and(|at| at <= self.now);
            if due && let Err(refusal) = self.tell(id, &Command::Wake, seed()) {
                tracing::error!(submission = %id, code = refusal.code.as_str(), "{refusal}");
            }
        }
    }

    pub(super) fn finish(mut self, due_max: usize) -> (Changes, News) {
        let mut ready: BTreeMap<Name, usize> = BTreeMap::new();
        let mut next_timer = self.taken.next_timer;
        for id in &self.changed {
            let row = &self.taken.rows[id].row;
            if let Wait::Worker { task, .. } = &row.wait {
                *ready.entry(task.clone()).or_default() += 1;
            }
            if due_max > 0 || row.timer.is_some_and(|at| at > self.now) {
                next_timer = [next_timer, row.timer].into_iter().flatten().min();
            }
            let before = self.before.remove(id).flatten();
            self.changes.rows.push(RowChange { before, after: row.clone() });
        }
        (self.changes, News { now: self.now, ready, next_timer })
    }

    fn repeated(&self, once: &Once) -> Option<Outcome> {
        let kept = self.taken.answers.get(&once.key)?;
        Some(match serde_json::from_str::<Receipt>(kept.as_str()) {
            Ok(receipt) => receipt.answer(once),
            Err(_) => {
                Err(Refusal::new(Code::Internal, "the answer kept for this Idempotency-Key cannot be read"))
            }
        })
    }

    fn keep(&mut self, once: &Once, answered: &Answered) {
        let text =
            serde_json::to_string(&Receipt::new(once, answered)).expect("a receipt has only string keys");
        let body = Json::parse(&text).expect("serde writes strict JSON");
        // Seen by a repeat later in the same batch.
        self.taken.answers.insert(once.key.clone(), body.clone());
        let expires_at = self.now.plus(ONCE_FOR);
        self.changes.answers.push(AnswerChange { key: once.key.clone(), body, expires_at });
    }

    fn submit(&mut self, admission: &Admission, seed: [u8; 32]) -> Outcome {
        let holder = open_key(admission).and_then(|key| self.taken.holders.get(&key).copied());
        let command = Command::Submit(Box::new(admission.clone()));
        let (pipeline, version) = (admission.pipeline(), admission.version());
        let decision = self.decided(pipeline, version, holder, &command, seed)?;
        let duplicate = decision.answer == Answer::Duplicate;
        let row = decision.row.clone();
        if !duplicate {
            self.accept(decision);
        }
        Ok(Output::Submission(Box::new(Answered { row, duplicate })))
    }

    fn tell(&mut self, id: SubmissionId, command: &Command, seed: [u8; 32]) -> Outcome {
        let Some(stored) = self.taken.rows.get(&id) else {
            return Err(Refusal::new(Code::UnknownSubmission, format!("no submission {id}")));
        };
        let (pipeline, version) = (stored.row.pipeline.clone(), stored.row.version);
        let decision = self.decided(&pipeline, version, Some(id), command, seed)?;
        self.take_key_again(&decision.row)?;
        let answer = decision.answer.clone();
        let row = self.accept(decision);
        Ok(match answer {
            Answer::Settled { state, status, repeated } => Output::Settled { state, status, repeated },
            Answer::Renewed { expires_at } => {
                Output::Renewed { expires_at, payload_revision: row.payload_revision }
            }
            _ => Output::Submission(Box::new(Answered { row: row.clone(), duplicate: false })),
        })
    }

    fn claim(&mut self, claim: &ClaimMany, group: usize, seed: &mut dyn FnMut() -> [u8; 32]) -> Outcome {
        let command = Command::Claim(Claim { worker: claim.worker.clone(), tasks: claim.tasks.clone() });
        let mut granted = Vec::new();
        let mut bytes = 0;
        while granted.len() < claim.max && bytes < CLAIM_BYTES_MAX {
            let Some(id) = self.ready[group].pop_front() else { break };
            let row = &self.taken.rows[&id].row;
            let (pipeline, version) = (row.pipeline.clone(), row.version);
            // Refused: something earlier in the batch moved it, or its time is over. Someone else's turn.
            let Ok(decision) = self.decided(&pipeline, version, Some(id), &command, seed()) else { continue };
            let Answer::Granted { token } = decision.answer else { continue };
            self.accept(decision);
            let stored = &self.taken.rows[&id];
            let Some(pipeline) = self.versions.version(&pipeline, version) else { continue };
            bytes += stored.documents.as_ref().map_or(0, Documents::bytes);
            granted.push(Granted {
                token,
                row: stored.row.clone(),
                documents: stored.documents.clone().unwrap_or_default(),
                pipeline: pipeline.clone(),
            });
        }
        Ok(Output::Tasks(granted))
    }

    fn apply(&mut self, pipeline: &Pipeline) -> Outcome {
        let key = definition_key(&pipeline.name, pipeline.version);
        if let Some(stored) = self.taken.registry.get(&key) {
            if stored.as_str() == pipeline.definition.as_str() {
                return Ok(Output::Applied { changed: false });
            }
            return Err(Refusal::new(
                Code::VersionExists,
                format!(
                    "version {} of `{}` was applied with other contents; raise `version`",
                    pipeline.version, pipeline.name
                ),
            ));
        }
        if let Some(latest) = self.versions.latest(&pipeline.name)
            && latest.version > pipeline.version
        {
            return Err(Refusal::new(
                Code::VersionOutdated,
                format!(
                    "version {} of `{}` is in force; raise `version` above it",
                    latest.version, pipeline.name
                ),
            ));
        }
        self.taken.registry.insert(key.clone(), pipeline.definition.clone());
        self.changes.registry.push(RegistryChange { key, body: Some(pipeline.definition.clone()) });
        Ok(Output::Applied { changed: true })
    }

    /// Decides one command. A panic is this command's alone: nothing it touched is kept.
    fn decided(
        &self,
        pipeline: &str,
        version: u32,
        row: Option<SubmissionId>,
        command: &Command,
        seed: [u8; 32],
    ) -> Result<Decision, Refusal> {
        let Some(pipeline) = self.versions.version(pipeline, version) else {
            return Err(Refusal::new(
                Code::Internal,
                format!("version {version} of `{pipeline}` is not loaded"),
            ));
        };
        let context = Context {
            now: self.now,
            reachable_since: self.reachable_since,
            held: false,
            seed,
            pseudonyms: self.secret,
        };
        let none = Documents::default();
        let current = row.and_then(|id| self.taken.rows.get(&id)).map(|stored| Current {
            row: &stored.row,
            documents: stored.documents.as_ref().unwrap_or(&none),
        });
        let decided = catch_unwind(AssertUnwindSafe(|| (self.decide)(pipeline, current, command, &context)));
        decided.unwrap_or_else(|_| {
            tracing::error!(pipeline = &*pipeline.name, "a decision panicked; its command was refused");
            Err(Refusal::new(Code::Internal, "this command could not be decided; nothing was changed"))
        })
    }

    /// Puts a decision into the working set.
    fn accept(&mut self, decision: Decision) -> &Submission {
        let Decision { row, events, .. } = decision;
        let id = row.id;
        let stored = self.taken.rows.remove(&id);
        let unchanged = stored.as_ref().is_some_and(|stored| stored.row == row);
        let (old, mut documents) = match stored {
            Some(Stored { row, documents }) => (Some(row), documents),
            None => (None, Some(Documents::default())),
        };
        if !unchanged && !self.before.contains_key(&id) {
            self.before.insert(id, old.clone());
            self.changed.push(id);
        }
        for event in events {
            for (name, body) in event.named_documents() {
                if let Some(documents) = &mut documents {
                    documents.set(&name, body.clone());
                }
                self.changes.documents.push(DocumentChange { submission: id, name, body });
            }
            self.changes.events.push(event);
        }
        self.move_key(old.as_ref(), &row);
        let stored = self.taken.rows.entry(id).insert_entry(Stored { row, documents });
        &stored.into_mut().row
    }

    /// A submission that had ended and goes on needs its key again, if nobody else has it by now.
    fn take_key_again(&mut self, row: &Submission) -> Result<(), Refusal> {
        let ended = self.taken.rows.get(&row.id).is_some_and(|stored| stored.row.status.is_final());
        let Some(key) = held_key(row).filter(|_| ended) else { return Ok(()) };
        match self.taken.holders.get(&key) {
            Some(holder) if *holder != row.id => Err(Refusal::new(
                Code::DuplicateKey,
                format!("submission {holder} has this key by now and is still open"),
            )
            .with("submission", holder.to_string())),
            _ => {
                self.keys_again.push(key);
                Ok(())
            }
        }
    }

    fn move_key(&mut self, old: Option<&Submission>, new: &Submission) {
        if let Some(key) = old.and_then(held_key) {
            self.taken.holders.remove(&key);
        }
        if let Some(key) = held_key(new) {
            self.taken.holders.insert(key, new.id);
        }
    }
}

/// The key a submission keeps from others.
fn held_key(row: &Submission) -> Option<OpenKey> {
    let key = row.key.clone().filter(|_| !row.status.is_final())?;
    Some(OpenKey { pipeline: row.pipeline.clone(), key })
}
