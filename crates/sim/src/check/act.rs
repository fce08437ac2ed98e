//! Actions: by the right role, from the right state, with the reason and revision that were asked for.

use model::command::Act;
use model::{Code, Refusal, Submission};

use super::law::Law;
use super::{Checked, ensure};
use crate::finding::{Finding, finding};

/// An action that was decided on the row as it was before the step.
pub(super) struct Acted<'a> {
    pub(super) law: &'a Law,
    pub(super) before: &'a Submission,
    pub(super) act: &'a Act,
}

impl Acted<'_> {
    /// Tells for each edge the action may take whether the caller's role and reason are enough.
    fn rights(&self) -> Result<Option<Vec<(bool, bool)>>, Finding> {
        let book = self.law.of(self.before)?;
        let state = book.pipeline.state(&self.before.state).ok_or("it is in a state that does not exist")?;
        let Some(action) = state.action(&self.act.action) else { return Ok(None) };
        let reason = self.act.reason.as_deref().is_some_and(|reason| !reason.trim().is_empty());
        let rights =
            action.edges.iter().map(|edge| (state.may(edge, &self.act.caller), reason || !edge.reason));
        Ok(Some(rights.collect()))
    }

    fn revision_fits(&self) -> bool {
        self.act.if_match.is_none_or(|revision| revision == self.before.revision)
    }

    pub(super) fn granted(&self, row: &Submission) -> Checked {
        let id = self.before.id;
        ensure!(
            !self.before.erased || row.status.is_final() || row.request.is_some(),
            "{id} goes on without its documents"
        );
        ensure!(self.revision_fits(), "{id} was acted on at another revision than the caller saw");
        let rights =
            self.rights()?.ok_or_else(|| finding!("{id} has no action `{}` there", self.act.action))?;
        ensure!(
            rights.iter().any(|(role, _)| *role),
            "`{}` was done to {id} without the role",
            self.act.action
        );
        ensure!(rights.contains(&(true, true)), "`{}` was done to {id} without a reason", self.act.action);
        ensure!(
            row.revision > self.before.revision,
            "`{}` was done to {id} without an event",
            self.act.action
        );
        Ok(())
    }

    pub(super) fn refused(&self, refusal: &Refusal) -> Checked {
        let rights = self.rights()?;
        let justified = match refusal.code {
            Code::RevisionMismatch => !self.revision_fits(),
            Code::ActionNotAllowed => rights.is_none(),
            Code::SelfApproval => self.act.caller.name == self.before.submitter,
            Code::NotSubmitter => self.act.caller.name != self.before.submitter,
            Code::ReviewTaken => {
                let held = self.before.assignment.as_ref();
                held.is_some_and(|held| held.to != self.act.caller.name)
            }
            Code::RoleRequired => rights.is_some_and(|rights| rights.iter().any(|(role, _)| !role)),
            Code::ReasonRequired => rights.is_some_and(|rights| rights.iter().any(|(_, reason)| !reason)),
            Code::GuardNotMet
            | Code::GuardError
            | Code::SchemaViolation
            | Code::PickRequired
            | Code::InvalidRequest => rights.is_some(),
            // An end that is left takes its key up again, unless somebody has it by then.
            // One that waits for it has no task run.
            Code::DuplicateKey => {
                self.before.key_waits || self.before.status.is_final() && self.before.key.is_some()
            }
            // So it is with a lane; and without its documents it does not go on at all.
            Code::LaneTaken => self.before.status.is_final() && self.before.seat.is_some(),
            Code::Erased => self.before.erased && self.before.status.is_final(),
            _ => false,
        };
        ensure!(
            justified,
            "`{}` was refused to {} as {}: {refusal}",
            self.act.action,
            self.before.id,
            refusal.code.as_str()
        );
        Ok(())
    }
}
