//! Queues a submission stands in beside its task's: a lane, a key, a hold. Joining and leaving them leaves no event;
//! the moves that follow do.

use super::cause::Step;
use super::moves::Walk;
use super::{Answer, Current, Decision};
use crate::context::Context;
use crate::expr::GuardError;
use crate::pipeline::{Holds, Pipeline};
use crate::submission::{Stand, Submission, Wait};

/// The row taken out of its queues, if a hold covers it and the pipeline lets holds stop work.
pub(super) fn parked(pipeline: &Pipeline, row: &Submission, context: &Context) -> Option<Submission> {
    let hold = context.hold.as_ref().filter(|_| pipeline.holds == Holds::Stop)?;
    let mut row = Submission { parked: Some(hold.clone()), ..row.clone() };
    row.timer = row.deadline();
    Some(row)
}

/// Gives a submission its turn in the lane.
pub(super) fn seat(pipeline: &Pipeline, current: Current<'_>, context: &Context) -> Decision {
    let row = current.row;
    if !row.seat.as_ref().is_some_and(crate::submission::Seat::waits) || !context.lane_free {
        return Decision::quiet(row.clone(), Answer::Done);
    }
    if let Some(parked) = parked(pipeline, row, context) {
        return Decision::quiet(parked, Answer::Parked);
    }
    let mut walk = Walk::new(pipeline, current, context);
    let sat = match row.wait {
        Wait::Line => walk.sit(),
        // In a state that does not stop for the lane: it holds it from here on.
        _ => {
            if let Some(seat) = &mut walk.row_mut().seat {
                seat.stand = Stand::Holds;
            }
            Ok(())
        }
    };
    finish(walk, sat)
}

/// The key it waited for is free: it enters as if it had just come.
pub(super) fn take_key(pipeline: &Pipeline, current: Current<'_>, context: &Context) -> Decision {
    if !current.row.key_waits || context.key_holder.is_some() {
        return Decision::quiet(current.row.clone(), Answer::Done);
    }
    let mut walk = Walk::new(pipeline, current, context);
    walk.row_mut().key_waits = false;
    if current.row.wait != Wait::Key {
        // A dead letter: it has its key now, and waits to be redriven.
        return finish(walk, Ok(()));
    }
    walk.reseat();
    let entered = walk.settle_in();
    finish(walk, entered)
}

/// Looks again whether what parked the submission is over. Another hold parks it anew, under its own name.
pub(super) fn unpark(pipeline: &Pipeline, current: Current<'_>, context: &Context) -> Decision {
    if current.row.parked.is_none() {
        return Decision::quiet(current.row.clone(), Answer::Done);
    }
    if let Some(parked) = parked(pipeline, current.row, context) {
        return Decision::quiet(parked, Answer::Parked);
    }
    let mut row = Submission { parked: None, ..current.row.clone() };
    row.timer = row.deadline();
    let mut decision = Decision::quiet(row, Answer::Done);
    decision.owed = super::moves::line_up(pipeline, &decision.row);
    decision
}

fn finish(mut walk: Walk<'_>, result: Result<(), GuardError>) -> Decision {
    if let Err(error) = result {
        walk.guard_failed(&error, None, Step::rule());
    }
    let mut decision = walk.done(Answer::Done);
    decision.row.timer = decision.row.deadline();
    decision
}
