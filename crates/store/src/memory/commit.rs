//! Writing changes: everything is checked first, so that what follows cannot fail half way.

use std::collections::{HashMap, HashSet};

use model::event::NewDocuments;
use model::{Event, Submission, SubmissionId, Time};

use super::{Answer, OwedQueue, Tables};
use crate::changes::AnswerChange;
use crate::{Changes, Committed, Entries, Error, Owed, OwedId, RowChange};

/// How many expired answers a commit clears away: more than it can add, and bounded.
const SWEEP_MAX: usize = 2_000;

impl Tables {
    pub(super) fn commit(&mut self, changes: Changes, now: Time) -> Result<Committed, Error> {
        let versions = self.next_versions(&changes.rows)?;
        self.check_keys(&changes.rows, &versions)?;
        self.check_events(&changes.events)?;

        self.write_rows(changes.rows, &versions);
        for document in changes.documents {
            self.documents.entry(document.submission).or_default().set(&document.name, document.body);
        }
        self.sweep(now);
        for answer in changes.answers {
            self.write_answer(answer);
        }
        for owed in changes.owed {
            self.owed.push(owed);
        }
        for id in &changes.paid {
            self.owed.remove(id);
        }
        for entry in changes.registry {
            match entry.body {
                Some(body) => self.registry.insert(entry.key, body),
                None => self.registry.remove(&entry.key),
            };
        }
        Ok(self.append(changes.events))
    }

    /// The version each changed row gets, provided that the one it was decided on still stands.
    fn next_versions(&self, rows: &[RowChange]) -> Result<HashMap<SubmissionId, u64>, Error> {
        let mut versions = HashMap::new();
        for change in rows {
            let id = change.after.id;
            let stored = self.rows.get(&id).map(|row| row.row_version);
            let decided_on = change.before.as_ref().map(|row| row.row_version);
            if stored != decided_on {
                return Err(Error::Conflict(format!("submission {id} was written since it was taken")));
            }
            if versions.insert(id, decided_on.unwrap_or(0) + 1).is_some() {
                return Err(Error::Conflict(format!("submission {id} is in the changes twice")));
            }
        }
        Ok(versions)
    }

    /// No two submissions hold one key once all rows are written. In between they may: a key can pass from one row
    /// to another in one commit, whichever comes first.
    fn check_keys(&self, rows: &[RowChange], changed: &HashMap<SubmissionId, u64>) -> Result<(), Error> {
        let mut held = HashSet::new();
        for change in rows {
            let Some(key) = Entries::of(&change.after).key else { continue };
            let holder = self.index.keys.get(&key).filter(|holder| !changed.contains_key(holder));
            if holder.is_some() || !held.insert(key) {
                let id = change.after.id;
                return Err(Error::Conflict(format!("another submission holds the key of {id}")));
            }
        }
        Ok(())
    }

    /// Versions fence revisions, so a revision that is already there means that rows and events have parted.
    fn check_events(&self, events: &[Event]) -> Result<(), Error> {
        let mut new = HashSet::new();
        for event in events {
            let at = (event.leaf.submission, event.leaf.revision);
            if self.history.contains_key(&at) || !new.insert(at) {
                return Err(Error::corrupt(format!(
                    "submission {} has two events of revision {}",
                    at.0, at.1
                )));
            }
        }
        Ok(())
    }

    fn write_rows(&mut self, rows: Vec<RowChange>, versions: &HashMap<SubmissionId, u64>) {
        // All old entries go before any new one comes: a key may change hands.
        for change in &rows {
            if let Some(old) = self.rows.get(&change.after.id) {
                self.index.remove(old);
            }
        }
        for change in rows {
            let row = Submission { row_version: versions[&change.after.id], ..change.after };
            self.index.add(&row);
            self.rows.insert(row.id, row);
        }
    }

    fn append(&mut self, events: Vec<Event>) -> Committed {
        if events.is_empty() {
            return Committed::default();
        }
        let first_seq = self.last_seq() + 1;
        for event in events {
            let at = (event.leaf.submission, event.leaf.revision);
            self.events.push(Event { documents: NewDocuments::default(), ..event });
            self.history.insert(at, self.last_seq());
        }
        Committed { first_seq, last_seq: self.last_seq() }
    }

    fn write_answer(&mut self, change: AnswerChange) {
        let AnswerChange { key, body, expires_at } = change;
        if let Some(old) = self.answers.insert(key.clone(), Answer { body, expires_at }) {
            self.expiries.remove(&(old.expires_at, key.clone()));
        }
        self.expiries.insert((expires_at, key));
    }

    fn sweep(&mut self, now: Time) {
        for _ in 0..SWEEP_MAX {
            if self.expiries.first().is_none_or(|(at, _)| *at > now) {
                return;
            }
            if let Some((_, key)) = self.expiries.pop_first() {
                self.answers.remove(&key);
            }
        }
    }
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
