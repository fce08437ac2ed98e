//! A submission's row: where it is, what it waits for, and what fences it.

mod attempt;
mod filter;
mod ttl;
mod wait;

pub use attempt::{Attempt, Attempts};
pub(crate) use ttl::TimeToLive;
pub use wait::{Cause, GivenBack, Lease, Seat, Slot, Stand, Wait};
pub use wire::submission::{
    Approval, Assignment, Children, Failure, Fingerprint, Investigation, InvestigationStatus, Progress,
    Reported, Status, SubmissionId,
};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::actor::Caller;
use crate::digest::Digest;
use crate::json::Json;
use crate::person::is_of;
use crate::time::Time;
use crate::trace::Trace;

/// The one row of a submission: everything but its documents. Stores keep it whole and index what `place` names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Submission {
    pub id: SubmissionId,
    pub pipeline: Name,
    pub version: u32,
    pub state: Name,
    pub status: Status,
    /// One per event; the ETag.
    pub revision: u64,
    /// One per write, kept by the store beside the row.
    #[serde(skip)]
    pub row_version: u64,
    /// One per grant and revocation of a lease, never reset.
    pub lease_no: u64,
    pub wait: Wait,
    /// The time at which to look at the row again. A lower bound: a renewal leaves it, an early look arms it anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer: Option<Time>,
    /// The number of the current try, from 1 on every visit of a state. Crashes do not count.
    pub attempt: u32,
    /// Failures of this visit, by the retry rule they count under.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<Name, u32>,
    /// Leases of this visit that ended without a word from their worker.
    #[serde(default)]
    pub crashes: u32,
    /// Leases of the current try that their workers gave back.
    #[serde(default, skip_serializing_if = "GivenBack::is_none")]
    pub given_back: GivenBack,
    #[serde(default)]
    pub requeues: u32,
    pub priority: i64,
    /// Given at the door; it outranks what the pipeline would derive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_given: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Name>,
    /// Queued behind the open submission that has its key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub key_waits: bool,
    /// The submission's place in a lane, while its state asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<Seat>,
    /// The hold or limit that took it out of its queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parked: Option<Name>,
    /// The counts of what became of the submissions that this one made.
    #[serde(default, skip_serializing_if = "Children::is_none")]
    pub children: Children,
    /// The place in its queue of the child that was made last: the next stand behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_child_at: Option<Time>,
    /// Set if the submission has made all of them: it makes no more, however often it comes back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sealed: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<Name, Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SubmissionId>,
    /// The state it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_from: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_good: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// An outcome whose edges could not be evaluated: a redrive tries them again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
    /// An action somebody was granted, whose task runs before the move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Request>,
    /// The last few settlements, newest last, so that an exact repeat gets its answer again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled: Vec<Settled>,
    /// The tries of workers that have ended.
    #[serde(default, skip_serializing_if = "Attempts::is_none")]
    pub attempts: Attempts,
    /// The revision that last changed the payload.
    pub payload_revision: u64,
    pub created_at: Time,
    pub entered_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Time>,
    /// The time at which the pipeline's ttl ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_at: Option<Time>,
    /// The time at which the state's ttl ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_ttl_at: Option<Time>,
    /// The time at which the documents are erased, once the submission has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erase_at: Option<Time>,
    /// Set if the documents were erased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
    /// The time at which the row itself goes, once the submission has ended. Its events stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forget_at: Option<Time>,
    /// The service levels it is measured by at present.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<SlaClock>,
    /// The approvals so far of an action that needs several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Approval>,
    /// The person whose review it is, until a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignment: Option<Assignment>,
    /// The number of notes about it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub notes: u32,
    /// The submitter's name, for actions that somebody else must take.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub submitter: Name,
    /// The person who submitted the first of the submission's parents, if it is a child: its submitter is a worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<Name>,
    /// Set while it is where somebody should look into how it ended. See [`Submission::investigation`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub investigate: Option<Investigation>,
    /// The trace the submission is part of, as far as its submitter said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// The hash of its newest leaf: what chains its events.
    pub leaf: Digest,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Submission {
    /// A row before its first event: nothing has happened to it.
    pub(crate) fn blank(pipeline: Name, version: u32, now: Time) -> Self {
        Submission {
            id: SubmissionId::NIL,
            pipeline,
            version,
            state: "".into(),
            status: Status::Open,
            revision: 0,
            row_version: 0,
            lease_no: 0,
            wait: Wait::Nothing,
            timer: None,
            attempt: 1,
            failures: BTreeMap::new(),
            crashes: 0,
            given_back: GivenBack::default(),
            requeues: 0,
            priority: 0,
            priority_given: None,
            key: None,
            key_waits: false,
            seat: None,
            parked: None,
            children: Children::default(),
            last_child_at: None,
            sealed: false,
            labels: BTreeMap::new(),
            parent: None,
            from: None,
            failed_from: None,
            last_good: None,
            error: None,
            kept: None,
            request: None,
            settled: Vec::new(),
            attempts: Attempts::default(),
            payload_revision: 0,
            created_at: now,
            entered_at: now,
            finished_at: None,
            ttl_at: None,
            state_ttl_at: None,
            erase_at: None,
            erased: false,
            forget_at: None,
            clocks: Vec::new(),
            approvals: Vec::new(),
            assignment: None,
            notes: 0,
            submitter: "".into(),
            on_behalf_of: None,
            investigate: None,
            trace: None,
            leaf: Digest([0; 32]),
        }
    }

    #[must_use]
    pub fn lease(&self) -> Option<&Lease> {
        match &self.wait {
            Wait::Lease(lease) => Some(lease),
            _ => None,
        }
    }

    /// Returns the key that it keeps from others.
    #[must_use]
    pub fn held_key(&self) -> Option<&Name> {
        self.key.as_ref().filter(|_| !self.status.is_final() && !self.key_waits)
    }

    /// Returns the key that it waits for.
    #[must_use]
    pub fn waited_key(&self) -> Option<&Name> {
        self.key.as_ref().filter(|_| !self.status.is_final() && self.key_waits)
    }

    /// Returns the lane that it holds.
    #[must_use]
    pub fn held_lane(&self) -> Option<&Name> {
        self.seat.as_ref().filter(|seat| seat.holds()).map(|seat| &seat.lane)
    }

    /// Returns the seat in which it waits for its turn in a lane. A hold takes it out of the line.
    #[must_use]
    pub fn seat_in_line(&self) -> Option<&Seat> {
        self.seat.as_ref().filter(|seat| seat.waits() && self.parked.is_none())
    }

    /// Returns the person behind the submission: whoever submitted it, or the first of its parents.
    #[must_use]
    pub fn person(&self) -> &Name {
        self.on_behalf_of.as_ref().unwrap_or(&self.submitter)
    }

    /// Tells whether a person submitted it, or had it submitted: by a worker of theirs, or as a child.
    pub(crate) fn is_submitted_by(&self, person: &str) -> bool {
        is_of(&self.submitter, person) || is_of(self.person(), person)
    }

    /// The investigation of how it ended. One that an action's task has open again has none, until that is given up.
    #[must_use]
    pub fn investigation(&self) -> Option<&Investigation> {
        self.investigate.as_ref().filter(|_| self.status.is_final())
    }

    /// Returns when time alone would change something.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        if self.status.is_final() {
            return [self.erase_at, self.forget_at].into_iter().flatten().min();
        }
        let wait = match &self.wait {
            Wait::Lease(lease) => {
                Some(lease.times_out_at.map_or(lease.expires_at, |at| at.min(lease.expires_at)))
            }
            Wait::Delay { until, .. } | Wait::Clock { until } if self.parked.is_none() => Some(*until),
            Wait::Person => self.assignment.as_ref().map(|assignment| assignment.until),
            _ => None,
        };
        [wait, self.over_at(), self.late_at(), self.escalates_at()].into_iter().flatten().min()
    }

    /// Returns since when a missed service level wants the submission to move on. A live lease and a granted action are
    /// awaited, and a dead letter stays where it is.
    #[must_use]
    pub fn escalates_at(&self) -> Option<Time> {
        let stays = self.status != Status::Open || self.lease().is_some() || self.request.is_some();
        let escalating = self.clocks.iter().filter(|clock| clock.late && clock.moves && !stays);
        escalating.map(|clock| clock.due_at).min()
    }

    /// Returns the time at which the submission will have missed the next of its service levels.
    #[must_use]
    pub fn late_at(&self) -> Option<Time> {
        self.clocks.iter().filter(|clock| !clock.late).map(|clock| clock.due_at).min()
    }
}

/// A running service level: when it will have been missed, and whether it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlaClock {
    /// The leg it measures; `None`: the state it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leg: Option<Name>,
    /// The time at which the clock began; not known of clocks that ran before this was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    pub due_at: Time,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
    /// Set if missing it moves the submission on, which is yet to be done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moves: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub outcome: Name,
    pub worker: Name,
    pub lease_no: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub action: Name,
    /// The index of the action's edge that was granted.
    pub edge: usize,
    pub to: Name,
    pub caller: Caller,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    /// Set if the submission had ended. No time to live runs while the task of such an action does: there is nothing
    /// left that could expire.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
}

/// A settlement that was taken, and what it was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// The digest of the token and all that was said with it.
    pub digest: Digest,
    pub state: Name,
    pub status: Status,
}

/// The documents of a submission, stored apart from its row and loaded only where something reads them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Documents {
    pub payload: Json,
    /// The last output of each state's task.
    pub outputs: BTreeMap<Name, Json>,
    pub result: Option<Json>,
    /// By the revision of the amendment: the members of the payload that it replaced, as they were before.
    pub replaced: BTreeMap<u64, Json>,
}

impl Documents {
    /// Counts the bytes of text in all documents.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let others = self.outputs.values().chain(self.replaced.values());
        others.chain([&self.payload]).chain(&self.result).map(|document| document.as_str().len()).sum()
    }

    /// Sets a document by its stored name: the inverse of `DocumentName`'s text.
    pub fn set(&mut self, name: &str, body: Json) {
        match name {
            "payload" => self.payload = body,
            "result" => self.result = Some(body),
            _ if name.starts_with("replaced/") => {
                let revision = name.strip_prefix("replaced/").and_then(|revision| revision.parse().ok());
                self.replaced.extend(revision.map(|revision| (revision, body)));
            }
            _ => {
                let state = name.strip_prefix("output/").unwrap_or(name);
                self.outputs.insert(state.into(), body);
            }
        }
    }
}
