//! The task `ledger.watch`: asks what became of a batch, together with all others of its ledger.

use serde_json::json;
use worker::{Failure, Outcome, Task};

use crate::adapter::Standing;
use crate::batch::Batch;
use crate::ledgers::Ledgers;
use crate::submit::FULL;

/// The state of a batch whose lane is free: the ledger cannot forget it any more.
const VALID: &str = "VALID";

pub(crate) async fn watch(ledgers: &Ledgers, task: Task) -> Result<Outcome, Failure> {
    let batch = Batch::of(&task)?;
    let ledger = ledgers.of(batch.service())?;
    let Ok(_place) = ledger.places.try_acquire() else { return Ok(Outcome::snooze(FULL)) };
    let later = Outcome::snooze(ledger.settings.poll.into());
    let answer = ledger.poller.ask(batch.watched()).await?;
    let is_valid = &*task.state == VALID;
    let name = &ledger.settings.name;
    Ok(match answer {
        None | Some(Standing::Pending) => later,
        Some(Standing::Valid) if is_valid => later,
        Some(Standing::Valid) => Outcome::new("valid"),
        Some(Standing::Committed(receipts)) => {
            Outcome::new("committed").output(json!({ "ledger": name, "receipts": receipts }))
        }
        Some(Standing::Invalid(invalid)) => {
            Outcome::new("invalid").output(json!({ "ledger": name, "invalid_transactions": invalid }))
        }
        Some(Standing::Unknown | Standing::Stuck(_)) if is_valid => {
            let message = "the ledger found the batch valid and does not know it any more";
            return Err(Failure::new("forgotten", message));
        }
        Some(Standing::Unknown) => Outcome::new("unknown"),
        Some(Standing::Stuck(message)) => {
            let error = json!({ "code": "stuck", "message": message });
            Outcome::new("delayed").output(json!({ "ledger": name, "error": error }))
        }
    })
}
