//! Fail: an attempt went wrong. Tried again while the rule allows, then `on.error`, then the dead letter.

use super::cause::Step;
use super::guard_view::Moment;
use super::moves::Walk;
use super::settle::fenced;
use super::snooze::SNOOZE_MAX;
use super::{Answer, Current, Decision};
use crate::command::Fail;
use crate::context::{Chance, Context};
use crate::digest::Digest;
use crate::event::Change;
use crate::pipeline::{Backoff, Choice, Edge, Every, Kind, Pipeline, RetryRule, Times};
use crate::refusal::{Code, Refusal};
use crate::submission::{Failure, Kept, Status};
use crate::time::Millis;

/// Leases a visit may lose in a row before the submission is set aside: it is likelier the cause than the victim.
pub const CRASHES_MAX: u32 = 5;
/// The code of a submission that was set aside because of that.
pub(crate) const CRASHING: &str = "crashing";
/// The code of an attempt whose answer the guards of its edges, or its schema, cannot take.
pub const BAD_OUTPUT: &str = "bad-output";

pub(super) fn decide(
    pipeline: &Pipeline,
    current: Current<'_>,
    fail: &Fail,
    context: &Context,
) -> Result<Decision, Refusal> {
    fenced(current, fail.token, digest(fail), context, |settlement| {
        if fail.after.is_some_and(|after| after > SNOOZE_MAX) {
            let message = format!("`retry_after` is at most {SNOOZE_MAX}");
            return Err(Refusal::new(Code::InvalidRequest, message));
        }
        let mut walk = Walk::new(pipeline, current, context);
        let step = Step::by(settlement.worker(), settlement.right());
        let again = if fail.retryable { Again::After(fail.after) } else { Again::Never };
        attempt_failed(&mut walk, &fail.failure, again, step);
        Ok(walk.done(Answer::Done))
    })
}

/// The word about another attempt of whoever saw one fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    Never,
    /// As often as the rule allows; after this pause where one is given.
    After(Option<Millis>),
}

/// An attempt failed, by its worker's word or because its time ran out.
pub(super) fn attempt_failed<'s>(walk: &mut Walk<'_>, failure: &'s Failure, again: Again, step: Step<'s>) {
    let task = walk.pipeline.wanted_task(walk.row());
    let (counted, rule) = task.retry.rule_for(&failure.code);
    let failed = walk.row().failures.get(counted).copied().unwrap_or(0);
    let is_allowed = match rule.times {
        Times::Forever => true,
        Times::AtMost(times) => failed < times,
    };
    if let (Again::After(pause), true) = (again, is_allowed) {
        let pause = pause.unwrap_or_else(|| delay(rule, failed, &mut walk.chance));
        let until = walk.context.now.plus(pause);
        let change = Change::Retried { error: failure.clone(), rule: counted.into(), until };
        return walk.note(change, &"retry".into(), step);
    }
    if walk.row().request.is_some() {
        return abandon(walk, failure.clone(), step);
    }
    let (Kind::Task { on_error, .. } | Kind::Join { on_error, .. }) = &walk.state().kind else {
        unreachable!("a lease without a request is that of a task")
    };
    let kept = kept(walk);
    give_up(walk, on_error, failure, kept, step);
}

/// Leads along the edges for what failed for good; where they lead nowhere, to the dead letter.
fn give_up<'s>(
    walk: &mut Walk<'_>,
    edges: &[Edge],
    failure: &'s Failure,
    kept: Option<Kept>,
    mut step: Step<'s>,
) {
    step.moment = Moment { error: Some(failure), ..Moment::default() };
    match walk.sight.choose(walk.row(), step.moment, edges) {
        Ok(Some((_, edge))) => match &edge.to {
            Some(Choice::One(to)) => walk.go_or_die(edge, to, step, kept),
            Some(Choice::Pick(_)) => unreachable!("only actions offer a choice; the file was checked"),
            None => walk.die(failure.clone(), None, step),
        },
        Ok(None) => walk.die(failure.clone(), None, step),
        Err(error) => walk.guard_failed(&error, kept, step),
    }
}

/// The failure of a worker whose answer the pipeline cannot use.
pub(super) fn bad_output(message: &str) -> Failure {
    Failure::new(BAD_OUTPUT, message)
}

/// A lease ended without a word: again at once, and after too many, aside.
pub(super) fn crashed(walk: &mut Walk<'_>) {
    let crashes = walk.row().crashes + 1;
    if crashes < CRASHES_MAX {
        let task = walk.pipeline.wanted_task(walk.row()).name.clone();
        let rank = walk.pipeline.ageing.rank(walk.context.now, walk.row().priority);
        let worker = walk.row().lease().map(|lease| lease.worker.clone());
        let change = Change::Crashed { task, rank, worker };
        return walk.note(change, &"lease-expired".into(), Step::rule());
    }
    let message =
        format!("{crashes} workers in a row stopped answering while they had it; look before redriving");
    let failure = Failure { code: CRASHING.into(), message };
    if walk.row().request.is_some() {
        abandon(walk, failure, Step::rule());
    } else {
        // Nothing is kept: whoever redrives it wants the task run again.
        give_up(walk, &walk.state().on_crashed, &failure, None, Step::rule());
    }
}

/// Gives up a granted action: the submission waits for what its state waits for, and somebody may act again.
pub(super) fn abandon(walk: &mut Walk<'_>, error: Failure, step: Step<'_>) {
    // A dead letter that was acted on has given up its lane; it needs it again.
    walk.reseat();
    let row = walk.row();
    match walk.turn(walk.state(), row, row.entered_at, row.priority) {
        Ok(wait) => {
            let status = match &walk.state().kind {
                Kind::Final { outcome, .. } => outcome.status(),
                _ => Status::Open,
            };
            walk.note(Change::Abandoned { error, wait, status }, &"abandoned".into(), step);
        }
        Err(guard) => walk.guard_failed(&guard, None, step),
    }
}

fn kept(walk: &Walk<'_>) -> Option<Kept> {
    let lease = walk.row().lease()?;
    Some(Kept { outcome: "error".into(), worker: lease.worker.clone(), lease_no: lease.no })
}

/// The pause before the next try, after `failed` earlier ones.
fn delay(rule: &RetryRule, failed: u32, chance: &mut Chance) -> Millis {
    let base = match &rule.delay {
        Every::Same(span) => match rule.backoff {
            Backoff::Constant => *span,
            Backoff::Linear => span.times(u64::from(failed) + 1),
            Backoff::Exponential => span.times(1_u64.checked_shl(failed).unwrap_or(u64::MAX)),
        },
        Every::Each(spans) => {
            let index = (failed as usize).min(spans.len().saturating_sub(1));
            spans.get(index).copied().unwrap_or(Millis::ZERO)
        }
    };
    let bounded = rule.max.map_or(base, |max| base.min(max));
    if rule.jitter == 0.0 {
        return bounded;
    }
    // In millionths, so that the rest is whole numbers: a delay of years times a million still fits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 2,000,000")]
    let millionths = ((1.0 + rule.jitter * (2.0 * chance.fraction() - 1.0)) * 1_000_000.0) as u64;
    Millis::new(bounded.millis().saturating_mul(millionths) / 1_000_000)
}

fn digest(fail: &Fail) -> Digest {
    let failure = &fail.failure;
    let again: &[u8] = if fail.retryable { b"again" } else { b"never" };
    let after = fail.after.map(|after| after.millis().to_be_bytes());
    let after: &[u8] = after.as_ref().map_or(&[], |bytes| bytes);
    let parts: [&[u8]; 7] =
        [b"fail\0", failure.code.as_bytes(), b"\0", failure.message.as_bytes(), b"\0", again, after];
    Digest::of_parts(&parts)
}
