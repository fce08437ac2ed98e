//! What a worker is handed, and the rules its lease follows.

use super::Reader;
use super::fields::Fields;
use super::name::Spelling;
use crate::json::Json;
use crate::pipeline::file::Node;
use crate::pipeline::{Retry, Task};
use crate::time::Millis;

/// The lease of a task whose pipeline does not say.
const LEASE: Millis = Millis::from_secs(30);

/// A state's rules for tasks: for its own, and for those its actions run.
#[derive(Debug, Clone)]
pub(super) struct TaskRules {
    with: Option<Json>,
    lease: Millis,
    timeout: Option<Millis>,
    retry: Retry,
}

impl Reader<'_> {
    pub(super) fn task_rules(&mut self, fields: &mut Fields<'_>) -> TaskRules {
        let with = fields.node("with").and_then(|node| {
            self.table(node)?;
            Some(Json::from_value(&self.json(node)))
        });
        let lease = fields.node("lease").and_then(|node| self.positive_span(node));
        let timeout = fields.node("timeout").and_then(|node| self.positive_span(node));
        let retry = self.retry(fields.node("retry"));
        TaskRules { with, lease: lease.unwrap_or(LEASE), timeout, retry }
    }

    pub(super) fn task(&mut self, node: &Node, rules: &TaskRules) -> Option<Task> {
        let name = self.name(node, Spelling::Task)?;
        let TaskRules { with, lease, timeout, retry } = rules.clone();
        Some(Task { name, with, lease, timeout, retry })
    }
}
