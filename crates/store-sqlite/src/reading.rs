//! Queries outside a transaction, apart from pages of rows.

use model::{Documents, Json, Name, Status, Submission, SubmissionId, Time};
use rusqlite::{Connection, OptionalExtension};
use store::entries::read_standing;
use store::{Count, FEED_SCAN_MAX, Feed, FeedPage, Late, Oldest, Recorded, Room};

use crate::codec;
use crate::error::{Fault, Result};
use crate::rows::Rows;
use crate::sql;

pub(crate) fn submission(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Option<(Submission, Documents)>> {
    let mut rows = Rows::new(connection)?;
    let Some(found) = rows.get(id)? else { return Ok(None) };
    Ok(Some((found.row, rows.documents(id)?)))
}

/// Walks back from the newest event to the oldest that is wanted, then reads those on the page. A step reads two
/// numbers, so that a long history costs little more than the page.
pub(crate) fn history(
    connection: &Connection,
    id: SubmissionId,
    after: u64,
    limit: usize,
) -> Result<Vec<Recorded>> {
    let mut link = connection.prepare_cached(sql::EVENT_LINK)?;
    let mut seqs = Vec::new();
    let mut seq = Rows::new(connection)?.tip(id)?.seq;
    while let Some((prev, revision)) = link
        .query_row([codec::signed(seq)], |row| Ok((codec::unsigned(row, 0)?, codec::unsigned(row, 1)?)))
        .optional()?
        && revision > after
    {
        seqs.push(seq);
        seq = prev;
    }
    let mut event = connection.prepare_cached(sql::EVENT_BY_SEQ)?;
    if let Some(newest) = seqs.first()
        && connection.prepare_cached(sql::EVENT_ACT)?.exists([codec::signed(*newest)])?
    {
        // A series of acts is nobody's history.
        return Ok(Vec::new());
    }
    let (mut page, mut room) = (Vec::new(), Room::default());
    for seq in seqs.into_iter().rev().take(limit) {
        let mut rows = event.query([codec::signed(seq)])?;
        let Some(row) = rows.next()? else { return lost(seq) };
        room.take(codec::recorded_bytes(row)?);
        page.push(codec::recorded(row)?);
        if !room.is_left() {
            break;
        }
    }
    Ok(page)
}

fn lost<T>(seq: u64) -> Result<T> {
    Err(Fault::corrupt(format!("event {seq} is not there")))
}

/// The beginning and the end of the sequence of events.
pub(crate) struct Bounds {
    /// The last position that was retired.
    pub(crate) retired: u64,
    pub(crate) last: u64,
}

pub(crate) fn bounds(connection: &Connection) -> Result<Bounds> {
    let mut bounds = connection.prepare_cached(sql::EVENT_BOUNDS)?;
    Ok(bounds.query_row([], |row| {
        Ok(Bounds { retired: codec::unsigned(row, 0)?, last: codec::unsigned(row, 1)? })
    })?)
}

pub(crate) fn feed(connection: &Connection, feed: &Feed) -> Result<FeedPage> {
    let Bounds { retired, last } = bounds(connection)?;
    let mut page = FeedPage { events: Vec::new(), next: feed.after, oldest: retired + 1, newest: last };
    let from = feed.after.max(retired);
    let to = last.min(from.saturating_add(FEED_SCAN_MAX));
    if feed.limit == 0 || from >= to {
        return Ok(page);
    }
    let mut events = connection.prepare_cached(sql::EVENT_PAGE)?;
    let mut rows = events.query((codec::signed(from), codec::signed(to), &feed.pipeline, &feed.state))?;
    let mut room = feed.room();
    while let Some(row) = rows.next()? {
        if feed.labels.is_empty() || codec::has_labels(row, 3, &feed.labels)? {
            room.take(codec::recorded_bytes(row)?);
            page.events.push(codec::recorded(row)?);
        }
        if page.events.len() == feed.limit || !room.is_left() {
            page.next = codec::unsigned(row, 0)?;
            return Ok(page);
        }
    }
    page.next = to;
    Ok(page)
}

/// Returns the counts by pipeline, then state.
pub(crate) fn counts(connection: &Connection) -> Result<Vec<Count>> {
    let mut all = connection.prepare_cached(sql::COUNTER_ALL)?;
    let counts = all.query_and_then([], |row| {
        let standing = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
        let (status, investigation) = read_standing(standing).map_err(Fault::Corrupt)?;
        Ok(Count {
            pipeline: row.get(0)?,
            state: row.get(1)?,
            status,
            investigation,
            count: codec::unsigned(row, 3)?,
        })
    })?;
    let mut counts = counts.collect::<Result<Vec<_>>>()?;
    counts.sort_unstable();
    Ok(counts)
}

pub(crate) fn oldest(connection: &Connection) -> Result<Vec<Oldest>> {
    let mut first = connection.prepare_cached(sql::PLACE_OLDEST)?;
    let open = counts(connection)?.into_iter().filter(|count| count.status == Status::Open);
    let found = open.filter_map(|Count { pipeline, state, .. }| {
        let id = first.query_row((&pipeline, &state), |row| codec::id(row, 0)).optional();
        id.map_err(Fault::from).map(|id| id.map(|id| Oldest { pipeline, state, id })).transpose()
    });
    found.collect()
}

pub(crate) fn late(connection: &Connection, late: &Late) -> Result<Vec<Submission>> {
    // No id is before an empty one.
    let first = (i64::MIN, &[][..]);
    let (at, id) = late.after.as_ref().map_or(first, |(at, id)| (at.millis(), codec::blob(id)));
    let mut missed = connection.prepare_cached(sql::LATE_PAGE)?;
    let mut missed = missed.query((&late.pipeline, at, id, codec::limit(late.page_size())))?;
    let mut rows = Rows::new(connection)?;
    let mut page = Vec::new();
    while let Some(row) = missed.next()? {
        if Time::from_millis(row.get(0)?) > late.until {
            break;
        }
        page.push(rows.indexed(codec::id(row, 1)?)?.row);
    }
    Ok(page)
}

/// Leaps from name to name: what is parked under them is not walked past.
pub(crate) fn parked(connection: &Connection, after: &str, limit: usize) -> Result<Vec<Name>> {
    let mut next = connection.prepare_cached(sql::PARKED_NEXT)?;
    let mut names: Vec<Name> = Vec::new();
    while names.len() < limit {
        let from = names.last().map_or(after, |name| name);
        let Some(name) = next.query_row([from], |row| row.get::<_, Name>(0)).optional()? else { break };
        names.push(name);
    }
    Ok(names)
}

/// A page of a registry in the direction of the statement, from a name.
pub(crate) fn registry(
    connection: &Connection,
    statement: &str,
    (kind, from, limit): (&str, &str, usize),
) -> Result<Vec<(String, Json)>> {
    let mut page = connection.prepare_cached(statement)?;
    let entries = page
        .query_and_then((kind, from, codec::limit(limit)), |row| Ok((row.get(0)?, codec::json(row, 1)?)))?;
    entries.collect()
}
