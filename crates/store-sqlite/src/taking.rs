//! Reading everything a take names.

use std::collections::BTreeSet;

use model::{Documents, SubmissionId, Time};
use rusqlite::Connection;
use store::entries::{held_lane, unheld_key, unheld_lane};
use store::{
    IdMap, LaneKey, OpenKey, Owed, OwedId, OwedTo, READY_BYTES_MAX, Received, Stored, Take, Taken, inbox,
};

use crate::codec;
use crate::error::Result;
use crate::hot::{Hot, Warm};
use crate::ready::Dealer;
use crate::rows::Rows;
use crate::sql;
use crate::standing;
use crate::writing::Tip;

/// The rows and entries that were read, and what writing needs to know of them.
pub(crate) struct Reading {
    pub(crate) taken: Taken,
    pub(crate) tips: IdMap<Tip>,
}

pub(crate) fn read(connection: &Connection, take: &Take<'_>, now: Time, hot: &mut Hot) -> Result<Reading> {
    let mut taken = Taken { now, ..Taken::default() };
    standing::read_holders(connection, &take.keys, &mut taken)?;
    standing::read_lanes(connection, &take.lanes, &mut taken)?;
    read_answers(connection, take, &mut taken)?;
    read_registry(connection, take, &mut taken)?;
    (taken.due, taken.next_timer) = read_due(connection, false, now, take.due)?;
    (taken.idle, taken.next_idle) = read_due(connection, true, now, take.idle)?;
    read_owed(connection, take, &mut taken)?;
    read_inbox(connection, take, &mut taken)?;
    let mut dealer = Dealer::new(connection);
    for ready in &take.ready {
        taken.ready.push(dealer.deal(ready)?);
    }
    let tips = read_rows(connection, take, &mut taken, hot)?;
    Ok(Reading { taken, tips })
}

fn read_answers(connection: &Connection, take: &Take<'_>, taken: &mut Taken) -> Result<()> {
    if take.requests.is_empty() {
        return Ok(());
    }
    let certain = (take.certain)(taken.now).millis();
    let mut answer = connection.prepare_cached(sql::ANSWER_GET)?;
    for request in &take.requests {
        let key = (&request.subject, &request.route, &request.key, certain);
        let mut rows = answer.query(key)?;
        if let Some(row) = rows.next()? {
            taken.answers.insert(request.clone(), codec::json(row, 0)?);
        }
    }
    Ok(())
}

fn read_registry(connection: &Connection, take: &Take<'_>, taken: &mut Taken) -> Result<()> {
    if take.registry.is_empty() {
        return Ok(());
    }
    let mut entry = connection.prepare_cached(sql::REGISTRY_GET)?;
    for key in &take.registry {
        let mut rows = entry.query((&key.kind, &key.name))?;
        if let Some(row) = rows.next()? {
            taken.registry.insert(key.clone(), codec::json(row, 0)?);
        }
    }
    Ok(())
}

/// Returns those whose time has come, and the time of the next.
fn read_due(
    connection: &Connection,
    idle: bool,
    now: Time,
    max: usize,
) -> Result<(Vec<SubmissionId>, Option<Time>)> {
    let mut timers = connection.prepare_cached(sql::TIMER_FIRST)?;
    let mut rows = timers.query((idle, codec::limit(max.saturating_add(1))))?;
    let mut due = Vec::new();
    while let Some(row) = rows.next()? {
        let at = Time::from_millis(row.get(0)?);
        if at > now || due.len() == max {
            return Ok((due, Some(at)));
        }
        due.push(codec::id(row, 1)?);
    }
    Ok((due, None))
}

fn read_owed(connection: &Connection, take: &Take<'_>, taken: &mut Taken) -> Result<()> {
    if take.owed == 0 {
        return Ok(());
    }
    let mut owed = connection.prepare_cached(sql::OWED_FIRST)?;
    let mut rows = owed.query([codec::limit(take.owed)])?;
    while let Some(row) = rows.next()? {
        let (submission, revision) = (codec::id(row, 0)?, codec::unsigned(row, 1)?);
        let id = OwedId { submission, revision, no: codec::unsigned(row, 2)? };
        taken.owed.push(Owed { id, to: codec::target(row, 3)?, body: codec::json(row, 4)? });
    }
    Ok(())
}

/// Looks at what each would stand in, too.
fn read_inbox(connection: &Connection, take: &Take<'_>, taken: &mut Taken) -> Result<()> {
    if take.inbox == 0 {
        return Ok(());
    }
    let mut first = connection.prepare_cached(sql::INBOX_FIRST)?;
    let sizes = first.query_map([codec::limit(take.inbox)], |row| codec::unsigned(row, 1))?;
    let sizes = sizes.collect::<rusqlite::Result<Vec<_>>>()?;
    let fitting = inbox::fitting(sizes.into_iter().map(|size| usize::try_from(size).unwrap_or(usize::MAX)));
    if fitting == 0 {
        return Ok(());
    }
    let mut all = connection.prepare_cached(sql::INBOX_PAGE)?;
    let mut rows = all.query([codec::limit(fitting)])?;
    while let Some(row) = rows.next()? {
        let received = Received {
            id: codec::id(row, 0)?,
            submitter: row.get(1)?,
            pipeline: row.get(2)?,
            payload: row.get(3)?,
            key: row.get(4)?,
            priority: row.get(5)?,
            not_before: row.get::<_, Option<i64>>(6)?.map(Time::from_millis),
            reason: row.get(7)?,
        };
        let arrival = (take.arrival)(&received);
        standing::read_holders(connection, arrival.key.iter(), taken)?;
        standing::read_lanes(connection, arrival.lane.iter(), taken)?;
        taken.inbox.push(received);
    }
    Ok(())
}

/// The rows of everything named, then of whoever stands in relation to them. Those that go to a worker come first:
/// they always bring their documents.
fn read_rows(
    connection: &Connection,
    take: &Take<'_>,
    taken: &mut Taken,
    hot: &mut Hot,
) -> Result<IdMap<Tip>> {
    let rows = Rows::new(connection)?;
    let mut reader = RowReader { rows, hot, take, tips: IdMap::default(), bytes: 0, crowded: false };
    for &id in taken.ready.iter().flatten() {
        if reader.bytes >= READY_BYTES_MAX {
            break;
        }
        let found = match reader.hot.get(id) {
            Some(warm) => warm,
            None => reader.rows.indexed(id)?.into(),
        };
        reader.tips.insert(id, found.tip());
        let documents = reader.documents(id)?;
        taken.rows.insert(id, Stored { row: found.row, documents: Some(documents) });
    }
    for ids in &mut taken.ready {
        ids.retain(|id| taken.rows.contains_key(id));
    }
    // So far only ready rows are there.
    let limits: BTreeSet<_> = taken.rows.values().flat_map(|stored| (take.limits)(&stored.row)).collect();
    standing::read_slots(connection, limits, taken)?;
    let owed = read_targets(connection, take, taken)?;
    let promised = taken.inbox.iter().map(|received| &received.id);
    for &id in take.ids.iter().chain(&taken.due).chain(&taken.idle).chain(&owed).chain(promised) {
        reader.read(id, &mut taken.rows)?;
    }
    for &id in take.ids.iter().chain(taken.inbox.iter().map(|received| &received.id)) {
        if !taken.rows.contains_key(&id) && reader.rows.tip_without_row(id)?.revision > 0 {
            taken.gone.insert(id);
        }
    }
    let asked = take.ids.iter().filter_map(|id| taken.rows.get(id));
    let left: BTreeSet<_> = asked
        .filter(|stored| (take.leaves_lane)(&stored.row))
        .filter_map(|stored| held_lane(&stored.row))
        .collect();
    standing::read_successors(connection, left, taken)?;
    let (keys, lanes) = unheld(taken);
    standing::read_holders(connection, &keys, taken)?;
    standing::read_lanes(connection, &lanes, taken)?;
    let seated = taken.lanes.values().flat_map(|view| [view.holder, view.first]).flatten();
    let next = taken.successors.values().copied().flatten();
    for id in taken.holders.values().chain(taken.waiters.values()).copied().chain(seated).chain(next) {
        reader.read(id, &mut taken.rows)?;
    }
    taken.crowded = reader.crowded;
    Ok(reader.tips)
}

struct RowReader<'c, 't> {
    rows: Rows<'c>,
    hot: &'t mut Hot,
    take: &'t Take<'t>,
    tips: IdMap<Tip>,
    /// The size of the documents read so far.
    bytes: usize,
    crowded: bool,
}

impl RowReader<'_, '_> {
    fn read(&mut self, id: SubmissionId, taken: &mut IdMap<Stored>) -> Result<()> {
        if taken.contains_key(&id) {
            return Ok(());
        }
        let hot = self.hot.get(id);
        let found = if hot.is_some() { hot } else { self.rows.get(id)?.map(Warm::from) };
        let Some(found) = found else { return Ok(()) };
        self.tips.insert(id, found.tip());
        let wanted = (self.take.documents)(&found.row);
        let fits = wanted && self.bytes < self.take.room;
        let documents = if fits { Some(self.documents(id)?) } else { None };
        self.crowded |= wanted && !fits;
        taken.insert(id, Stored { row: found.row, documents });
        Ok(())
    }

    fn documents(&mut self, id: SubmissionId) -> Result<Documents> {
        let documents = self.rows.documents(id)?;
        self.bytes += documents.bytes();
        Ok(documents)
    }
}

/// Looks up whom the owed rows concern, and names those that are taken in their own right.
fn read_targets(connection: &Connection, take: &Take<'_>, taken: &mut Taken) -> Result<Vec<SubmissionId>> {
    // In this order a name comes with all it parked before it comes with the first alone.
    let targets: BTreeSet<OwedTo> = taken.owed.iter().map(|owed| owed.to.clone()).collect();
    let mut named = Vec::new();
    for target in &targets {
        match target {
            OwedTo::Submission(id) => named.push(*id),
            OwedTo::Key(key) => {
                standing::read_holders(connection, [key], taken)?;
                standing::read_waiter(connection, key, taken)?;
            }
            OwedTo::Lane(lane) => standing::read_lanes(connection, [lane], taken)?,
            OwedTo::Parked(name) => standing::read_parked(connection, name, take.parked, taken)?,
            OwedTo::FirstParked(name) => standing::read_parked(connection, name, 1, taken)?,
        }
    }
    named.extend(taken.parked.values().flatten());
    Ok(named)
}

/// The keys and lanes that rows have and do not hold: most have none.
fn unheld(taken: &Taken) -> (BTreeSet<OpenKey>, BTreeSet<LaneKey>) {
    let rows = || taken.rows.values().map(|stored| &*stored.row);
    (rows().filter_map(unheld_key).collect(), rows().filter_map(unheld_lane).collect())
}
