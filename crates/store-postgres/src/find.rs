//! Pages of rows, newest first, never by scanning: along the list of the rarest condition, by a look into the tables of
//! the others.

use deadpool_postgres::Pool;
use store::entries::Place;
use store::{Count, Entries, PAGE_BYTES_MAX, Page, Query, Room};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::codec::{self, limit, text};
use crate::error::Result;
use crate::query::{Client, Parameters, rows};
use crate::reading::{self, Snapshot};
use crate::sql;

pub(crate) async fn find(pool: &Pool, query: &Query) -> Result<Page> {
    let Some(first) = first(query) else { return Ok(Page::default()) };
    let snapshot = Snapshot::of(pool).await?;
    let found = candidates(snapshot.client(), query, first).await?;
    snapshot.end().await?;
    let mut room = Room::default();
    let mut rows = Vec::with_capacity(found.len());
    for row in &found {
        room.take(row.try_get::<_, &str>(4)?.len());
        rows.push(codec::found(row, 0)?.row);
    }
    if query.key.is_some() && query.lane.is_some() {
        // The key's holders are few.
        rows.retain(|row| Entries::of(row).lane.map(|lane| lane.key.lane) == query.lane);
    }
    let more = rows.len() > query.page_size() || !room.is_left();
    rows.truncate(query.page_size());
    Ok(Page { rows, more })
}

/// The newest id that may be on the page. Ids begin with the milliseconds of their making, so a time is an id too.
fn first(query: &Query) -> Option<Uuid> {
    let after = query.after.map_or(Some(u128::MAX), |id| id.0.as_u128().checked_sub(1));
    let before = query.created_before.map_or(Some(u128::MAX), |time| {
        let millis = u128::try_from(time.millis()).ok()?;
        millis.saturating_mul(1 << 80).checked_sub(1)
    });
    Some(Uuid::from_u128(after?.min(before?)))
}

/// One more than the page has, so that it is known whether more follow.
async fn candidates(client: &Client, query: &Query, first: Uuid) -> Result<Vec<Row>> {
    let placed = query.is_placed();
    let narrow = query.key.as_ref().or(query.lane.as_ref());
    let mut places = Vec::new();
    if placed || narrow.is_some() {
        places = reading::all_counts(client).await?.iter().map(Count::place).collect();
        places.retain(|place| query.covers(place));
    }
    let most = limit(query.page_size() + 1);
    let column = |part: fn(&Place) -> &str| -> Option<Vec<_>> {
        placed.then(|| places.iter().map(|place| text(part(place)).into_owned()).collect())
    };
    let pipelines = column(|place| &place.pipeline);
    let states = column(|place| &place.state);
    let statuses = column(|place| place.standing());
    let labels: Vec<_> = query.labels.keys().map(|name| text(name)).collect();
    let values: Vec<_> = query.labels.values().map(|value| text(value)).collect();
    let parent = query.parent.map(|parent| parent.0);
    let mut all: Vec<_> = places.iter().map(|place| text(&place.pipeline)).collect();
    all.dedup();
    let narrow = narrow.map(|name| text(name));
    let parameters: Parameters<'_> =
        &[&first, &most, &pipelines, &states, &statuses, &labels, &values, &parent, &all, &narrow];
    let (along, count) = if query.key.is_some() {
        (sql::FIND_BY_KEY, 10)
    } else if query.lane.is_some() {
        (sql::FIND_BY_LANE, 10)
    } else if parent.is_some() {
        (sql::FIND_BY_PARENT, 8)
    } else if !labels.is_empty() {
        (sql::FIND_BY_LABEL, 7)
    } else if placed {
        (sql::FIND_BY_PLACE, 5)
    } else {
        (sql::FIND_EVERY, 2)
    };
    rows(client, &bounded(along), &parameters[..count]).await
}

/// A page up to the row that reaches the bound of bytes, so that what is not shown is not sent. Sizes are known without
/// reading the texts.
fn bounded(along: &str) -> String {
    format!(
        "SELECT b.id, b.row_version, b.event_batch, b.event_no, b.row FROM (
           SELECT f.*, sum(octet_length(f.row)) OVER (ORDER BY f.id DESC ROWS UNBOUNDED PRECEDING)
             - octet_length(f.row) AS before
           FROM ({along}
         ) f) b WHERE b.before < {PAGE_BYTES_MAX} ORDER BY b.id DESC"
    )
}
