//! Ends that somebody should look into: asked for where the file says so, acknowledged once, by whoever may.

use engine::core::{Output, Reply};
use model::command::Acknowledge;
use model::event::Change;
use model::{Code, Investigation, Right, Submission};

use super::law::Law;
use super::timing::Moment;
use super::{Checked, ensure};
use crate::finding::finding;

pub(super) fn check(moment: &Moment<'_>) -> Checked {
    let declared =
        |state: &str| moment.book.pipeline.state(state).and_then(model::pipeline::State::investigate);
    let leaf = &moment.event.leaf;
    match &moment.event.detail.change {
        Change::Moved(moved) => {
            let wanted = declared(&leaf.to).is_some();
            ensure!(moved.entry.investigate == wanted, "{} asks for a look: {wanted}", leaf.to);
        }
        Change::Acknowledged { .. } => {
            let role = declared(&leaf.to).ok_or("nothing is to be looked into there")?;
            let may = matches!(leaf.right, Right::Role(given) if given.covers(role));
            ensure!(may, "it was acknowledged by {:?}", leaf.right);
            let open = moment.stood().investigation() == Some(&Investigation::Open);
            ensure!(open, "it was acknowledged, and nothing was open");
        }
        _ => {}
    }
    Ok(())
}

pub(super) fn answered(law: &Law, before: &Submission, asked: &Acknowledge, outcome: &Reply) -> Checked {
    let id = before.id;
    let book = law.of(before)?;
    let role = book.pipeline.state(&before.state).and_then(model::pipeline::State::investigate);
    let open = before.investigation() == Some(&Investigation::Open);
    let revision_fits = asked.if_match.is_none_or(|seen| seen == before.revision);
    let refusal = match outcome {
        Ok(Output::Submission(answered)) if answered.row.revision <= before.revision => return Ok(()),
        Ok(Output::Submission(answered)) => {
            let by = matches!(answered.row.investigation(), Some(Investigation::Acknowledged { by, .. }) if *by == asked.caller.name);
            ensure!(by && revision_fits, "{id} was acknowledged, and its row says otherwise");
            return Ok(());
        }
        Ok(other) => return Err(finding!("an acknowledgement was answered {other:?}")),
        Err(refusal) => refusal,
    };
    let justified = match refusal.code {
        Code::Unavailable | Code::OutcomeUnknown | Code::IdempotencyMismatch => true,
        Code::RevisionMismatch => !revision_fits,
        Code::RoleRequired => role.is_some_and(|role| !asked.caller.role.covers(role)),
        Code::NothingToAcknowledge => !open,
        _ => false,
    };
    ensure!(justified, "an acknowledgement of {id} was refused: {refusal}");
    Ok(())
}
