//! Amendments and redrives: by whom, of what, and refused with a reason.

use engine::core::{Output, Reply};
use model::command::{Amend, Redrive};
use model::{Code, Role, Status, Submission};

use super::ledger::Ledger;
use super::{Checked, ensure};
use crate::finding::finding;

pub(super) fn amended(ledger: &Ledger, before: &Submission, amend: &Amend, outcome: &Reply) -> Checked {
    let id = before.id;
    let rule = ledger.law.of(before)?.pipeline.amend.as_ref();
    let role = rule.is_some_and(|rule| amend.caller.role.covers(rule.role));
    let revision_fits = amend.if_match.is_none_or(|seen| seen == before.revision);
    let patch: serde_json::Value = serde_json::from_str(amend.patch.as_str())
        .map_err(|error| finding!("an amendment does not parse: {error}"))?;
    let members: Vec<&String> = patch.as_object().into_iter().flat_map(|members| members.keys()).collect();
    let fields = rule
        .is_some_and(|rule| members.iter().all(|name| rule.fields.iter().any(|field| **field == ***name)));
    let refusal = match outcome {
        Ok(Output::Submission(answered)) if answered.row.revision <= before.revision => return Ok(()),
        Ok(Output::Submission(answered)) => {
            ensure!(role && fields && patch.is_object(), "{id} was amended in a way that is not allowed");
            ensure!(revision_fits, "{id} was amended at another revision than the caller saw");
            ensure!(!before.status.is_final(), "{id} was amended after its end");
            let row = &answered.row;
            let same = row.key == before.key
                && row.seat.as_ref().map(|seat| (&seat.lane, &seat.tie))
                    == before.seat.as_ref().map(|seat| (&seat.lane, &seat.tie));
            ensure!(same, "an amendment of {id} changed its key or its lane");
            ensure!(
                row.payload_revision > before.payload_revision,
                "{id} was amended, and its row does not know"
            );
            return Ok(());
        }
        Ok(other) => return Err(finding!("an amendment was answered {other:?}")),
        Err(refusal) => refusal,
    };
    let justified = match refusal.code {
        Code::Unavailable | Code::OutcomeUnknown | Code::IdempotencyMismatch => true,
        Code::RoleRequired => !role,
        Code::RevisionMismatch => !revision_fits,
        Code::InvalidRequest => !patch.is_object(),
        Code::NotAmendable => {
            rule.is_none() || before.status.is_final() || !fields || patch.get("tie").is_some()
        }
        // A weight that is no number gives no priority; nothing else that may be amended is in anybody's way.
        Code::GuardError => patch.get("weight").is_some_and(|weight| !weight.is_number()),
        Code::SchemaViolation | Code::TooLarge => fields,
        _ => false,
    };
    ensure!(justified, "an amendment of {id} was refused: {refusal}");
    Ok(())
}

pub(super) fn redriven(before: &Submission, redrive: &Redrive, outcome: &Reply) -> Checked {
    let id = before.id;
    let role = redrive.caller.role.covers(Role::Admin);
    let refusal = match outcome {
        Ok(Output::Submission(answered)) if answered.row.revision <= before.revision => return Ok(()),
        Ok(Output::Submission(_)) => {
            ensure!(role && before.status == Status::Dead, "{id} was redriven without a right to it");
            return Ok(());
        }
        Ok(other) => return Err(finding!("a redrive was answered {other:?}")),
        Err(refusal) => refusal,
    };
    let justified = match refusal.code {
        Code::Unavailable | Code::OutcomeUnknown | Code::IdempotencyMismatch => true,
        Code::RoleRequired => !role,
        Code::NotDead => before.status != Status::Dead,
        Code::LaneTaken => before.seat.as_ref().is_some_and(|seat| !seat.holds()),
        Code::GuardError => before.status == Status::Dead,
        _ => false,
    };
    ensure!(justified, "a redrive of {id} was refused: {refusal}");
    Ok(())
}
