//! Writing changes: everything is checked first, so that what follows cannot fail half way.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use model::{Submission, SubmissionId, Time};

use super::log::About;
use super::{Answer, OwedQueue, Tables};
use crate::changes::AnswerChange;
use crate::entries::Stand;
use crate::{Changes, Committed, Entries, Error, Owed, OwedId, RowChange};

/// The number of expired answers that a commit clears away: more than it can add, and bounded.
const SWEEP_MAX: usize = 2_000;

impl Tables {
    pub(super) fn commit(&mut self, changes: Changes, certain: Time) -> Result<Committed, Error> {
        let versions = self.next_versions(&changes)?;
        let (rows, changed) = (&changes.rows, &versions);
        check_held(rows, changed, &self.index.keys, "key", |entries| entries.key)?;
        check_held(rows, changed, &self.index.lanes, "lane", |entries| {
            entries.lane.filter(|lane| lane.stand == Stand::Holds).map(|lane| lane.key)
        })?;
        check_held(rows, changed, &self.index.slots, "slot", |entries| entries.slots)?;
        self.log.check(&changes)?;
        self.check_decided(&changes.decided)?;

        let about = self.about(&changes);
        self.write_rows(&changes.forgotten, changes.rows, &versions);
        for document in changes.documents {
            self.documents.entry(document.submission).or_default().set(&document.name, document.body);
        }
        for id in changes.erased.iter().chain(changes.forgotten.iter().map(|row| &row.id)) {
            self.documents.remove(id);
            self.log.erase_salts(*id);
        }
        for tile in changes.tiles {
            let kept = self.tiles.entry((tile.level, tile.index)).or_default();
            if tile.hashes.len() > kept.len() {
                *kept = tile.hashes;
            }
        }
        self.sweep(certain);
        for answer in changes.answers {
            self.write_answer(answer);
        }
        for owed in changes.owed {
            self.owed.push(owed);
        }
        for id in &changes.paid {
            self.owed.remove(id);
        }
        for id in &changes.decided {
            self.inbox.remove(id);
        }
        for received in changes.received {
            self.inbox.entry(received.id).or_insert(received);
        }
        // Nobody else has written since the take: what was taken of the registry, and what is relied on, still stands.
        for entry in changes.registry {
            match entry.body {
                Some(body) => self.registry.insert(entry.key, body),
                None => self.registry.remove(&entry.key),
            };
        }
        let committed = self.log.append(changes.acts, changes.events, &about);
        if let Some(before) = changes.retired_before {
            self.log.retire(before);
        }
        Ok(committed)
    }

    /// The version each changed row gets, provided that the one it was decided on still stands.
    fn next_versions(&self, changes: &Changes) -> Result<HashMap<SubmissionId, u64>, Error> {
        let mut versions = HashMap::new();
        let written = changes.rows.iter().map(|change| (change.after.id, change.before.as_deref()));
        for (id, before) in written.chain(changes.forgotten.iter().map(|row| (row.id, Some(row)))) {
            let stored = self.rows.get(&id).map(|row| row.row_version);
            let decided_on = before.map(|row| row.row_version);
            if stored != decided_on {
                return Err(Error::Conflict(format!("submission {id} was written since it was taken")));
            }
            if versions.insert(id, decided_on.unwrap_or(0) + 1).is_some() {
                return Err(Error::Conflict(format!("submission {id} is in the changes twice")));
            }
        }
        Ok(versions)
    }

    fn check_decided(&self, decided: &[SubmissionId]) -> Result<(), Error> {
        let mut all = HashSet::new();
        match decided.iter().find(|id| !self.inbox.contains_key(id) || !all.insert(**id)) {
            None => Ok(()),
            Some(id) => Err(Error::Conflict(format!("what was promised the id {id} was decided already"))),
        }
    }

    /// Returns what the feed filters the events of each submission by.
    fn about(&self, changes: &Changes) -> HashMap<SubmissionId, About> {
        let ids: HashSet<_> = changes.events.iter().map(|event| event.leaf.submission).collect();
        let stored = ids.iter().filter_map(|id| self.rows.get(id));
        let written = changes.rows.iter().map(|change| &*change.after).filter(|row| ids.contains(&row.id));
        stored.chain(written).map(|row| (row.id, About::of(row))).collect()
    }

    fn write_rows(
        &mut self,
        forgotten: &[Submission],
        rows: Vec<RowChange>,
        versions: &HashMap<SubmissionId, u64>,
    ) {
        // All old entries go before any new one comes: a key, a lane or a slot may change hands.
        for id in forgotten.iter().map(|row| row.id).chain(rows.iter().map(|change| change.after.id)) {
            if let Some(old) = self.rows.remove(&id) {
                self.index.remove(&old);
            }
        }
        for change in rows {
            let mut row = Arc::unwrap_or_clone(change.after);
            row.row_version = versions[&row.id];
            self.index.add(&row);
            self.rows.insert(row.id, row);
        }
    }

    fn write_answer(&mut self, change: AnswerChange) {
        let AnswerChange { key, body, expires_at } = change;
        if let Some(old) = self.answers.insert(key.clone(), Answer { body, expires_at }) {
            self.expiries.remove(&(old.expires_at, key.clone()));
        }
        self.expiries.insert((expires_at, key));
    }

    fn sweep(&mut self, certain: Time) {
        for _ in 0..SWEEP_MAX {
            if self.expiries.first().is_none_or(|(at, _)| *at > certain) {
                return;
            }
            if let Some((_, key)) = self.expiries.pop_first() {
                self.answers.remove(&key);
            }
        }
    }
}

/// No two submissions hold one thing once all rows are written. In between they may: it can pass from one row to another
/// in one commit, whichever comes first.
fn check_held<K: Ord + Hash, Held: IntoIterator<Item = K>>(
    rows: &[RowChange],
    changed: &HashMap<SubmissionId, u64>,
    holders: &BTreeMap<K, SubmissionId>,
    what: &str,
    held_by: impl Fn(Entries) -> Held,
) -> Result<(), Error> {
    let mut held = HashSet::new();
    for change in rows {
        for thing in held_by(Entries::of(&change.after)) {
            let holder = holders.get(&thing).filter(|holder| !changed.contains_key(holder));
            if holder.is_some() || !held.insert(thing) {
                let id = change.after.id;
                return Err(Error::Conflict(format!("another submission holds the {what} of {id}")));
            }
        }
    }
    Ok(())
}

impl OwedQueue {
    fn push(&mut self, owed: Owed) {
        if self.by_id.contains_key(&owed.id) {
            return;
        }
        self.by_id.insert(owed.id.clone(), self.next);
        self.by_age.insert(self.next, owed);
        self.next += 1;
    }

    fn remove(&mut self, id: &OwedId) {
        if let Some(age) = self.by_id.remove(id) {
            self.by_age.remove(&age);
        }
    }
}
