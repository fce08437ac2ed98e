//! Pulling: a message is a task under lease.

use serde::Deserialize;
use serde_json::{Value, json};
use system::Call;
use wire::Millis;
use wire::api::{ClaimBody, TaskView};
use worker::queue::Queue;

use crate::Queues;
use crate::body::pulled;
use crate::envelope::{Answer, Trouble, read};
use crate::look::backlog;
use crate::reference::{LeaseId, id, write};

/// The messages of a pull that says no number, and the most of one.
const BATCH: usize = 5;
pub(crate) const BATCH_MAX: usize = 100;
/// The lease that a pull may ask for.
const VISIBLE_MS_MIN: u64 = 1_000;
const VISIBLE_MS_MAX: u64 = 12 * 3_600 * 1_000;
/// The name of whoever pulls, below that of their token.
const WORKER: &str = "pull";

#[derive(Debug, Default, Deserialize)]
struct Wish {
    batch_size: Option<usize>,
    visibility_timeout_ms: Option<u64>,
    /// The older name of the same, in milliseconds as well.
    visibility_timeout: Option<u64>,
}

pub(crate) async fn pull(call: Call, queues: Queues) -> Answer {
    let queue = queues.open(&call)?;
    let wish: Wish = read(&call)?;
    let max = batch_size(wish.batch_size)?;
    let visible = wish.visibility_timeout_ms.or(wish.visibility_timeout);
    if visible.is_some_and(|millis| millis > VISIBLE_MS_MAX) {
        return Err(Trouble::new(400, format!("`visibility_timeout_ms` is at most {VISIBLE_MS_MAX}")));
    }
    let claim = ClaimBody {
        worker: WORKER.to_owned(),
        tasks: queue.tasks.clone(),
        pipelines: Some(vec![queue.pipeline.to_string()]),
        max: Some(max),
        lease: visible.map(|millis| Millis::new(millis.max(VISIBLE_MS_MIN))),
        ..ClaimBody::default()
    };
    let claimed = call.client.claim(&claim).await?;
    let messages: Vec<Value> = claimed.tasks.iter().map(|task| message(queue, task)).collect();
    let metrics = backlog(&call.client, queue).await?;
    Ok(json!({
        "message_backlog_count": metrics["backlog_count"],
        "messages": messages,
        "metadata": { "metrics": metrics },
    }))
}

/// Reads how many messages are wanted.
pub(crate) fn batch_size(wanted: Option<usize>) -> Result<usize, Trouble> {
    match wanted.unwrap_or(BATCH) {
        size @ 1..=BATCH_MAX => Ok(size),
        size => Err(Trouble::new(400, format!("`batch_size` is {size}; it is between 1 and {BATCH_MAX}"))),
    }
}

fn message(queue: &Queue, task: &TaskView) -> Value {
    let (body, content_type) = pulled(&queue.body(&task.task, task.submission, &task.payload));
    let lease = LeaseId { token: task.token.clone(), task: task.task.to_string(), attempt: task.attempt };
    json!({
        "id": id(task.submission, &task.state, task.requeues),
        "timestamp_ms": task.submission.made_at().millis(),
        "attempts": task.attempt,
        "body": body,
        "lease_id": write(&lease),
        "metadata": { "CF-Content-Type": content_type, "milepost-task": task.task, "milepost-state": task.state },
    })
}
