//! A batch as it is posted.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::Engine;
use fetch::Fetch;
use model::{Digest, Json, Name, SubmissionId};
use serde::Serialize;
use wire::webhook::Signed;
use worker::{Failure, Task};

use super::Consumer;
use super::answer::Answer;
use super::batch::Waiting;
use crate::webhook::{failed, refused, signed_by};

/// Posts the batches of one consumer.
#[derive(Debug, Clone)]
pub(super) struct Poster {
    pub(super) consumer: Consumer,
    pub(super) fetch: Fetch,
    pub(super) engine: Engine,
}

#[derive(Serialize)]
struct Batch<'a> {
    queue: &'a str,
    messages: Vec<Message<'a>>,
}

/// A task without its token: only this server settles it.
#[derive(Serialize)]
struct Message<'a> {
    id: String,
    attempts: u32,
    body: Json,
    submission: SubmissionId,
    pipeline: &'a Name,
    state: &'a Name,
    task: &'a Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a Name>,
    labels: &'a BTreeMap<Name, Name>,
    outputs: &'a BTreeMap<Name, Json>,
    params: &'a Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    with: Option<&'a Json>,
}

/// Returns the name of a message: the same at every try of it, and another when the submission comes to the state again.
pub(super) fn id(task: &Task) -> String {
    format!("{}.{}.{}", task.submission, task.state, task.requeues)
}

impl Poster {
    /// Posts a batch and tells each message what its consumer said of it.
    pub(super) async fn deliver(&self, mut batch: Vec<Waiting>) {
        batch.retain(|waiting| !waiting.is_lost());
        if batch.is_empty() {
            return;
        }
        let queue = &self.consumer.queue;
        let answered = self.post(&batch).await;
        if let Err(failure) = &answered {
            let (queue, messages) = (&*queue.name, batch.len());
            tracing::debug!(queue, messages, %failure, "a batch was not taken");
        }
        for waiting in batch {
            let said = match &answered {
                Ok(answer) => answer.about(&id(&waiting.task), &waiting.task, queue),
                Err(failure) => Err(queue.failure(waiting.task.attempt, failure.clone(), None)),
            };
            waiting.tell(said);
        }
    }

    async fn post(&self, batch: &[Waiting]) -> Result<Answer, Failure> {
        let body = self.written(batch);
        let (id, timestamp) = (batch_id(batch), (self.engine.now().millis() / 1_000).to_string());
        let signed = Signed { id: &id, timestamp: &timestamp, body: body.as_bytes() };
        let headers = signed_by(&self.consumer.keys, signed);
        let within = self.within(batch);
        let posted = tokio::time::timeout(within, self.fetch.post(&self.consumer.url, headers, body)).await;
        let late = |_| Failure::new("timeout", format!("the consumer did not answer within {within:?}"));
        let response = posted.map_err(late)?.map_err(|error| failed(&error))?;
        match response.status {
            200..=299 if response.is_cut => {
                Err(Failure::new("invalid-answer", "the consumer's answer is too large"))
            }
            200..=299 => Answer::read(&response.body),
            status => Err(refused(status, &response.body)),
        }
    }

    fn within(&self, batch: &[Waiting]) -> Duration {
        let most = self.consumer.within;
        batch.iter().map(|waiting| waiting.within(most)).min().unwrap_or(most)
    }

    fn written(&self, batch: &[Waiting]) -> String {
        let queue = &self.consumer.queue;
        let messages = batch.iter().map(|Waiting { task, .. }| Message {
            id: id(task),
            attempts: task.attempt,
            body: queue.body(&task.task, task.submission, &task.payload),
            submission: task.submission,
            pipeline: &task.pipeline,
            state: &task.state,
            task: &task.task,
            key: task.key.as_ref(),
            labels: &task.labels,
            outputs: &task.outputs,
            params: &task.params,
            with: task.with.as_ref(),
        });
        let batch = Batch { queue: &queue.name, messages: messages.collect() };
        serde_json::to_string(&batch).expect("a batch has only string keys")
    }
}

/// Returns the name under which a batch is signed: another at every try, for each is another batch.
fn batch_id(batch: &[Waiting]) -> String {
    let names = batch.iter().map(|Waiting { task, .. }| format!("{}.{}\0", id(task), task.attempt));
    let digest = Digest::of_parts(&[names.collect::<String>().as_bytes()]);
    let hex: String = digest.0.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("msg_{hex}")
}
