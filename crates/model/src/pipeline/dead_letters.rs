//! Finds the states that can end as dead letters, and the causes: a machine whose file leaves no such way has none.

use super::moves::By;
use super::{After, Choice, Clock, Edge, Kind, Pipeline, State};
use crate::decide::SEALED;
use crate::expr::Expr;

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
    /// The states in which a submission can become a dead letter, each with what may make it one. Where it cannot be
    /// known, a guard counts as one that may fail.
    #[must_use]
    pub fn dead_letters(&self) -> Vec<(&State, Vec<Cause>)> {
        let causes = |state| (state, self.causes_of_death(state));
        self.states.iter().map(causes).filter(|(_, causes)| !causes.is_empty()).collect()
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
        let priority = self.priority.value.as_ref().is_some_and(|priority| !priority.is_literal());
        // Waiting anew, after a lane or a hold, evaluates the clock of the state itself.
        let clock = matches!(&state.kind, Kind::Wait { clock: Clock::Computed(_), .. });
        clock
            || moves && priority
            || edges().any(|edge| expressions(edge).any(|expr| !expr.is_literal() && !expr.reads("output")))
            || edges().flat_map(Edge::targets).filter_map(|to| self.state(to)).any(has_computed_time)
    }

    fn targets<'a>(&'a self, edges: &'a [Edge]) -> impl Iterator<Item = &'a State> {
        edges.iter().flat_map(Edge::targets).filter_map(|to| self.state(to))
    }

    /// Tells whether entering the state evaluates nothing, and nothing after it in the same commit.
    fn is_entered_safely(&self, state: &State) -> bool {
        if has_computed_time(state) {
            return false;
        }
        let next: Vec<&[Edge]> = match &state.kind {
            Kind::Pass { next } => vec![next],
            Kind::Join { on_all_succeeded, on_some_failed, .. } => vec![on_all_succeeded, on_some_failed],
            Kind::Task { .. } | Kind::Wait { .. } | Kind::Human { .. } | Kind::Final { .. } => return true,
        };
        let rests = |state: &State| {
            !has_computed_time(state) && !matches!(state.kind, Kind::Pass { .. } | Kind::Join { .. })
        };
        next.into_iter().all(|edges| {
            edges.iter().flat_map(expressions).all(Expr::is_literal) && self.targets(edges).all(rests)
        })
    }
}

fn leads_on(edges: &[Edge]) -> bool {
    !edges.is_empty() && edges.iter().all(|edge| matches!(edge.to, Some(Choice::One(_))))
}

fn has_computed_time(state: &State) -> bool {
    let ttl = state.ttl.as_ref().is_some_and(|ttl| matches!(ttl.after, After::Computed(_)));
    ttl || matches!(&state.kind, Kind::Wait { clock: Clock::Computed(_), .. })
}

fn expressions(edge: &Edge) -> impl Iterator<Item = &Expr> {
    let stated = edge.error.iter().flat_map(|error| [Some(&error.code), error.message.as_ref()]);
    edge.when.iter().chain(edge.metadata.iter().map(|(_, expr)| expr)).chain(stated.flatten())
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
