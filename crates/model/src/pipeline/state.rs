//! A state, its one kind, and the edges that leave it.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::problem::Span;
use crate::Name;
use crate::actor::ActorKind;
use crate::expr::Expr;
use crate::json::Json;
use crate::role::Role;
use crate::schema::Schema;
use crate::submission::Status;
use crate::time::{Millis, Time};

#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The place of the state's name in the file; empty once the whole was checked.
    pub at: Span,
    pub name: Name,
    pub title: Option<String>,
    pub phase: Option<Name>,
    pub kind: Kind,
    pub actions: Vec<Action>,
    /// The edges for a child whose parent ended cancelled.
    pub on_parent_cancelled: Vec<Edge>,
    pub ttl: Option<Ttl>,
    pub sla: Option<Sla>,
    pub notify: Vec<Name>,
    /// The time after which the documents of a submission that ended here are erased.
    pub retention: Option<Millis>,
    /// The time after which the submission's row goes.
    pub forget: Option<Millis>,
    pub lane: LaneRule,
    /// Set if leaving the state by success makes it `last_good`.
    pub checkpoint: bool,
    /// The ways of one whose workers stopped answering too often; without one, the dead letter.
    pub on_crashed: Vec<Edge>,
    /// The ways of one whose guards cannot be evaluated; without one, the dead letter.
    pub on_guard_error: Vec<Edge>,
    /// Schemas of what its worker answers, by outcome.
    pub output: BTreeMap<Name, Schema>,
}

impl State {
    #[must_use]
    pub fn action(&self, name: &str) -> Option<&Action> {
        self.actions.iter().find(|action| &*action.name == name)
    }

    /// The task that runs on entering the state, if it has one.
    #[must_use]
    pub fn task(&self) -> Option<&Task> {
        match &self.kind {
            Kind::Task { task, .. } => Some(task),
            Kind::Join { task, .. } => task.as_ref(),
            _ => None,
        }
    }

    /// The role that acknowledges what ended here, where somebody should look into it.
    #[must_use]
    pub fn investigate(&self) -> Option<Role> {
        match self.kind {
            Kind::Final { investigate, .. } => investigate,
            _ => None,
        }
    }

    /// The status of what goes on in it, or has ended there.
    #[must_use]
    pub fn status(&self) -> Status {
        match &self.kind {
            Kind::Final { outcome, .. } => outcome.status(),
            _ => Status::Open,
        }
    }

    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self.kind, Kind::Final { .. })
    }
}

/// Every state is of exactly one kind: it says what the submission waits for there.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Pass {
        next: Vec<Edge>,
    },
    Task {
        task: Task,
        on: BTreeMap<Name, Vec<Edge>>,
        on_error: Vec<Edge>,
    },
    Wait {
        clock: Clock,
        next: Vec<Edge>,
    },
    Human {
        review: Option<Role>,
    },
    Join {
        child: Name,
        task: Option<Task>,
        on: BTreeMap<Name, Vec<Edge>>,
        on_error: Vec<Edge>,
        on_all_succeeded: Vec<Edge>,
        on_some_failed: Vec<Edge>,
    },
    Final {
        outcome: FinalKind,
        /// The role that may say that somebody has looked into the end, where somebody should.
        investigate: Option<Role>,
        on_reopened: Vec<Edge>,
    },
}

impl Kind {
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Kind::Pass { .. } => "pass",
            Kind::Task { .. } => "task",
            Kind::Wait { .. } => "wait",
            Kind::Human { .. } => "human",
            Kind::Join { .. } => "join",
            Kind::Final { .. } => "final",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinalKind {
    Success,
    Failure,
    Cancelled,
}

impl FinalKind {
    #[must_use]
    pub fn status(self) -> Status {
        match self {
            FinalKind::Success => Status::Succeeded,
            FinalKind::Failure => Status::Failed,
            FinalKind::Cancelled => Status::Cancelled,
        }
    }
}

/// Work handed to a worker under a lease.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub name: Name,
    /// Static configuration, handed over with the task.
    pub with: Option<Json>,
    /// Liveness: the worker must renew within it.
    pub lease: Millis,
    /// One attempt, however lively. `None`: no bound.
    pub timeout: Option<Millis>,
    pub retry: Retry,
}

/// The rules for trying a failed attempt again: a general one and ones for single error codes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Retry {
    pub rule: RetryRule,
    pub on: BTreeMap<Name, RetryRule>,
}

impl Retry {
    /// The rule for an error code and the name its failures are counted under (`""` for the general rule).
    #[must_use]
    pub fn rule_for(&self, code: &str) -> (&str, &RetryRule) {
        match self.on.get_key_value(code) {
            Some((name, rule)) => (name, rule),
            None => ("", &self.rule),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct RetryRule {
    pub times: Times,
    pub delay: Every,
    pub backoff: Backoff,
    pub max: Option<Millis>,
    /// 0.0 to 1.0: the share of the delay that chance may add or take.
    pub jitter: f64,
}

impl Default for RetryRule {
    fn default() -> Self {
        RetryRule {
            times: Times::AtMost(0),
            delay: Every::Same(Millis::ZERO),
            backoff: Backoff::Constant,
            max: None,
            jitter: 0.0,
        }
    }
}

/// Tries after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    AtMost(u32),
    Forever,
}

/// One delay for all tries, or one for each (the last goes on).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Every {
    Same(Millis),
    Each(Vec<Millis>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backoff {
    Constant,
    Linear,
    Exponential,
}

/// One way out of a state (or into the pipeline). Action-only keys keep their defaults elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The place of the edge in the file; empty once the whole was checked.
    pub at: Span,
    /// `None` only on `on.error`, `on.crashed` and `on.guard_error`: the dead letter.
    pub to: Option<Choice>,
    pub when: Option<Expr>,
    pub trigger: Name,
    pub metadata: Vec<(Name, Expr)>,
    /// The error the submission has after the move, whatever made it.
    pub error: Option<EdgeError>,
    /// Recorded instead of the kind of whoever made the move.
    pub actor: Option<ActorKind>,
    pub notify: Vec<Name>,
    pub role: Option<Role>,
    pub reason: bool,
    pub data: Option<Schema>,
    pub task: Option<Task>,
    pub approvals: u32,
    pub self_approval: bool,
    /// The people and roles that may act; where there are none, the role of the edge says who.
    pub reviewers: Vec<Reviewer>,
    /// Set if only whoever submitted it may act.
    pub only_submitter: bool,
}

/// Somebody whose right an action is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reviewer {
    Person(Name),
    Role(Role),
}

impl Reviewer {
    /// The mark before the name of a role.
    pub(crate) const ROLE: &str = "role:";
}

impl fmt::Display for Reviewer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reviewer::Person(name) => f.write_str(name),
            Reviewer::Role(role) => write!(f, "{}{role}", Reviewer::ROLE),
        }
    }
}

/// An error that an edge states: `error = { code, message }`.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeError {
    pub code: Expr,
    pub message: Option<Expr>,
}

/// The target of an edge: one state, or a list the actor picks from (unpicked: the state it failed in).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    One(Name),
    Pick(Vec<Name>),
}

impl Choice {
    #[must_use]
    pub fn states(&self) -> &[Name] {
        match self {
            Choice::One(name) => std::slice::from_ref(name),
            Choice::Pick(names) => names,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    pub name: Name,
    pub edges: Vec<Edge>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ttl {
    pub after: After,
    pub edge: Edge,
}

/// A span that is written down or computed.
#[derive(Debug, Clone, PartialEq)]
pub enum After {
    Fixed(Stretch),
    Computed(Expr),
}

/// The end of a wait: so long after entry, at a time, or what an expression gives (either).
#[derive(Debug, Clone, PartialEq)]
pub enum Clock {
    For(Stretch),
    Until(Time),
    Computed(Expr),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Sla {
    pub target: Option<Stretch>,
    pub p95: Option<Stretch>,
    pub calendar: Option<Name>,
    /// The consequences of missing it, beside the event that tells of it.
    pub missed: Option<Missed>,
}

impl Sla {
    /// Tells whether missing it moves the submission on.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.missed.as_ref().is_some_and(|missed| missed.edge.is_some())
    }
}

/// The consequences of a missed service level.
#[derive(Debug, Clone, PartialEq)]
pub struct Missed {
    pub notify: Vec<Name>,
    /// The edge along which the submission moves on; without one, it stays.
    pub edge: Option<Edge>,
}

/// The most business days of a stretch: they are counted one by one.
const BUSINESS_DAYS_MAX: u32 = 1_000;

/// A span, or a number of business days of a calendar: `15s`, `5bd`.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stretch {
    Time(Millis),
    BusinessDays(u32),
}

impl Stretch {
    #[must_use]
    pub fn is_zero(self) -> bool {
        matches!(self, Stretch::BusinessDays(0) | Stretch::Time(Millis::ZERO))
    }
}

impl FromStr for Stretch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_suffix("bd").and_then(|days| days.parse::<u32>().ok()) {
            Some(days) if days > BUSINESS_DAYS_MAX => {
                Err(format!("{text} is too long: at most {BUSINESS_DAYS_MAX}bd"))
            }
            Some(days) => Ok(Stretch::BusinessDays(days)),
            None => match text.parse::<Millis>() {
                Ok(span) => Ok(Stretch::Time(span)),
                Err(error) => Err(format!("{error}; business days like 5bd")),
            },
        }
    }
}

impl fmt::Display for Stretch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stretch::Time(span) => span.fmt(f),
            Stretch::BusinessDays(days) => write!(f, "{days}bd"),
        }
    }
}

/// The meaning of a state for its submission's lane.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LaneRule {
    /// Occupies the lane once it holds it.
    #[default]
    Keep,
    /// Left only as the holder.
    Wait,
    /// Gives the lane on.
    Free,
}
