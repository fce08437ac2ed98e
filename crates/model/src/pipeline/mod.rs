//! A pipeline: a declared state machine, as loaded from its file and checked as a whole.
//!
//! `load` is the only way to get one, so whoever holds a `Pipeline` holds one without problems: every edge leads to a
//! state that exists, every guard compiled, every list of edges ends. `decide` relies on that.

mod check;
mod dead_letters;
pub mod diff;
mod file;
mod load;
pub mod metric;
mod moves;
mod nearest;
mod params;
mod payload_check;
mod priority;
mod problem;
mod read;
mod render;
mod sharing;
mod source;
mod state;
mod template;

pub use dead_letters::Cause as DeathCause;
pub use load::{load, load_applied};
pub use metric::{Measure, Metric, MetricKind, Series};
pub use moves::{By, Move};
pub use params::{ParamSet, merged};
pub use payload_check::PayloadCheck;
pub use priority::{AGE_STEP, Ageing, Priority};
pub use problem::{CODES, Problem, Problems, Span};
pub use render::Position;
pub use source::{Source, attachments};
pub use state::{
    Action, After, Backoff, Choice, Clock, Edge, EdgeError, Every, FinalKind, Kind, LaneRule, Missed, Retry,
    RetryRule, Reviewer, Sla, State, Stretch, Task, Times, Ttl,
};
pub use template::{Piece, Template};

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::expr::Expr;
use crate::json::{self, Json};
use crate::role::Role;
use crate::schema::Schema;
use crate::submission::{Status, Submission};
use crate::time::{Calendar, Cron, Time};
use crate::{Digest, Name};

/// A pipeline's machine, ready to decide with.
#[derive(Debug, Clone)]
pub struct Pipeline {
    pub name: Name,
    pub version: u32,
    /// The number of this set of parameters among those the version has had, from 1. No part of the file: whoever keeps
    /// definitions counts them.
    pub revision: u32,
    pub title: String,
    /// The exact bytes that were applied: definition, the files it names, and the deployment's parameters.
    pub definition: Json,
    /// SHA-256 of `definition`; every event names it, so a history says which rules it followed.
    pub digest: Digest,
    /// SHA-256 of the definition without its parameters: revisions of one version have it in common.
    pub machine: Digest,
    pub payload: Option<Schema>,
    /// The check that the system of the pipeline brings. No part of the file: whoever runs the system sets it.
    pub payload_check: Option<PayloadCheck>,
    pub key: Option<Expr>,
    pub on_duplicate: OnDuplicate,
    pub labels: Vec<(Name, Expr)>,
    /// The way in: edges like any other, tried in order.
    pub start: Vec<Edge>,
    /// The parameters as expressions see them: the file's defaults, and what the deployment sets in their place.
    pub params: Arc<json::Value>,
    pub(crate) default_params: Arc<json::Value>,
    /// The parameters the deployment sets.
    pub set_params: ParamSet,
    pub priority: Priority,
    pub ageing: Ageing,
    pub ttl: Option<Ttl>,
    pub lane: Option<Lane>,
    pub limits: BTreeMap<Name, u32>,
    pub amend: Option<Amend>,
    pub holds: Holds,
    /// Set if the file promises that nothing ends as a dead letter; the promise was checked then.
    pub forbids_dead_letters: bool,
    pub schedules: Vec<Schedule>,
    pub calendars: BTreeMap<Name, Calendar>,
    pub notify: BTreeMap<Name, Notify>,
    pub slas: BTreeMap<Name, Leg>,
    pub metrics: BTreeMap<Name, Metric>,
    /// In the order of the file: the order people draw and list them in.
    pub states: Vec<Arc<State>>,
    pub(crate) by_name: BTreeMap<Name, usize>,
    /// The documents that an expression evaluated on a move reads; where none does, they are not even loaded.
    pub reads: Reads,
}

impl Pipeline {
    #[must_use]
    pub fn state(&self, name: &str) -> Option<&State> {
        self.position(name).map(|index| &*self.states[index])
    }

    /// Returns the index of a state in `states`.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The pipeline its submissions make children of, if they do.
    #[must_use]
    pub fn child(&self) -> Option<&Name> {
        self.states.iter().find_map(|state| match &state.kind {
            Kind::Join { child, task: Some(_), .. } => Some(child),
            _ => None,
        })
    }

    /// The task a submission wants run or has a worker for: that of a granted action, else its state's.
    ///
    /// # Panics
    /// Panics if the submission waits for no worker.
    #[must_use]
    pub fn wanted_task(&self, row: &Submission) -> &Task {
        let state = self.known(&row.state);
        let task = match &row.request {
            Some(request) => state
                .action(&request.action)
                .and_then(|action| action.edges.get(request.edge))
                .and_then(|edge| edge.task.as_ref()),
            None => state.task(),
        };
        task.expect("a submission waits for a worker only where its version declares a task")
    }

    /// Every task its states and actions run.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.states.iter().flat_map(|state| {
            let edges = state.actions.iter().flat_map(|action| &action.edges);
            state.task().into_iter().chain(edges.filter_map(|edge| edge.task.as_ref()))
        })
    }

    /// The states in which people review, all or those that one role is asked to look at.
    pub fn reviewed_by(&self, role: Option<Role>) -> impl Iterator<Item = &State> {
        self.states.iter().map(|state| &**state).filter(move |state| match state.kind {
            Kind::Human { review: Some(by) } => role.is_none_or(|role| role == by),
            _ => false,
        })
    }

    /// Tells whether an outcome of the task a submission is leased for may take it out of its lane at once.
    #[must_use]
    pub fn may_leave_lane(&self, row: &Submission) -> bool {
        let outcomes = match &self.known(&row.state).kind {
            Kind::Task { on, .. } | Kind::Join { on, .. } if row.lease().is_some() => on,
            _ => return false,
        };
        let leaves = |to: &Name| self.known(to).is_final() || self.known(to).lane == LaneRule::Free;
        outcomes.values().flatten().any(|edge| matches!(&edge.to, Some(Choice::One(to)) if leaves(to)))
    }

    /// Tells whether some state or action of the pipeline runs this task.
    #[must_use]
    pub fn has_task(&self, name: &str) -> bool {
        self.tasks().any(|task| &*task.name == name)
    }

    /// A metric of this pipeline that cannot be told beside one of another pipeline's, and that one.
    #[must_use]
    pub fn metric_clash<'a>(&'a self, other: &'a Pipeline) -> Option<(&'a Name, &'a Name)> {
        let pairs = self.metrics.iter().flat_map(|own| other.metrics.iter().map(move |theirs| (own, theirs)));
        let mut clashing = pairs
            .filter(|((name, own), (taken, theirs))| metric::clash((name, own.kind), (taken, theirs.kind)));
        clashing.next().map(|((name, _), (taken, _))| (name, taken))
    }

    /// Returns the time at which a span of a service level is over that began at `since`.
    #[must_use]
    pub fn due(&self, sla: &Sla, span: Stretch, since: Time) -> Time {
        self.over(span, sla.calendar.as_deref(), since)
    }

    /// Returns the time at which a stretch is over that began at `since`. Business days are those of the calendar of this
    /// name, else of the one called `default`, else all but weekends.
    #[must_use]
    pub fn over(&self, stretch: Stretch, calendar: Option<&str>, since: Time) -> Time {
        match stretch {
            Stretch::Time(span) => since.plus(span),
            Stretch::BusinessDays(days) => match self.calendars.get(calendar.unwrap_or("default")) {
                Some(calendar) => calendar.after(since, days),
                None => Calendar::default().after(since, days),
            },
        }
    }

    /// Returns the status of a submission as its parent counts it. One that has ended is open while the task of an action runs, but it goes
    /// on only with the move after that, if it does: until then it stands as it ended.
    #[must_use]
    pub fn standing(&self, row: &Submission) -> Status {
        match self.state(&row.state).map(|state| &state.kind) {
            Some(Kind::Final { outcome, .. }) if row.request.is_some() => outcome.status(),
            _ => row.status,
        }
    }

    /// The state a stored row names. A row is pinned to the version it was made under, so the state is there.
    pub(crate) fn known(&self, name: &str) -> &State {
        self.state(name).expect("a submission's state exists in the version it is pinned to")
    }
}

/// The documents of a submission that the expressions of its moves look into.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reads {
    pub payload: bool,
    pub outputs: bool,
}

impl Reads {
    #[must_use]
    pub fn any(self) -> bool {
        self.payload || self.outputs
    }
}

/// The answer to a second submission with the key of an open one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnDuplicate {
    /// The open one stands for a submission with the same payload; one with another is a conflict.
    #[default]
    Return,
    /// The open one stands for every submission with its key, whatever its payload.
    ReturnAny,
    Reject,
    Queue,
}

impl OnDuplicate {
    /// Tells whether the answer depends on the payload of the open one.
    #[must_use]
    pub fn compares(self) -> bool {
        self == OnDuplicate::Return
    }

    /// Tells whether an open submission may stand for another.
    #[must_use]
    pub fn merges(self) -> bool {
        matches!(self, OnDuplicate::Return | OnDuplicate::ReturnAny)
    }
}

/// One holder at a time per lane key.
#[derive(Debug, Clone)]
pub struct Lane {
    pub key: Expr,
    pub tie: Option<Expr>,
    pub on_dead: OnDead,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnDead {
    #[default]
    Free,
    Block,
}

#[derive(Debug, Clone)]
pub struct Amend {
    pub fields: Vec<Name>,
    pub role: Role,
    pub lease: AmendLease,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AmendLease {
    #[default]
    Keep,
    Restart,
}

/// The effect of holds on a pipeline: they stop its work or only feed `held` to its guards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Holds {
    #[default]
    Stop,
    Route,
}

/// Submits by itself.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// The schedule's identity: another time or another payload is another schedule.
    pub id: Name,
    pub cron: Cron,
    pub payload: Json,
}

/// A notification's channel and text.
#[derive(Debug, Clone)]
pub struct Notify {
    pub mail: Option<Expr>,
    pub webhook: Option<Expr>,
    /// The text of its mails; without one, a short text of our own.
    pub template: Option<Template>,
}

/// A service level between two points of the machine. Without `from` it begins when the submission does.
#[derive(Debug, Clone)]
pub struct Leg {
    pub from: Vec<Name>,
    pub to: Vec<Name>,
    pub not_via: Vec<Name>,
    pub sla: Sla,
}
