//! The indexes by which rows are found without looking at all of them.

use std::collections::BTreeMap;

use model::{Name, Submission, SubmissionId, Time};

use super::sets::Sets;
use crate::entries::{DeadKey, Entries, Place, SlotEntry, Stand};
use crate::take::{LaneKey, OpenKey};

#[derive(Default)]
pub(super) struct Index {
    pub(super) places: Sets<Place, SubmissionId>,
    /// By task, then rank, then id.
    pub(super) ready: Sets<Name, (i64, SubmissionId)>,
    /// Apart by whether they are idle.
    pub(super) timers: Sets<bool, (Time, SubmissionId)>,
    pub(super) keys: BTreeMap<OpenKey, SubmissionId>,
    /// Holders by key alone, whatever their pipeline.
    pub(super) keyed: Sets<Name, SubmissionId>,
    /// By key, whatever their pipeline: holders, those that wait, those that ended.
    pub(super) with_key: Sets<Name, SubmissionId>,
    /// The submissions that wait for a key.
    pub(super) key_waits: Sets<OpenKey, SubmissionId>,
    /// The holder of each lane.
    pub(super) lanes: BTreeMap<LaneKey, SubmissionId>,
    /// The submissions in line for a lane: since when, tie, id.
    pub(super) lines: Sets<LaneKey, (Time, Name, SubmissionId)>,
    /// Holders and those in line by lane alone, whatever their pipeline.
    pub(super) seated: Sets<Name, SubmissionId>,
    pub(super) parked: Sets<Name, SubmissionId>,
    pub(super) dead: Sets<DeadKey, SubmissionId>,
    /// The submission that has each slot of a limit.
    pub(super) slots: BTreeMap<SlotEntry, SubmissionId>,
    /// By pipeline, then when a service level is missed, then id.
    pub(super) late: Sets<Name, (Time, SubmissionId)>,
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
        if let Some(timer) = entries.timer {
            self.timers.add(timer.idle, (timer.at, row.id));
        }
        if let Some(key) = entries.key {
            self.keyed.add(key.key.clone(), row.id);
            self.keys.insert(key, row.id);
        }
        if let Some(key) = entries.key_wait {
            self.key_waits.add(key, row.id);
        }
        if let Some(key) = &row.key {
            self.with_key.add(key.clone(), row.id);
        }
        if let Some(lane) = entries.lane {
            self.seated.add(lane.key.lane.clone(), row.id);
            match lane.stand {
                Stand::Holds => drop(self.lanes.insert(lane.key, row.id)),
                Stand::InLine { since, tie } => self.lines.add(lane.key, (since, tie, row.id)),
            }
        }
        if let Some(hold) = entries.parked {
            self.parked.add(hold, row.id);
        }
        if let Some(dead) = entries.dead {
            self.dead.add(dead, row.id);
        }
        self.slots.extend(entries.slots.into_iter().map(|slot| (slot, row.id)));
        for late in entries.late.into_iter().chain(entries.reviews) {
            self.late.add(late.pipeline, (late.at, row.id));
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
        if let Some(timer) = entries.timer {
            self.timers.remove(&timer.idle, &(timer.at, row.id));
        }
        if let Some(key) = entries.key {
            self.keyed.remove(&key.key, &row.id);
            self.keys.remove(&key);
        }
        if let Some(key) = entries.key_wait {
            self.key_waits.remove(&key, &row.id);
        }
        if let Some(key) = &row.key {
            self.with_key.remove(key, &row.id);
        }
        if let Some(lane) = entries.lane {
            self.seated.remove(&lane.key.lane, &row.id);
            match lane.stand {
                Stand::Holds => drop(self.lanes.remove(&lane.key)),
                Stand::InLine { since, tie } => self.lines.remove(&lane.key, &(since, tie, row.id)),
            }
        }
        if let Some(hold) = entries.parked {
            self.parked.remove(&hold, &row.id);
        }
        if let Some(dead) = entries.dead {
            self.dead.remove(&dead, &row.id);
        }
        for slot in &entries.slots {
            self.slots.remove(slot);
        }
        for late in entries.late.into_iter().chain(entries.reviews) {
            self.late.remove(&late.pipeline, &(late.at, row.id));
        }
        for (label, value) in &row.labels {
            self.labels.remove(&(label.clone(), value.clone()), &row.id);
        }
        if let Some(parent) = row.parent {
            self.children.remove(&parent, &row.id);
        }
    }
}
