//! Describes a submission's surroundings to a decision: holds, its lane, its key.

use std::collections::{BTreeMap, BTreeSet};

use model::owed::{Effect, Recipient};
use model::pipeline::OnDuplicate;
use model::{Command, Context, Name, Owed, Pipeline, Submission, SubmissionId};
use store::{Entries, LaneKey, OpenKey};

use super::commit::Commit;

impl Commit<'_> {
    pub(super) fn context(&self, row: Option<SubmissionId>, command: &Command, seed: [u8; 32]) -> Context {
        let mut context = self.bare_context(seed);
        if let Command::Submit(admission) = command {
            context.hold =
                self.holds.all().find(|hold| hold.covers_new(admission)).map(|hold| hold.id.clone());
            context.lane_free = super::lane_key(admission)
                .is_some_and(|lane| !self.contested.contains(&lane) && self.is_free(&lane, None));
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

    /// Returns the context that is the same whatever a decision is about.
    pub(super) fn bare_context(&self, seed: [u8; 32]) -> Context {
        Context {
            now: self.now,
            reachable_since: self.reachable_since,
            hold: None,
            lane_free: false,
            arrivals: self.arrivals,
            key_holder: None,
            slots: BTreeMap::new(),
            settler: self.by.as_ref().map(|asker| asker.caller.name.clone()),
            seed,
            tank: self.tank.clone(),
            pseudonyms: self.secret(),
            links: self.links(),
        }
    }

    /// Returns, for each limit that counts the submission and was looked at, the slots others have.
    fn taken_slots(&self, row: &Submission) -> BTreeMap<Name, BTreeSet<u32>> {
        let Some(pipeline) = self.pipeline_of(row) else { return BTreeMap::new() };
        let limits = super::limits_of(pipeline, row).into_iter();
        let seen = limits.filter_map(|key| Some((key.label.clone(), self.taken.slots.get(&key)?.clone())));
        seen.collect()
    }

    /// Keeps track of keys as rows take and leave them. Submissions of another version may queue for one that this
    /// version's rules know no queue for.
    pub(super) fn move_key(&mut self, old: Option<&Submission>, new: &Submission) -> Option<Owed> {
        let (left, held) = (old.and_then(held_key), held_key(new));
        if let Some(key) = &left {
            self.taken.holders.remove(key);
        }
        let free = held.is_none();
        if let Some(key) = held {
            self.taken.holders.insert(key, new.id);
        }
        let queues = |pipeline: &Pipeline| pipeline.on_duplicate == OnDuplicate::Queue;
        let own = self.pipeline_of(new).is_some_and(|pipeline| queues(pipeline));
        let others = || self.versions().queue_for_keys(&new.pipeline);
        let OpenKey { pipeline, key } = left.filter(|_| free && !own && others())?;
        Some(Owed { to: Recipient::Key { pipeline, key }, effect: Effect::Freed })
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

    /// Tells whether nobody holds a lane and nobody else comes first. A lane that was not looked at is not free.
    fn is_free(&self, lane: &LaneKey, id: Option<SubmissionId>) -> bool {
        let view = self.taken.lanes.get(lane);
        !self.lanes_moved.contains(lane)
            && view.is_some_and(|view| view.holder.is_none() && (view.first.is_none() || view.first == id))
    }

    /// Returns the first in a line that moved in this batch; `None` where the rows that were taken cannot tell.
    pub(super) fn first_in_line(
        &self,
        lane: &LaneKey,
        before: Option<SubmissionId>,
    ) -> Option<Option<SubmissionId>> {
        let place = |id: &SubmissionId| {
            let row = &self.taken.rows.get(id)?.row;
            let seat = row.seat_in_line()?;
            Some((row.created_at, seat.tie_order(), row.id))
        };
        // Whoever came after the first in line is unknown where that one has left it.
        let before = before.map(|first| place(&first).ok_or(())).transpose().ok()?;
        let joined = self.joined.get(lane).into_iter().flatten().filter_map(place);
        Some(joined.chain(before).min().map(|(_, _, id)| id))
    }

    fn other_holder(&self, row: &Submission) -> Option<SubmissionId> {
        let key = OpenKey { pipeline: row.pipeline.clone(), key: row.key.clone()? };
        self.taken.holders.get(&key).copied().filter(|holder| *holder != row.id)
    }

    /// Keeps track of lanes as rows take and leave them. Somebody who joins a line without a holder, or one that was not
    /// looked at, has to be looked at again: no holder will give the lane on.
    pub(super) fn move_lane(&mut self, old: Option<&Submission>, new: &Submission) -> Option<Owed> {
        // A hold takes it out of the line, and whatever ends that puts it back: a move, too.
        let waits = |row: &Submission| row.seat_in_line().is_some();
        let (held, waited) = old.map_or((false, false), |old| (old.held_lane().is_some(), waits(old)));
        let (holds, waits) = (new.held_lane().is_some(), waits(new));
        let was_seated = old.is_some_and(|old| old.seat.is_some());
        if (was_seated, held, waited) == (new.seat.is_some(), holds, waits) {
            return None;
        }
        let lane = lane_of(new)?;
        if waits && !waited {
            self.joined.entry(lane.clone()).or_default().push(new.id);
        }
        self.lanes_moved.insert(lane.clone());
        if let Some(view) = self.taken.lanes.get_mut(&lane).filter(|_| held || holds) {
            view.holder = holds.then_some(new.id);
        }
        let has_holder = self.taken.lanes.get(&lane).is_some_and(|view| view.holder.is_some());
        let joins = waits && !has_holder;
        let to = Recipient::Lane { pipeline: lane.pipeline, lane: lane.lane };
        joins.then_some(Owed { to, effect: Effect::Freed })
    }
}

pub(super) fn lane_of(row: &Submission) -> Option<LaneKey> {
    let lane = row.seat.as_ref()?.lane.clone();
    Some(LaneKey { pipeline: row.pipeline.clone(), lane })
}

/// The key a submission keeps from others.
fn held_key(row: &Submission) -> Option<OpenKey> {
    Some(OpenKey { pipeline: row.pipeline.clone(), key: row.held_key()?.clone() })
}
