//! Reads what a worker is handed, and the rules its lease follows.

use std::collections::BTreeMap;

use super::Reader;
use super::fields::Fields;
use super::name::Spelling;
use crate::Name;
use crate::json::Json;
use crate::pipeline::file::Node;
use crate::pipeline::problem::{Problem, quote};
use crate::pipeline::{Kind, Retry, Task};
use crate::schema::Schema;
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

    /// `output`: the schema of what the worker answers, one for every outcome or a table with one for some.
    pub(super) fn output_schemas(&mut self, node: Option<&Node>, kind: &Kind) -> BTreeMap<Name, Schema> {
        let outcomes = kind.outcomes();
        // Without an outcome there is nothing to check; what is wrong then was said.
        let Some(node) = node.filter(|_| !outcomes.is_empty()) else { return BTreeMap::new() };
        if node.as_text().is_some() {
            let schema = self.schema(node);
            return schema.map_or_else(BTreeMap::new, |schema| {
                outcomes.into_iter().map(|outcome| (outcome, schema.clone())).collect()
            });
        }
        let mut schemas = BTreeMap::new();
        for entry in self.map(Some(node), "schemas") {
            if !outcomes.iter().any(|outcome| **outcome == *entry.key) {
                let near = self.near(&entry.key, outcomes.iter().map(|outcome| &**outcome));
                let message = format!("there is no outcome {} to have an output", quote(&entry.key));
                self.problems.push(Problem::new("unknown-outcome", entry.at.clone(), message).suggest(near));
            } else if let Some(schema) = self.schema(&entry.node) {
                schemas.insert(entry.key.as_str().into(), schema);
            }
        }
        schemas
    }

    pub(super) fn task(&mut self, node: &Node, rules: &TaskRules) -> Option<Task> {
        let name = self.name(node, Spelling::Task)?;
        let TaskRules { with, lease, timeout, retry } = rules.clone();
        Some(Task { name, with, lease, timeout, retry })
    }
}
