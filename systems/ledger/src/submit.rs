//! The task `ledger.submit`: hands a batch to its ledger, with a few quick attempts while that is busy.

use std::time::Duration;

use serde_json::json;
use worker::{Failure, Outcome, Task};

use crate::adapter::{Outgoing, Submitted, Trouble};
use crate::batch::Batch;
use crate::ledgers::{Ledger, Ledgers};

/// The pause of a task whose ledger has no place for it.
pub(crate) const FULL: Duration = Duration::from_secs(5);

pub(crate) async fn submit(ledgers: &Ledgers, task: Task) -> Result<Outcome, Failure> {
    let batch = Batch::of(&task)?;
    let ledger = ledgers.of(batch.service())?;
    let Ok(_place) = ledger.places.try_acquire() else { return Ok(Outcome::snooze(FULL)) };
    let outgoing = batch.outgoing()?;
    let (answer, attempts) = attempt(ledger, &outgoing).await;
    let name = &ledger.settings.name;
    Ok(match answer {
        Ok(Submitted::Accepted { link }) => {
            Outcome::new("accepted").output(json!({ "ledger": name, "attempts": attempts, "link": link }))
        }
        Ok(Submitted::Invalid { code, message }) => {
            let why = json!([{ "id": outgoing.header, "code": code, "message": message }]);
            Outcome::new("invalid").output(json!({ "ledger": name, "invalid_transactions": why }))
        }
        Err(Trouble { code, message, .. }) => {
            tracing::debug!(ledger = name, code, message, attempts, "a batch is delayed");
            let error = json!({ "code": code, "message": message });
            Outcome::new("delayed").output(json!({ "ledger": name, "attempts": attempts, "error": error }))
        }
    })
}

/// Sends until the ledger is not busy or the attempts are used up. Each attempt looks the address up anew.
async fn attempt(ledger: &Ledger, batch: &Outgoing) -> (Result<Submitted, Trouble>, u32) {
    let settings = &ledger.settings;
    for attempts in 1..settings.attempts {
        match ledger.adapter.submit(batch).await {
            Err(trouble) if trouble.is_busy => {
                let pause = settings.pause.plus(settings.pause_step.times(u64::from(attempts - 1)));
                tokio::time::sleep(pause.into()).await;
            }
            answer => return (answer, attempts),
        }
    }
    (ledger.adapter.submit(batch).await, settings.attempts)
}
