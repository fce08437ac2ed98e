//! Whatever is open says why it is where it is, and what it says is so.

use model::submission::{Cause, Wait};
use model::why::{Holder, LanePlace, Other, Surroundings, why};
use model::{Investigation, Submission, Time};
use store::entries::{Stand, unheld_key, unheld_lane};
use store::{Entries, LaneKey};
use wire::api::{Held, Reason};

use super::ledger::Ledger;
use super::{Checked, ensure, limits};

pub(super) fn check(ledger: &Ledger, now: Time) -> Checked {
    for known in ledger.known.values().filter(|known| !known.row.status.is_final()) {
        let row = &known.row;
        let around = surroundings(ledger, row, now);
        let pipeline = &ledger.law.of(row)?.pipeline;
        let reasons = why(pipeline, row, Some(&known.documents), &around);
        told(&reasons, row).map_err(|problem| problem.about(format_args!(": {row:?}")))?;
        let told = Told { ledger, row, around: &around };
        for reason in &reasons {
            told.is_so(reason).map_err(|problem| problem.about(format_args!(": {reason:?} of {row:?}")))?;
        }
    }
    Ok(())
}

/// Whatever it waits for is among the reasons, and whatever keeps it from it.
fn told(reasons: &[Reason], row: &Submission) -> Checked {
    let said = |code: &str| reasons.iter().any(|reason| reason.code == code);
    ensure!(reasons.iter().all(|reason| !reason.sentence.is_empty()), "a reason without a word");
    let code = match &row.wait {
        Wait::Worker { .. } => "worker",
        Wait::Lease(_) => "leased",
        Wait::Delay { cause: Cause::Retry, .. } => "retry",
        Wait::Delay { cause: Cause::Snooze, .. } => "snoozed",
        Wait::Delay { cause: Cause::NotBefore, .. } => "not-before",
        Wait::Clock { .. } => "clock",
        Wait::Line => "line",
        Wait::Key => "key",
        Wait::Children => "children",
        Wait::Person => "person",
        Wait::Guard => "guard",
        Wait::Redrive => "dead",
        Wait::Nothing => "ended",
    };
    ensure!(said(code), "it does not say that it waits for {code}");
    let stoppable =
        matches!(row.wait, Wait::Worker { .. } | Wait::Delay { .. } | Wait::Clock { .. } | Wait::Line);
    let aside = row.parked.is_some() && stoppable;
    ensure!(!aside || said("held") || said("parked") || said("limit"), "it is set aside and does not say so");
    ensure!(said("requested") == row.request.is_some(), "it does not say what was granted");
    Ok(())
}

struct Told<'a> {
    ledger: &'a Ledger,
    row: &'a Submission,
    around: &'a Surroundings,
}

impl Told<'_> {
    fn is_so(&self, reason: &Reason) -> Checked {
        let Told { ledger, row, around } = self;
        match &*reason.code {
            "limit" => {
                let pipeline = &ledger.law.of(row)?.pipeline;
                ensure!(limits::waits_beside(pipeline, row).is_some(), "no limit keeps it out");
            }
            "held" => {
                let hold = reason.details["hold"].as_str().and_then(|id| ledger.holds.get(id));
                ensure!(hold.is_some_and(|hold| hold.covers(row)), "the hold does not cover it");
            }
            "parked" => {
                let owed = row.parked.as_ref().is_some_and(|parked| ledger.debts.to_parked(parked));
                ensure!(owed, "nobody lets it go");
            }
            "line" => {
                let lane = unheld_lane(row).ok_or("it has its lane")?;
                let line = around.line.as_ref();
                let has_holder = line.is_some_and(|line| line.holder.is_some());
                ensure!(
                    row.parked.is_some() || has_holder || ledger.debts.to_lane(&lane),
                    "the lane is free"
                );
                let placed = line.is_some_and(|line| line.position.is_some());
                ensure!(row.parked.is_some() || placed, "nobody says where it is in line");
            }
            "key" => {
                let key = unheld_key(row).ok_or("it has its key")?;
                ensure!(around.key_holder.is_some() || ledger.debts.to_key(&key), "the key is free");
            }
            "children" => ensure!(row.children.open > 0 || row.seat.is_some(), "no child is open"),
            "investigate" => {
                ensure!(row.investigation() == Some(&Investigation::Open), "nobody needs to look into it");
            }
            "late" => {
                let late = row.clocks.iter().any(|clock| clock.due_at <= around.now);
                ensure!(late && !row.status.is_final(), "it is not late");
            }
            _ => {}
        }
        Ok(())
    }
}

fn surroundings(ledger: &Ledger, row: &Submission, now: Time) -> Surroundings {
    let holds = ledger.holds.values().filter(|hold| hold.covers(row)).map(|hold| Held {
        id: hold.id.clone(),
        reason: hold.reason.clone(),
        owner: hold.owner.clone(),
        expires_at: hold.expires_at,
    });
    let in_line = unheld_lane(row).filter(|_| Entries::of(row).lane.is_some());
    let line = in_line.map(|lane| line(ledger, row, &lane));
    let key_holder = unheld_key(row).and_then(|key| ledger.keys.get(&key).copied()).map(Other::Seen);
    Surroundings { now, holds: holds.collect(), line, key_holder, polled_ago: None, unsent: Vec::new() }
}

/// Returns a row's line as the store would tell it, which is compared elsewhere.
fn line(ledger: &Ledger, row: &Submission, lane: &LaneKey) -> LanePlace {
    let mut holder = None;
    let mut places = Vec::new();
    let same = |other: &&Submission| {
        other.pipeline == lane.pipeline && other.seat.as_ref().is_some_and(|seat| seat.lane == lane.lane)
    };
    for other in ledger.rows().filter(same) {
        match Entries::of(other).lane.map(|entry| entry.stand) {
            Some(Stand::Holds) => {
                let seen = Holder { id: other.id, state: other.state.clone(), status: other.status };
                holder = Some(Other::Seen(seen));
            }
            Some(Stand::InLine { since, tie }) => places.push((since, tie, other.id)),
            None => {}
        }
    }
    places.sort_unstable();
    let position = places.iter().position(|(_, _, id)| *id == row.id).map(|index| index + 1);
    LanePlace { position, holder }
}
