//! Holders of keys and lanes, those who wait for them, what a hold or limit parked, and what is left of a limit.

use model::{Name, SubmissionId};
use rusqlite::{Connection, OptionalExtension};
use store::{LaneKey, LaneView, LimitKey, Line, OpenKey, Taken};

use crate::codec;
use crate::error::Result;
use crate::sql;

pub(crate) fn line(connection: &Connection, lane: &LaneKey, limit: usize) -> Result<Line> {
    let mut holder = connection.prepare_cached(sql::LANE_HOLDER)?;
    let mut waiting = connection.prepare_cached(sql::LANE_LINE_FIRST)?;
    let waiting =
        waiting.query_map((&lane.pipeline, &lane.lane, codec::limit(limit)), |row| codec::id(row, 0))?;
    Ok(Line {
        holder: holder.query_row((&lane.pipeline, &lane.lane), |row| codec::id(row, 0)).optional()?,
        waiting: waiting.collect::<rusqlite::Result<_>>()?,
    })
}

pub(crate) fn read_holders<'k>(
    connection: &Connection,
    keys: impl IntoIterator<Item = &'k OpenKey>,
    taken: &mut Taken,
) -> Result<()> {
    let mut keys = keys.into_iter().peekable();
    if keys.peek().is_none() {
        return Ok(());
    }
    let mut holder = connection.prepare_cached(sql::OPEN_KEY_HOLDER)?;
    for key in keys {
        if let Some(id) = holder.query_row((&key.pipeline, &key.key), |row| codec::id(row, 0)).optional()? {
            taken.holders.insert(key.clone(), id);
        }
    }
    Ok(())
}

pub(crate) fn read_waiter(connection: &Connection, key: &OpenKey, taken: &mut Taken) -> Result<()> {
    let mut first = connection.prepare_cached(sql::KEY_WAIT_FIRST)?;
    if let Some(id) = first.query_row((&key.pipeline, &key.key), |row| codec::id(row, 0)).optional()? {
        taken.waiters.insert(key.clone(), id);
    }
    Ok(())
}

pub(crate) fn read_lanes<'k>(
    connection: &Connection,
    lanes: impl IntoIterator<Item = &'k LaneKey>,
    taken: &mut Taken,
) -> Result<()> {
    for lane in lanes {
        if !taken.lanes.contains_key(lane) {
            let Line { holder, waiting } = line(connection, lane, 1)?;
            taken.lanes.insert(lane.clone(), LaneView { holder, first: waiting.first().copied() });
        }
    }
    Ok(())
}

pub(crate) fn read_successors(
    connection: &Connection,
    lanes: impl IntoIterator<Item = LaneKey>,
    taken: &mut Taken,
) -> Result<()> {
    for lane in lanes {
        let mut first = connection.prepare_cached(sql::LANE_LINE_FIRST)?;
        let first = first.query_row((&lane.pipeline, &lane.lane, codec::limit(1)), |row| codec::id(row, 0));
        taken.successors.insert(lane, first.optional()?);
    }
    Ok(())
}

/// The first of what a hold or limit parked, unless it has been read.
pub(crate) fn read_parked(connection: &Connection, name: &Name, max: usize, taken: &mut Taken) -> Result<()> {
    if taken.parked.contains_key(name) {
        return Ok(());
    }
    let mut parked = connection.prepare_cached(sql::PARKED_FIRST)?;
    let ids = parked.query_map((name, codec::limit(max)), |row| codec::id(row, 0))?;
    let ids: Vec<SubmissionId> = ids.collect::<rusqlite::Result<_>>()?;
    taken.parked.insert(name.clone(), ids);
    Ok(())
}

pub(crate) fn read_slots(
    connection: &Connection,
    limits: impl IntoIterator<Item = LimitKey>,
    taken: &mut Taken,
) -> Result<()> {
    for limit in limits {
        let mut slots = connection.prepare_cached(sql::SLOT_TAKEN)?;
        let nos = slots.query_map((&limit.pipeline, &limit.label, &limit.value), |row| row.get(0))?;
        let nos = nos.collect::<rusqlite::Result<_>>()?;
        taken.slots.insert(limit, nos);
    }
    Ok(())
}
