//! The task `ledger.settle`, and what begins it: a committed transaction is watched until the chain will not go back behind it.

use client::{ActOptions, Client, FeedFilter};
use serde::Deserialize;
use serde_json::{Value, json};
use system::Follower;
use wire::SubmissionId;
use wire::api::{ActBody, EventView, SubmissionView, SubmitBody};
use worker::{Failure, Outcome, Task};

use crate::adapter::Depth;
use crate::ledgers::{Ledger, Ledgers};
use crate::submit::FULL;

const BATCHES: &str = "ledger-batch";
const FINALITY: &str = "ledger-finality";
const REORGED: &str = "REORGED";
/// Questions about one transaction are so much rarer than about one that is pending: it is committed, after all.
const RARER: u32 = 10;

#[derive(Debug, Deserialize)]
struct Committed {
    batch: SubmissionId,
    service_id: String,
    headers: Vec<String>,
}

/// Returns the reader of the feed that has every committed transaction of an account watched.
pub(crate) fn follower(client: &Client) -> Follower {
    let filter = FeedFilter {
        pipeline: Some(BATCHES.to_owned()),
        state: Some("COMMITTED".to_owned()),
        ..FeedFilter::default()
    };
    let client = client.clone();
    Follower::new("committed", filter, move |event| {
        let client = client.clone();
        async move { watch(&client, event).await }
    })
}

async fn watch(client: &Client, event: EventView) -> Result<(), Failure> {
    let view = match client.submission(event.submission).await {
        Ok(view) => view,
        // Erased since: there is nothing left to ask about.
        Err(error) if error.code() == Some("unknown-submission") => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let Some(payload) = committed(&view) else { return Ok(()) };
    let body = SubmitBody { payload: payload.into(), ..SubmitBody::default() };
    client.submit(FINALITY, &body, Some(&format!("finality-{}", event.submission))).await?;
    Ok(())
}

/// Returns what is to be watched of a batch: nothing, unless it is an account's.
fn committed(view: &SubmissionView) -> Option<Value> {
    let service = view.labels.get("service").filter(|service| service.starts_with("0x"))?;
    let payload: Value = serde_json::from_str(view.payload.as_ref()?.as_str()).ok()?;
    let headers = [&payload["batch_header"], &payload["replacement"]["batch_header"]];
    let headers: Vec<&str> = headers.into_iter().filter_map(Value::as_str).collect();
    Some(json!({ "batch": view.id, "service_id": &**service, "headers": headers }))
}

pub(crate) async fn settle(ledgers: &Ledgers, client: &Client, task: Task) -> Result<Outcome, Failure> {
    let committed: Committed = task.payload()?;
    let ledger = ledgers.of(&committed.service_id)?;
    let Ok(_place) = ledger.places.try_acquire() else { return Ok(Outcome::snooze(FULL)) };
    let poll: std::time::Duration = ledger.settings.poll.into();
    match depth(ledger, &committed.headers).await? {
        Depth::Final => Ok(Outcome::new("final")),
        Depth::Shallow => Ok(Outcome::snooze(poll * RARER)),
        Depth::Gone => {
            let name = &ledger.settings.name;
            report(client, committed.batch, &format!("its block is no longer part of the chain of `{name}`"))
                .await?;
            Ok(Outcome::new("gone"))
        }
    }
}

/// Returns how deep a transaction is. It is gone only if the node says so several times in a row.
async fn depth(ledger: &Ledger, headers: &[String]) -> Result<Depth, Failure> {
    let settings = &ledger.settings;
    for _ in 1..settings.unknown_after {
        match ledger.adapter.depth(headers, settings.finality).await {
            Ok(Depth::Gone) => tokio::time::sleep(settings.poll.into()).await,
            found => return found.map_err(|trouble| Failure::new(trouble.code, trouble.message)),
        }
    }
    let found = ledger.adapter.depth(headers, settings.finality).await;
    found.map_err(|trouble| Failure::new(trouble.code, trouble.message))
}

/// Says of a batch that it is committed no more. Somebody may have said so before a crash.
async fn report(client: &Client, batch: SubmissionId, reason: &str) -> Result<(), Failure> {
    let body = ActBody { reason: Some(reason.to_owned()), ..ActBody::default() };
    match client.act(batch, "report_reorg", &body, &ActOptions::default()).await {
        Ok(_) => Ok(()),
        Err(error) => match client.submission(batch).await {
            Ok(view) if &*view.state == REORGED => Ok(()),
            _ => Err(error.into()),
        },
    }
}
