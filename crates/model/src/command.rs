//! Commands: what can be asked of a submission. Imperatives, a closed list, one file of `decide` each.

use crate::Name;
use crate::actor::Caller;
use crate::admit::Admission;
use crate::json::Json;
use crate::submission::Failure;
use crate::time::Millis;
use crate::token::Token;

#[derive(Debug, Clone)]
pub enum Command {
    Submit(Box<Admission>),
    Claim(Claim),
    Renew(Renew),
    Finish(Finish),
    Fail(Fail),
    Snooze(Snooze),
    /// Time has passed: do what is due.
    Wake,
    Act(Act),
}

/// Take the lease of a submission that waits for one of these tasks.
#[derive(Debug, Clone)]
pub struct Claim {
    pub worker: Name,
    pub tasks: Vec<Name>,
}

#[derive(Debug, Clone)]
pub struct Renew {
    pub token: Token,
}

#[derive(Debug, Clone)]
pub struct Finish {
    pub token: Token,
    pub outcome: Name,
    pub output: Option<Json>,
    pub result: Option<Json>,
}

#[derive(Debug, Clone)]
pub struct Fail {
    pub token: Token,
    pub failure: Failure,
    pub retryable: bool,
}

/// "Not yet": come back later; costs no attempt.
#[derive(Debug, Clone)]
pub struct Snooze {
    pub token: Token,
    pub span: Millis,
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
