//! Note: somebody writes down what others should know. Nothing else changes.

use super::act::check_revision;
use super::cause::Step;
use super::moves::{Fact, Walk};
use super::{Answer, Current, Decision};
use crate::actor::Right;
use crate::admit::check_reason;
use crate::command::Note;
use crate::context::Context;
use crate::event::Change;
use crate::json::Json;
use crate::pipeline::Pipeline;
use crate::refusal::{Code, Refusal};
use crate::role::Role;

/// The most notes of one submission.
pub const NOTES_MAX: u32 = 500;

pub(super) fn decide(
    pipeline: &Pipeline,
    current: Current<'_>,
    note: &Note,
    context: &Context,
) -> Result<Decision, Refusal> {
    let (row, caller) = (current.row, &note.caller);
    check_revision(row, note.if_match)?;
    check_reason(Some(&note.text))?;
    if note.text.trim().is_empty() {
        return Err(Refusal::new(Code::InvalidRequest, "`text` is empty; say what others should know"));
    }
    if caller.role == Role::Viewer {
        return Err(Refusal::new(Code::RoleRequired, "a viewer looks and writes nothing down"));
    }
    if row.notes >= NOTES_MAX {
        let message = format!("submission {} has {NOTES_MAX} notes, which is the most", row.id);
        return Err(Refusal::new(Code::TooLarge, message));
    }
    let mut walk = Walk::new(pipeline, current, context);
    let metadata = Some(Json::from(serde_json::json!({ "note": note.text })));
    let fact = Fact { to: &row.state, trigger: &"note".into(), actor: None, metadata, tells: None };
    walk.record(Change::Noted, fact, Step::by(caller.actor(), Right::Role(caller.role)));
    Ok(walk.done(Answer::Done))
}
