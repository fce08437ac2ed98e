//! Reading what a take names.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use model::{Documents, Name, SubmissionId, Time};

use super::Tables;
use super::merge::merge;
use crate::entries::{held_lane, unheld_key, unheld_lane};
use crate::inbox;
use crate::take::is_wanted;
use crate::{LaneKey, LaneView, OwedTo, READY_BYTES_MAX, Ready, SlotEntry, Stored, Take, Taken};

impl Tables {
    pub(super) fn take(&self, take: &Take<'_>, now: Time) -> Taken {
        let mut taken = Taken { now, ..Taken::default() };
        let certain = (take.certain)(now);
        for request in &take.requests {
            let answer = self.answers.get(request).filter(|answer| answer.expires_at > certain);
            taken.answers.extend(answer.map(|answer| (request.clone(), answer.body.clone())));
        }
        for key in &take.registry {
            taken.registry.extend(self.registry.get(key).map(|body| (key.clone(), body.clone())));
        }
        let mut handed_out = HashSet::new();
        for ready in &take.ready {
            let ids = self.ready(ready, &handed_out);
            handed_out.extend(ids.iter().copied());
            taken.ready.push(ids);
        }
        let mut bytes = self.trim(&mut taken.ready);
        let handed_out: HashSet<_> = taken.ready.iter().flatten().copied().collect();
        self.read_slots(take, &mut taken);
        (taken.due, taken.next_timer) = self.due(false, now, take.due);
        (taken.idle, taken.next_idle) = self.due(true, now, take.idle);
        taken.owed = self.owed.by_age.values().take(take.owed).cloned().collect();
        let inbox = inbox::fitting(self.inbox.values().map(|received| received.payload.len()));
        taken.inbox = self.inbox.values().take(take.inbox.min(inbox)).cloned().collect();
        let named = self.named(take, &mut taken);
        for &id in named.iter().chain(&come_along(&taken)) {
            if let Some(row) = self.rows.get(&id) {
                let lent = handed_out.contains(&id);
                let wanted = !lent && (take.documents)(row);
                let fits = wanted && bytes < take.room;
                let documents = (lent || fits).then(|| self.documents(id));
                bytes += if fits { documents.as_ref().map_or(0, Documents::bytes) } else { 0 };
                taken.crowded |= wanted && !fits;
                taken.rows.insert(id, Stored { row: Arc::new(row.clone()), documents });
            }
        }
        let asked = take.ids.iter().chain(taken.inbox.iter().map(|received| &received.id)).copied();
        taken.gone = asked.filter(|id| !self.rows.contains_key(id) && self.log.has_begun(*id)).collect();
        taken
    }

    /// Returns the submissions whose time has come, and the time of the next.
    fn due(&self, idle: bool, now: Time, max: usize) -> (Vec<SubmissionId>, Option<Time>) {
        let timers = || self.index.timers.of(&idle).into_iter().flatten();
        let due = timers().take_while(|(at, _)| *at <= now).take(max);
        let due: Vec<_> = due.map(|&(_, id)| id).collect();
        let next = timers().nth(due.len()).map(|&(at, _)| at);
        (due, next)
    }

    fn read_slots(&self, take: &Take<'_>, taken: &mut Taken) {
        for limit in taken.ready.iter().flatten().flat_map(|id| (take.limits)(&self.rows[id])) {
            let slot = |no| SlotEntry { limit: limit.clone(), no };
            let slots = self.index.slots.range(slot(0)..=slot(u32::MAX)).map(|(slot, _)| slot.no).collect();
            taken.slots.insert(limit, slots);
        }
    }

    /// Keeps what comes before the documents are too many. How many bytes they have.
    fn trim(&self, ready: &mut [Vec<SubmissionId>]) -> usize {
        let mut bytes = 0;
        for ids in ready {
            ids.retain(|id| {
                let fits = bytes < READY_BYTES_MAX;
                bytes += if fits { self.documents(*id).bytes() } else { 0 };
                fits
            });
        }
        bytes
    }

    /// The rows the take names in its own right. Looks up what it wants to know about keys, lanes and holds.
    fn named(&self, take: &Take<'_>, taken: &mut Taken) -> BTreeSet<SubmissionId> {
        let ready = taken.ready.iter().flatten();
        let timed = taken.due.iter().chain(&taken.idle);
        let mut named: BTreeSet<_> = take.ids.iter().chain(ready).chain(timed).copied().collect();
        let mut keys: BTreeSet<_> = take.keys.iter().cloned().collect();
        let mut lanes: BTreeSet<_> = take.lanes.iter().cloned().collect();
        for received in &taken.inbox {
            let arrival = (take.arrival)(received);
            named.insert(received.id);
            keys.extend(arrival.key);
            lanes.extend(arrival.lane);
        }
        let mut parked: BTreeMap<&Name, usize> = BTreeMap::new();
        for owed in &taken.owed {
            match &owed.to {
                OwedTo::Submission(id) => drop(named.insert(*id)),
                OwedTo::Key(key) => {
                    keys.insert(key.clone());
                    let longest = self.index.key_waits.of(key).and_then(BTreeSet::first);
                    taken.waiters.extend(longest.map(|id| (key.clone(), *id)));
                }
                OwedTo::Lane(lane) => drop(lanes.insert(lane.clone())),
                OwedTo::Parked(name) => drop(parked.insert(name, take.parked)),
                OwedTo::FirstParked(name) => drop(parked.entry(name).or_insert(1)),
            }
        }
        for (name, max) in parked {
            let ids: Vec<_> = self.index.parked.of(name).into_iter().flatten().copied().take(max).collect();
            named.extend(&ids);
            taken.parked.insert(name.clone(), ids);
        }
        for row in named.iter().filter_map(|id| self.rows.get(id)) {
            keys.extend(unheld_key(row));
            lanes.extend(unheld_lane(row));
        }
        let asked = take.ids.iter().filter_map(|id| self.rows.get(id));
        for lane in asked.filter(|row| (take.leaves_lane)(row)).filter_map(held_lane) {
            let first = self.lane(&lane).first;
            taken.successors.insert(lane, first);
        }
        for key in keys {
            if let Some(&holder) = self.index.keys.get(&key) {
                taken.holders.insert(key, holder);
            }
        }
        for lane in lanes {
            let view = self.lane(&lane);
            taken.lanes.insert(lane, view);
        }
        named
    }

    fn lane(&self, lane: &LaneKey) -> LaneView {
        let first = self.index.lines.of(lane).and_then(BTreeSet::first);
        LaneView { holder: self.index.lanes.get(lane).copied(), first: first.map(|(_, _, id)| *id) }
    }

    fn ready(&self, wanted: &Ready, handed_out: &HashSet<SubmissionId>) -> Vec<SubmissionId> {
        let tasks: BTreeSet<_> = wanted.tasks.iter().collect();
        let queues = tasks.into_iter().filter_map(|task| self.index.ready.of(task));
        // The merge gives the greatest first; reversed, that is the lowest rank.
        let waiting = merge(queues.map(|queue| queue.iter().map(Reverse))).map(|Reverse(&(_, id))| id);
        let free = waiting.filter(|id| {
            !handed_out.contains(id) && is_wanted(&wanted.pipelines, &wanted.labels, &self.rows[id])
        });
        free.take(wanted.max).collect()
    }
}

/// The rows that come because of what was looked up.
fn come_along(taken: &Taken) -> Vec<SubmissionId> {
    let seated = taken.lanes.values().flat_map(|view| [view.holder, view.first]).flatten();
    let next = taken.successors.values().copied().flatten();
    taken.holders.values().chain(taken.waiters.values()).copied().chain(seated).chain(next).collect()
}
