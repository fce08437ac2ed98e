//! Schedules: submissions a pipeline asks for by the clock. Which time was served last is kept in the commit that
//! serves it, so each is served once, by whoever comes first.

use std::sync::Arc;

use model::admit::Admission;
use model::{Name, SubmissionId, Time};
use serde::{Deserialize, Serialize};

use super::Output;
use super::commit::Commit;
use crate::registry::{Entry, EntryKey};

/// The registry kind of the state of schedules.
pub const SCHEDULES: &str = "schedule";

#[derive(Debug)]
pub enum Schedules {}

impl Entry for Schedules {
    const KIND: &'static str = SCHEDULES;
    type Body = Scheduled;
}

/// A time of a schedule has come.
#[derive(Debug, Clone)]
pub struct Tick {
    pub pipeline: Name,
    /// The schedule's id.
    pub schedule: Name,
    pub at: Time,
    pub due: Due,
}

/// The purpose of a time of a schedule.
#[derive(Debug, Clone)]
pub enum Due {
    /// The schedule was never seen before. Another server may have seen it meanwhile: then there is nothing to begin.
    Begin,
    Submit(Arc<Admission>),
    /// The submission that the schedule wants is not admitted.
    Refused(String),
}

/// The last thing a schedule did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scheduled {
    /// The time it served.
    pub at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submission: Option<SubmissionId>,
    /// The reason why nothing was submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Tick {
    /// Returns the name the schedule is registered under.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.pipeline, self.schedule)
    }

    pub(super) fn admission(&self) -> Option<&Admission> {
        match &self.due {
            Due::Submit(admission) => Some(admission),
            Due::Begin | Due::Refused(_) => None,
        }
    }

    pub(super) fn key(&self) -> EntryKey<Schedules> {
        EntryKey::new(self.name())
    }
}

impl Commit<'_> {
    pub(super) fn tick(&mut self, tick: &Tick, seed: [u8; 32]) -> Output {
        let key = tick.key();
        let served = self.readable(&key);
        let begins = matches!(tick.due, Due::Begin);
        if let Some(served) = served.filter(|served| begins || served.at >= tick.at) {
            return Output::Scheduled(Box::new(served));
        }
        let mut scheduled = Scheduled { at: tick.at, submission: None, refused: None };
        match &tick.due {
            Due::Begin => {}
            Due::Refused(message) => scheduled.refused = Some(message.clone()),
            Due::Submit(admission) => match self.submit(admission, seed) {
                Ok(Output::Submission(answered)) => scheduled.submission = Some(answered.row.id),
                Ok(_) => unreachable!("a submission is answered by a submission"),
                Err(refusal) => {
                    tracing::warn!(schedule = tick.name(), code = refusal.code.as_str(), "{refusal}");
                    scheduled.refused = Some(refusal.message);
                }
            },
        }
        // Two of its times may come in one batch, and each names its submission.
        self.put_next(&key, &scheduled);
        Output::Scheduled(Box::new(scheduled))
    }
}
