//! Checking what must still stand: versions of rows, entries of the registry, full limits.

use std::collections::{BTreeSet, HashMap};

use model::SubmissionId;
use store::{LimitKey, OwedId, RegistryKey};

use super::Writing;
use crate::codec::{self, Tip};
use crate::error::{Fault, Result};
use crate::gate::{self, Gates, Mode};
use crate::pipe::Step;
use crate::query::{Parameters, rows};
use crate::sql;
use crate::taking::{entries, slots};

impl<'w> Writing<'w> {
    pub(super) fn check<'s>(&'s self, steps: &mut Vec<Step<'s>>) {
        let unlocked: BTreeSet<_> = self.touched().filter(|id| !self.known.locked.contains_key(id)).collect();
        let unlocked = codec::ids(&unlocked);
        steps.push(Box::pin(async move {
            self.lock_rest(&unlocked).await?;
            self.check_versions()
        }));
        let parked = self.newly_parked();
        if !parked.is_empty() {
            steps.push(Box::pin(self.check_limits(parked)));
        }
        let (gates, entries) = self.relied_on();
        if !gates.is_empty() {
            steps.push(Box::pin(self.check_entries(gates, entries)));
        }
        let paid: Vec<&OwedId> =
            self.changes.paid.iter().filter(|id| !self.known.owed.contains(id)).collect();
        if !paid.is_empty() {
            steps.push(Box::pin(self.check_paid(paid)));
        }
    }

    /// Every submission whose row or newest event changes.
    fn touched(&self) -> impl Iterator<Item = SubmissionId> {
        let rows = self.changes.rows.iter().map(|change| change.after.id);
        let forgotten = self.changes.forgotten.iter().map(|row| row.id);
        let acts = self.changes.acts.iter().map(|act| act.series);
        rows.chain(forgotten).chain(acts).chain(self.changes.events.iter().map(|event| event.leaf.submission))
    }

    /// Rows the take did not lock, and where events end that have no row. Mostly new ones: there is nothing yet.
    async fn lock_rest(&self, unlocked: &[uuid::Uuid]) -> Result<()> {
        if unlocked.is_empty() {
            return Ok(());
        }
        let ids: Parameters<'_> = &[&unlocked];
        let (found, tips) = tokio::join!(
            biased;
            rows(self.client, sql::SUBMISSION_CHECK, ids),
            rows(self.client, sql::TIP_GET, ids),
        );
        for row in found? {
            let found = codec::found(&row, 0)?;
            self.found.borrow_mut().insert(found.row.id, found);
        }
        for row in tips? {
            let tip = Tip {
                batch: row.try_get(1)?,
                no: row.try_get(2)?,
                revision: codec::unsigned(row.try_get(3)?)?,
            };
            self.tips.borrow_mut().insert(codec::id(&row, 0)?, tip);
        }
        Ok(())
    }

    fn check_versions(&self) -> Result<()> {
        let found = self.found.borrow();
        let changed = self.changes.rows.iter().map(|change| (change.after.id, change.before.as_deref()));
        let forgotten = self.changes.forgotten.iter().map(|row| (row.id, Some(row)));
        for (id, before) in changed.chain(forgotten) {
            let locked = self.known.locked.get(&id).map(|(version, _)| *version);
            let stands = locked.or_else(|| found.get(&id).map(|found| found.row.row_version));
            if stands != before.map(|row| row.row_version) {
                return Err(Fault::Conflict(format!("submission {id} was written since it was taken")));
            }
        }
        Ok(())
    }

    /// The names rows are parked under that were not before, and the limits those rows count under.
    fn newly_parked(&self) -> HashMap<&'w str, BTreeSet<LimitKey>> {
        let mut names: HashMap<&str, BTreeSet<LimitKey>> = HashMap::new();
        for change in &self.changes.rows {
            let before = change.before.as_ref().and_then(|row| row.parked.as_ref());
            if let Some(name) = change.after.parked.as_ref().filter(|name| Some(*name) != before) {
                let limits = self.known.limits.get(&change.after.id);
                names.entry(name).or_default().extend(limits.into_iter().flatten().cloned());
            }
        }
        names
    }

    /// Checks that the limits of newly parked rows are still full. Whoever leaves a limit owes a look at these rows;
    /// if one left since the take, that debt may be paid already. The lock is out of turn, so nothing waits for it.
    async fn check_limits(&self, parked: HashMap<&str, BTreeSet<LimitKey>>) -> Result<()> {
        let gates: BTreeSet<_> = parked.keys().map(|name| gate::of_parked(name)).collect();
        let gates: Vec<_> = gates.into_iter().collect();
        let limits: BTreeSet<_> = parked.into_values().flatten().collect();
        let numbers: Parameters<'_> = &[&gates];
        let (locked, taken) = tokio::join!(
            biased;
            rows(self.client, sql::GATE_SHARE_NOW, numbers),
            slots(self.client, &limits),
        );
        locked?;
        for (limit, taken) in taken? {
            if taken.len() < self.known.slots.get(&limit).copied().unwrap_or_default() {
                return Err(Fault::Conflict(format!("a slot of the limit of {} became free", limit.value)));
            }
        }
        Ok(())
    }

    /// Entries that must still be as they were taken: those that are relied on may be shared, those that change not.
    fn relied_on(&self) -> (Gates, Vec<RegistryKey>) {
        let mut gates = Gates::default();
        let mut entries: BTreeSet<RegistryKey> = BTreeSet::new();
        for key in &self.changes.relies_on {
            gates.add(gate::of_entry(key), Mode::Shared);
            entries.insert(key.clone());
        }
        for change in &self.changes.registry {
            gates.add(gate::of_entry(&change.key), Mode::Alone);
            entries.insert(change.key.clone());
        }
        entries.retain(|key| self.known.entries.contains_key(key));
        (gates, entries.into_iter().collect())
    }

    async fn check_entries(&self, gates: Gates, keys: Vec<RegistryKey>) -> Result<()> {
        let (locked, found) = tokio::join!(biased; gates.lock(self.client), entries(self.client, &keys));
        locked?;
        for (key, entry) in found? {
            if self.known.entries[&key] != entry.map(|(version, _)| version) {
                return Err(Fault::Conflict(format!(
                    "{} {} was changed since it was taken",
                    key.kind, key.name
                )));
            }
        }
        Ok(())
    }

    /// Owed rows that are paid without having been taken. Whoever has one in hand now pays it, too.
    async fn check_paid(&self, paid: Vec<&OwedId>) -> Result<()> {
        let submissions: Vec<_> = paid.iter().map(|id| id.submission.0).collect();
        let revisions: Vec<_> = paid.iter().map(|id| codec::signed(id.revision)).collect();
        let numbers: Vec<_> = paid.iter().map(|id| codec::signed(id.no)).collect();
        rows(self.client, sql::OWED_CHECK, &[&submissions, &revisions, &numbers]).await.map(drop)
    }
}
