//! Pages of rows, newest first, never by scanning.

use std::cmp::Reverse;

use model::{Name, SubmissionId};
use rusqlite::{Connection, OptionalExtension};
use store::entries::Place;
use store::{Filling, Page, Query};
use uuid::Uuid;

use crate::codec;
use crate::error::{Fault, Result};
use crate::index_walk::{Index, Key, Walk};
use crate::reading;
use crate::rows::Rows;
use crate::sql;

/// An id, the newest first.
type Newest = Reverse<u128>;

impl Key for Newest {
    fn next(self) -> Option<Newest> {
        self.0.checked_sub(1).map(Reverse)
    }
}

/// A list of ids that an index table keeps.
enum List<'a> {
    Every,
    Place(Place),
    Label { name: &'a str, value: &'a str },
    Lane { pipeline: Name, lane: &'a str },
    WaitedKey { pipeline: Name, key: &'a str },
    PastKey { pipeline: Name, key: &'a str },
    Parent(SubmissionId),
}

impl Index for List<'_> {
    type Key = Newest;

    fn page(&self, connection: &Connection, from: Newest, limit: usize) -> Result<Vec<Newest>> {
        let (from, limit) = (from.0.to_be_bytes(), codec::limit(limit));
        let newest = |row: &rusqlite::Row<'_>| Ok(Reverse(u128::from_be_bytes(row.get(0)?)));
        let ids = match self {
            List::Every => connection
                .prepare_cached(sql::SUBMISSION_PAGE)?
                .query_map((from, limit), newest)?
                .collect::<rusqlite::Result<_>>(),
            List::Place(place) => connection
                .prepare_cached(sql::PLACE_PAGE)?
                .query_map((&place.pipeline, &place.state, place.standing(), from, limit), newest)?
                .collect(),
            List::Label { name, value } => connection
                .prepare_cached(sql::LABEL_PAGE)?
                .query_map((name, value, from, limit), newest)?
                .collect(),
            List::Lane { pipeline, lane } => connection
                .prepare_cached(sql::LANE_LINE_PAGE)?
                .query_map((pipeline, lane, from, limit), newest)?
                .collect(),
            List::WaitedKey { pipeline, key } => connection
                .prepare_cached(sql::KEY_WAIT_PAGE)?
                .query_map((pipeline, key, from, limit), newest)?
                .collect(),
            List::PastKey { pipeline, key } => connection
                .prepare_cached(sql::PAST_KEY_PAGE)?
                .query_map((pipeline, key, from, limit), newest)?
                .collect(),
            List::Parent(parent) => connection
                .prepare_cached(sql::PARENT_PAGE)?
                .query_map((codec::blob(parent), from, limit), newest)?
                .collect(),
        };
        Ok(ids?)
    }
}

pub(crate) fn find(connection: &Connection, query: &Query) -> Result<Page> {
    let mut walk = walk(connection, query)?;
    let mut rows = Rows::new(connection)?;
    let mut page = Filling::new(query);
    let least = query.least().0.as_u128();
    // Both bounds become one: a second range condition beside it would be checked row by row.
    let mut from = query.greatest().map(|id| Reverse(id.0.as_u128()));
    while let Some(at) = from
        && let Some(found) = walk.seek(connection, at)?.filter(|found| found.0 >= least)
    {
        if page.is_full() {
            return Ok(page.page(true));
        }
        let id = SubmissionId(Uuid::from_u128(found.0));
        match (rows.get(id)?, &query.key) {
            (Some(stored), _) => page.look(stored.row, stored.bytes),
            // An older release that was at work meanwhile has left the entry behind.
            (None, Some(_)) => {}
            (None, None) => return Err(rows.missing(id)),
        }
        from = found.next();
    }
    Ok(page.page(false))
}

fn walk<'a>(connection: &Connection, query: &'a Query) -> Result<Walk<List<'a>>> {
    let mut parts = Vec::new();
    let placed = query.is_placed();
    let by_name = query.key.is_some() || query.held_key.is_some() || query.lane.is_some();
    let places: Vec<_> = match placed || by_name {
        true => {
            let places = reading::counts(connection)?.into_iter().map(|count| count.place());
            places.filter(|place| query.covers(place)).collect()
        }
        false => Vec::new(),
    };
    if let Some(key) = &query.held_key {
        parts.push(Walk::along_known(holders(connection, sql::OPEN_KEY_HOLDER, key, &places)?));
    }
    if let Some(key) = &query.key {
        let holders = holders(connection, sql::OPEN_KEY_HOLDER, key, &places)?;
        let lists = pipelines(&places).flat_map(|pipeline| {
            let pipeline = || pipeline.clone();
            [List::WaitedKey { pipeline: pipeline(), key }, List::PastKey { pipeline: pipeline(), key }]
        });
        parts.push(Walk::Any(with_known(lists, holders)));
    }
    if let Some(lane) = &query.lane {
        let holders = holders(connection, sql::LANE_HOLDER, lane, &places)?;
        let lines = pipelines(&places).map(|pipeline| List::Lane { pipeline: pipeline.clone(), lane });
        parts.push(Walk::Any(with_known(lines, holders)));
    }
    if let Some(parent) = query.parent {
        parts.push(Walk::along(List::Parent(parent)));
    }
    parts.extend(query.labels.iter().map(|(name, value)| Walk::along(List::Label { name, value })));
    if placed {
        parts.push(Walk::Any(places.into_iter().map(|place| Walk::along(List::Place(place))).collect()));
    }
    if parts.is_empty() {
        parts.push(Walk::along(List::Every));
    }
    Ok(Walk::All(parts))
}

/// Returns walks along lists, and one along what is known.
fn with_known<'a>(lists: impl Iterator<Item = List<'a>>, known: Vec<Newest>) -> Vec<Walk<List<'a>>> {
    lists.map(Walk::along).chain([Walk::along_known(known)]).collect()
}

/// The pipelines that can matter.
fn pipelines(places: &[Place]) -> impl Iterator<Item = &Name> {
    let of = places.chunk_by(|one, next| one.pipeline == next.pipeline);
    of.filter_map(|places| places.first()).map(|place| &place.pipeline)
}

/// Returns the holders of the key or lane of this name, in each pipeline that can matter.
fn holders(connection: &Connection, query: &str, name: &str, places: &[Place]) -> Result<Vec<Newest>> {
    let mut holder = connection.prepare_cached(query)?;
    let ids = pipelines(places).filter_map(|pipeline| {
        let id = holder.query_row((pipeline, name), |row| Ok(Reverse(u128::from_be_bytes(row.get(0)?))));
        id.optional().map_err(Fault::from).transpose()
    });
    ids.collect()
}
