//! Purging: the action that a queue names, done to the submissions of messages.

use client::{ActOptions, Client};
use serde::Deserialize;
use serde_json::{Map, json};
use system::Call;
use wire::api::{ActBody, OperationBody};
use wire::operation::{Deed, Filter, Operation, OperationStatus};
use wire::{Name, Status};
use worker::queue::Queue;

use crate::envelope::{Answer, Trouble, read};
use crate::look::{pipeline, shown, states};
use crate::pull::BATCH_MAX;
use crate::reference::{self, MessageRef};
use crate::{Named, Queues};

/// The operations among which the last purge is looked for.
const OPERATIONS: usize = 100;

#[derive(Debug, Deserialize)]
struct Refs {
    #[serde(default)]
    refs: Vec<Ref>,
}

#[derive(Debug, Deserialize)]
struct Ref {
    #[serde(rename = "ref")]
    text: String,
}

#[derive(Debug, Default, Deserialize)]
struct Wish {
    #[serde(default)]
    delete_messages_permanently: bool,
}

/// Returns the action that purges, where the queue names one.
fn action(queue: &Queue) -> Result<&str, Trouble> {
    queue.purge.as_deref().ok_or_else(|| {
        let message = format!(
            "the queue `{0}` names no action that ends what is purged: set `purge` of `[queue.{0}]` to an action of the \
             pipeline `{1}`",
            queue.name, queue.pipeline
        );
        Trouble::new(400, message)
    })
}

/// Returns the reason of what is done for a queue, by which it is found again.
fn reason(named: Named<'_>) -> String {
    format!("purge of the queue `{}`", named.name())
}

pub(crate) async fn some(call: Call, queues: Queues) -> Answer {
    let named = queues.named(&call)?;
    let action = action(named.queue())?;
    let Refs { refs } = read(&call)?;
    if !(1..=BATCH_MAX).contains(&refs.len()) {
        return Err(Trouble::new(400, format!("{} refs; send 1 to {BATCH_MAX} in one call", refs.len())));
    }
    let (mut errors, mut warnings) = (Vec::new(), Map::new());
    for Ref { text } in refs {
        let Some(message) = reference::read::<MessageRef>(&text) else {
            let shown: String = text.chars().take(200).collect();
            errors.push(json!({ "message": format!("`{shown}` is no `ref`: send one that a peek gave") }));
            continue;
        };
        match one(&call.client, named, action, &message).await {
            Ok(None) => {}
            Ok(Some(warning)) => drop(warnings.insert(text, warning.into())),
            Err(error) => errors.push(json!({ "message": format!("{}: {error}", message.submission) })),
        }
    }
    Ok(json!({ "errors": errors, "warnings": warnings }))
}

/// Purges one message; returns why it is not there any more, where it is not.
async fn one(
    client: &Client,
    named: Named<'_>,
    action: &str,
    message: &MessageRef,
) -> Result<Option<String>, client::Error> {
    let view = client.submission(message.submission).await?;
    if view.pipeline != named.queue().pipeline
        || view.state != message.state
        || view.requeues != message.requeues
    {
        return Ok(Some("the message is not in the queue any more".to_owned()));
    }
    let body = ActBody { reason: Some(reason(named)), ..ActBody::default() };
    let options = ActOptions { revision: Some(view.revision), ..ActOptions::default() };
    client.act(message.submission, action, &body, &options).await.map(|_| None)
}

pub(crate) async fn all(call: Call, queues: Queues) -> Answer {
    let named = queues.named(&call)?;
    let queue = named.queue();
    let action = action(queue)?;
    let wish: Wish = read(&call)?;
    if !wish.delete_messages_permanently {
        return Err(Trouble::new(400, "say `\"delete_messages_permanently\": true` to purge every message"));
    }
    for state in states(&pipeline(&call.client, queue).await?, queue) {
        call.client.start_operation(&operation(named, action, state)).await?;
    }
    Ok(shown(named))
}

fn operation(named: Named<'_>, action: &str, state: Name) -> OperationBody {
    let status = match named {
        Named::Tasks(_) => Status::Open,
        Named::DeadLetters(_) => Status::Dead,
    };
    let filter =
        Filter { state: Some(state), status: Some(status), ..Filter::of(named.queue().pipeline.clone()) };
    OperationBody {
        filter,
        action: action.into(),
        reason: Some(reason(named)),
        data: None,
        to: None,
        version: None,
        map: std::collections::BTreeMap::new(),
        dry_run: false,
    }
}

pub(crate) async fn status(call: Call, queues: Queues) -> Answer {
    let named = queues.named(&call)?;
    let reason = reason(named);
    let known = call.client.operations(Some(OPERATIONS), None).await?.operations;
    let is_ours = |operation: &&Operation| {
        operation.reason.as_deref() == Some(&*reason) && matches!(operation.deed, Deed::Act { .. })
    };
    // Newest first; those of one purge are as many as the queue has states.
    let view = pipeline(&call.client, named.queue()).await?;
    let count = states(&view, named.queue()).len();
    let last: Vec<&Operation> = known.iter().filter(is_ours).take(count).collect();
    let is_over = last.iter().all(|operation| operation.status != OperationStatus::Running);
    let started_at = last.iter().map(|operation| operation.started_at).min();
    Ok(match started_at {
        Some(at) => json!({ "started_at": at, "completed": is_over.to_string() }),
        None => json!({}),
    })
}
