//! Notes of what a batch did, taken while it is decided: names by reference count, nothing made for an event.

use model::event::{Change, Event};
use model::measured::{Measured, measured};
use model::submission::{Lease, Wait};
use model::{Command, Millis, Name, Pipeline, Right, Submission, Time};

use crate::flow::Move;

/// The facts to count once a batch is committed and answered.
#[derive(Debug, Default)]
pub struct Notes {
    pub(super) facts: Vec<Fact>,
    pub(super) leases: Vec<LeaseFact>,
    /// By pipeline.
    pub(super) measured: Vec<(Name, Measured)>,
    /// Moves: when, and after a stay of how long, where that is known.
    pub(super) moves: Vec<(Move, Time, Option<Millis>)>,
    /// Transactions that wrote something.
    pub(super) commits: u64,
}

/// A change that a command made to a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decided<'a> {
    /// `None`: it made the row.
    pub(crate) command: Option<&'a Command>,
    /// The version the row follows.
    pub(crate) pipeline: Option<&'a Pipeline>,
    pub(crate) before: Option<&'a Submission>,
    pub(crate) after: &'a Submission,
    pub(crate) events: &'a [Event],
}

#[derive(Debug)]
pub(super) struct Fact {
    pub(super) pipeline: Name,
    pub(super) state: Name,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    Submitted,
    Entered,
    /// After so long, where that is known.
    Left(Option<Millis>),
    Retried,
    Crashed,
    Died,
    Redriven,
    Late(Vec<Option<Name>>),
    /// A worker's answer was followed, after an attempt of so long.
    Finished(Millis),
    /// A task failed for good.
    Failed,
    /// A task ended, and the submission became a dead letter. After so long, if a worker had finished it.
    EndedDead(Option<Millis>),
}

#[derive(Debug)]
pub(super) struct LeaseFact {
    pub(super) pipeline: Name,
    pub(super) task: Name,
    pub(super) granted_at: Time,
    pub(super) what: LeaseWhat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseWhat {
    Granted,
    Settled,
    Snoozed,
    GivenBack,
    Expired,
    Revoked,
}

impl Notes {
    /// Notes what was decided.
    pub(crate) fn add(&mut self, decided: Decided<'_>) {
        let Decided { command, pipeline, before, after, events } = decided;
        let mut since = before.map(|row| row.entered_at);
        for event in events {
            let leaf = &event.leaf;
            let mut note = |state: &Name, what: What| {
                self.facts.push(Fact { pipeline: after.pipeline.clone(), state: state.clone(), what });
            };
            match &event.detail.change {
                Change::Submitted(_) => {
                    self.moves.push((Move::of(after, event), leaf.at, None));
                    note(&leaf.to, What::Submitted);
                    note(&leaf.to, What::Entered);
                    since = Some(leaf.at);
                }
                Change::Moved(_) => {
                    let stayed = since.map(|since| leaf.at.since(since));
                    self.moves.push((Move::of(after, event), leaf.at, stayed));
                    if let Some(from) = &leaf.from {
                        note(from, What::Left(stayed));
                    }
                    note(&leaf.to, What::Entered);
                    since = Some(leaf.at);
                }
                // It has been where it is for as long as before: only the name of the state is another.
                Change::Migrated(_) => {
                    if let Some(from) = leaf.from.as_ref().filter(|from| **from != leaf.to) {
                        note(from, What::Left(None));
                        note(&leaf.to, What::Entered);
                    }
                }
                Change::Retried { .. } => note(&leaf.to, What::Retried),
                Change::Crashed { .. } => note(&leaf.to, What::Crashed),
                Change::Died { .. } => note(&leaf.to, What::Died),
                Change::Redriven { .. } => note(&leaf.to, What::Redriven),
                Change::Late { clocks } => note(&leaf.to, What::Late(clocks.clone())),
                _ => {}
            }
        }
        self.lease(before.and_then(Submission::lease), after, events);
        let running = before.map_or(&[][..], |row| &row.clocks);
        let measured = pipeline.map(|pipeline| measured(pipeline, running, events)).unwrap_or_default();
        self.measured.extend(measured.into_iter().map(|one| (after.pipeline.clone(), one)));
        if let (Some(command), Some(before)) = (command, before) {
            self.task(command, before, after, events);
        }
    }

    /// Notes how a task ended, if it did: by an answer, or because it was given up.
    fn task(&mut self, command: &Command, before: &Submission, after: &Submission, events: &[Event]) {
        let (Some(lease), Some(event)) = (before.lease(), events.last()) else { return };
        if after.lease().is_some_and(|now| now.no == lease.no) {
            return;
        }
        let took = matches!(command, Command::Finish(_)).then(|| event.leaf.at.since(lease.granted_at));
        let died = events.iter().any(|event| matches!(event.detail.change, Change::Died { .. }));
        let given_up = matches!(command, Command::Fail(_) | Command::Wake)
            && events
                .iter()
                .any(|event| matches!(event.detail.change, Change::Moved(_) | Change::Abandoned { .. }));
        let what = match took {
            took if died => What::EndedDead(took),
            Some(took) => What::Finished(took),
            None if given_up => What::Failed,
            None => return,
        };
        self.facts.push(Fact { pipeline: after.pipeline.clone(), state: before.state.clone(), what });
    }

    fn lease(&mut self, before: Option<&Lease>, after: &Submission, events: &[Event]) {
        let now = after.lease();
        if before.map(|lease| lease.no) == now.map(|lease| lease.no) {
            return;
        }
        let mut note = |lease: &Lease, what: LeaseWhat| {
            let (pipeline, task, granted_at) = (after.pipeline.clone(), lease.task.clone(), lease.granted_at);
            self.leases.push(LeaseFact { pipeline, task, granted_at, what });
        };
        if let Some(lease) = before {
            note(lease, ended(lease, after, events));
        }
        if let Some(lease) = now {
            note(lease, LeaseWhat::Granted);
        }
    }

    /// A transaction wrote something.
    pub(crate) fn committed(&mut self) {
        self.commits += 1;
    }

    /// Appends what another transaction of the step did.
    pub(crate) fn append(&mut self, mut other: Notes) {
        if self.facts.is_empty()
            && self.leases.is_empty()
            && self.measured.is_empty()
            && self.moves.is_empty()
        {
            other.commits += self.commits;
            *self = other;
            return;
        }
        self.facts.append(&mut other.facts);
        self.leases.append(&mut other.leases);
        self.measured.append(&mut other.measured);
        self.moves.append(&mut other.moves);
        self.commits += other.commits;
    }
}

fn ended(lease: &Lease, after: &Submission, events: &[Event]) -> LeaseWhat {
    if events.is_empty() {
        let snoozed = matches!(after.wait, Wait::Delay { .. });
        if snoozed { LeaseWhat::Snoozed } else { LeaseWhat::GivenBack }
    } else if events.iter().any(|event| event.leaf.right == Right::Lease(lease.no)) {
        LeaseWhat::Settled
    } else if events.iter().any(|event| matches!(event.detail.change, Change::Crashed { .. })) {
        LeaseWhat::Expired
    } else {
        LeaseWhat::Revoked
    }
}
