//! The inbox: what applications submitted in transactions of their own is decided here like anything else, and whatever
//! does not become a submission leaves an event that says why.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use model::admit::{Admission, Application, admit, admit_any};
use model::decide::{Fate, Unborn, unborn};
use model::schema::{Fuel, Tank};
use model::{Caller, Code, Json, Name, Refusal, Role, Submission, SubmissionId};
use store::{Arrival, LaneKey, OpenKey, Received};

use super::commit::Commit;
use super::owed::NOTIFIER;
use super::{Output, compared_key, has_key_of, lane_key, open_key};
use crate::pipelines::Versions;

/// The number of entries that were received, by what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    pub submitted: u64,
    /// An open submission with the same key stands for them.
    pub merged: u64,
    /// By the code of the refusal.
    pub refused: BTreeMap<Name, u64>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Tally) {
        self.submitted += other.submitted;
        self.merged += other.merged;
        for (code, count) in &other.refused {
            *self.refused.entry(code.clone()).or_default() += count;
        }
    }
}

/// Admits what a take finds: the store asks where each would stand, and the batch decides it after.
pub(super) struct Door<'a> {
    versions: &'a Versions,
    admitted: RefCell<HashMap<SubmissionId, Result<Admission, Refusal>>>,
    /// The submissions for which there was no fuel left: they stay where they are until the next step.
    postponed: RefCell<HashSet<SubmissionId>>,
    tank: Tank,
    /// The keys whose holders' payloads are compared with what was received.
    compared: RefCell<HashSet<OpenKey>>,
}

impl<'a> Door<'a> {
    pub(super) fn new(versions: &'a Versions) -> Self {
        Door {
            versions,
            admitted: RefCell::default(),
            postponed: RefCell::default(),
            tank: Tank::full(),
            compared: RefCell::default(),
        }
    }

    pub(super) fn arrival(&self, received: &Received) -> Arrival {
        if !self.tank.has(Fuel::of_many()) {
            self.postponed.borrow_mut().insert(received.id);
            return Arrival::default();
        }
        let admitted = self.admit(received);
        self.compared.borrow_mut().extend(admitted.iter().filter_map(compared_key));
        let arrival = admitted.as_ref().map_or_else(
            |_| Arrival::default(),
            |admission| Arrival { key: open_key(admission), lane: lane_key(admission) },
        );
        self.admitted.borrow_mut().insert(received.id, admitted);
        arrival
    }

    /// Tells whether what was received cannot be decided without a submission's documents. Stores ask for everybody's documents after they
    /// have asked where what was received would stand.
    pub(super) fn needs_documents(&self, row: &Submission) -> bool {
        has_key_of(&self.compared.borrow(), row)
    }

    /// The lanes that what was received will stand in, one for each.
    pub(super) fn lanes(&self) -> Vec<LaneKey> {
        let admitted = self.admitted.borrow();
        admitted.values().flatten().filter_map(lane_key).collect()
    }

    fn postpones(&self, received: &Received) -> bool {
        self.postponed.borrow().contains(&received.id)
    }

    fn take(&self, received: &Received) -> Result<Admission, Refusal> {
        let admitted = self.admitted.borrow_mut().remove(&received.id);
        admitted.unwrap_or_else(|| self.admit(received))
    }

    /// A panic is this one's alone, as with any command.
    fn admit(&self, received: &Received) -> Result<Admission, Refusal> {
        let admit = |fuel: &mut Fuel| admitted(self.versions, received, fuel);
        let run = || self.tank.run(Fuel::of_many(), admit, |_| false).flatten();
        let admitted = catch_unwind(AssertUnwindSafe(run));
        admitted.unwrap_or_else(|_| {
            tracing::error!(submission = %received.id, "something received made the door panic");
            Err(Refusal::new(Code::Internal, "this could not be looked at; nothing was submitted"))
        })
    }
}

fn admitted(versions: &Versions, received: &Received, fuel: &mut Fuel) -> Result<Admission, Refusal> {
    let pipeline = versions.in_force_or_refuse(&received.pipeline)?;
    let payload = Json::parse(&received.payload).map_err(|error| {
        Refusal::new(Code::InvalidJson, format!("the payload is not strict JSON: {error}"))
    })?;
    let application = Application {
        caller: sender(received),
        payload,
        key: received.key.clone(),
        priority: received.priority,
        not_before: received.not_before,
        reason: received.reason.clone(),
        door: model::admit::Door::Sql,
    };
    let by_engine = *received.submitter == *NOTIFIER;
    let admission = if by_engine { admit_any } else { admit }(pipeline, application, fuel)?;
    Ok(admission.promised(received.id))
}

/// Whoever has the right to put something there may submit, and nothing else.
fn sender(received: &Received) -> Caller {
    Caller::new(received.submitter.clone(), Role::Submitter)
}

impl Commit<'_> {
    /// Decides what was received, each once: the commit that does takes it out of the inbox.
    pub(super) fn receive(&mut self, door: &Door<'_>) {
        for received in std::mem::take(&mut self.taken.inbox) {
            if door.postpones(&received) {
                continue;
            }
            self.changes.decided.push(received.id);
            if self.was_there(received.id) {
                tracing::error!(submission = %received.id, "what was received has an id that was used before; dropped");
                continue;
            }
            let outcome = door.take(&received).and_then(|admission| {
                let seed = self.draw();
                self.submit(&admission.into(), seed)
            });
            match outcome {
                Ok(Output::Submission(answered)) if answered.duplicate => {
                    self.tally.merged += 1;
                    self.record_unborn(&received, Fate::Merged(answered.row.id));
                }
                Ok(_) => self.tally.submitted += 1,
                Err(refusal) => {
                    *self.tally.refused.entry(refusal.code.as_str().into()).or_default() += 1;
                    self.record_unborn(&received, Fate::Refused(&refusal));
                }
            }
        }
    }

    fn record_unborn(&mut self, received: &Received, fate: Fate<'_>) {
        let seed = self.draw();
        let context = self.bare_context(seed);
        let sent = Unborn {
            id: received.id,
            caller: &sender(received),
            pipeline: &received.pipeline,
            definition: self.in_force(&received.pipeline),
            payload: &received.payload,
        };
        self.changes.events.push(unborn(sent, fate, &context));
    }
}
