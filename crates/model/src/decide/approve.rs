//! Approve: an action that needs several people, or somebody else than the submitter.

use super::act::is_under_way;
use super::cause::Step;
use super::moves::{Fact, Walk};
use crate::Name;
use crate::command::Act;
use crate::event::Change;
use crate::json::Json;
use crate::person::is_same;
use crate::pipeline::Edge;
use crate::refusal::{Code, Refusal};
use crate::submission::{Approval, Submission};

/// The effect of one person's wish for an action.
pub(super) enum Vote {
    /// Enough have agreed.
    Carried,
    /// One more has.
    Counted(Approval),
    /// This one had agreed before.
    Repeated,
}

pub(super) fn vote(row: &Submission, edge: &Edge, act: &Act, to: &Name) -> Result<Vote, Refusal> {
    if !edge.self_approval && row.is_submitted_by(&act.caller.name) {
        return Err(Refusal::new(
            Code::SelfApproval,
            format!("`{}` must be done by somebody else than the submitter", act.action),
        ));
    }
    if edge.only_submitter && !row.is_submitted_by(&act.caller.name) {
        let message = format!("`{}` is for whoever submitted it", act.action);
        return Err(Refusal::new(Code::NotSubmitter, message));
    }
    if edge.approvals <= 1 || is_under_way(row, act, to) {
        return Ok(Vote::Carried);
    }
    let agreed: Vec<_> = agreed(row, &act.action, to).collect();
    if agreed.iter().any(|approval| is_same(&approval.by, &act.caller.name)) {
        return Ok(Vote::Repeated);
    }
    if agreed.len() + 1 >= edge.approvals as usize {
        return Ok(Vote::Carried);
    }
    let by = act.caller.name.clone();
    Ok(Vote::Counted(Approval { action: act.action.clone(), to: to.clone(), by }))
}

/// Returns the approvals so far of an action that shall lead to a state.
pub(super) fn agreed<'r>(
    row: &'r Submission,
    action: &'r Name,
    to: &'r Name,
) -> impl Iterator<Item = &'r Approval> {
    row.approvals.iter().filter(move |approval| approval.action == *action && approval.to == *to)
}

impl Walk<'_> {
    pub(super) fn approved(&mut self, approval: Approval, act: &Act, step: Step<'_>) {
        let state = self.row().state.clone();
        let metadata = serde_json::json!({ "action": act.action, "to": approval.to, "reason": act.reason });
        let fact = Fact {
            to: &state,
            trigger: &"approve".into(),
            actor: None,
            metadata: Some(Json::from(metadata)),
            tells: None,
        };
        self.record(Change::Approved(approval), fact, step);
    }
}
