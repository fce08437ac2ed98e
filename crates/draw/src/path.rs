//! The way one submission took through its machine.

use model::event::{Event, Kind, Leaf};
use wire::api::EventView;
use wire::{Name, Time};

/// A submission's events in order, reduced to what a drawing shows of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Path {
    pub steps: Vec<Step>,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub kind: Kind,
    /// `None`: into the pipeline.
    pub from: Option<Name>,
    pub to: Name,
    pub trigger: Name,
    pub at: Time,
}

impl Path {
    /// The path of a submission whose events these are, oldest first.
    #[must_use]
    pub fn of<S: Into<Step>>(events: impl IntoIterator<Item = S>) -> Self {
        Path { steps: events.into_iter().map(Into::into).collect() }
    }

    /// Returns the state where the submission is now.
    #[must_use]
    pub fn present(&self) -> Option<&Name> {
        self.steps.last().map(|step| &step.to)
    }

    /// Tells whether the submission lies there as a dead letter.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        let revived = |step: &&Step| step.is_move() || matches!(step.kind, Kind::Died | Kind::Redriven);
        self.steps.iter().rev().find(revived).is_some_and(|step| step.kind == Kind::Died)
    }

    /// The moves, numbered from one.
    pub(super) fn moves(&self) -> impl Iterator<Item = (usize, &Step)> {
        (1..).zip(self.steps.iter().filter(|step| step.is_move()))
    }
}

impl Step {
    /// Tells whether the step entered a state; else it happened in one.
    #[must_use]
    pub fn is_move(&self) -> bool {
        matches!(self.kind, Kind::Submitted | Kind::Moved)
            || self.from.as_ref().is_some_and(|from| *from != self.to)
    }
}

impl From<&Leaf> for Step {
    fn from(leaf: &Leaf) -> Self {
        Step {
            kind: leaf.kind,
            from: leaf.from.clone(),
            to: leaf.to.clone(),
            trigger: leaf.trigger.clone(),
            at: leaf.at,
        }
    }
}

impl From<&Event> for Step {
    fn from(event: &Event) -> Self {
        Step::from(&event.leaf)
    }
}

impl From<&EventView> for Step {
    fn from(event: &EventView) -> Self {
        Step {
            kind: event.kind,
            from: event.from.clone(),
            to: event.to.clone(),
            trigger: event.trigger.clone(),
            at: event.at,
        }
    }
}
