//! Children: submissions a task makes, and what their ends mean for the one that made them.

use super::cause::Step;
use super::guard_view::Moment;
use super::moves::{Walk, only};
use super::renew::leased;
use super::{Answer, Current, Decision};
use crate::admit::{Admission, guard_refusal};
use crate::command::{Child, Spawn};
use crate::context::Context;
use crate::pipeline::{Kind, Pipeline};
use crate::refusal::{Code, Refusal};
use crate::submission::Status;

/// The most children of one call. More come with more calls.
pub const CHILDREN_MAX: usize = 1_000;

pub(super) fn spawn(
    pipeline: &Pipeline,
    current: Current<'_>,
    spawn: &Spawn,
    context: &Context,
) -> Result<Decision, Refusal> {
    leased(current.row, spawn.token, context)?;
    let mut walk = Walk::new(pipeline, current, context);
    check(&walk, &spawn.children)?;
    walk.spawn(&spawn.children);
    Ok(walk.done(Answer::Done))
}

/// Only a join state makes children, only of the pipeline it names, and not without bound.
pub(super) fn check(walk: &Walk<'_>, children: &[Admission]) -> Result<(), Refusal> {
    if children.is_empty() {
        return Ok(());
    }
    let Kind::Join { child, .. } = &walk.state().kind else {
        return Err(Refusal::new(
            Code::InvalidRequest,
            format!("state {} makes no children", walk.row().state),
        ));
    };
    if children.len() > CHILDREN_MAX {
        return Err(Refusal::new(
            Code::TooLarge,
            format!("at most {CHILDREN_MAX} children a call; spawn more after"),
        ));
    }
    match children.iter().find(|made| made.pipeline() != child) {
        None => Ok(()),
        Some(_) => {
            Err(Refusal::new(Code::InvalidRequest, format!("the children are submissions of `{child}`")))
        }
    }
}

/// A child ended, died or went on. Level-triggered: what counts is how they all stand.
pub(super) fn changed(
    pipeline: &Pipeline,
    current: Current<'_>,
    child: Child,
    context: &Context,
) -> Decision {
    let mut walk = Walk::new(pipeline, current, context);
    let children = &mut walk.row_mut().children;
    let before = children.of(child.before);
    *before = before.saturating_sub(1);
    *children.of(child.after) += 1;
    let moved = if child.after == Status::Open { reopened(&mut walk) } else { walk.pass_on() };
    if let Err(error) = moved {
        walk.guard_failed(&error, None, Step::rule());
    }
    walk.done(Answer::Done)
}

/// A child goes on after its parent has ended: the parent goes on too, where the file says so, its key is free and its
/// documents are there.
fn reopened(walk: &mut Walk<'_>) -> Result<(), crate::expr::GuardError> {
    let Kind::Final { on_reopened, .. } = &walk.state().kind else { return Ok(()) };
    if walk.context.key_holder.is_some() || walk.row().erased {
        return Ok(());
    }
    match walk.sight.choose(walk.row(), Moment::default(), on_reopened)? {
        Some((_, edge)) => walk.go(edge, only(edge), Step::rule()),
        None => Ok(()),
    }
}

/// The parent ended cancelled. A child whose state does not say what follows stays where it is, and so does one that no guard
/// is for.
pub(super) fn parent_cancelled(
    pipeline: &Pipeline,
    current: Current<'_>,
    context: &Context,
) -> Result<Decision, Refusal> {
    let mut walk = Walk::new(pipeline, current, context);
    let edges = &walk.state().on_parent_cancelled;
    let chosen = walk.sight.choose(walk.row(), Moment::default(), edges);
    if let Some((_, edge)) = chosen.map_err(|error| guard_refusal(&error))? {
        walk.go(edge, only(edge), Step::rule()).map_err(|error| guard_refusal(&error))?;
    }
    Ok(walk.done(Answer::Done))
}
