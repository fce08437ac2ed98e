//! Give back: a worker stops, and somebody else does the task from the start. Neither a failure nor a crash, and no event:
//! the submission stands where it stood in its queue.

use super::cause::Step;
use super::fail::{Again, attempt_failed};
use super::moves::Walk;
use super::settle::fenced;
use super::{Answer, Current, Decision};
use crate::command::GiveBack;
use crate::context::Context;
use crate::digest::Digest;
use crate::pipeline::Pipeline;
use crate::refusal::Refusal;
use crate::submission::{Failure, GivenBack, Wait};

/// The time one attempt may take on leases that were given back, in multiples of the time it may take on one lease.
/// Each new lease has the whole time again, for the work begins anew; without a bound, a task that hangs would be
/// handed from worker to worker forever by whoever stops them before it times out.
pub const GIVEN_BACK_TIMEOUTS: u64 = 10;

pub(super) fn decide(
    pipeline: &Pipeline,
    current: Current<'_>,
    give_back: &GiveBack,
    context: &Context,
) -> Result<Decision, Refusal> {
    fenced(current, give_back.token, Digest::of(b"give-back\0"), context, |settlement| {
        let lease = &settlement.lease;
        let row = current.row;
        let given_back = GivenBack {
            times: row.given_back.times.saturating_add(1),
            took: row.given_back.took.plus(context.now.since(lease.granted_at)),
        };
        let timeout = pipeline.wanted_task(row).timeout;
        if let Some(timeout) = timeout.filter(|timeout| given_back.took >= timeout.times(GIVEN_BACK_TIMEOUTS))
        {
            let GivenBack { times, took } = given_back;
            let message = format!(
                "the attempt may take {timeout} and took {took}, on {times} leases that were given back"
            );
            let failure = Failure { code: "timeout".into(), message };
            let mut walk = Walk::new(pipeline, current, context);
            attempt_failed(&mut walk, &failure, Again::After(None), Step::rule());
            return Ok(walk.done(Answer::Done));
        }
        let mut row = row.clone();
        // Leases granted before this was kept have lost their place, as after a crash.
        let since = lease.queued_at.unwrap_or(context.now);
        row.wait = Wait::Worker { task: lease.task.clone(), rank: pipeline.ageing.rank(since, row.priority) };
        row.given_back = given_back;
        row.timer = row.deadline();
        Ok(Decision::quiet(row, Answer::Done))
    })
}
