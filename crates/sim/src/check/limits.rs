//! Limits: never more leases than slots, and nobody beside the queue while a slot is free and nothing is under way.

use std::collections::{BTreeMap, BTreeSet};

use model::submission::{Lease, Wait};
use model::{Name, Pipeline, Submission};

use super::ledger::Ledger;
use super::{Checked, ensure};
use crate::finding::Finding;

/// A limit: pipeline, label and value.
type Limit = (Name, Name, Name);

fn limit(row: &Submission, label: &Name, value: &Name) -> Limit {
    (row.pipeline.clone(), label.clone(), value.clone())
}

/// Returns the name under which those wait that a limit keeps out of their queue.
pub(super) fn aside(pipeline: &Pipeline, (label, value): (&Name, &Name), task: &Name) -> Name {
    format!("limit {} {label}={value} {task}", pipeline.name).into()
}

/// The limit a row waits beside its queue for.
pub(super) fn waits_beside<'a>(pipeline: &'a Pipeline, row: &'a Submission) -> Option<(&'a Name, &'a Name)> {
    let (Some(parked), Wait::Worker { task, .. }) = (&row.parked, &row.wait) else { return None };
    pipeline.limits_of(row).find(|pair| aside(pipeline, *pair, task) == *parked)
}

/// A lease takes a slot of each limit its submission counts under, one that there is.
pub(super) fn taken(pipeline: &Pipeline, row: &Submission, lease: &Lease) -> Checked {
    let wanted: Vec<_> = pipeline.limits_of(row).collect();
    let taken: Vec<_> = lease.slots.iter().map(|slot| (&slot.label, &slot.value)).collect();
    ensure!(wanted == taken, "{} was leased under {taken:?} and counts under {wanted:?}", row.id);
    let over = lease.slots.iter().find(|slot| slot.no >= pipeline.limits[&slot.label]);
    ensure!(over.is_none(), "{} was leased in a slot that is not there: {over:?}", row.id);
    Ok(())
}

pub(super) fn check(ledger: &Ledger) -> Checked {
    let slots = slots(ledger)?;
    let queued = queued(ledger);
    for row in ledger.rows() {
        let pipeline = &ledger.law.of(row)?.pipeline;
        let (Some((label, value)), Some(parked)) = (waits_beside(pipeline, row), &row.parked) else {
            continue;
        };
        let limit = limit(row, label, value);
        let taken = slots.get(&limit);
        let full = (0..pipeline.limits[label]).all(|no| taken.is_some_and(|taken| taken.contains(&no)));
        let under_way = ledger.debts.to_parked(parked) || queued.contains(&(limit, parked.clone()));
        // A slot of another version, which has other tasks and other limits, is found free by the slow sweep alone.
        let swept = ledger.followed.get(&row.pipeline).is_some_and(|versions| versions.len() > 1);
        ensure!(full || under_way || swept, "{} waits for a limit that has a free slot: {row:?}", row.id);
    }
    Ok(())
}

fn slots(ledger: &Ledger) -> Result<BTreeMap<Limit, BTreeSet<u32>>, Finding> {
    let mut slots: BTreeMap<Limit, BTreeSet<u32>> = BTreeMap::new();
    for row in ledger.rows() {
        for slot in row.lease().map_or(&[][..], |lease| &lease.slots) {
            let fresh = slots.entry(limit(row, &slot.label, &slot.value)).or_default().insert(slot.no);
            ensure!(fresh, "two leases have the slot {slot:?}, one of them that of {}", row.id);
        }
    }
    Ok(slots)
}

/// Lists who is in a queue and will take a slot, or pass it on: by the limit, and the name others wait for the same
/// under.
fn queued(ledger: &Ledger) -> BTreeSet<(Limit, Name)> {
    let mut queued = BTreeSet::new();
    for row in ledger.rows().filter(|row| row.parked.is_none()) {
        let (Wait::Worker { task, .. }, Ok(book)) = (&row.wait, ledger.law.of(row)) else { continue };
        for (label, value) in book.pipeline.limits_of(row) {
            queued.insert((limit(row, label, value), aside(&book.pipeline, (label, value), task)));
        }
    }
    queued
}
