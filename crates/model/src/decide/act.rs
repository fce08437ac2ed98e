//! Act: a person makes a declared move, or has a task make it for them.

use super::approve::Vote;
use super::cause::Step;
use super::guard_view::Moment;
use super::moves::{Walk, line_up};
use super::{Answer, Current, Decision};
use crate::Name;
use crate::actor::Right;
use crate::admit::{check_reason, guard_refusal};
use crate::command::Act;
use crate::context::Context;
use crate::event::Change;
use crate::pipeline::{Choice, Edge, LaneRule, Pipeline, State};
use crate::refusal::{Code, Refusal};
use crate::submission::{Request, Submission};
use crate::why::guards;

pub(super) fn decide(
    pipeline: &Pipeline,
    current: Current<'_>,
    act: &Act,
    context: &Context,
) -> Result<Decision, Refusal> {
    let row = current.row;
    check_revision(row, act.if_match)?;
    check_reason(act.reason.as_deref())?;
    let walk = Walk::new(pipeline, current, context);
    let state = walk.state();
    let action = state.action(&act.action).ok_or_else(|| not_allowed(state, &act.action))?;
    let moment = Moment { data: act.data.as_ref(), ..Moment::default() };
    let chosen = walk.sight.choose(row, moment, &action.edges).map_err(|error| guard_refusal(&error))?;
    let (index, edge) = chosen.ok_or_else(|| guards::not_met(&walk.sight, row, moment, action))?;
    let (to, vote) = permit(&walk, edge, act)?;
    check_data(edge, act, context)?;
    along(walk, Chosen { index, edge, to, vote }, act)
}

/// The edge that an action takes, and what the caller's wish for it counts.
pub(super) struct Chosen<'e> {
    pub(super) index: usize,
    pub(super) edge: &'e Edge,
    pub(super) to: Name,
    pub(super) vote: Vote,
}

/// Checks everything that an action along an edge takes, but for its data: who acts, what was filled in, and whether the
/// submission can go there.
pub(super) fn permit(walk: &Walk<'_>, edge: &Edge, act: &Act) -> Result<(Name, Vote), Refusal> {
    let row = walk.row();
    check_right(walk.state(), edge, act)?;
    super::review::check_claim(row, edge, &act.caller, walk.context.now)?;
    let to = pick(row, edge, act)?.clone();
    check_reopening(walk.pipeline, row, (edge, &to), walk.context)?;
    let vote = super::approve::vote(row, edge, act, &to)?;
    if matches!(vote, Vote::Carried) {
        check_key(row, edge, act, &to)?;
    }
    Ok((to, vote))
}

/// Does what was permitted: counts an approval, has the task run, or makes the move.
pub(super) fn along(mut walk: Walk<'_>, chosen: Chosen<'_>, act: &Act) -> Result<Decision, Refusal> {
    let Chosen { index, edge, to, vote } = chosen;
    let (row, pipeline) = (walk.row().clone(), walk.pipeline);
    let mut step = Step::by(act.caller.actor(), Right::Role(act.caller.role));
    match vote {
        Vote::Carried => {}
        Vote::Repeated => return Ok(Decision::quiet(row, Answer::Done)),
        Vote::Counted(approval) => {
            walk.approved(approval, act, step);
            return Ok(walk.done(Answer::Done));
        }
    }
    match &edge.task {
        Some(_) if is_under_way(&row, act, &to) => {}
        Some(task) => {
            let request = Request {
                action: act.action.clone(),
                edge: index,
                to,
                caller: act.caller.clone(),
                reason: act.reason.clone(),
                data: act.data.clone(),
                ended: walk.state().is_final(),
            };
            let rank = pipeline.ageing.rank(walk.context.now, row.priority);
            let change = Change::Requested { request: Box::new(request), task: task.name.clone(), rank };
            walk.note(change, &act.action, step);
        }
        None => {
            step.moment = Moment { data: act.data.as_ref(), ..Moment::default() };
            step.reason = act.reason.as_deref();
            walk.go(edge, &to, step).map_err(|error| guard_refusal(&error))?;
        }
    }
    let mut decision = walk.done(Answer::Done);
    if row.parked.is_some() && decision.row.request.is_some() {
        // It stands in its queues again, in line for its lane among them.
        decision.owed.extend(line_up(pipeline, &decision.row));
    }
    Ok(decision)
}

/// Tells whether the same was asked for already, and its task is to run or runs.
pub(super) fn is_under_way(row: &Submission, act: &Act, to: &Name) -> bool {
    row.request.as_ref().is_some_and(|asked| asked.is_for(act, to))
}

fn check_key(row: &Submission, edge: &Edge, act: &Act, to: &Name) -> Result<(), Refusal> {
    if edge.task.is_none() || !row.key_waits || is_under_way(row, act, to) {
        return Ok(());
    }
    let message =
        format!("it waits for its key; `{}` has a task and can be asked for once it has it", act.action);
    Err(Refusal::new(Code::DuplicateKey, message))
}

impl Request {
    /// Tells whether the request is for the same thing: asking again must not start its task again.
    fn is_for(&self, act: &Act, to: &Name) -> bool {
        (&self.action, &self.to, &self.data) == (&act.action, to, &act.data)
    }
}

pub(super) fn check_revision(row: &Submission, if_match: Option<u64>) -> Result<(), Refusal> {
    match if_match {
        Some(seen) if seen != row.revision => Err(Refusal::new(
            Code::RevisionMismatch,
            format!("the submission is at revision {}, not {seen}; look again", row.revision),
        )
        .with("revision", row.revision)),
        _ => Ok(()),
    }
}

pub(super) fn not_allowed(state: &State, action: &str) -> Refusal {
    let legal: Vec<&str> = state.actions.iter().map(|action| &*action.name).collect();
    let hint =
        if legal.is_empty() { "it has none".to_owned() } else { format!("it has {}", legal.join(", ")) };
    Refusal::new(Code::ActionNotAllowed, format!("state {} has no action `{action}`; {hint}", state.name))
        .with("state", &*state.name)
        .with("actions", legal)
}

fn check_right(state: &State, edge: &Edge, act: &Act) -> Result<(), Refusal> {
    let wanted = state.role_of(edge);
    if !state.may(edge, &act.caller) {
        if !edge.reviewers.is_empty() {
            let listed: Vec<String> = edge.reviewers.iter().map(ToString::to_string).collect();
            let message = format!("`{}` in {} is for {}", act.action, state.name, listed.join(", "));
            return Err(Refusal::new(Code::RoleRequired, message).with("reviewers", listed));
        }
        return Err(Refusal::new(
            Code::RoleRequired,
            format!(
                "`{}` in {} needs the role {wanted}; yours is {}",
                act.action, state.name, act.caller.role
            ),
        )
        .with("role", wanted.as_str()));
    }
    if edge.reason && act.reason.as_deref().is_none_or(|reason| reason.trim().is_empty()) {
        return Err(Refusal::new(Code::ReasonRequired, format!("`{}` needs a reason", act.action)));
    }
    Ok(())
}

/// An ended submission that goes on needs its key and its lane back, in this commit or not at all. One that a task is
/// to run for is open while it does, wherever it leads, and needs its key for as long.
fn check_reopening(
    pipeline: &Pipeline,
    row: &Submission,
    (edge, to): (&Edge, &Name),
    context: &Context,
) -> Result<(), Refusal> {
    let target = pipeline.known(to);
    if !row.status.is_final() || target.is_final() && edge.task.is_none() {
        return Ok(());
    }
    if row.erased {
        return Err(Refusal::new(Code::Erased, "its documents were erased; submit it anew"));
    }
    if let Some(holder) = context.key_holder {
        // Named apart from the sentence: not everybody who acts may know of the other.
        let message = "another submission has its key and is still open; wait until that has ended";
        return Err(Refusal::new(Code::DuplicateKey, message).with("submission", holder.to_string()));
    }
    let needs_lane = !target.is_final() && target.lane != LaneRule::Free;
    if row.seat.is_some() && needs_lane && !context.lane_free {
        return Err(super::moves::lane_taken(row));
    }
    Ok(())
}

fn check_data(edge: &Edge, act: &Act, context: &Context) -> Result<(), Refusal> {
    let Some(schema) = &edge.data else {
        return match &act.data {
            None => Ok(()),
            Some(_) => Err(Refusal::new(
                Code::InvalidRequest,
                format!("`{}` takes no data; leave it out", act.action),
            )),
        };
    };
    let data = act.data.clone().unwrap_or_default();
    context
        .tank
        .check(schema, &data)?
        .map_err(|misfit| crate::admit::schema_refusal("the action's data", &misfit))
}

/// Picks the state the submission goes to: the one state, the one picked, or where it failed.
pub(super) fn pick<'e>(row: &'e Submission, edge: &'e Edge, act: &Act) -> Result<&'e Name, Refusal> {
    let states = edge.to.as_ref().map_or(&[][..], Choice::states);
    let wanted = match (&edge.to, &act.to) {
        (Some(Choice::One(to)), None) => return Ok(to),
        (_, Some(picked)) => Some(picked),
        (_, None) => row.failed_from.as_ref(),
    };
    states.iter().find(|state| Some(*state) == wanted).ok_or_else(|| {
        let list: Vec<&str> = states.iter().map(|state| &**state).collect();
        Refusal::new(Code::PickRequired, format!("`{}` leads to one of {}", act.action, list.join(", ")))
            .with("states", list)
    })
}
