//! What a decision is told about its submission's surroundings: holds, its lane, its key.

use std::collections::{BTreeMap, BTreeSet};

use model::owed::{Debtor, Effect};
use model::{Command, Context, Name, Owed, Submission, SubmissionId};
use store::{Entries, LaneKey, OpenKey};

use super::batch::Batch;

impl Batch<'_> {
    pub(super) fn context(&self, row: Option<SubmissionId>, command: &Command, seed: [u8; 32]) -> Context {
        let mut context = self.bare_context(seed);
        if let Command::Submit(admission) = command {
            context.hold =
                self.holds.all().find(|hold| hold.covers_new(admission)).map(|hold| hold.id.clone());
            context.lane_free = super::lane_key(admission).is_some_and(|lane| self.is_free(&lane, None));
            return context;
        }
        if let Some(row) = row.and_then(|id| self.taken.rows.get(&id)).map(|stored| &stored.row) {
            context.hold = self.holds.over(row).next().map(|hold| hold.id.clone());
            context.lane_free = lane_of(row).is_some_and(|lane| self.is_free(&lane, Some(row.id)));
            context.key_holder = self.other_holder(row);
            if matches!(command, Command::Claim(_)) {
                context.slots = self.taken_slots(row);
            }
        }
        context
    }

    /// What is so whatever a decision is about.
    pub(super) fn bare_context(&self, seed: [u8; 32]) -> Context {
        Context {
            now: self.now,
            reachable_since: self.reachable_since,
            hold: None,
            lane_free: false,
            key_holder: None,
            slots: BTreeMap::new(),
            seed,
            pseudonyms: self.secret(),
        }
    }

    /// Of each limit it counts under that was looked at: the slots others have.
    fn taken_slots(&self, row: &Submission) -> BTreeMap<Name, BTreeSet<u32>> {
        let Some(pipeline) = self.pipeline_of(row) else { return BTreeMap::new() };
        let limits = super::limits_of(pipeline, row).into_iter();
        let seen = limits.filter_map(|key| Some((key.label.clone(), self.taken.slots.get(&key)?.clone())));
        seen.collect()
    }

    /// Keeps track of slots as leases take them and give them back.
    pub(super) fn move_slots(&mut self, old: Option<&Submission>, new: &Submission) {
        if self.taken.slots.is_empty() {
            return;
        }
        for entry in old.map_or(Vec::new(), |old| Entries::of(old).slots) {
            if let Some(taken) = self.taken.slots.get_mut(&entry.limit) {
                taken.remove(&entry.no);
            }
        }
        for entry in Entries::of(new).slots {
            if let Some(taken) = self.taken.slots.get_mut(&entry.limit) {
                taken.insert(entry.no);
            }
        }
    }

    /// Whether nobody holds a lane and nobody else comes first. A lane that was not looked at is not free.
    fn is_free(&self, lane: &LaneKey, id: Option<SubmissionId>) -> bool {
        let view = self.taken.lanes.get(lane);
        !self.lanes_moved.contains(lane)
            && view.is_some_and(|view| view.holder.is_none() && (view.first.is_none() || view.first == id))
    }

    fn other_holder(&self, row: &Submission) -> Option<SubmissionId> {
        let key = OpenKey { pipeline: row.pipeline.clone(), key: row.key.clone()? };
        self.taken.holders.get(&key).copied().filter(|holder| *holder != row.id)
    }

    /// Keeps track of lanes as rows take and leave them. Somebody who joins a line without a holder, or one that was not
    /// looked at, has to be looked at again: no holder will give the lane on.
    pub(super) fn move_lane(&mut self, old: Option<&Submission>, new: &Submission) -> Option<Owed> {
        // A hold takes it out of the line, and whatever ends that puts it back: a move, too.
        let stand = |row: &Submission| {
            row.seat.as_ref().map(|seat| (seat.holds, seat.waits() && row.parked.is_none()))
        };
        let (before, after) = (old.and_then(stand), stand(new));
        if before == after {
            return None;
        }
        let lane = lane_of(new)?;
        let waits = |stand: Option<(bool, bool)>| stand.is_some_and(|(_, waits)| waits);
        if waits(before) != waits(after) {
            self.lines_moved.insert(lane.clone());
        }
        self.lanes_moved.insert(lane.clone());
        let (held, holds) = (before.is_some_and(|(holds, _)| holds), after.is_some_and(|(holds, _)| holds));
        if let Some(view) = self.taken.lanes.get_mut(&lane).filter(|_| held || holds) {
            view.holder = holds.then_some(new.id);
        }
        let has_holder = self.taken.lanes.get(&lane).is_some_and(|view| view.holder.is_some());
        let joins = after.is_some_and(|(_, waits)| waits) && !has_holder;
        let to = Debtor::Lane { pipeline: lane.pipeline, lane: lane.lane };
        joins.then_some(Owed { to, effect: Effect::Freed })
    }
}

pub(super) fn lane_of(row: &Submission) -> Option<LaneKey> {
    let lane = row.seat.as_ref()?.lane.clone();
    Some(LaneKey { pipeline: row.pipeline.clone(), lane })
}
