//! The verbs of a step, as read from the file.

use std::collections::BTreeMap;

use model::command::ReviewStep;
use model::{Caller, Json, Millis, Name};

#[derive(Debug)]
pub(super) enum Verb {
    Submit(Box<Submit>),
    Claim(Claim),
    Answer(Box<Answer>),
    Spawn {
        children: Vec<Child>,
        lease: Option<String>,
    },
    Fail(Fail),
    Snooze {
        span: Millis,
        lease: Option<String>,
    },
    GiveBack {
        lease: Option<String>,
    },
    Renew {
        lease: Option<String>,
    },
    /// The worker says nothing more, and its lease runs out.
    Crash {
        times: u32,
    },
    /// The worker goes on renewing and never answers.
    Stall,
    Act(Box<Act>),
    Amend {
        caller: Caller,
        patch: Json,
    },
    Redrive {
        caller: Caller,
        reason: Option<String>,
    },
    Acknowledge {
        caller: Caller,
        note: Option<String>,
    },
    Review {
        caller: Caller,
        step: ReviewStep,
    },
    Note {
        caller: Caller,
        text: String,
    },
    Hold(Box<Hold>),
    Release(Option<String>),
    Pass(Millis),
}

#[derive(Debug)]
pub(super) struct Submit {
    pub(super) payload: Json,
    pub(super) pipeline: Option<String>,
    pub(super) name: Option<String>,
    pub(super) caller: Caller,
    pub(super) reason: Option<String>,
    pub(super) key: Option<String>,
    pub(super) priority: Option<i64>,
    pub(super) not_before: Option<Millis>,
    /// Set if it comes by a public form.
    pub(super) by_form: bool,
}

#[derive(Debug)]
pub(super) struct Claim {
    pub(super) task: Name,
    pub(super) name: Option<String>,
    pub(super) labels: BTreeMap<Name, Name>,
    pub(super) max: usize,
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) outcome: Name,
    pub(super) output: Option<Json>,
    pub(super) result: Option<Json>,
    pub(super) children: Vec<Child>,
    pub(super) lease: Option<String>,
}

#[derive(Debug)]
pub(super) struct Child {
    pub(super) name: String,
    pub(super) payload: Json,
}

#[derive(Debug)]
pub(super) struct Fail {
    pub(super) code: Name,
    pub(super) message: String,
    pub(super) retryable: bool,
    pub(super) times: u32,
    pub(super) lease: Option<String>,
}

#[derive(Debug)]
pub(super) struct Act {
    pub(super) action: Name,
    pub(super) caller: Caller,
    pub(super) reason: Option<String>,
    pub(super) data: Option<Json>,
    pub(super) to: Option<Name>,
}

#[derive(Debug)]
pub(super) struct Hold {
    pub(super) name: Option<String>,
    pub(super) pipeline: Option<Name>,
    pub(super) labels: BTreeMap<Name, Name>,
    pub(super) lane: Option<Name>,
    pub(super) submission: Option<String>,
    pub(super) reason: String,
    pub(super) lasts: Option<Millis>,
}
