//! Figures that are kept, and lists that are short.

use model::Name;
use rusqlite::Connection;
use store::{DeadKey, LimitKey, SlotEntry};

use crate::codec;
use crate::error::Result;
use crate::sql;

fn name(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Name> {
    Ok(row.get_ref(column)?.as_str()?.into())
}

pub(crate) fn dead(
    connection: &Connection,
    after: Option<&DeadKey>,
    limit: usize,
) -> Result<Vec<(DeadKey, u64)>> {
    let (pipeline, state, code, pattern) =
        after.map_or(("", "", "", ""), |key| (&*key.pipeline, &*key.state, &*key.code, &*key.pattern));
    let mut page = connection.prepare_cached(sql::DEAD_PAGE)?;
    let counts = page.query_map((pipeline, state, code, pattern, codec::limit(limit)), |row| {
        let (pipeline, state) = (name(row, 0)?, name(row, 1)?);
        let key = DeadKey { pipeline, state, code: name(row, 2)?, pattern: name(row, 3)? };
        Ok((key, codec::unsigned(row, 4)?))
    })?;
    Ok(counts.collect::<rusqlite::Result<_>>()?)
}

pub(crate) fn slots(
    connection: &Connection,
    after: Option<&SlotEntry>,
    limit: usize,
) -> Result<Vec<SlotEntry>> {
    let (pipeline, label, value, no) = after.map_or(("", "", "", -1), |slot| {
        (&*slot.limit.pipeline, &*slot.limit.label, &*slot.limit.value, i64::from(slot.no))
    });
    let mut page = connection.prepare_cached(sql::SLOT_PAGE)?;
    let slots = page.query_map((pipeline, label, value, no, codec::limit(limit)), |row| {
        let limit = LimitKey { pipeline: name(row, 0)?, label: name(row, 1)?, value: name(row, 2)? };
        Ok(SlotEntry { limit, no: row.get(3)? })
    })?;
    Ok(slots.collect::<rusqlite::Result<_>>()?)
}

/// Leaps from lane to lane: those in line are not walked past.
pub(crate) fn lanes(connection: &Connection, pipeline: &str, after: &str, limit: usize) -> Result<Vec<Name>> {
    let mut next = connection.prepare_cached(sql::LANE_NEXT)?;
    let mut lanes: Vec<Name> = Vec::new();
    while lanes.len() < limit {
        let after = lanes.last().map_or(after, |lane| lane);
        let mut rows = next.query((pipeline, after))?;
        let Some(row) = rows.next()? else { break };
        let lane = name(row, 0)?;
        drop(rows);
        lanes.push(lane);
    }
    Ok(lanes)
}
