//! States that versions of a pipeline have in common: one in memory, while any of these versions is loaded.

use std::sync::Arc;

use super::{Action, Edge, Kind, Pipeline, State};
use crate::Name;
use crate::shared::Shared;

/// The state that was loaded last, by the names of its pipeline and of itself. A version differs from the one before it in a
/// few of them.
static STATES: Shared<(Name, Name), State> = Shared::new();

impl Pipeline {
    /// The same pipeline, checked: its states are those of another version where both have the same.
    pub(super) fn with_shared_states(mut self) -> Self {
        for state in &mut self.states {
            Arc::make_mut(state).forget_places();
            *state = STATES.equal((self.name.clone(), state.name.clone()), state.clone());
        }
        self
    }
}

impl State {
    /// One line more at the beginning of a file moves everything after it, and changes no rule.
    fn forget_places(&mut self) {
        self.at = 0..0;
        let State { kind, actions, on_parent_cancelled, ttl, on_crashed, on_guard_error, .. } = self;
        let of_kind: Vec<&mut Vec<Edge>> = match kind {
            Kind::Pass { next } | Kind::Wait { next, .. } => vec![next],
            Kind::Task { on, on_error, .. } => on.values_mut().chain([on_error]).collect(),
            Kind::Join { on, on_error, on_all_succeeded, on_some_failed, .. } => {
                on.values_mut().chain([on_error, on_all_succeeded, on_some_failed]).collect()
            }
            Kind::Final { on_reopened, .. } => vec![on_reopened],
            Kind::Human { .. } => Vec::new(),
        };
        let of_actions = actions.iter_mut().map(|Action { edges, .. }| edges);
        let lists =
            of_kind.into_iter().chain(of_actions).chain([on_parent_cancelled, on_crashed, on_guard_error]);
        let edges = lists.flatten().chain(ttl.as_mut().map(|ttl| &mut ttl.edge));
        edges.for_each(|edge| edge.at = 0..0);
    }
}
