//! Wake: time has passed. Does the one thing that is due, or arms the timer again.

use super::cause::Step;
use super::fail::{Again, attempt_failed, crashed};
use super::guard_view::Moment;
use super::moves::{Walk, only};
use super::park::parked;
use super::{Answer, Current, Decision};
use crate::context::Context;
use crate::event::{Change, Spent};
use crate::expr::GuardError;
use crate::pipeline::{Kind, Pipeline, Ttl};
use crate::submission::{Cause, Failure, Lease, Submission, TimeToLive, Wait};
use crate::time::{Millis, Time};

/// The time the store must have been in reach before a lease may be taken from its worker: time to renew, or to hand in
/// what was done while nobody could take it.
pub const GRACE: Millis = Millis::from_secs(10);

pub(super) fn decide(pipeline: &Pipeline, current: Current<'_>, context: &Context) -> Decision {
    let mut walk = Walk::new(pipeline, current, context);
    let now = context.now;
    let expired = current.row.time_to_live(now) == TimeToLive::Over;
    walk.note_late();
    walk.release_expired();
    let escalation = walk.escalation();
    if !expired
        && escalation.is_none()
        && matches!(current.row.wait, Wait::Delay { until, .. } | Wait::Clock { until } if until <= now)
        && let Some(parked) = parked(pipeline, walk.row(), context)
    {
        // A hold stops wakes; its end looks again.
        let decision = walk.done(Answer::Parked);
        return Decision { row: parked, ..decision };
    }
    match &current.row.wait {
        Wait::Lease(lease) => lease_due(&mut walk, lease),
        _ if expired => expire(&mut walk),
        _ if escalation.is_some() => walk.escalate(),
        Wait::Delay { until, cause } if *until <= now => resume(&mut walk, *cause),
        Wait::Clock { until } if *until <= now => clock_due(&mut walk),
        Wait::Nothing if current.row.forget_at.is_some_and(|at| at <= now) => {
            walk.note(Change::Forgotten, &"forget".into(), Step::rule());
        }
        Wait::Nothing if current.row.erase_at.is_some_and(|at| at <= now) => {
            walk.note(Change::Erased, &"retention".into(), Step::rule());
        }
        _ => {}
    }
    let mut decision = walk.done(Answer::Done);
    arm(&mut decision.row, context);
    decision
}

/// The timer as it stands now; never in the past for a lease that may not be ended yet.
fn arm(row: &mut Submission, context: &Context) {
    let grace_ends = row.lease().map(|lease| grace_ends(lease, context));
    row.timer = row.deadline().map(|at| grace_ends.map_or(at, |grace| at.max(grace)));
}

fn grace_ends(lease: &Lease, context: &Context) -> Time {
    context.reachable_since.plus(lease.span.min(GRACE))
}

fn lease_due(walk: &mut Walk<'_>, lease: &Lease) {
    let now = walk.context.now;
    if grace_ends(lease, walk.context) > now {
        return;
    }
    if lease.times_out_at.is_some_and(|at| at <= now) {
        let span = lease.times_out_at.map_or(Millis::ZERO, |at| at.since(lease.granted_at));
        let message = format!("the attempt took longer than {span}");
        let failure = Failure { code: "timeout".into(), message };
        attempt_failed(walk, &failure, Again::After(None), Step::rule());
    } else if lease.expires_at <= now {
        crashed(walk);
    }
}

/// A time to live is over: along its declared edge, and no other way.
fn expire(walk: &mut Walk<'_>) {
    let row = walk.row();
    let state_due = row.state_ttl_at.is_some_and(|at| at <= walk.context.now);
    let (ttl, spent): (Option<&Ttl>, _) = if state_due {
        (walk.state().ttl.as_ref(), Spent::State)
    } else {
        (walk.pipeline.ttl.as_ref(), Spent::Pipeline)
    };
    let ttl = ttl.expect("a submission has a time to live only where its version declares one");
    let mut step = Step::rule();
    step.spent = Some(spent);
    walk.go_or_die(&ttl.edge, only(&ttl.edge), step, None);
}

/// A delay is over. No event: nothing was decided, a queue was joined.
fn resume(walk: &mut Walk<'_>, cause: Cause) {
    match cause {
        Cause::Retry | Cause::Snooze => {
            let task = walk.pipeline.wanted_task(walk.row());
            let wait = walk.queued(task, walk.row().priority);
            walk.row_mut().wait = wait;
        }
        Cause::NotBefore => {
            let passed = walk.settle_in();
            die_of(walk, passed);
        }
    }
}

fn clock_due(walk: &mut Walk<'_>) {
    let Kind::Wait { next, .. } = &walk.state().kind else {
        unreachable!("only a wait state waits for the clock")
    };
    match walk.sight.choose(walk.row(), Moment::default(), next) {
        Ok(Some((_, edge))) => walk.go_or_die(edge, only(edge), Step::rule(), None),
        Ok(None) => unreachable!("the last edge of a wait state has no guard; the file was checked"),
        Err(error) => die_of(walk, Err(error)),
    }
}

fn die_of(walk: &mut Walk<'_>, result: Result<(), GuardError>) {
    if let Err(error) = result {
        walk.guard_failed(&error, None, Step::rule());
    }
}
