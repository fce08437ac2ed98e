//! Rows as commits write and remove them, each from where the book has it.

use std::collections::BTreeSet;

use model::event::{Change, Kind};
use model::{Event, Right, Submission, SubmissionId};

use super::ledger::Ledger;
use super::silent::{self, Silent};
use super::{Checked, ensure};
use crate::faults::Commit;
use crate::finding::finding;
use crate::report::Report;

impl Ledger {
    pub(super) fn take_rows(&mut self, commit: &Commit, report: &mut Report) -> Checked {
        for change in &commit.changes.rows {
            let id = change.after.id;
            let known =
                self.known.get_mut(&id).ok_or_else(|| finding!("submission {id} has a row but no event"))?;
            let before = Some(&known.row).filter(|row| row.row_version > 0);
            ensure!(
                change.before.as_deref() == before,
                "submission {id} was taken as\n{:?}\nand not as it was\n{before:?}",
                change.before
            );
            let version = before.map_or(0, |row| row.row_version) + 1;
            let after = Submission { row_version: version, ..Submission::clone(&change.after) };
            if let Some(before) = before {
                check_lease_no(before, &after)?;
                let is_silent = after.revision == before.revision;
                let pipeline = &self.law.of(before)?.pipeline;
                let silent = Silent { before, after: &after, commit, debts: &self.debts, pipeline };
                let heard =
                    if is_silent { silent::check(&silent, report)? } else { snoozed(before, &after, commit) };
                if heard {
                    known.visit.crashes = 0;
                }
            }
            self.followed.entry(after.pipeline.clone()).or_default().insert(after.version);
            known.moving = after.clone();
            known.row = after;
        }
        Ok(())
    }

    /// A row goes exactly with the event that says so.
    pub(super) fn take_forgotten(&mut self, commit: &Commit, report: &mut Report) -> Checked {
        let events = commit.changes.events.iter().filter(|event| event.leaf.kind == Kind::Forgotten);
        let mut said: BTreeSet<SubmissionId> = events.map(|event| event.leaf.submission).collect();
        for row in &commit.changes.forgotten {
            ensure!(said.remove(&row.id), "{} was removed and no event says so", row.id);
            let known = self.known.remove(&row.id);
            let known = known.ok_or_else(|| finding!("{} was removed and was not there", row.id))?;
            ensure!(known.row == *row, "{} was removed as\n{row:?}\nand was\n{:?}", row.id, known.row);
            ensure!(row.status.is_final(), "{} was removed before its end", row.id);
            self.gone.insert(row.id, known);
            report.count("moment/forgotten");
        }
        ensure!(said.is_empty(), "forgotten by their events, and not removed: {said:?}");
        Ok(())
    }
}

/// Tells whether a worker was heard in a commit without an event of its own: a settlement that left none, beside
/// whatever else happened to the submission in that commit (somebody amended or migrated it, a service level was
/// missed).
fn snoozed(before: &Submission, after: &Submission, commit: &Commit) -> bool {
    let mut events = commit.changes.events.iter().filter(|event| event.leaf.submission == before.id);
    // One that was handed around for too long ends with the lease that is given back.
    let handed_around = |event: &Event| match &event.detail.change {
        Change::Died { error, .. } => *error.code == *"timeout",
        _ => false,
    };
    before.settled != after.settled
        && !silent::is_given_back(before, after)
        && !events.any(|event| matches!(event.leaf.right, Right::Lease(_)) || handed_around(event))
}

/// Lease numbers only grow, and a lease that ended without its own settlement takes its number with it.
fn check_lease_no(before: &Submission, after: &Submission) -> Checked {
    let id = before.id;
    ensure!(after.lease_no >= before.lease_no, "the lease number of {id} went back");
    let Some(lease) = before.lease() else { return Ok(()) };
    let goes_on = after.lease().is_some_and(|now| now.no == lease.no);
    let settled = after.settled != before.settled;
    ensure!(
        goes_on || settled || after.lease_no > lease.no,
        "lease {} of {id} was revoked and not numbered",
        lease.no
    );
    Ok(())
}
