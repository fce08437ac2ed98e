//! Whoever goes on after its end or as a dead letter has its lane from that moment on, and an amendment that is to take
//! a lease back takes it back.

use model::Right;
use model::event::Change;
use model::pipeline::AmendLease;
use model::submission::Seat;

use super::timing::Moment;
use super::{Checked, ensure};

pub(super) fn check(moment: &Moment<'_>) -> Checked {
    let row = moment.stood();
    match &moment.event.detail.change {
        // One that had a task run first was let go on when the task was asked for; by now the lane may be taken.
        Change::Moved(moved)
            if moved.reopened
                && row.request.is_none()
                && matches!(moment.event.leaf.right, Right::Role(_)) =>
        {
            with_lane(moved.entry.seat.as_ref())
        }
        Change::Redriven { seat, .. } if !row.key_waits => with_lane(seat.as_ref()),
        Change::Amended(amended) if moment.lease().is_some() => {
            let rule = moment.book.pipeline.amend.as_ref();
            let restarts = rule.is_some_and(|rule| rule.lease == AmendLease::Restart);
            ensure!(
                amended.wait.is_some() == restarts,
                "an amendment {} the lease of its worker",
                if restarts { "kept" } else { "took" }
            );
            Ok(())
        }
        _ => Ok(()),
    }
}

fn with_lane(seat: Option<&Seat>) -> Checked {
    ensure!(!seat.is_some_and(Seat::waits), "it went on without its lane");
    Ok(())
}
