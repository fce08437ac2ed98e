//! Waiting for a submission to come to rest.

use std::time::Duration;

use tokio::time::Instant;
use wire::api::SubmissionView;
use wire::{Status, SubmissionId};

use crate::client::Client;
use worker::Error;
use worker::Retries;

/// Soon at first, for most moves take milliseconds; then rarely, for some take days.
const POLLS: Retries =
    Retries { times: 0, pause: Duration::from_millis(40), pause_max: Duration::from_secs(2) };

/// The reason why there is nothing more to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// The submission is in a final state.
    Ended,
    /// The submission is a dead letter.
    Dead,
    /// Somebody must act.
    Person,
    /// The submission is still on its way, and the time is over.
    Deadline,
}

#[derive(Debug, Clone)]
pub struct Waited {
    pub submission: SubmissionView,
    pub rest: Rest,
}

impl Client {
    /// Waits until a submission has ended, is dead or waits for a person, at most as long as given.
    pub async fn wait(&self, id: SubmissionId, at_most: Option<Duration>) -> Result<Waited, Error> {
        let mut polls = Polls::new(at_most);
        loop {
            let submission = self.submission(id).await?;
            if let Some(rest) = rest(&submission) {
                return Ok(Waited { submission, rest });
            }
            if !polls.pause().await {
                return Ok(Waited { submission, rest: Rest::Deadline });
            }
        }
    }

    /// Waits until a submission is beyond a revision; gives it as it is then, or when the time is over.
    pub async fn wait_for_change(
        &self,
        id: SubmissionId,
        revision: u64,
        at_most: Option<Duration>,
    ) -> Result<SubmissionView, Error> {
        let mut polls = Polls::new(at_most);
        loop {
            let submission = self.submission(id).await?;
            if submission.revision > revision || !polls.pause().await {
                return Ok(submission);
            }
        }
    }
}

/// Returns how a submission rests, if it does.
fn rest(submission: &SubmissionView) -> Option<Rest> {
    match submission.status {
        Status::Succeeded | Status::Failed | Status::Cancelled => Some(Rest::Ended),
        Status::Dead => Some(Rest::Dead),
        Status::Open => (submission.waits_for == "person").then_some(Rest::Person),
    }
}

/// Pauses that grow, until a deadline.
pub(crate) struct Polls {
    deadline: Option<Instant>,
    made: u32,
}

impl Polls {
    pub(crate) fn new(at_most: Option<Duration>) -> Self {
        Polls { deadline: at_most.and_then(|span| Instant::now().checked_add(span)), made: 0 }
    }

    /// False: there is no time for another look.
    pub(crate) async fn pause(&mut self) -> bool {
        self.made += 1;
        let mut pause = POLLS.pause_after(self.made);
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            pause = pause.min(left);
        }
        tokio::time::sleep(pause).await;
        true
    }
}
