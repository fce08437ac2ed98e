//! Holders of keys and lanes, those who wait for them, parked rows and taken slots: looked at under the gates that
//! keep the answers true.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use model::{Name, SubmissionId};
use store::entries::{Stand, unheld_key, unheld_lane};
use store::{Entries, LaneKey, LaneView, LimitKey, OpenKey, OwedTo};

use super::Taker;
use crate::codec::{self, text};
use crate::error::Result;
use crate::gate::{self, Gates, Mode};
use crate::query::{Client, rows};
use crate::sql;

/// The keys and lanes to look at, for rows that may join them and for looks that are owed.
struct Lines {
    keys: BTreeSet<OpenKey>,
    lanes: BTreeSet<LaneKey>,
    /// The part of them that some row may join.
    joined_keys: BTreeSet<OpenKey>,
    joined_lanes: BTreeSet<LaneKey>,
    /// The part of them that a look is owed to.
    owed_keys: BTreeSet<OpenKey>,
    owed_lanes: BTreeSet<LaneKey>,
}

impl Taker<'_> {
    /// Takes the parked rows that owed rows for holds and limits concern: all of them or none.
    pub(super) async fn park(&mut self) -> Result<()> {
        let names = self.parking();
        if names.is_empty() {
            return Ok(());
        }
        let parked = parked(self.client, &names).await?;
        self.lock_free(parked.values().flatten().copied()).await?;
        let stays = |name: &Name, id: &SubmissionId| {
            self.is_locked(*id) && self.rows[id].row.parked.as_ref() == Some(name)
        };
        let busy = parked.iter().filter(|(name, ids)| !ids.iter().all(|id| stays(name, id)));
        let busy: HashSet<_> = busy.map(|(name, _)| name.clone()).collect();
        self.postpone(|to| is_parked(to, &busy));
        self.taken.parked = parked.into_iter().filter(|(name, _)| !busy.contains(name)).collect();
        Ok(())
    }

    /// Returns how many of the rows parked under each name are wanted.
    fn parking(&self) -> BTreeMap<Name, usize> {
        let mut names = BTreeMap::new();
        for owed in &self.taken.owed {
            match &owed.to {
                OwedTo::Parked(name) => drop(names.insert(name.clone(), self.take.parked)),
                OwedTo::FirstParked(name) => drop(names.entry(name.clone()).or_insert(1)),
                _ => {}
            }
        }
        names
    }

    /// Looks at every line that matters, locks the gates of those where that is needed, and looks at these again.
    pub(super) async fn stand(&mut self, named: &BTreeSet<SubmissionId>) -> Result<()> {
        let lines = self.lines(named);
        self.look(&lines.keys, &lines.lanes, &lines.owed_keys).await?;
        let limits = self.limits();
        let gates = self.gates(&lines, &limits);
        if !gates.is_empty() {
            gates.lock(self.client).await?;
            self.look_again(&lines).await?;
        }
        self.taken.slots = slots(self.client, &limits).await?;
        self.known.slots =
            self.taken.slots.iter().map(|(limit, taken)| (limit.clone(), taken.len())).collect();
        self.lock_next(&lines).await
    }

    fn lines(&self, named: &BTreeSet<SubmissionId>) -> Lines {
        let rows = || named.iter().filter_map(|id| self.rows.get(id)).map(|found| &found.row);
        let arriving = || self.arrivals.iter();
        let asked = self.take.keys.iter().chain(arriving().filter_map(|arrival| arrival.key.as_ref()));
        let joined_keys: BTreeSet<_> = asked.cloned().chain(rows().filter_map(unheld_key)).collect();
        let asked = self.take.lanes.iter().chain(arriving().filter_map(|arrival| arrival.lane.as_ref()));
        let joined_lanes: BTreeSet<_> = asked.cloned().chain(rows().filter_map(unheld_lane)).collect();
        let (mut owed_keys, mut owed_lanes) = (BTreeSet::new(), BTreeSet::new());
        for owed in &self.taken.owed {
            match &owed.to {
                OwedTo::Key(key) => drop(owed_keys.insert(key.clone())),
                OwedTo::Lane(lane) => drop(owed_lanes.insert(lane.clone())),
                _ => {}
            }
        }
        Lines {
            keys: &joined_keys | &owed_keys,
            lanes: &joined_lanes | &owed_lanes,
            joined_keys,
            joined_lanes,
            owed_keys,
            owed_lanes,
        }
    }

    async fn look(
        &mut self,
        keys: &BTreeSet<OpenKey>,
        lanes: &BTreeSet<LaneKey>,
        waited: &BTreeSet<OpenKey>,
    ) -> Result<()> {
        let (holders, waiters, seated) = tokio::join!(
            biased;
            beside(self.client, sql::OPEN_KEY_HOLDER, keys),
            beside(self.client, sql::KEY_WAIT_FIRST, waited),
            seated(self.client, lanes),
        );
        self.taken.holders.retain(|key, _| !keys.contains(key));
        self.taken.waiters.retain(|key, _| !waited.contains(key));
        for (key, found) in holders? {
            self.taken.holders.insert(key, found.row.id);
            self.see(found);
        }
        for (key, found) in waiters? {
            self.taken.waiters.insert(key, found.row.id);
            self.see(found);
        }
        for lane in lanes {
            self.taken.lanes.insert(lane.clone(), LaneView::default());
        }
        for (lane, holds, found) in seated? {
            let view = self.taken.lanes.entry(lane).or_default();
            *if holds { &mut view.holder } else { &mut view.first } = Some(found.row.id);
            self.see(found);
        }
        Ok(())
    }

    /// A row beside those that were asked for, as it was when its line was looked at. One that is locked stands.
    fn see(&mut self, found: codec::Found) {
        if !self.is_locked(found.row.id) {
            self.rows.insert(found.row.id, found);
        }
    }

    /// The limits of all ready rows.
    fn limits(&mut self) -> BTreeSet<LimitKey> {
        for id in self.taken.ready.iter().flatten() {
            let limits = (self.take.limits)(&self.rows[id].row);
            if !limits.is_empty() {
                self.known.limits.insert(*id, limits);
            }
        }
        self.known.limits.values().flatten().cloned().collect()
    }

    /// `gate.rs` says which and why. Those who look at a limit do so one by one: they would all pick its first free slot.
    fn gates(&self, lines: &Lines, limits: &BTreeSet<LimitKey>) -> Gates {
        let mut gates = Gates::default();
        let taken = &self.taken;
        for key in &lines.joined_keys {
            if taken.holders.contains_key(key) {
                gates.add(gate::of_key(key), Mode::Shared);
            }
        }
        for key in &lines.owed_keys {
            if !taken.holders.contains_key(key) && !taken.waiters.contains_key(key) {
                gates.add(gate::of_key(key), Mode::Alone);
            }
        }
        for lane in &lines.joined_lanes {
            if taken.lanes[lane].holder.is_some() {
                gates.add(gate::of_lane(lane), Mode::Shared);
            }
        }
        for lane in &lines.owed_lanes {
            if taken.lanes[lane] == LaneView::default() {
                gates.add(gate::of_lane(lane), Mode::Alone);
            }
        }
        for (name, max) in self.parking() {
            if taken.parked.get(&name).is_some_and(|ids| ids.len() < max) {
                gates.add(gate::of_parked(&name), Mode::Alone);
            }
        }
        for limit in limits {
            gates.add(gate::of_limit(limit), Mode::Alone);
        }
        gates
    }

    async fn look_again(&mut self, lines: &Lines) -> Result<()> {
        self.look(&lines.keys, &lines.lanes, &lines.owed_keys).await?;
        let names = self.parking();
        if names.is_empty() {
            return Ok(());
        }
        let parked = parked(self.client, &names).await?;
        let moved = parked.iter().filter(|(name, ids)| self.taken.parked.get(*name) != Some(ids));
        let moved: HashSet<_> = moved.map(|(name, _)| name.clone()).collect();
        self.postpone(|to| is_parked(to, &moved));
        Ok(())
    }

    /// Locks those whose turn it is, where a look is owed: if somebody else has them in hand, the look has to wait.
    async fn lock_next(&mut self, lines: &Lines) -> Result<()> {
        let taken = &self.taken;
        let free_key = |key: &&OpenKey| !taken.holders.contains_key(key);
        let keys = lines.owed_keys.iter().filter(free_key);
        let keys: Vec<_> = keys.filter_map(|key| Some((key.clone(), *taken.waiters.get(key)?))).collect();
        let free_lane = |lane: &LaneKey| taken.lanes.get(lane).filter(|view| view.holder.is_none());
        let lanes = lines.owed_lanes.iter();
        let lanes: Vec<_> = lanes.filter_map(|lane| Some((lane.clone(), free_lane(lane)?.first?))).collect();
        let next: Vec<_> = keys.iter().map(|(_, id)| *id).chain(lanes.iter().map(|(_, id)| *id)).collect();
        self.lock_free(next).await?;
        for (key, id) in keys {
            let waits =
                self.is_locked(id) && Entries::of(&self.rows[&id].row).key_wait.as_ref() == Some(&key);
            if !waits {
                self.postpone(|to| matches!(to, OwedTo::Key(other) if *other == key));
            }
        }
        for (lane, id) in lanes {
            let entry = self.is_locked(id).then(|| Entries::of(&self.rows[&id].row).lane).flatten();
            let waits = entry.is_some_and(|entry| entry.key == lane && entry.stand != Stand::Holds);
            if !waits {
                self.postpone(|to| matches!(to, OwedTo::Lane(other) if *other == lane));
            }
        }
        Ok(())
    }
}

fn is_parked(to: &OwedTo, names: &HashSet<Name>) -> bool {
    matches!(to, OwedTo::Parked(name) | OwedTo::FirstParked(name) if names.contains(name))
}

async fn beside(
    client: &Client,
    query: &str,
    keys: &BTreeSet<OpenKey>,
) -> Result<Vec<(OpenKey, codec::Found)>> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let keys: Vec<_> = keys.iter().collect();
    let pipelines: Vec<_> = keys.iter().map(|key| text(&key.pipeline)).collect();
    let names: Vec<_> = keys.iter().map(|key| text(&key.key)).collect();
    let found = rows(client, query, &[&pipelines, &names]).await?;
    found.iter().map(|row| Ok((keys[codec::index(row, 0)?].clone(), codec::found(row, 1)?))).collect()
}

/// Returns each lane's holder, with `true`, and the first in its line, with `false`.
async fn seated(client: &Client, lanes: &BTreeSet<LaneKey>) -> Result<Vec<(LaneKey, bool, codec::Found)>> {
    if lanes.is_empty() {
        return Ok(Vec::new());
    }
    let lanes: Vec<_> = lanes.iter().collect();
    let pipelines: Vec<_> = lanes.iter().map(|lane| text(&lane.pipeline)).collect();
    let names: Vec<_> = lanes.iter().map(|lane| text(&lane.lane)).collect();
    let found = rows(client, sql::LANE_VIEW, &[&pipelines, &names]).await?;
    let seated = found
        .iter()
        .map(|row| Ok((lanes[codec::index(row, 0)?].clone(), row.try_get(1)?, codec::found(row, 2)?)));
    seated.collect()
}

async fn parked(client: &Client, names: &BTreeMap<Name, usize>) -> Result<BTreeMap<Name, Vec<SubmissionId>>> {
    let holds: Vec<_> = names.keys().map(|name| text(name)).collect();
    let limits: Vec<_> = names.values().map(|max| codec::limit(*max)).collect();
    let mut lists: Vec<Vec<SubmissionId>> = names.iter().map(|_| Vec::new()).collect();
    for row in rows(client, sql::PARKED_FIRST, &[&holds, &limits]).await? {
        lists[codec::index(&row, 0)?].push(codec::id(&row, 1)?);
    }
    Ok(names.keys().cloned().zip(lists).collect())
}

/// The slots that are taken of each limit.
pub(crate) async fn slots(
    client: &Client,
    limits: &BTreeSet<LimitKey>,
) -> Result<HashMap<LimitKey, BTreeSet<u32>>> {
    let mut slots: HashMap<_, BTreeSet<u32>> =
        limits.iter().map(|limit| (limit.clone(), BTreeSet::new())).collect();
    if limits.is_empty() {
        return Ok(slots);
    }
    let limits: Vec<_> = limits.iter().collect();
    let pipelines: Vec<_> = limits.iter().map(|limit| text(&limit.pipeline)).collect();
    let labels: Vec<_> = limits.iter().map(|limit| text(&limit.label)).collect();
    let values: Vec<_> = limits.iter().map(|limit| text(&limit.value)).collect();
    for row in rows(client, sql::SLOT_TAKEN, &[&pipelines, &labels, &values]).await? {
        let no: i32 = row.try_get(1)?;
        let taken = slots.entry(limits[codec::index(&row, 0)?].clone()).or_default();
        taken.insert(no.cast_unsigned());
    }
    Ok(slots)
}
