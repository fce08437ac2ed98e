//! Acknowledging: a message that was done is finished, one that is wanted again has failed an attempt.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use system::Call;
use wire::api::{ErrorBody, FailBody, FinishBody, SettleResult};
use wire::{Json, Millis};
use worker::Failure;
use worker::queue::{AGAIN, Queue};

use crate::Queues;
use crate::envelope::{Answer, Trouble, read, told};
use crate::reference::{self, LeaseId};

/// The most leases of one call.
const LEASES_MAX: usize = 200;
/// The longest pause before another try, as the original has it.
const DELAY_SECONDS_MAX: u64 = 12 * 3_600;

#[derive(Debug, Default, Deserialize)]
struct Said {
    #[serde(default)]
    acks: Vec<Ack>,
    #[serde(default)]
    retries: Vec<Retry>,
}

#[derive(Debug, Deserialize)]
struct Ack {
    lease_id: String,
    /// Beyond the original: the outcome and the output of the task, where the declared outcome will not do.
    outcome: Option<String>,
    output: Option<Json>,
}

#[derive(Debug, Deserialize)]
struct Retry {
    lease_id: String,
    delay_seconds: Option<u64>,
}

pub(crate) async fn ack(call: Call, queues: Queues) -> Answer {
    let queue = queues.open(&call)?;
    let Said { acks, retries } = read(&call)?;
    if acks.len() + retries.len() > LEASES_MAX {
        return Err(Trouble::new(400, format!("more than {LEASES_MAX} leases in one call")));
    }
    if retries.iter().any(|retry| retry.delay_seconds.is_some_and(|delay| delay > DELAY_SECONDS_MAX)) {
        return Err(Trouble::new(400, format!("`delay_seconds` is at most {DELAY_SECONDS_MAX}")));
    }
    let mut warnings = Map::new();
    let (done, finished) = leased(acks, &mut warnings, |ack| (ack.lease_id.clone(), finish(queue, ack)));
    let (again, failed) =
        leased(retries, &mut warnings, |retry| (retry.lease_id.clone(), fail(queue, &retry).map(Ok)));
    let mut counts = [0_u64; 2];
    for (count, (ids, results)) in counts.iter_mut().zip([
        (done, settled(finished, |tasks| call.client.finish(tasks)).await?),
        (again, settled(failed, |tasks| call.client.fail(tasks)).await?),
    ]) {
        for (id, result) in ids.into_iter().zip(results) {
            match result.problem {
                None => *count += 1,
                Some(problem) => drop(warnings.insert(id, told(&problem).into())),
            }
        }
    }
    let [acknowledged, retried] = counts;
    Ok(json!({ "ackCount": acknowledged, "retryCount": retried, "warnings": warnings }))
}

/// Returns what is to be settled, with the leases it is about; what cannot be becomes a warning.
fn leased<T, S>(
    said: Vec<T>,
    warnings: &mut Map<String, Value>,
    read: impl Fn(T) -> (String, Option<Result<S, Failure>>),
) -> (Vec<String>, Vec<S>) {
    let (mut ids, mut settlements) = (Vec::new(), Vec::new());
    for one in said {
        match read(one) {
            (id, Some(Ok(settlement))) => {
                ids.push(id);
                settlements.push(settlement);
            }
            (id, Some(Err(failure))) => drop(warnings.insert(id, failure.to_string().into())),
            (id, None) => {
                let shown: String = id.chars().take(200).collect();
                warnings.insert(shown, "this is no `lease_id`: send one that a pull gave".into());
            }
        }
    }
    (ids, settlements)
}

/// Settles, where there is something to settle.
async fn settled<T, F>(tasks: Vec<T>, settle: impl FnOnce(Vec<T>) -> F) -> Result<Vec<SettleResult>, Trouble>
where
    F: Future<Output = Result<wire::api::SettleAnswer, client::Error>>,
{
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    Ok(settle(tasks).await?.results)
}

fn finish(queue: &Queue, ack: Ack) -> Option<Result<FinishBody, Failure>> {
    let LeaseId { token, task, .. } = reference::read(&ack.lease_id)?;
    let outcome = queue.outcome(&task, ack.outcome.as_deref());
    Some(outcome.map(|outcome| FinishBody { token, outcome, output: ack.output, ..FinishBody::default() }))
}

fn fail(queue: &Queue, retry: &Retry) -> Option<FailBody> {
    let LeaseId { token, attempt, .. } = reference::read(&retry.lease_id)?;
    let failure = Failure::new(AGAIN, "the consumer wants it once more");
    let Failure { code, message, retryable, after } =
        queue.failure(attempt, failure, retry.delay_seconds.map(Millis::from_secs));
    Some(FailBody { token, error: ErrorBody { code, message, retryable, retry_after: after } })
}
