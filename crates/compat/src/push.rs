//! Sending: a message is a submission.

use client::Client;
use serde::Deserialize;
use serde_json::json;
use system::Call;
use wire::api::{SubmitBody, SubmitMany};
use wire::{Json, Time};
use worker::queue::Queue;

use crate::Queues;
use crate::body::{ContentType, payload};
use crate::envelope::{Answer, Trouble, read, told};
use crate::look::{backlog, now};

/// The most messages of one call.
const MESSAGES_MAX: usize = 100;
/// The longest delay, as the original has it.
const DELAY_SECONDS_MAX: u64 = 12 * 3_600;

#[derive(Debug, Deserialize)]
struct Message {
    body: Option<Json>,
    #[serde(default)]
    content_type: ContentType,
    delay_seconds: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Messages {
    #[serde(default)]
    messages: Vec<Message>,
    delay_seconds: Option<u64>,
}

impl Message {
    fn submission(self, delay_seconds: Option<u64>, now: Option<Time>) -> Result<SubmitBody, Trouble> {
        let seconds = self.delay_seconds.or(delay_seconds).filter(|seconds| *seconds > 0);
        if seconds.is_some_and(|seconds| seconds > DELAY_SECONDS_MAX) {
            return Err(Trouble::new(400, format!("`delay_seconds` is at most {DELAY_SECONDS_MAX}")));
        }
        let not_before = seconds.zip(now).map(|(seconds, now)| now.plus(wire::Millis::from_secs(seconds)));
        Ok(SubmitBody {
            payload: payload(self.body, self.content_type)?,
            not_before,
            ..SubmitBody::default()
        })
    }

    fn waits(&self) -> bool {
        self.delay_seconds.is_some_and(|seconds| seconds > 0)
    }
}

pub(crate) async fn one(call: Call, queues: Queues) -> Answer {
    let queue = queues.open(&call)?;
    let message: Message = read(&call)?;
    let now = if message.waits() { Some(now(&call.client).await?) } else { None };
    let submission = message.submission(None, now)?;
    call.client.submit(&queue.pipeline, &submission, once(&call)).await?;
    sent(&call.client, queue).await
}

pub(crate) async fn many(call: Call, queues: Queues) -> Answer {
    let queue = queues.open(&call)?;
    let Messages { messages, delay_seconds } = read(&call)?;
    if !(1..=MESSAGES_MAX).contains(&messages.len()) {
        let count = messages.len();
        return Err(Trouble::new(400, format!("{count} messages; send 1 to {MESSAGES_MAX} in one call")));
    }
    let waits = delay_seconds.is_some_and(|seconds| seconds > 0) || messages.iter().any(Message::waits);
    let now = if waits { Some(now(&call.client).await?) } else { None };
    let submissions = messages
        .into_iter()
        .map(|message| message.submission(delay_seconds, now))
        .collect::<Result<_, _>>()?;
    let many = SubmitMany { submissions };
    let answer = call.client.submit_many(&queue.pipeline, &many, once(&call)).await?;
    let refused = answer.results.iter().enumerate().filter_map(|(index, result)| {
        let problem = result.problem.as_ref()?;
        Some((problem.status, format!("message {index} was not taken: {}", told(problem))))
    });
    let (statuses, messages): (Vec<u16>, Vec<String>) = refused.unzip();
    match statuses.into_iter().max() {
        Some(status) => Err(Trouble::many(status, messages)),
        None => sent(&call.client, queue).await,
    }
}

/// Returns the key under which the same call is answered once, where the caller gives one.
fn once(call: &Call) -> Option<&str> {
    call.headers.get("idempotency-key").and_then(|key| key.to_str().ok())
}

async fn sent(client: &Client, queue: &Queue) -> Answer {
    Ok(json!({ "metadata": { "metrics": backlog(client, queue).await? } }))
}
