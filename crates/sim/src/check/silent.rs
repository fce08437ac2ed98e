//! Changes without an event: claims, renewals, snoozes, leases given back, delays that are over, and turns in queues.
//! Every other change has an event.

use model::decide::GIVEN_BACK_TIMEOUTS;
use model::submission::{Cause, GivenBack, Lease, Wait};
use model::{Pipeline, Submission};

use super::owed::Debts;
use super::{Checked, ensure, limits};
use crate::faults::Commit;
use crate::finding::Finding;
use crate::report::Report;

/// A row that changed without gaining a revision.
pub(super) struct Silent<'a> {
    pub(super) before: &'a Submission,
    pub(super) after: &'a Submission,
    pub(super) commit: &'a Commit,
    pub(super) debts: &'a Debts,
    pub(super) pipeline: &'a Pipeline,
}

/// Checks the change; says whether the worker was heard, which ends a row of crashes.
pub(super) fn check(silent: &Silent<'_>, report: &mut Report) -> Result<bool, Finding> {
    match &silent.after.wait {
        // It became ready and was leased in one step: each for itself.
        Wait::Lease(lease)
            if lease.no > silent.before.lease_no && !matches!(silent.before.wait, Wait::Worker { .. }) =>
        {
            granted(silent, &lease.task, lease)?;
            report.count("moment/lent");
            let since = lease.queued_at.unwrap_or(silent.commit.now);
            let rank = silent.pipeline.ageing.rank(since, silent.after.priority);
            let wait = Wait::Worker { task: lease.task.clone(), rank };
            let ready = Submission { wait, lease_no: lease.no - 1, ..silent.after.clone() };
            changed(&Silent { after: &ready, ..*silent }, report)
        }
        _ => changed(silent, report),
    }
}

fn changed(silent: &Silent<'_>, report: &mut Report) -> Result<bool, Finding> {
    let Silent { before, after, .. } = silent;
    let id = before.id;
    let mut expected = (*before).clone();
    expected.row_version = after.row_version;
    expected.timer = after.timer;
    expected.wait = after.wait.clone();
    // How its children stand is counted anew elsewhere.
    expected.children = after.children;
    let made = after.children.total > before.children.total;
    ensure!(
        if made { after.last_child_at.is_some() } else { after.last_child_at == before.last_child_at },
        "the last child of {id} stands at {:?}, and before at {:?}",
        after.last_child_at,
        before.last_child_at
    );
    expected.last_child_at = after.last_child_at;
    queues(silent, &mut expected, report)?;
    let settled = after.settled != before.settled;
    match (&before.wait, &after.wait) {
        (Wait::Worker { task, .. }, Wait::Lease(lease)) => {
            granted(silent, task, lease)?;
            expected.lease_no += 1;
        }
        (Wait::Lease(old), Wait::Lease(new)) => {
            // A renewal prolongs a lease and may tell progress. What was told is never taken back.
            let told = new.progress.clone().or(old.progress.clone());
            let same = Lease { expires_at: new.expires_at, progress: told, ..old.clone() };
            ensure!(same == *new, "the lease of {id} changed hands without an event");
            ensure!(new.expires_at >= old.expires_at, "a renewal of {id} shortened the lease");
        }
        (Wait::Lease(lease), Wait::Delay { cause: Cause::Snooze, .. } | Wait::Worker { .. }) => {
            ensure!(settled, "the lease of {id} ended without a settlement");
            expected.settled = after.settled.clone();
            if is_given_back(before, after) {
                given_back(silent, lease, &mut expected)?;
                report.count("moment/given-back");
            } else {
                expected.crashes = 0;
                expected.given_back = GivenBack::default();
                report.count("moment/snoozed");
            }
        }
        (Wait::Delay { until, cause }, wait) if before.wait != *wait => {
            ensure!(*until <= silent.commit.now, "{id} went on at {} before {until}", silent.commit.now);
            ensure!(
                *cause == Cause::NotBefore || matches!(wait, Wait::Worker { .. }),
                "{id} waits for {wait:?} after a delay"
            );
            report.count(if *cause == Cause::NotBefore {
                "moment/not-before-over"
            } else {
                "moment/delay-over"
            });
        }
        (Wait::Line, _) if turn(silent) => {}
        (Wait::Key, _) if before.key_waits && !after.key_waits => {}
        (old, new) => ensure!(old == new, "{id} changed from {old:?} to {new:?} without an event"),
    }
    ensure!(expected == **after, "{id} changed without an event:\n{expected:?}\nbecame\n{after:?}");
    Ok(settled && !is_given_back(before, after))
}

/// Tells whether a lease was given back: that neither ends a row of crashes nor makes it longer.
pub(super) fn is_given_back(before: &Submission, after: &Submission) -> bool {
    after.given_back.times > before.given_back.times
}

/// The submission stands where it stood in its queue, and the time it was with the worker is counted.
fn given_back(silent: &Silent<'_>, lease: &Lease, expected: &mut Submission) -> Checked {
    let Silent { before, after, commit, pipeline, .. } = silent;
    let (id, earlier) = (before.id, before.given_back);
    let took = earlier.took.plus(commit.now.since(lease.granted_at));
    let most = pipeline.wanted_task(before).timeout.map(|timeout| timeout.times(GIVEN_BACK_TIMEOUTS));
    ensure!(most.is_none_or(|most| took < most), "{id} is handed from worker to worker for {took}");
    let since = lease.queued_at.unwrap_or(commit.now);
    let rank = pipeline.ageing.rank(since, after.priority);
    let wait = Wait::Worker { task: lease.task.clone(), rank };
    ensure!(after.wait == wait, "{id} was given back to {:?}, and had been at {wait:?}", after.wait);
    expected.given_back = GivenBack { times: earlier.times + 1, took };
    Ok(())
}

/// Tells whether the submission got its lane.
fn turn(silent: &Silent<'_>) -> bool {
    let holds = |row: &Submission| row.held_lane().is_some();
    holds(silent.after) && !holds(silent.before)
}

/// Lanes, keys and holds let somebody in or out because it was owed, or because a hold was met.
fn queues(silent: &Silent<'_>, expected: &mut Submission, report: &mut Report) -> Checked {
    let Silent { before, after, debts, .. } = silent;
    let id = before.id;
    if before.parked != after.parked {
        let looked_at = before.parked.is_none() || debts.concerned(before);
        ensure!(looked_at, "{id} was let go by {:?}, and nobody had to look at it", before.parked);
        let limited = limits::waits_beside(silent.pipeline, after).is_some();
        report.count(match &after.parked {
            Some(_) if limited => "moment/limited",
            Some(_) => "moment/parked",
            None => "moment/unparked",
        });
        expected.parked = after.parked.clone();
    }
    if before.key_waits && !after.key_waits {
        ensure!(debts.concerned(before), "{id} got its key although nobody gave it");
        report.count("moment/key-passed");
        expected.key_waits = false;
        expected.seat = after.seat.clone();
    }
    if turn(silent) {
        let given = debts.concerned(before) || debts.follows(before);
        ensure!(given, "{id} got its lane although nobody gave it");
        report.count("moment/seated");
        expected.seat = after.seat.clone();
    }
    Ok(())
}

fn granted(silent: &Silent<'_>, task: &model::Name, lease: &Lease) -> Result<(), Finding> {
    let (now, row) = (silent.commit.now, silent.before);
    ensure!(
        lease.no == row.lease_no + 1,
        "a lease of {} has the number {} after {}",
        row.id,
        lease.no,
        row.lease_no
    );
    ensure!(lease.task == *task, "{} was leased for `{}`, not for `{task}`", row.id, lease.task);
    ensure!(
        lease.granted_at == now && lease.expires_at == now.plus(lease.span),
        "a lease of {} has other times",
        row.id
    );
    ensure!(row.expires_at().is_none_or(|at| at > now), "{} was leased after its time to live", row.id);
    limits::taken(silent.pipeline, row, lease)
}
