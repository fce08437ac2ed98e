//! Approve: an action that needs several people, or somebody else than the submitter.

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
    let under_way = row.request.as_ref().is_some_and(|asked| asked.is_for(act, to));
    if edge.approvals <= 1 || under_way {
        return Ok(Vote::Carried);
    }
    let same = |approval: &&Approval| approval.action == act.action && approval.to == *to;
    let agreed: Vec<_> = row.approvals.iter().filter(same).collect();
    if agreed.iter().any(|approval| is_same(&approval.by, &act.caller.name)) {
        return Ok(Vote::Repeated);
    }
    if agreed.len() + 1 >= edge.approvals as usize {
        return Ok(Vote::Carried);
    }
    let by = act.caller.name.clone();
    Ok(Vote::Counted(Approval { action: act.action.clone(), to: to.clone(), by }))
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
