//! Acknowledge: somebody has looked into an end that asks for it.

use super::act::check_revision;
use super::cause::Step;
use super::moves::{Fact, Walk};
use super::{Answer, Current, Decision};
use crate::actor::Right;
use crate::admit::check_reason;
use crate::command::Acknowledge;
use crate::context::Context;
use crate::event::Change;
use crate::json::Json;
use crate::pipeline::Pipeline;
use crate::refusal::{Code, Refusal};
use crate::role::Role;
use crate::submission::Investigation;

pub(super) fn decide(
    pipeline: &Pipeline,
    current: Current<'_>,
    acknowledge: &Acknowledge,
    context: &Context,
) -> Result<Decision, Refusal> {
    let (row, caller, note) = (current.row, &acknowledge.caller, &acknowledge.note);
    check_reason(note.as_deref())?;
    check_revision(row, acknowledge.if_match)?;
    let refuse = |message: String| Err(Refusal::new(Code::NothingToAcknowledge, message));
    match row.investigation() {
        Some(Investigation::Open) => {}
        Some(Investigation::Acknowledged { by, at, .. }) => {
            return refuse(format!("{by} acknowledged it at {at}"));
        }
        None => {
            return refuse(format!(
                "submission {} is {} in state {}, where nothing is to be investigated",
                row.id,
                row.status.as_str(),
                row.state
            ));
        }
    }
    let role = pipeline.known(&row.state).investigate().unwrap_or(Role::Admin);
    if !caller.role.covers(role) {
        let message = format!("acknowledging an end in state {} needs the role {role}", row.state);
        return Err(Refusal::new(Code::RoleRequired, message).with("role", role.as_str()));
    }
    let mut walk = Walk::new(pipeline, current, context);
    let metadata = note.as_ref().map(|note| Json::from(serde_json::json!({ "note": note })));
    let fact = Fact { to: &row.state, trigger: &"acknowledge".into(), actor: None, metadata, tells: None };
    let step = Step::by(caller.actor(), Right::Role(caller.role));
    walk.record(Change::Acknowledged { note: note.clone() }, fact, step);
    Ok(walk.done(Answer::Done))
}
