//! Ledgers that speak Sawtooth's REST API.

use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;
use wire::Millis;

use super::{Adapter, Link, Outgoing, Standing, Statuses, Submitted, Trouble, Watched, batch_list};

/// The most ids that fit into an address; more go into a body.
const IN_ADDRESS_MAX: usize = 15;
const STATUSES_MAX: usize = 500;

#[derive(Debug)]
pub(crate) struct Sawtooth {
    link: Link,
    wait: Millis,
}

#[derive(Debug, Deserialize)]
struct StatusAnswer {
    data: Vec<Status>,
}

#[derive(Debug, Deserialize)]
struct Status {
    id: String,
    status: String,
    #[serde(default)]
    invalid_transactions: Vec<Value>,
}

impl Sawtooth {
    pub(crate) fn new(link: Link, wait: Millis) -> Sawtooth {
        Sawtooth { link, wait }
    }
}

#[async_trait]
impl Adapter for Sawtooth {
    async fn submit(&self, batch: &Outgoing) -> Result<Submitted, Trouble> {
        let body = batch_list::of_one(&batch.bytes, &batch.header);
        let answer = self.link.post("/batches", ("application/octet-stream", body), None).await?;
        match answer.status {
            200 | 202 => Ok(Submitted::Accepted { link: link_of(&answer.body) }),
            _ => Err(answer.trouble()),
        }
    }

    fn group(&self, _: &str) -> String {
        String::new()
    }

    fn statuses_max(&self) -> usize {
        STATUSES_MAX
    }

    async fn statuses(&self, _: &str, batches: &[Watched]) -> Result<Statuses, Trouble> {
        let ids: Vec<&str> = batches.iter().flat_map(|batch| &batch.headers).map(String::as_str).collect();
        let wait = wait_of(self.wait);
        let answer = match ids.len() <= IN_ADDRESS_MAX {
            true => self.link.get(&format!("/batch_statuses?id={}{wait}", ids.join(",")), None).await?,
            false => {
                let body = serde_json::to_vec(&ids).unwrap_or_default();
                let path = format!("/batch_statuses?{}", wait.trim_start_matches('&'));
                self.link.post(path.trim_end_matches('?'), ("application/json", body), None).await?
            }
        };
        if answer.status != 200 {
            return Err(answer.trouble());
        }
        let read: StatusAnswer =
            serde_json::from_value(answer.json()?).map_err(|error| Trouble::garbled(&error.to_string()))?;
        let found = read.data.into_iter().map(|status| {
            let standing = match &*status.status {
                "COMMITTED" => Standing::Committed(Vec::new()),
                "INVALID" => Standing::Invalid(status.invalid_transactions),
                "PENDING" => Standing::Pending,
                "VALID" => Standing::Valid,
                "UNKNOWN" => Standing::Unknown,
                other => return Err(Trouble::garbled(&format!("the status {other:.40?} has no meaning"))),
            };
            Ok((status.id, standing))
        });
        Ok(Statuses::arrange(batches, found.collect::<Result<Vec<_>, _>>()?))
    }
}

/// Returns the part of a query that asks the ledger to wait for a decision, in whole seconds.
pub(super) fn wait_of(wait: Millis) -> String {
    match Duration::from(wait).as_secs() {
        0 => String::new(),
        seconds => format!("&wait={seconds}"),
    }
}

/// Returns the address of a batch's status, where the answer names it.
pub(super) fn link_of(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    Some(body["link"].as_str()?.chars().take(1_024).collect())
}
