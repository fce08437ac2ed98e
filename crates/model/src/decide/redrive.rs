//! Redrive: a dead letter goes on where it stopped.

use super::cause::Step;
use super::guard_view::Moment;
use super::moves::{Fact, Walk, only};
use super::{Answer, Current, Decision};
use crate::actor::Right;
use crate::admit::{check_reason, guard_refusal};
use crate::command::Redrive;
use crate::context::Context;
use crate::event::Change;
use crate::json::Json;
use crate::pipeline::{Choice, Kind, Pipeline};
use crate::refusal::{Code, Refusal};
use crate::role::Role;
use crate::submission::{Kept, Status};

pub(super) fn decide(
    pipeline: &Pipeline,
    current: Current<'_>,
    redrive: &Redrive,
    context: &Context,
) -> Result<Decision, Refusal> {
    let row = current.row;
    check_reason(redrive.reason.as_deref())?;
    if !redrive.caller.role.covers(Role::Admin) {
        return Err(Refusal::new(Code::RoleRequired, "redriving a dead letter needs the role admin")
            .with("role", Role::Admin.as_str()));
    }
    if row.status != Status::Dead {
        return Err(Refusal::new(Code::NotDead, format!("submission {} is {}", row.id, row.status.as_str())));
    }
    let mut walk = Walk::new(pipeline, current, context);
    let seat = if row.key_waits { row.seat.clone() } else { walk.regained_seat()? };
    let wait =
        walk.turn(walk.state(), row, context.now, row.priority).map_err(|error| guard_refusal(&error))?;
    let step = Step::by(redrive.caller.actor(), Right::Role(redrive.caller.role));
    let metadata = redrive.reason.as_ref().map(|reason| Json::from(serde_json::json!({ "reason": reason })));
    let fact = Fact { to: &row.state, trigger: &"redrive".into(), actor: None, metadata, tells: None };
    walk.record(Change::Redriven { wait, seat }, fact, step);
    if let Some(kept) = &row.kept {
        again(&mut walk, kept, current);
    } else if let Err(error) = walk.pass_on() {
        walk.guard_failed(&error, None, Step::rule());
    }
    Ok(walk.done(Answer::Done))
}

/// The edges that could not be evaluated, once more, with the output that was kept.
fn again(walk: &mut Walk<'_>, kept: &Kept, current: Current<'_>) {
    let (Kind::Task { on, on_error, .. } | Kind::Join { on, on_error, .. }) = &walk.state().kind else {
        return;
    };
    let failed = &*kept.outcome == "error";
    let edges = if failed { Some(on_error) } else { on.get(&kept.outcome) };
    let Some(edges) = edges else { return };
    let output = current.documents.outputs.get(&current.row.state);
    let moment = Moment { output, error: current.row.error.as_ref().filter(|_| failed), ..Moment::default() };
    let mut step = Step::rule();
    step.moment = moment;
    step.success = !failed;
    match walk.sight.choose(walk.row(), moment, edges) {
        Ok(Some((_, edge))) if matches!(edge.to, Some(Choice::One(_))) => {
            walk.go_or_die(edge, only(edge), step, Some(kept.clone()));
        }
        Ok(_) => {}
        Err(error) => walk.guard_failed(&error, Some(kept.clone()), Step::rule()),
    }
}
