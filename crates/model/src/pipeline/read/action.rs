//! `actions.NAME`: what people may do to a submission in a state.

use super::Reader;
use super::edge::Way;
use super::name::Spelling;
use super::task::TaskRules;
use crate::pipeline::Action;
use crate::pipeline::file::{Node, Table};

impl Reader<'_> {
    pub(super) fn actions(&mut self, node: Option<&Node>, rules: &TaskRules) -> Vec<Action> {
        let mut actions = Vec::new();
        for entry in self.map(node, "actions") {
            let name = self.spelled(&entry.key, &entry.at, Spelling::Word);
            let edges = self.edges(entry, &Way::action(name.clone(), rules));
            actions.push(Action { name, edges });
        }
        actions
    }
}

/// Tells whether an action of the state runs a task, which then follows the state's rules for tasks.
pub(super) fn some_action_has_task(state: &Table) -> bool {
    let actions = state.table("actions").into_iter().flat_map(Table::iter);
    let mut edges = actions.flat_map(|action| action.node.one_or_many());
    edges.any(|edge| edge.as_table().is_some_and(|edge| edge.has("task")))
}
