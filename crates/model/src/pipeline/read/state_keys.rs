//! The keys that a state may have, by its kind; and which of them `defaults` may set.

use super::action::some_action_has_task;
use crate::pipeline::file::Table;
use crate::pipeline::moves::PARENT_CANCELLED;

/// A state's kind before it is read: what its keys say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Pass,
    Task,
    Wait,
    Human,
    Join,
    Final,
}

impl Shape {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Shape::Pass => "pass",
            Shape::Task => "task",
            Shape::Wait => "wait",
            Shape::Human => "human",
            Shape::Join => "join",
            Shape::Final => "final",
        }
    }
}

use Shape::{Final, Human, Join, Pass, Task, Wait};

/// A key of a state: the kinds that have it, and whether it can have a default.
#[derive(Debug)]
pub(super) struct StateKey {
    pub(super) name: &'static str,
    shapes: &'static [Shape],
    pub(super) can_default: bool,
}

const ANY: &[Shape] = &[Pass, Task, Wait, Human, Join, Final];
const OPEN: &[Shape] = &[Pass, Task, Wait, Human, Join];
const WORKING: &[Shape] = &[Task, Join];

const fn own(name: &'static str, shapes: &'static [Shape]) -> StateKey {
    StateKey { name, shapes, can_default: false }
}

const fn shared(name: &'static str, shapes: &'static [Shape]) -> StateKey {
    StateKey { name, shapes, can_default: true }
}

pub(super) const STATE_KEYS: &[StateKey] = &[
    own("title", ANY),
    shared("phase", ANY),
    own("next", &[Pass, Wait]),
    own("task", WORKING),
    shared("with", WORKING),
    shared("lease", WORKING),
    shared("timeout", WORKING),
    shared("retry", WORKING),
    shared("on", ANY),
    own("output", WORKING),
    own("wait", &[Wait]),
    own("review", &[Human]),
    shared("actions", ANY),
    own("join", &[Join]),
    own("final", &[Final]),
    shared("investigate", &[Final]),
    shared("ttl", OPEN),
    shared("sla", OPEN),
    shared("notify", ANY),
    shared("retention", &[Final]),
    shared("forget", &[Final]),
    shared("lane", OPEN),
    shared("checkpoint", OPEN),
];

impl StateKey {
    pub(super) fn find(name: &str) -> Option<&'static StateKey> {
        STATE_KEYS.iter().find(|key| key.name == name)
    }

    /// Tells whether a state may have the key. The rules for tasks are also for tasks that an action runs.
    pub(super) fn is_legal(&self, shape: Shape, state: &Table) -> bool {
        let needs_task = self.is_for_tasks() || self.name == "output";
        self.shapes.contains(&shape) && (shape != Join || !needs_task || state.has("task"))
            || self.is_for_tasks() && some_action_has_task(state)
    }

    fn is_for_tasks(&self) -> bool {
        matches!(self.name, "with" | "lease" | "timeout" | "retry")
    }

    /// Describes the states that have the key, for messages.
    pub(super) fn owners(&self) -> String {
        match self.shapes {
            OPEN => "states that are not final".to_owned(),
            shapes => {
                let names: Vec<&str> = shapes.iter().map(|shape| shape.as_str()).collect();
                format!("states of kind {}", names.join(" or "))
            }
        }
    }
}

/// Tells whether an outcome may be declared: some are the engine's own.
pub(super) fn outcome_is_legal(outcome: &str, shape: Shape, state: &Table) -> bool {
    match outcome {
        "all_succeeded" | "some_failed" => shape == Join,
        "reopened" => shape == Final,
        "guard_error" => shape != Final || state.table("on").is_some_and(|on| on.has("reopened")),
        PARENT_CANCELLED => true,
        _ => shape == Task || shape == Join && state.has("task"),
    }
}

pub(super) fn names() -> Vec<&'static str> {
    STATE_KEYS.iter().map(|key| key.name).collect()
}
