//! Claim: a worker takes the lease of a submission that waits for one. Durable, without event or revision.

use super::limits::Full;
use super::{Answer, Current, Decision};
use crate::command::Claim;
use crate::context::{Chance, Context};
use crate::pipeline::Pipeline;
use crate::refusal::{Code, Refusal};
use crate::submission::{Lease, Submission, TimeToLive, Wait};
use crate::token::LeaseToken;

pub(super) fn decide(
    pipeline: &Pipeline,
    current: Current<'_>,
    claim: &Claim,
    context: &Context,
) -> Result<Decision, Refusal> {
    let row = current.row;
    let Wait::Worker { task: wanted, rank } = &row.wait else { return Err(not_leasable(row)) };
    let in_queue = row.parked.is_none() && claim.tasks.contains(wanted);
    if !in_queue || row.time_to_live(context.now) != TimeToLive::Lasts {
        return Err(not_leasable(row));
    }
    if let Some(parked) = super::park::parked(pipeline, row, context) {
        return Ok(Decision::quiet(parked, Answer::Parked));
    }
    let slots = match super::limits::slots(pipeline, row, context) {
        Ok(slots) => slots,
        Err(Full::Aside(name)) => {
            let row = Submission { parked: Some(name), ..row.clone() };
            return Ok(Decision::quiet(row, Answer::Parked));
        }
        Err(Full::Unseen) => return Err(not_leasable(row)),
    };
    let task = pipeline.wanted_task(row);
    let queued_at = Some(pipeline.ageing.ready_at(*rank, row.priority));
    let span = claim.lease.unwrap_or(task.lease);
    let mut row = row.clone();
    row.lease_no += 1;
    let lease = Lease {
        task: task.name.clone(),
        worker: claim.worker.clone(),
        no: row.lease_no,
        bits: Chance::new(context.seed).bits(),
        span,
        granted_at: context.now,
        queued_at,
        expires_at: context.now.plus(span),
        times_out_at: task.timeout.map(|timeout| context.now.plus(timeout)),
        slots,
        progress: None,
    };
    let token = LeaseToken { submission: row.id, lease_no: lease.no, bits: lease.bits };
    row.wait = Wait::Lease(lease);
    row.timer = row.deadline();
    Ok(Decision::quiet(row, Answer::Granted { token }))
}

fn not_leasable(row: &Submission) -> Refusal {
    Refusal::new(
        Code::NotLeasable,
        format!("submission {} is not waiting for a worker of these tasks", row.id),
    )
}
