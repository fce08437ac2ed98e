//! Finds the states that can end as dead letters, and the causes: a machine whose file leaves no such way has none.

use wire::api::SEALED;

use super::moves::By;
use super::{After, Choice, Clock, Edge, Kind, Pipeline, State};
use crate::decide::clock_time;
use crate::expr::{Expr, Out};
use crate::json::Value;
use crate::submission::Failure;
use crate::time::Time;

/// A cause that can make a dead letter of a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The tries of its task are used up.
    Error,
    /// The submission's workers stop answering.
    Crashed,
    /// A guard cannot be evaluated.
    GuardError,
}

impl Cause {
    /// The name under `on` of the edges that lead elsewhere.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Cause::Error => "error",
            Cause::Crashed => "crashed",
            Cause::GuardError => "guard_error",
        }
    }
}

impl Pipeline {
    /// The states in which a submission can become a dead letter, each with what may make it one. An expression counts
    /// as one that may fail unless parameters and labels alone show that it cannot.
    #[must_use]
    pub fn dead_letters(&self) -> Vec<(&State, Vec<Cause>)> {
        let states = self.states.iter().map(|state| &**state);
        states
            .map(|state| (state, self.causes_of_death(state)))
            .filter(|(_, causes)| !causes.is_empty())
            .collect()
    }

    fn causes_of_death(&self, state: &State) -> Vec<Cause> {
        let mut causes = Vec::new();
        if state.task().is_some() {
            let (Kind::Task { on_error, .. } | Kind::Join { on_error, .. }) = &state.kind else {
                unreachable!("only these kinds have a task")
            };
            if !leads_on(on_error) {
                causes.push(Cause::Error);
            }
            if !leads_on(&state.on_crashed) {
                causes.push(Cause::Crashed);
            }
        }
        let ways = &state.on_guard_error;
        let is_caught = leads_on(ways) && self.targets(ways).all(|to| self.is_entered_safely(to));
        if !is_caught && self.guards_may_fail(state) {
            causes.push(Cause::GuardError);
        }
        causes
    }

    /// Tells whether something of the state is evaluated that may fail, while nobody is there to be refused.
    fn guards_may_fail(&self, state: &State) -> bool {
        let by_itself = |by: &By| !matches!(by, By::Start | By::Action(_) | By::GuardError);
        let ways: Vec<(By, &[Edge])> = self.ways(state).into_iter().filter(|(by, _)| by_itself(by)).collect();
        let edges = || ways.iter().flat_map(|(_, edges)| edges.iter());
        let moves = edges().any(|edge| !edge.targets().is_empty());
        let priority =
            self.priority.value.as_ref().is_some_and(|priority| !self.is_sure(priority, is_integer));
        // Waiting anew, after a lane or a hold, evaluates the clock of the state itself.
        self.has_unsure_clock(state)
            || moves && priority
            || edges().any(|edge| {
                expressions(edge).any(|(expr, fits)| !self.is_sure(expr, fits) && !expr.reads("output"))
            })
            || edges()
                .flat_map(Edge::targets)
                .filter_map(|to| self.state(to))
                .any(|to| self.has_unsure_time(to))
    }

    /// Tells whether an expression gives nothing but what fits, whatever the submission is.
    fn is_sure(&self, expr: &Expr, fits: Fits) -> bool {
        let labels: Vec<&str> = self.labels.iter().map(|(name, _)| &**name).collect();
        expr.values(&self.params, &labels).is_some_and(|values| values.iter().all(fits))
    }

    /// Tells whether entering the state computes something that is not known to be a time.
    fn has_unsure_time(&self, state: &State) -> bool {
        let ttl = state.ttl.as_ref().map(|ttl| &ttl.after);
        let unsure = |after: &After| matches!(after, After::Computed(expr) if !self.is_sure(expr, is_time));
        ttl.is_some_and(unsure) || self.has_unsure_clock(state)
    }

    fn has_unsure_clock(&self, state: &State) -> bool {
        matches!(&state.kind, Kind::Wait { clock: Clock::Computed(expr), .. } if !self.is_sure(expr, is_time))
    }

    fn targets<'a>(&'a self, edges: &'a [Edge]) -> impl Iterator<Item = &'a State> {
        edges.iter().flat_map(Edge::targets).filter_map(|to| self.state(to))
    }

    /// Tells whether entering the state evaluates nothing that may fail, and nothing after it in the same commit does.
    fn is_entered_safely(&self, state: &State) -> bool {
        if self.has_unsure_time(state) {
            return false;
        }
        let next: Vec<&[Edge]> = match &state.kind {
            Kind::Pass { next } => vec![next],
            Kind::Join { on_all_succeeded, on_some_failed, .. } => vec![on_all_succeeded, on_some_failed],
            Kind::Task { .. } | Kind::Wait { .. } | Kind::Human { .. } | Kind::Final { .. } => return true,
        };
        let rests = |state: &State| {
            !self.has_unsure_time(state) && !matches!(state.kind, Kind::Pass { .. } | Kind::Join { .. })
        };
        next.into_iter().all(|edges| {
            edges.iter().flat_map(expressions).all(|(expr, fits)| self.is_sure(expr, fits))
                && self.targets(edges).all(rests)
        })
    }
}

fn leads_on(edges: &[Edge]) -> bool {
    !edges.is_empty() && edges.iter().all(|edge| matches!(edge.to, Some(Choice::One(_))))
}

/// A check that a value is one that its place takes.
type Fits = fn(&Out) -> bool;

/// Lists the expressions that are evaluated along an edge, each with what it must give.
fn expressions(edge: &Edge) -> impl Iterator<Item = (&Expr, Fits)> {
    let guard = edge.when.iter().map(|expr| (expr, is_truth as Fits));
    let metadata = edge.metadata.iter().map(|(_, expr)| (expr, is_anything as Fits));
    let codes = edge.error.iter().map(|error| (&error.code, is_code as Fits));
    let messages = edge.error.iter().filter_map(|error| Some((error.message.as_ref()?, is_anything as Fits)));
    guard.chain(metadata).chain(codes).chain(messages)
}

fn is_anything(_: &Out) -> bool {
    true
}

fn is_truth(value: &Out) -> bool {
    matches!(value, Out::Json(Value::Bool(_)))
}

fn is_integer(value: &Out) -> bool {
    matches!(value, Out::Json(value) if value.as_i64().is_some())
}

fn is_code(value: &Out) -> bool {
    matches!(value, Out::Json(value) if value.as_str().is_some_and(Failure::is_code))
}

fn is_time(value: &Out) -> bool {
    clock_time(value, |_| Time::EPOCH).is_some()
}

impl Kind {
    /// The outcomes a worker may answer with in a state of this kind.
    pub(crate) fn outcomes(&self) -> Vec<crate::Name> {
        match self {
            Kind::Task { on, .. } => on.keys().cloned().collect(),
            Kind::Join { on, task: Some(_), .. } => on.keys().cloned().chain([SEALED.into()]).collect(),
            _ => Vec::new(),
        }
    }
}
