//! Commands: what can be asked of a submission. Imperatives, a closed list, one file of `decide` each.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Name;
use crate::actor::Caller;
use crate::admit::Admission;
use crate::entry::EntryChange;
use crate::json::Json;
use crate::pipeline::Pipeline;
use crate::submission::{Failure, Progress, Status};
use crate::time::Millis;
use crate::token::LeaseToken;

#[derive(Debug, Clone)]
pub enum Command {
    Submit(Arc<Admission>),
    Claim(Claim),
    Renew(Renew),
    Finish(Finish),
    Fail(Fail),
    Snooze(Snooze),
    GiveBack(GiveBack),
    Spawn(Spawn),
    Child(Child),
    /// The submission's parent ended cancelled: the submission follows, where its state says so.
    ParentCancelled,
    /// Time has passed: do what is due.
    Wake,
    Act(Act),
    Amend(Amend),
    Redrive(Redrive),
    Acknowledge(Acknowledge),
    Review(Review),
    Note(Note),
    Migrate(Migrate),
    /// The lane it is first in line for is free.
    Seat,
    /// The key it waited for is free.
    TakeKey,
    /// The reason why the submission was parked may be over: look again.
    Unpark,
}

/// Take the lease of a submission that waits for one of these tasks.
#[derive(Debug, Clone)]
pub struct Claim {
    pub worker: Name,
    pub tasks: Vec<Name>,
    /// The time the lease is to be good without a renewal; none: as the state says.
    pub lease: Option<Millis>,
}

#[derive(Debug, Clone)]
pub struct Renew {
    pub token: LeaseToken,
    pub progress: Option<Progress>,
}

#[derive(Debug, Clone)]
pub struct Finish {
    pub token: LeaseToken,
    pub outcome: Name,
    pub output: Option<Json>,
    pub result: Option<Json>,
    /// Submissions it makes, in the commit of the answer.
    pub children: Vec<Admission>,
    /// Entries of systems that it changes, in the commit of the answer: all of them, or the answer is refused.
    pub entries: Vec<EntryChange>,
}

/// Make children before the task is done. The lease stays.
#[derive(Debug, Clone)]
pub struct Spawn {
    pub token: LeaseToken,
    pub children: Vec<Admission>,
}

/// A child was made, ended, died or went on.
#[derive(Debug, Clone, Copy)]
pub struct Child {
    pub before: Status,
    pub after: Status,
}

#[derive(Debug, Clone)]
pub struct Fail {
    pub token: LeaseToken,
    pub failure: Failure,
    pub retryable: bool,
    /// The pause before another try; none: as the state's rule says. How often it is tried is the rule's in any case.
    pub after: Option<Millis>,
}

/// "Not yet": come back later; costs no attempt.
#[derive(Debug, Clone)]
pub struct Snooze {
    pub token: LeaseToken,
    pub span: Millis,
}

/// "Somebody else": the worker stops. The task is ready at once; costs no attempt.
#[derive(Debug, Clone)]
pub struct GiveBack {
    pub token: LeaseToken,
}

#[derive(Debug, Clone)]
pub struct Act {
    pub caller: Caller,
    pub action: Name,
    pub reason: Option<String>,
    pub data: Option<Json>,
    pub to: Option<Name>,
    /// The revision the caller saw.
    pub if_match: Option<u64>,
}

/// Change what the payload says, in the fields the pipeline lets be amended.
#[derive(Debug, Clone)]
pub struct Amend {
    pub caller: Caller,
    /// An RFC 7386 merge patch.
    pub patch: Json,
    pub if_match: Option<u64>,
}

/// Set a dead letter going again, where it stopped.
#[derive(Debug, Clone)]
pub struct Redrive {
    pub caller: Caller,
    pub reason: Option<String>,
}

/// Say that somebody has looked into how it ended.
#[derive(Debug, Clone)]
pub struct Acknowledge {
    pub caller: Caller,
    /// The result of looking into the end.
    pub note: Option<String>,
    /// The revision the caller saw.
    pub if_match: Option<u64>,
}

/// Dispose of a review: whose it is, for how long.
#[derive(Debug, Clone)]
pub struct Review {
    pub caller: Caller,
    pub step: ReviewStep,
    /// The revision the caller saw.
    pub if_match: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewStep {
    /// The caller takes it on, or keeps it for longer.
    Claim {
        span: Option<Millis>,
    },
    /// Whoever has it gives it to somebody else.
    HandOver {
        to: Name,
        span: Option<Millis>,
    },
    Release,
}

/// Write down what others should know.
#[derive(Debug, Clone)]
pub struct Note {
    pub caller: Caller,
    pub text: String,
    /// The revision the caller saw.
    pub if_match: Option<u64>,
}

/// Follow another version of the pipeline from here on.
#[derive(Debug, Clone)]
pub struct Migrate {
    pub caller: Caller,
    pub target: Arc<Pipeline>,
    /// The new places of states that the target has not, or that shall go elsewhere.
    pub map: BTreeMap<Name, Name>,
    pub reason: Option<String>,
}
