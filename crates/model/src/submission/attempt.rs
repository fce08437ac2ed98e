//! The tries of workers at a submission: who had it, from when to when, and how it ended.

use serde::{Deserialize, Serialize};
use wire::api::{AttemptEnd, AttemptView};

use super::{Failure, Submission};
use crate::Name;
use crate::actor::{ActorKind, Right};
use crate::event::{Change, Event};
use crate::time::Time;

/// The first and the last tries that are kept: what went wrong first says the most, and what goes wrong now.
const FIRST_KEPT: usize = 2;
const LAST_KEPT: usize = 8;
/// The characters of a message that are kept. The event has all of them.
const MESSAGE_CHARS_MAX: usize = 300;

/// A try that has ended. Names are short, because every write of the row writes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    #[serde(rename = "s")]
    state: Name,
    #[serde(rename = "w")]
    worker: Name,
    #[serde(rename = "n")]
    attempt: u32,
    #[serde(rename = "b")]
    started_at: Time,
    #[serde(rename = "e")]
    ended_at: Time,
    #[serde(rename = "r", default, skip_serializing_if = "is_finished")]
    end: AttemptEnd,
    #[serde(rename = "t")]
    trigger: Name,
    #[serde(rename = "f", default, skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_finished(end: &AttemptEnd) -> bool {
    *end == AttemptEnd::Finished
}

/// The tries of a submission that are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempts {
    #[serde(rename = "all")]
    kept: Vec<Attempt>,
    /// The number of tries that were left out between the first and the last.
    #[serde(rename = "out", default, skip_serializing_if = "is_zero")]
    left_out: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Attempts {
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns the number of tries that were left out between the first and the last.
    #[must_use]
    pub fn left_out(&self) -> u32 {
        self.left_out
    }

    /// Shows the tries that are kept, oldest first.
    pub fn shown(&self) -> impl Iterator<Item = AttemptView> {
        self.kept.iter().cloned().map(|attempt| AttemptView {
            state: attempt.state,
            worker: attempt.worker,
            attempt: attempt.attempt,
            started_at: attempt.started_at,
            ended_at: attempt.ended_at,
            end: attempt.end,
            trigger: attempt.trigger,
            error: attempt.error,
        })
    }

    fn push(&mut self, attempt: Attempt) {
        if self.kept.len() == FIRST_KEPT + LAST_KEPT {
            self.kept.remove(FIRST_KEPT);
            self.left_out = self.left_out.saturating_add(1);
        }
        self.kept.push(attempt);
    }
}

impl Submission {
    /// Notes the try that ended between a row and this one. A lease that was given back or snoozed left no event, and was no try.
    pub(crate) fn note_attempt(&mut self, before: &Submission, events: &[Event]) {
        let Some(lease) = before.lease() else { return };
        if self.lease().is_some_and(|now| now.no == lease.no) {
            return;
        }
        let aside = |event: &&Event| matches!(event.detail.change, Change::Late { .. } | Change::Approved(_));
        let Some(event) = events.iter().find(|event| !aside(event)) else { return };
        let error = event.cause();
        let end = match (&event.detail.change, error) {
            (Change::Crashed { .. }, _) => AttemptEnd::Crashed,
            (_, Some(error)) if &*error.code == crate::decide::CRASHING => AttemptEnd::Crashed,
            (_, Some(_)) => AttemptEnd::Failed,
            _ if event.leaf.right == Right::Lease(lease.no) => AttemptEnd::Finished,
            _ => AttemptEnd::Revoked,
        };
        let is_worker = event.leaf.actor.kind == ActorKind::Worker;
        self.attempts.push(Attempt {
            state: before.state.clone(),
            worker: if is_worker { event.detail.actor.clone() } else { lease.worker.clone() },
            attempt: before.attempt,
            started_at: lease.granted_at,
            ended_at: event.leaf.at,
            end,
            trigger: event.leaf.trigger.clone(),
            error: error.map(|error| Failure {
                code: error.code.clone(),
                message: error.message.chars().take(MESSAGE_CHARS_MAX).collect(),
            }),
        });
    }
}
