//! Looking at queues without taking anything from them.

use client::{Client, Filter, Page};
use serde::Deserialize;
use serde_json::{Value, json};
use system::Call;
use wire::api::{PipelineView, SubmissionView};
use wire::{Name, Status, Time};
use worker::queue::Queue;

use crate::body::pulled;
use crate::envelope::{Answer, Trouble, read};
use crate::pull::batch_size;
use crate::reference::{MessageRef, id, write};
use crate::{Named, Queues};

/// The submissions of one state that a peek looks at, to find the oldest: the newest of so many pages.
const PAGE: usize = 100;
const PAGES_MAX: usize = 10;

#[derive(Debug, Default, Deserialize)]
struct Wish {
    batch_size: Option<usize>,
}

pub(crate) async fn list(_: Call, queues: Queues) -> Answer {
    Ok(queues.each().map(shown).collect())
}

pub(crate) async fn show(call: Call, queues: Queues) -> Answer {
    Ok(shown(queues.named(&call)?))
}

/// Shows a queue; its name is its id.
pub(crate) fn shown(named: Named<'_>) -> Value {
    let name = named.name();
    json!({ "queue_id": name, "queue_name": name, "consumers": [], "consumers_total_count": 0,
        "producers": [], "producers_total_count": 0, "settings": {} })
}

pub(crate) async fn metrics(call: Call, queues: Queues) -> Answer {
    let queue = queues.named(&call)?.queue();
    let mut metrics = backlog(&call.client, queue).await?;
    let states = states(&pipeline(&call.client, queue).await?, queue);
    let oldest = call.client.figures().await?.oldest;
    let oldest = oldest.iter().filter(|one| one.pipeline == queue.pipeline && states.contains(&one.state));
    let oldest = oldest.map(|one| one.created_at.millis()).min().unwrap_or(0);
    metrics["oldest_message_timestamp_ms"] = oldest.into();
    Ok(metrics)
}

/// Counts a queue's messages that are not acknowledged. Bytes are not counted, and the oldest is not looked for: both are 0,
/// which the interface calls unknown.
pub(crate) async fn backlog(client: &Client, queue: &Queue) -> Result<Value, Trouble> {
    let view = pipeline(client, queue).await?;
    let states = view.states.iter().filter(|state| is_of(state.task.as_ref(), queue));
    let open = states.flat_map(|state| &state.counts).filter(|count| count.status == Status::Open);
    let count: u64 = open.map(|count| count.count).sum();
    Ok(json!({ "backlog_count": count, "backlog_bytes": 0, "oldest_message_timestamp_ms": 0 }))
}

pub(crate) async fn pipeline(client: &Client, queue: &Queue) -> Result<PipelineView, Trouble> {
    Ok(client.pipeline(&queue.pipeline).await?)
}

/// Lists the states whose submissions are the queue's messages.
pub(crate) fn states(view: &PipelineView, queue: &Queue) -> Vec<Name> {
    let states = view.states.iter().filter(|state| is_of(state.task.as_ref(), queue));
    states.map(|state| state.name.clone()).collect()
}

fn is_of(task: Option<&Name>, queue: &Queue) -> bool {
    task.is_some_and(|task| queue.tasks.iter().any(|known| **known == **task))
}

/// Returns the time by the server's clock.
pub(crate) async fn now(client: &Client) -> Result<Time, Trouble> {
    Ok(client.clock().await?.now)
}

pub(crate) async fn peek(call: Call, queues: Queues) -> Answer {
    let named = queues.named(&call)?;
    let wish: Wish = read(&call)?;
    let size = batch_size(wish.batch_size)?;
    let view = pipeline(&call.client, named.queue()).await?;
    let mut found = Vec::new();
    for state in view.states.iter().filter(|state| is_of(state.task.as_ref(), named.queue())) {
        found.extend(waiting(&call.client, named, &state.name).await?);
    }
    found.sort_by_key(|one| one.id);
    found.truncate(size);
    let mut messages = Vec::new();
    for one in found {
        let task =
            view.states.iter().find(|state| state.name == one.state).and_then(|state| state.task.as_deref());
        // Lists have no payloads; one that is gone meanwhile is no message any more.
        let Ok(whole) = call.client.submission(one.id).await else { continue };
        messages.extend(task.and_then(|task| message(named.queue(), task, &whole)));
    }
    Ok(json!({ "messages": messages }))
}

/// Lists the submissions of a state that are there to be claimed, or that are dead letters.
async fn waiting(client: &Client, named: Named<'_>, state: &str) -> Result<Vec<SubmissionView>, Trouble> {
    let status = match named {
        Named::Tasks(_) => Status::Open,
        Named::DeadLetters(_) => Status::Dead,
    };
    let filter = Filter {
        pipeline: Some(named.queue().pipeline.to_string()),
        state: Some(state.to_owned()),
        status: Some(status),
        ..Filter::default()
    };
    let (mut found, mut after) = (Vec::new(), None);
    for _ in 0..PAGES_MAX {
        let page = client.submissions(&filter, &Page { limit: Some(PAGE), after }).await?;
        found
            .extend(page.submissions.into_iter().filter(|one| status == Status::Dead || one.lease.is_none()));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok(found)
}

fn message(queue: &Queue, task: &str, view: &SubmissionView) -> Option<Value> {
    let (body, content_type) = pulled(&queue.body(task, view.id, view.payload.as_ref()?));
    let reference = MessageRef { submission: view.id, state: view.state.clone(), requeues: view.requeues };
    Some(json!({
        "id": id(view.id, &view.state, view.requeues),
        "timestamp_ms": view.created_at.millis(),
        "attempts": view.attempt,
        "body": body,
        "ref": write(&reference),
        "metadata": { "CF-Content-Type": content_type, "milepost-task": task, "milepost-state": view.state,
            "milepost-error": view.error.as_ref().map(|error| &error.code) },
    }))
}
