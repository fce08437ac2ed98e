//! Duplicates: an open submission stands for those its pipeline lets it stand for, and a conflict is one.

use engine::core::Answered;
use model::admit::Admission;
use model::pipeline::OnDuplicate;
use model::{Code, Json, Refusal, SubmissionId};
use store::OpenKey;

use super::ledger::Ledger;
use super::{Checked, Seen, ensure};
use crate::finding::Finding;

/// An answer that was decided in the step being checked, not kept from an earlier request.
pub(super) fn merged(
    ledger: &Ledger,
    seen: &Seen<'_>,
    admission: &Admission,
    answered: &Answered,
) -> Checked {
    if !answered.duplicate {
        return Ok(());
    }
    let rule = rule(ledger, admission)?;
    ensure!(rule.merges(), "a duplicate was answered with the open one that should be refused or wait");
    let stood = payload(ledger, seen, answered.row.id).filter(|_| rule.compares());
    let differs = stood.is_some_and(|stood| !stood.spells_same_as(admission.payload()));
    ensure!(!differs, "{} stands for a submission with another payload", answered.row.id);
    Ok(())
}

pub(super) fn refused(ledger: &Ledger, seen: &Seen<'_>, admission: &Admission, refusal: &Refusal) -> Checked {
    let wanted = if refusal.code == Code::KeyConflict { OnDuplicate::Return } else { OnDuplicate::Reject };
    ensure!(rule(ledger, admission)? == wanted, "a duplicate was refused that should not be: {refusal}");
    let key = admission.key().ok_or("a submission without a key was refused for its key")?;
    let key = OpenKey { pipeline: admission.pipeline().clone(), key: key.clone() };
    let mut before = ledger.previous.values().flatten();
    let was_held = before.any(|row| store::Entries::of(row).key.as_ref() == Some(&key));
    ensure!(was_held || ledger.keys.contains_key(&key), "a key was said to be taken, and nobody has it");
    let holder = refusal.details.get("submission").and_then(|id| id.as_str()?.parse().ok());
    let holder: SubmissionId = holder.ok_or("a refusal for a key names nobody who has it")?;
    let row = ledger.ever(holder).map(|known| &known.row);
    let has_key = row.is_some_and(|row| row.pipeline == key.pipeline && row.key.as_ref() == Some(&key.key));
    ensure!(has_key, "{holder} was said to have a key it does not have");
    let stood = payload(ledger, seen, holder).filter(|_| refusal.code == Code::KeyConflict);
    let same = stood.is_some_and(|stood| stood.spells_same_as(admission.payload()));
    ensure!(!same, "{holder} was said to have another payload than one with the same");
    Ok(())
}

fn rule(ledger: &Ledger, admission: &Admission) -> Result<OnDuplicate, Finding> {
    let book = ledger.law.book(admission.pipeline(), admission.version())?;
    Ok(book.pipeline.on_duplicate)
}

/// The payload a submission had all through the step, or since it was made in it.
fn payload<'l>(ledger: &'l Ledger, seen: &Seen<'_>, id: SubmissionId) -> Option<&'l Json> {
    let known = ledger.ever(id).filter(|known| !known.row.erased)?;
    let written = seen.commits.iter().flat_map(|commit| &commit.changes.documents);
    let count = written.filter(|change| change.submission == id && change.name == "payload").count();
    let made = usize::from(ledger.before(id).is_none());
    (count == made).then_some(&known.documents.payload)
}
