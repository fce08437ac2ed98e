//! Migrations: to a version that is there, by an admin, with the same key and lane, ending nothing.

use engine::core::{Output, Reply};
use model::command::Migrate;
use model::event::Change;
use model::{Code, Right, Role, Status, Submission};

use super::law::Law;
use super::ledger::Ledger;
use super::timing::Moment;
use super::{Checked, ensure};
use crate::finding::finding;

/// The event that says it follows another version.
pub(super) fn check(moment: &Moment<'_>, law: &Law) -> Checked {
    let Change::Migrated(migrated) = &moment.event.detail.change else { return Ok(()) };
    let (leaf, row) = (&moment.event.leaf, moment.stood());
    ensure!(leaf.right == Right::Role(Role::Admin), "it was migrated by the right {:?}", leaf.right);
    ensure!(migrated.version != row.version, "it was migrated to where it was");
    ensure!(!row.status.is_final() && row.request.is_none(), "it was migrated as it could not be");
    let target = law.book(&row.pipeline, migrated.version)?;
    let state = target.pipeline.state(&leaf.to).ok_or("it was migrated to a state that does not exist")?;
    ensure!(!state.is_final(), "a migration ended it");
    let entry = &migrated.entry;
    let lane = |row: &Option<model::submission::Seat>| row.clone().map(|seat| (seat.lane, seat.tie));
    ensure!(lane(&entry.seat) == lane(&row.seat), "a migration changed its lane");
    let dead = entry.status == Status::Dead;
    ensure!(dead == (row.status == Status::Dead), "a migration woke or ended it");
    if let Some(lease) = moment.lease() {
        let task = state.task().map(|task| &task.name);
        ensure!(migrated.stays && task == Some(&lease.task), "a migration took the task from its worker");
    }
    Ok(())
}

pub(super) fn answered(ledger: &Ledger, before: &Submission, migrate: &Migrate, outcome: &Reply) -> Checked {
    let (id, target) = (before.id, &*migrate.target);
    let role = migrate.caller.role.covers(Role::Admin);
    let refusal = match outcome {
        Ok(Output::Submission(answered)) if answered.row.revision <= before.revision => return Ok(()),
        Ok(Output::Submission(answered)) => {
            ensure!(role, "{id} was migrated without the role");
            ensure!(answered.row.version == target.version, "{id} was migrated to another version");
            return Ok(());
        }
        Ok(other) => return Err(finding!("a migration was answered {other:?}")),
        Err(refusal) => refusal,
    };
    let wanted = migrate.map.get(&before.state).unwrap_or(&before.state);
    let state = target.state(wanted);
    let leased_elsewhere = before
        .lease()
        .is_some_and(|lease| state.and_then(|state| state.task()).is_none_or(|task| task.name != lease.task));
    let justified = match refusal.code {
        Code::Unavailable | Code::OutcomeUnknown | Code::IdempotencyMismatch => true,
        Code::RoleRequired => !role,
        Code::NotMigratable => {
            target.version == before.version
                || before.status.is_final()
                || before.request.is_some()
                || state.is_none_or(|state| state.is_final())
                || leased_elsewhere
                || before.erased
        }
        Code::LaneTaken => before.lease().is_some() && before.seat.as_ref().is_some_and(|seat| !seat.holds()),
        Code::GuardError => true,
        _ => false,
    };
    ensure!(justified, "a migration of {id} was refused: {refusal}");
    ledger.law.book(&before.pipeline, target.version).map(|_| ())
}
