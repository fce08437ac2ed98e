//! Operations: every submission that fits is done once, told once and counted once, however often a chunk is asked.

use std::collections::{BTreeMap, BTreeSet};

use engine::core::{Deed, OPERATIONS, Operation, OperationResult, OperationStatus, RUNNING};
use model::{Event, Json, Name, Right, SubmissionId};

use super::ledger::Ledger;
use super::{Checked, ensure};
use crate::actors::{OPERATES, TRIES};
use crate::faults::Commit;
use crate::finding::finding;
use crate::report::Report;

/// An operation as the checker knows it.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) operation: Operation,
    results: BTreeSet<SubmissionId>,
    /// Results that were cleared away.
    cleared: u64,
    /// The submissions that have fitted since the operation began and have no result yet.
    waiting: BTreeSet<SubmissionId>,
}

/// The number of events in the name of each operation.
pub(super) type Deeds = BTreeMap<Name, u64>;

/// Counts an event somebody made through an operation.
pub(super) fn noted(deeds: &mut Deeds, event: &Event) -> Checked {
    let actor = &event.detail.actor;
    ensure!(!actor.starts_with(TRIES), "a dry run did something");
    if actor.starts_with(OPERATES) && matches!(event.leaf.right, Right::Role(_)) {
        *deeds.entry(actor.clone()).or_default() += 1;
    }
    Ok(())
}

impl Ledger {
    pub(crate) fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.operations.values().map(|watched| &watched.operation)
    }

    pub(crate) fn results(&self, operation: &str) -> impl Iterator<Item = SubmissionId> {
        self.operations.get(operation).into_iter().flat_map(|watched| watched.results.iter().copied())
    }

    /// Takes a commit into the book; its rows are there already.
    pub(super) fn take_operations(&mut self, commit: &Commit, report: &mut Report) -> Checked {
        let before: BTreeMap<Name, OperationStatus> =
            self.operations().map(|operation| (operation.id.clone(), operation.status)).collect();
        for change in &commit.changes.registry {
            let (kind, name) = (&*change.key.kind, &change.key.name);
            if let Some(id) = kind.strip_prefix(OPERATIONS).and_then(|rest| rest.strip_prefix('/')) {
                let watched = self.operations.get_mut(id).ok_or("a result of no operation")?;
                watched.result(name, change.body.as_ref(), before.get(id).copied())?;
            }
        }
        for change in commit.changes.registry.iter().filter(|change| change.key.kind == OPERATIONS) {
            self.take_operation(&change.key.name, change.body.as_ref(), report)
                .map_err(|problem| problem.about(format_args!(": operation {}", change.key.name)))?;
        }
        let known = &self.known;
        // One that moved more than once in the commit may have been elsewhere between.
        let events = || commit.changes.events.iter().map(|event| event.leaf.submission);
        let may_have_left = |id: SubmissionId| events().filter(|moved| *moved == id).count() > 1;
        for watched in self.operations.values_mut() {
            let Watched { operation, results, waiting, .. } = watched;
            waiting.retain(|id| {
                let fits = known.get(id).is_some_and(|known| known.row.fits(&operation.filter));
                fits && !results.contains(id) && !may_have_left(*id)
            });
            let left_out = waiting.first().filter(|_| operation.status == OperationStatus::Done);
            ensure!(left_out.is_none(), "an operation is done and left {left_out:?} out: {operation:?}");
        }
        self.running_are_listed()
    }

    fn take_operation(&mut self, id: &str, body: Option<&Json>, report: &mut Report) -> Checked {
        let Some(body) = body else {
            let gone = self.operations.remove(id).ok_or("it is removed and was not there")?;
            ensure!(gone.results.is_empty(), "it went before its results");
            ensure!(gone.operation.status != OperationStatus::Running, "it was removed while it ran");
            report.count("operation/removed");
            return Ok(());
        };
        let operation: Operation = serde_json::from_str(body.as_str())
            .map_err(|error| finding!("an operation does not parse: {error}"))?;
        let refused: u64 = operation.refused.values().sum();
        ensure!(operation.done + refused == operation.found, "{operation:?} does not add up");
        let deeds = self.deeds.get(&operation.by.name).copied().unwrap_or(0);
        let by_events = matches!(operation.deed, Deed::Migrate { .. } | Deed::Redrive | Deed::Resume { .. });
        ensure!(
            !by_events || operation.dry_run || deeds == operation.done,
            "it did {deeds} by its events, and says {}",
            operation.done
        );
        match self.operations.get_mut(id) {
            None => {
                ensure!(operation.found == 0 && operation.after.is_none(), "it begins with something done");
                let fits = self.known.values().filter(|known| known.row.fits(&operation.filter));
                let waiting = fits.map(|known| known.row.id).collect();
                let watched = Watched { operation, results: BTreeSet::new(), cleared: 0, waiting };
                self.operations.insert(id.into(), watched);
                report.count("operation/started");
            }
            Some(watched) => watched.goes_on(operation, report)?,
        }
        Ok(())
    }

    /// Whoever goes on with operations finds those that run, and no others.
    fn running_are_listed(&self) -> Checked {
        let mut listed = self.registry.kinds().filter(|(kind, _)| *kind == RUNNING);
        let listed: Vec<&String> =
            listed.next().into_iter().flat_map(|(_, entries)| entries.keys()).collect();
        let running = self.operations().filter(|operation| operation.status == OperationStatus::Running);
        let running: Vec<String> = running.map(|operation| operation.id.to_string()).collect();
        ensure!(listed.iter().copied().eq(&running), "{running:?} run, and {listed:?} are listed as running");
        Ok(())
    }
}

impl Watched {
    fn result(&mut self, name: &str, body: Option<&Json>, was: Option<OperationStatus>) -> Checked {
        let id: SubmissionId = name.parse().map_err(|_| finding!("a result of `{name}`"))?;
        let Some(body) = body else {
            ensure!(was != Some(OperationStatus::Running), "results of an operation went while it ran");
            // One that was asked twice is gone already.
            self.cleared += u64::from(self.results.remove(&id));
            return Ok(());
        };
        let result: OperationResult = serde_json::from_str(body.as_str())
            .map_err(|error| finding!("the result of an operation does not parse: {error}"))?;
        ensure!(result.state.is_some() != result.code.is_some(), "a result is neither done nor refused");
        ensure!(was == Some(OperationStatus::Running), "an operation that does not run went on with {id}");
        ensure!(self.results.insert(id), "an operation did {id} twice: {:?}", self.operation);
        let passed = self.operation.after.is_some_and(|after| id >= after);
        ensure!(!passed, "an operation went back to {id}");
        Ok(())
    }

    fn goes_on(&mut self, now: Operation, report: &mut Report) -> Checked {
        let was = &self.operation;
        ensure!(was.status == OperationStatus::Running, "it went on after its end");
        let same = (&was.filter, &was.deed, &was.by, was.started_at, was.dry_run)
            == (&now.filter, &now.deed, &now.by, now.started_at, now.dry_run);
        ensure!(same, "it is another operation now");
        ensure!(was.after.is_none_or(|was| now.after.is_some_and(|now| now <= was)), "it went back");
        ensure!(
            now.found == self.results.len() as u64 + self.cleared,
            "it found {} and has {} results",
            now.found,
            self.results.len()
        );
        let ended = now.status != OperationStatus::Running;
        ensure!(ended == now.ended_at.is_some(), "it has ended without an end, or the other way round");
        if now.found > was.found {
            report.count(if now.dry_run { "operation/tried" } else { "operation/chunk" });
            report.add("operation/rows", now.done - was.done);
        }
        if ended {
            report.count(format!("operation/{:?}", now.status).to_lowercase());
        }
        self.operation = now;
        Ok(())
    }
}
