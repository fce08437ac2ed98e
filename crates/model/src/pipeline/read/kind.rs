//! Reads what makes a state the kind it is: the edges that leave it, and what it waits for.

use std::collections::BTreeMap;
use std::mem::take;

use super::Reader;
use super::edge::Way;
use super::fields::{Fields, Place};
use super::name::Spelling;
use super::state_keys::{Shape, outcome_is_legal};
use super::task::TaskRules;
use crate::Name;
use crate::pipeline::file::{Entry, Node, Table, Value};
use crate::pipeline::moves::{By, PARENT_CANCELLED};
use crate::pipeline::problem::{Span, quote};
use crate::pipeline::{Clock, Edge, FinalKind, Kind, Stretch};
use crate::role::Role;
use crate::time::Millis;

const ENDS: [(&str, FinalKind); 3] =
    [("success", FinalKind::Success), ("failure", FinalKind::Failure), ("cancelled", FinalKind::Cancelled)];

/// A state being read.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    /// With its defaults.
    pub(super) table: &'a Table,
    pub(super) shape: Shape,
    pub(super) name: &'a str,
    pub(super) at: &'a Span,
}

/// The edges under `on`, by who follows them.
#[derive(Debug, Default)]
pub(super) struct On {
    outcomes: BTreeMap<Name, Vec<Edge>>,
    error: Vec<Edge>,
    pub(super) crashed: Vec<Edge>,
    pub(super) guard_error: Vec<Edge>,
    all_succeeded: Vec<Edge>,
    some_failed: Vec<Edge>,
    reopened: Vec<Edge>,
    pub(super) parent_cancelled: Vec<Edge>,
}

impl Reader<'_> {
    /// `None` where something that makes the kind is missing or unreadable; that was reported.
    pub(super) fn kind(
        &mut self,
        fields: &mut Fields<'_>,
        subject: &Subject<'_>,
        rules: &TaskRules,
        on: &mut On,
    ) -> Option<Kind> {
        match subject.shape {
            Shape::Pass => Some(Kind::Pass { next: self.next(fields, subject, By::Pass)? }),
            Shape::Wait => {
                let clock = fields.node("wait").and_then(|node| self.clock(node));
                let next = self.next(fields, subject, By::Clock)?;
                Some(Kind::Wait { clock: clock.unwrap_or(Clock::For(Stretch::Time(Millis::ZERO))), next })
            }
            Shape::Human => {
                let review = fields.node("review").and_then(|node| self.role(node));
                Some(Kind::Human { review })
            }
            Shape::Task => {
                let task = fields.node("task").and_then(|node| self.task(node, rules));
                self.needs_outcome(on, subject)?;
                Some(Kind::Task { task: task?, on: take(&mut on.outcomes), on_error: take(&mut on.error) })
            }
            Shape::Join => self.join(fields, subject, rules, on),
            Shape::Final => {
                let outcome = fields.node("final").and_then(|node| self.word(node, &ENDS));
                let investigate = fields.node("investigate").and_then(|node| self.investigate(node));
                let outcome = outcome.unwrap_or(FinalKind::Failure);
                Some(Kind::Final { outcome, investigate, on_reopened: take(&mut on.reopened) })
            }
        }
    }

    /// `true`, or who may acknowledge what ended there.
    fn investigate(&mut self, node: &Node) -> Option<Role> {
        match node.value {
            Value::Bool(wanted) => wanted.then_some(Role::Admin),
            Value::Text(_) => self.role(node),
            _ => {
                self.wrong_type(node, "true, false or a role");
                None
            }
        }
    }

    fn join(
        &mut self,
        fields: &mut Fields<'_>,
        subject: &Subject<'_>,
        rules: &TaskRules,
        on: &mut On,
    ) -> Option<Kind> {
        let child = fields.node("join").and_then(|node| self.name(node, Spelling::Pipeline));
        let task = fields.node("task").and_then(|node| self.task(node, rules));
        for (edges, outcome) in [(&on.all_succeeded, "all_succeeded"), (&on.some_failed, "some_failed")] {
            let written = subject.table.table("on").is_some_and(|on| on.has(outcome));
            if edges.is_empty() && !written {
                let message =
                    format!("{} waits for its children and needs `on.{outcome}`", quote(subject.name));
                self.missing(subject.at, message);
            }
        }
        Some(Kind::Join {
            child: child?,
            task,
            on: take(&mut on.outcomes),
            on_error: take(&mut on.error),
            on_all_succeeded: take(&mut on.all_succeeded),
            on_some_failed: take(&mut on.some_failed),
        })
    }

    fn next(&mut self, fields: &mut Fields<'_>, subject: &Subject<'_>, by: By) -> Option<Vec<Edge>> {
        let Some(entry) = fields.take("next") else {
            let message =
                format!("{} waits, but `next` does not say where it goes then", quote(subject.name));
            self.missing(subject.at, message);
            return None;
        };
        Some(self.edges(entry, &Way::new(by)))
    }

    fn needs_outcome(&mut self, on: &On, subject: &Subject<'_>) -> Option<()> {
        if on.outcomes.is_empty() {
            let message = format!("{} runs a task but declares no outcome", quote(subject.name));
            self.missing(subject.at, format!("{message}; write `on.<outcome> = \"STATE\"`"));
            return None;
        }
        Some(())
    }

    /// Reads the edges under `on`.
    pub(super) fn on(&mut self, entry: Option<&Entry>, subject: &Subject<'_>) -> On {
        let mut on = On::default();
        for entry in self.map(entry.map(|entry| &entry.node), "outcomes") {
            let name = self.spelled(&entry.key, &entry.at, Spelling::Word);
            if !outcome_is_legal(&entry.key, subject.shape, subject.table) {
                // Of a state that is of two kinds it is not known which one it should be.
                if !Self::is_mixed(subject.shape, subject.table) {
                    self.outcome_not_here(entry, subject);
                }
                continue;
            }
            self.note(Place::On, entry);
            let by = match &*entry.key {
                "error" => By::Error,
                "crashed" => By::Crashed,
                "guard_error" => By::GuardError,
                "all_succeeded" | "some_failed" | "reopened" => By::Children(name.clone()),
                PARENT_CANCELLED => By::ParentCancelled,
                _ => By::Outcome(name.clone()),
            };
            let edges = self.edges(entry, &Way::new(by));
            match &*entry.key {
                "error" => on.error = edges,
                "crashed" => on.crashed = edges,
                "guard_error" => on.guard_error = edges,
                "all_succeeded" => on.all_succeeded = edges,
                "some_failed" => on.some_failed = edges,
                "reopened" => on.reopened = edges,
                PARENT_CANCELLED => on.parent_cancelled = edges,
                _ => {
                    on.outcomes.insert(name, edges);
                }
            }
        }
        on
    }

    fn outcome_not_here(&mut self, entry: &Entry, subject: &Subject<'_>) {
        let owner = match &*entry.key {
            "all_succeeded" | "some_failed" => "is for join states",
            "reopened" => "is for final states",
            "guard_error" => "is for states in which guards are evaluated",
            _ => "needs a task",
        };
        let message = format!(
            "`on.{}` {owner}, and {} is a {} state",
            entry.key,
            quote(subject.name),
            subject.shape.as_str()
        );
        self.report("key-not-here", &entry.at, message);
    }
}
