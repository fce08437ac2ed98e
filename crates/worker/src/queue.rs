//! Queues: tasks of a pipeline under one name, as messages.
//!
//! Whoever gets messages, pushed or pulled, acknowledges each or asks for another try of it. What that comes to is said here,
//! once: an acknowledgement is an [`Outcome`](crate::Outcome), another try a [`Failure`]. How often a task is tried, and where
//! it leads in the end, is the pipeline's rule; a queue may only ask for fewer tries, and for other pauses between them.

use std::collections::BTreeMap;

use serde::Serialize;
use wire::{Json, Millis, Name, SubmissionId};

use crate::answer::Failure;

/// The code of a message that its consumer wants to have once more.
pub const AGAIN: &str = "again";
/// The code of an acknowledgement that says no outcome, where the queue declares none either.
pub const NO_OUTCOME: &str = "no-outcome";

/// Tasks of a pipeline under one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    pub name: Name,
    pub pipeline: Name,
    pub tasks: Vec<String>,
    /// The outcome of an acknowledgement that names none, by task.
    pub outcomes: BTreeMap<String, String>,
    pub body: BodyKind,
    /// The most tries after the first, where the pipeline would make more.
    pub max_retries: Option<u32>,
    /// The pauses before the first retry, the second, and so on; the last is for all further ones. None: the pipeline's.
    pub retry_delays: Vec<Millis>,
    /// The name under which the dead letters of these tasks are looked at.
    pub dead_letters: Option<Name>,
    /// The action that ends submissions whose messages are purged.
    pub purge: Option<String>,
}

/// The body of a queue's messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BodyKind {
    /// The submission's payload as it is.
    #[default]
    Payload,
    /// `{submissionId, jobType, payload}`.
    Job,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Job<'a> {
    submission_id: SubmissionId,
    job_type: &'a str,
    payload: &'a Json,
}

impl Queue {
    /// Returns the kind of job that a task is: its name without the pipeline's part before the first full stop.
    #[must_use]
    pub fn job(task: &str) -> &str {
        task.split_once('.').map_or(task, |(_, job)| job)
    }

    /// Returns the body of the message about a task.
    ///
    /// # Panics
    /// Never: a job has only string keys.
    #[must_use]
    pub fn body(&self, task: &str, submission: SubmissionId, payload: &Json) -> Json {
        match self.body {
            BodyKind::Payload => payload.clone(),
            BodyKind::Job => {
                let job = Job { submission_id: submission, job_type: Queue::job(task), payload };
                Json::from_stored(&serde_json::to_string(&job).expect("a job has only string keys"))
            }
        }
    }

    /// Returns the outcome of an acknowledgement: the one it says, or else the one that the queue declares for the task.
    pub fn outcome(&self, task: &str, said: Option<&str>) -> Result<String, Failure> {
        let outcome = said.or_else(|| self.outcomes.get(task).map(String::as_str));
        outcome.map(str::to_owned).ok_or_else(|| {
            let message = format!(
                "an acknowledgement of `{task}` says no outcome, and the queue `{}` declares none: say one, or set \
                 `outcomes.\"{task}\"`",
                self.name
            );
            Failure::new(NO_OUTCOME, message).permanent()
        })
    }

    /// Returns a failure of the attempt with this number as the queue wants it told: after the pause that is asked for, or
    /// else the one that the queue declares; for good, once its retries are used up.
    #[must_use]
    pub fn failure(&self, attempt: u32, failure: Failure, pause: Option<Millis>) -> Failure {
        if self.max_retries.is_some_and(|most| attempt > most) {
            return failure.permanent();
        }
        let index = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
        let declared = self.retry_delays.get(index).or_else(|| self.retry_delays.last()).copied();
        Failure { after: pause.or(declared).or(failure.after), ..failure }
    }

    /// Tells whether a text can be a queue's name, which stands in addresses.
    #[must_use]
    pub fn is_name(text: &str) -> bool {
        (1..=64).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue() -> Queue {
        Queue {
            name: "submission-pipeline".into(),
            pipeline: "skill-review".into(),
            tasks: vec!["skills.tier1-scan".to_owned()],
            outcomes: BTreeMap::from([("skills.tier1-scan".to_owned(), "pass".to_owned())]),
            body: BodyKind::Job,
            max_retries: Some(3),
            retry_delays: [60, 90, 120].map(Millis::from_secs).to_vec(),
            dead_letters: None,
            purge: None,
        }
    }

    #[test]
    fn a_job_is_the_submission_its_type_and_its_payload_to_the_letter() {
        let id: SubmissionId = "01a1e148-25d3-7c36-9f16-9d3a7fedad24".parse().unwrap();
        let payload = Json::parse(r#"{"n": 1.50}"#).unwrap();
        let body = queue().body("skills.tier1-scan", id, &payload);
        let wanted = r#"{"submissionId":"01a1e148-25d3-7c36-9f16-9d3a7fedad24","jobType":"tier1-scan","payload":{"n": 1.50}}"#;
        assert_eq!(body.as_str(), wanted);
        assert_eq!(Queue { body: BodyKind::Payload, ..queue() }.body("any", id, &payload), payload);
        assert_eq!(Queue::job("plain"), "plain");
    }

    #[test]
    fn an_acknowledgement_says_its_outcome_or_has_the_declared_one() {
        assert_eq!(queue().outcome("skills.tier1-scan", None), Ok("pass".to_owned()));
        assert_eq!(queue().outcome("skills.tier1-scan", Some("fail")), Ok("fail".to_owned()));
        let failure = queue().outcome("skills.publish", None).unwrap_err();
        assert_eq!((&*failure.code, failure.retryable), (NO_OUTCOME, false));
    }

    #[test]
    fn retries_have_their_pauses_and_an_end() {
        let told = |queue: &Queue, attempt, pause: Option<u64>| {
            let failure = queue.failure(attempt, Failure::new("x", ""), pause.map(Millis::from_secs));
            failure.retryable.then_some(failure.after.map(|after| after.millis() / 1_000))
        };
        let declared: Vec<_> = (1..=4).map(|attempt| told(&queue(), attempt, None)).collect();
        assert_eq!(declared, [Some(Some(60)), Some(Some(90)), Some(Some(120)), None]);
        assert_eq!(told(&queue(), 1, Some(5)), Some(Some(5)), "what the consumer asks for counts more");
        let plain = Queue { max_retries: None, retry_delays: Vec::new(), ..queue() };
        assert_eq!(told(&plain, 100, None), Some(None), "all is the pipeline's to say");
        let endless = Queue { max_retries: None, ..queue() };
        assert_eq!(told(&endless, 9, None), Some(Some(120)));
        let permanent = queue().failure(1, Failure::new("x", "").permanent(), None);
        assert!(!permanent.retryable);
    }

    #[test]
    fn names_fit_into_addresses() {
        assert!(Queue::is_name("submission-pipeline") && Queue::is_name("Q_1"));
        assert!(!["", "a/b", "a b", "ä", &"x".repeat(65)].into_iter().any(Queue::is_name));
    }
}
