//! Checks that nothing happens before its time: waits, times to live, leases that run out, and settlements only
//! under the lease.

use model::decide::{GIVEN_BACK_TIMEOUTS, GRACE};
use model::event::Kind;
use model::pipeline::By;
use model::submission::{Lease, Wait};
use model::{Event, Right, Submission};

use super::events::Told;
use super::law::Book;
use super::ledger::Known;
use super::{Checked, ensure};
use crate::report::Report;

/// An event and what there was before it.
pub(super) struct Moment<'a> {
    pub(super) book: &'a Book,
    pub(super) known: &'a Known,
    pub(super) event: &'a Event,
    pub(super) told: &'a Told<'a>,
}

impl Moment<'_> {
    /// The row the event followed.
    pub(super) fn stood(&self) -> &Submission {
        &self.known.moving
    }

    /// The lease the event found in force. A snooze earlier in the same commit gave it back without an event.
    pub(super) fn lease(&self) -> Option<&Lease> {
        let lease = self.stood().lease()?;
        let id = self.event.leaf.submission;
        let written = self.told.commit.changes.rows.iter().find(|change| change.after.id == id);
        let given_back = written.is_some_and(|change| {
            change.before.as_ref().is_some_and(|row| row.settled != change.after.settled)
        });
        (!given_back || self.event.leaf.right == Right::Lease(lease.no)).then_some(lease)
    }

    /// The code of the failure that made this event, if one did.
    pub(super) fn failure(&self) -> Option<&str> {
        use model::event::Change;
        match &self.event.detail.change {
            Change::Retried { error, .. } | Change::Died { error, .. } | Change::Abandoned { error, .. } => {
                Some(&error.code)
            }
            Change::Moved(moved) => moved.cause().map(|error| &*error.code),
            _ => None,
        }
    }
}

pub(super) fn check(moment: &Moment<'_>, report: &mut Report) -> Checked {
    let leaf = &moment.event.leaf;
    match leaf.right {
        Right::Lease(no) => {
            let held = moment.lease().map(|lease| lease.no);
            ensure!(held == Some(no), "lease {no} settled, but the lease in force was {held:?}");
        }
        Right::Rule => by_itself(moment, report)?,
        Right::Role(_) => {}
    }
    if leaf.kind == Kind::Crashed {
        lease_ran_out(moment)?;
    }
    Ok(())
}

/// The machine's own moves: each needs its time to have come.
fn by_itself(moment: &Moment<'_>, report: &mut Report) -> Checked {
    let (leaf, row) = (&moment.event.leaf, moment.stood());
    match moment.failure() {
        Some("crashing") if leaf.kind != Kind::Moved => return lease_ran_out(moment),
        Some("timeout") => {
            if let Some(lease) = moment.lease() {
                let ended = lease.times_out_at.is_some_and(|at| at <= leaf.at);
                ensure!(ended, "an attempt timed out before its time");
                report.count("moment/timeout");
                return in_reach(moment, lease);
            }
            if matches!(leaf.kind, Kind::Retried | Kind::Died) {
                handed_around(moment)?;
                report.count("moment/handed-around");
            }
        }
        _ => {}
    }
    if leaf.kind == Kind::Forgotten {
        let over = row.status.is_final() && row.forget_at.is_some_and(|at| at <= leaf.at);
        ensure!(over, "it was forgotten before its time");
    }
    if leaf.kind != Kind::Moved {
        return Ok(());
    }
    let ways = moment.book.ways(moment.event)?;
    if let Wait::Delay { until, .. } = &row.wait {
        // Neither the end of its time to live nor that of its parent waits for the delay.
        let expired = row.expires_at().is_some_and(|at| at <= leaf.at);
        let orphaned = ways.iter().all(|by| **by == By::ParentCancelled);
        let escalated = ways.iter().all(|by| **by == By::Late);
        ensure!(
            expired || orphaned || escalated || *until <= leaf.at,
            "it went on before its delay was over"
        );
    }
    if ways.iter().all(|by| **by == By::Clock) {
        let Wait::Clock { until } = &row.wait else {
            return Err("a wait ended that had not begun".into());
        };
        ensure!(*until <= leaf.at, "a wait until {until} ended at {}", leaf.at);
        report.count("moment/wait-over");
    }
    if ways.iter().all(|by| **by == By::Crashed) {
        report.count("moment/quarantine-led");
        lease_ran_out(moment)?;
    }
    if ways.iter().all(|by| **by == By::GuardError) {
        report.count("moment/guard-error-led");
    }
    if let [By::Children(name)] = &ways[..] {
        report.count(format!("children/{name}"));
    }
    if ways.iter().all(|by| **by == By::Late) {
        // It was missed by the clock of that moment, which may have been set back since.
        let missed = row.clocks.iter().any(|clock| clock.late && clock.moves);
        ensure!(missed, "it escalated, and nothing was missed that says so");
        ensure!(moment.lease().is_none(), "an escalation did not wait for the lease");
        ensure!(row.request.is_none(), "an escalation did not wait for the action that was granted");
        report.count("moment/escalated");
    }
    if ways.iter().all(|by| **by == By::Ttl) {
        ensure!(moment.lease().is_none(), "a time to live did not wait for the lease");
        ensure!(row.expires_at().is_some_and(|at| at <= leaf.at), "a time to live ended early");
        report.count("moment/expired");
    }
    Ok(())
}

/// An attempt that timed out when it was given back was with workers for long enough, one after the other.
fn handed_around(moment: &Moment<'_>) -> Checked {
    let (at, row) = (moment.event.leaf.at, moment.stood());
    let timeout = moment.book.task(row).and_then(|task| task.timeout);
    let took = row.lease().map(|lease| row.given_back.took.plus(at.since(lease.granted_at)));
    let long = timeout.zip(took).is_some_and(|(timeout, took)| took >= timeout.times(GIVEN_BACK_TIMEOUTS));
    ensure!(long, "an attempt timed out although nobody had it for long: {took:?}");
    Ok(())
}

fn lease_ran_out(moment: &Moment<'_>) -> Checked {
    let at = moment.event.leaf.at;
    let Some(lease) = moment.lease() else { return Err("a lease ran out that nobody had".into()) };
    ensure!(lease.expires_at <= at, "a lease until {} ran out at {at}", lease.expires_at);
    in_reach(moment, lease)
}

/// A lease may be taken from its worker once the store has been in reach for long enough to be told something.
fn in_reach(moment: &Moment<'_>, lease: &Lease) -> Checked {
    let (at, since) = (moment.event.leaf.at, moment.told.commit.reachable_since);
    let grace = since.plus(lease.span.min(GRACE));
    ensure!(grace <= at, "a lease was taken away at {at}, but the store is in reach only since {since}");
    Ok(())
}
