//! Checks what submissions mean for each other: lanes, keys, holds and children, counted anew after every step.

use std::collections::BTreeMap;

use model::pipeline::{Kind, LaneRule, OnDead, OnDuplicate};
use model::submission::{Cause, Children, Seat, Wait};
use model::{Name, Status, Submission, SubmissionId, Time};
use store::{LaneKey, OpenKey};

use super::ledger::Ledger;
use super::{Checked, ensure, limits};
use crate::faults::Commit;
use crate::finding::finding;
use crate::report::Report;

type Place<'a> = (Time, &'a Name, SubmissionId);

fn lane(row: &Submission) -> Option<LaneKey> {
    let lane = row.seat.as_ref()?.lane.clone();
    Some(LaneKey { pipeline: row.pipeline.clone(), lane })
}

fn holds(row: &Submission) -> bool {
    row.held_lane().is_some()
}

/// In line, and not taken out of it by a hold.
fn in_line(row: &Submission) -> bool {
    row.parked.is_none() && row.seat.as_ref().is_some_and(Seat::waits)
}

fn place(row: &Submission) -> Option<Place<'_>> {
    Some((row.created_at, row.seat.as_ref()?.tie_order(), row.id))
}

/// Lanes that change hands in a commit go to whoever is first; the book still is as it was before the commit.
pub(super) fn granted(ledger: &Ledger, commit: &Commit, report: &mut Report) -> Checked {
    for change in &commit.changes.rows {
        let after = &change.after;
        let had = change.before.as_deref().is_some_and(holds);
        if had || !holds(after) {
            continue;
        }
        let waited = change.before.as_deref().is_some_and(in_line);
        let mut others =
            ledger.rows().filter(|row| row.id != after.id && lane(row) == lane(after) && in_line(row));
        // One that came in this very commit is not in line yet. Whoever joins a line while its lane changes hands may be
        // first in it.
        let before_it = others.find(|row| row.row_version > 0 && place(row) < place(after));
        if let Some(first) = before_it {
            return Err(finding!("{} got its lane before {}, which was in line", after.id, first.id));
        }
        // Nor is one that came with it, and before it by its place. Whoever is first in line and moves on by itself does
        // not wait for that: the clock may have been set back since it came.
        let moved = change.before.as_deref().is_some_and(|before| before.revision != after.revision);
        let new = commit.changes.rows.iter().filter(|other| other.before.is_none()).map(|other| &other.after);
        let mut new = new.filter(|row| lane(row) == lane(after) && in_line(row) && place(row) < place(after));
        let displaced = new.find(|_| (waited && !moved) || change.before.is_none()).map(|row| row.id);
        ensure!(displaced.is_none(), "{} got its lane before {displaced:?}, which came with it", after.id);
        report.count(if waited { "lane/granted" } else { "lane/free" });
    }
    Ok(())
}

pub(super) fn check(ledger: &Ledger, now: Time) -> Checked {
    lanes(ledger)?;
    keys(ledger)?;
    parked(ledger)?;
    children(ledger)?;
    stopped(ledger, now)
}

fn lanes(ledger: &Ledger) -> Checked {
    let mut holders: BTreeMap<LaneKey, &Submission> = BTreeMap::new();
    for row in ledger.rows().filter(|row| holds(row)) {
        if let Some(other) = lane(row).and_then(|lane| holders.insert(lane, row)) {
            return Err(finding!("{} and {} both hold a lane: {row:?}", other.id, row.id));
        }
        seated(ledger, row).map_err(|problem| problem.about(format_args!(": {row:?}")))?;
    }
    for row in ledger.rows() {
        let Some(seat) = row.seat.as_ref().filter(|seat| !seat.holds()) else { continue };
        let book = ledger.law.of(row)?;
        let state = book.pipeline.state(&row.state).ok_or("it is in a state that does not exist")?;
        let free = state.lane == LaneRule::Free || row.status.is_final();
        let runs = match &row.wait {
            Wait::Worker { .. } | Wait::Lease(_) | Wait::Clock { .. } | Wait::Children => true,
            Wait::Delay { cause, .. } => *cause != Cause::NotBefore,
            Wait::Guard => state.lane == LaneRule::Wait,
            _ => false,
        };
        let asked = row.request.is_some();
        ensure!(free || asked || !runs, "{} gets on without its lane: {row:?}", row.id);
        ensure!(!(free && seat.waits()), "{} is in line where it needs no lane: {row:?}", row.id);
        let lane = lane(row).ok_or("a seat without a lane")?;
        let looked_at = holders.contains_key(&lane) || ledger.debts.to_lane(&lane);
        ensure!(
            !in_line(row) || looked_at,
            "{} is in line for a lane that nobody has and nobody looks at: {row:?}",
            row.id
        );
    }
    Ok(())
}

fn seated(ledger: &Ledger, row: &Submission) -> Checked {
    let pipeline = &ledger.law.of(row)?.pipeline;
    let state = pipeline.state(&row.state).ok_or("it is in a state that does not exist")?;
    ensure!(
        state.lane != LaneRule::Free && !row.status.is_final(),
        "it holds its lane in a state that gives it on"
    );
    let blocks = pipeline.lane.as_ref().is_some_and(|lane| lane.on_dead == OnDead::Block);
    ensure!(row.status != Status::Dead || blocks, "a dead letter keeps others from its lane");
    ensure!(row.wait != Wait::Line, "it has its lane and is in line for it");
    Ok(())
}

fn keys(ledger: &Ledger) -> Checked {
    for row in ledger.rows() {
        ensure!(row.wait != Wait::Key || row.key_waits, "{} waits for a key it has: {row:?}", row.id);
        if !row.key_waits || row.status.is_final() {
            continue;
        }
        let queues = ledger.law.of(row)?.pipeline.on_duplicate == OnDuplicate::Queue;
        ensure!(queues, "{} waits for its key where nobody does", row.id);
        ensure!(matches!(row.wait, Wait::Key | Wait::Redrive), "{} gets on without its key: {row:?}", row.id);
        let key = row.key.clone().ok_or("it waits for a key it does not have")?;
        let key = OpenKey { pipeline: row.pipeline.clone(), key };
        let looked_at = ledger.keys.contains_key(&key) || ledger.debts.to_key(&key);
        ensure!(looked_at, "{} waits for a key that nobody has and nobody looks at: {row:?}", row.id);
    }
    Ok(())
}

fn parked(ledger: &Ledger) -> Checked {
    for row in ledger.rows() {
        let Some(hold) = &row.parked else { continue };
        // What a worker has is not stopped. But a granted action's task runs before the lane is got, and a hold over
        // one that is first in line takes it out of the line meanwhile, for others to have their turn.
        let in_line = row.seat.as_ref().is_some_and(Seat::waits);
        let fits = !row.status.is_final() && (row.lease().is_none() || in_line);
        ensure!(fits, "{} is parked although there is nothing to stop: {row:?}", row.id);
        if limits::waits_beside(&ledger.law.of(row)?.pipeline, row).is_some() {
            continue;
        }
        let known = ledger.holds.contains_key(hold) || ledger.debts.to_parked(hold);
        let covers = ledger.holds.get(hold).is_none_or(|hold| hold.covers(row));
        ensure!(covers, "{} is parked by a hold that does not cover it: {row:?}", row.id);
        ensure!(known, "{} is parked by a hold that is gone, and nobody looks at it: {row:?}", row.id);
    }
    Ok(())
}

/// Checks that what a parent counts, with what it has not heard of yet, is how its children stand.
fn children(ledger: &Ledger) -> Checked {
    let mut counted: BTreeMap<SubmissionId, Children> = BTreeMap::new();
    // Whoever was forgotten has still been a child.
    let gone = ledger.gone.values().map(|known| &known.row);
    for row in ledger.rows().chain(gone) {
        if let Some(parent) = row.parent {
            let children = counted.entry(parent).or_default();
            children.total += 1;
            *children.of(ledger.law.of(row)?.pipeline.standing(row)) += 1;
        }
    }
    for row in ledger.rows() {
        let mut told = row.children;
        for (before, after) in ledger.debts.to_parent(row.id) {
            // Told in any order, a counter may pass below nothing for a while; the sum does not care.
            *told.of(before) = told.of(before).wrapping_sub(1);
            *told.of(after) = told.of(after).wrapping_add(1);
        }
        let counted = counted.get(&row.id).copied().unwrap_or_default();
        ensure!(told == counted, "{} counts {told:?}, and a recount gives {counted:?}: {row:?}", row.id);
        let join = matches!(
            ledger.law.of(row)?.pipeline.state(&row.state).map(|state| &state.kind),
            Some(Kind::Join { .. })
        );
        let over = row.children.open == 0 && !row.children.is_none();
        ensure!(
            !(join && row.wait == Wait::Children && over && row.seat.is_none()),
            "{} waits for children that have all ended: {row:?}",
            row.id
        );
    }
    Ok(())
}

/// Checks that what a hold stops does not get a lease, a lane, or a wake.
fn stopped(ledger: &Ledger, now: Time) -> Checked {
    for id in ledger.changed() {
        let (Some(before), Some(after)) = (ledger.before(id), ledger.row(id)) else { continue };
        let Some(hold) = ledger.stopped(after, now).filter(|hold| hold.covers(before)) else { continue };
        let leased = after.lease().is_some_and(|lease| before.lease().is_none_or(|old| old.no != lease.no));
        ensure!(!leased, "{id} was leased although hold {} covers it: {after:?}", hold.id);
        let seated = in_line(before) && holds(after) && before.revision == after.revision;
        ensure!(!seated, "{id} got its lane although hold {} covers it: {after:?}", hold.id);
        let silent = before.revision == after.revision && before.wait != after.wait;
        let woken = silent && matches!(before.wait, Wait::Delay { .. } | Wait::Clock { .. });
        ensure!(!woken, "{id} was woken although hold {} covers it: {after:?}", hold.id);
    }
    Ok(())
}
