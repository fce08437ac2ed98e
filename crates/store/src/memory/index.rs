//! Where rows are found without looking at all of them.

use std::collections::{BTreeMap, BTreeSet};

use model::{Name, Submission, SubmissionId, Time};

use super::sets::Sets;
use crate::entries::{Entries, Place};
use crate::take::OpenKey;

#[derive(Default)]
pub(super) struct Index {
    pub(super) places: Sets<Place, SubmissionId>,
    /// By task, then rank, then id.
    pub(super) ready: Sets<Name, (i64, SubmissionId)>,
    pub(super) timers: BTreeSet<(Time, SubmissionId)>,
    pub(super) keys: BTreeMap<OpenKey, SubmissionId>,
    /// Holders by key alone, whatever their pipeline.
    pub(super) keyed: Sets<Name, SubmissionId>,
    pub(super) labels: Sets<(Name, Name), SubmissionId>,
    pub(super) children: Sets<SubmissionId, SubmissionId>,
}

impl Index {
    pub(super) fn add(&mut self, row: &Submission) {
        let entries = Entries::of(row);
        self.places.add(entries.place, row.id);
        if let Some(ready) = entries.ready {
            self.ready.add(ready.task, (ready.rank, row.id));
        }
        if let Some(at) = entries.timer {
            self.timers.insert((at, row.id));
        }
        if let Some(key) = entries.key {
            self.keyed.add(key.key.clone(), row.id);
            self.keys.insert(key, row.id);
        }
        for (label, value) in &row.labels {
            self.labels.add((label.clone(), value.clone()), row.id);
        }
        if let Some(parent) = row.parent {
            self.children.add(parent, row.id);
        }
    }

    pub(super) fn remove(&mut self, row: &Submission) {
        let entries = Entries::of(row);
        self.places.remove(&entries.place, &row.id);
        if let Some(ready) = entries.ready {
            self.ready.remove(&ready.task, &(ready.rank, row.id));
        }
        if let Some(at) = entries.timer {
            self.timers.remove(&(at, row.id));
        }
        if let Some(key) = entries.key {
            self.keyed.remove(&key.key, &row.id);
            self.keys.remove(&key);
        }
        for (label, value) in &row.labels {
            self.labels.remove(&(label.clone(), value.clone()), &row.id);
        }
        if let Some(parent) = row.parent {
            self.children.remove(&parent, &row.id);
        }
    }
}
