//! Reading for the audit log: leaves in sequence, acts, tiles of hashes.

use model::SubmissionId;
use rusqlite::{Connection, OptionalExtension};
use store::LeafPage;

use crate::codec;
use crate::error::Result;
use crate::reading::{Bounds, bounds};
use crate::rows::Rows;
use crate::sql;

pub(crate) fn leaves(connection: &Connection, after: u64, limit: usize) -> Result<LeafPage> {
    let Bounds { retired, .. } = bounds(connection)?;
    let from = after.max(retired);
    let mut page = connection.prepare_cached(sql::EVENT_LEAVES)?;
    let leaves = page.query_map((codec::signed(from), codec::limit(limit)), |row| row.get(0))?;
    Ok(LeafPage { first: from + 1, leaves: leaves.collect::<rusqlite::Result<_>>()? })
}

/// Walks back along the series, as a history does.
pub(crate) fn act(
    connection: &Connection,
    series: SubmissionId,
    revision: u64,
) -> Result<Option<(u64, Vec<u8>)>> {
    let mut link = connection.prepare_cached(sql::EVENT_LINK)?;
    let mut seq = Rows::new(connection)?.tip(series)?.seq;
    loop {
        let step = link
            .query_row([codec::signed(seq)], |row| Ok((codec::unsigned(row, 0)?, codec::unsigned(row, 1)?)))
            .optional()?;
        match step {
            Some((prev, found)) if found > revision => seq = prev,
            Some((_, found)) if found == revision => break,
            _ => return Ok(None),
        }
    }
    let mut act = connection.prepare_cached(sql::EVENT_ACT)?;
    let leaf = act.query_row([codec::signed(seq)], |row| row.get(0)).optional()?;
    Ok(leaf.map(|leaf| (seq, leaf)))
}

pub(crate) fn tile(connection: &Connection, level: u8, index: u64) -> Result<Option<Vec<u8>>> {
    let mut tile = connection.prepare_cached(sql::TILE_GET)?;
    Ok(tile.query_row((level, codec::signed(index)), |row| row.get(0)).optional()?)
}
