//! Pages of rows, newest first, never by scanning: along the list of the rarest condition, by a look into the tables of
//! the others.

use deadpool_postgres::Pool;
use store::entries::Place;
use store::{Count, Filling, PAGE_BYTES_MAX, Page, Query};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::codec::{self, limit, text};
use crate::error::Result;
use crate::query::{Client, Parameters, rows};
use crate::reading::{self, Snapshot};
use crate::sql;

pub(crate) async fn find(pool: &Pool, query: &Query) -> Result<Page> {
    let Some(greatest) = query.greatest() else { return Ok(Page::default()) };
    if let (Some(key), Some(held)) = (&query.key, &query.held_key)
        && key != held
    {
        return Ok(Page::default());
    }
    let snapshot = Snapshot::of(pool).await?;
    let found = candidates(snapshot.client(), query, greatest.0).await?;
    snapshot.end().await?;
    let mut page = Filling::new(query);
    for row in &found {
        if page.is_full() {
            return Ok(page.page(true));
        }
        let bytes = row.try_get::<_, &str>(4)?.len();
        page.look(codec::found(row, 0)?.row, bytes);
    }
    // What follows the row that reached the bound of bytes was not sent.
    let is_cut = page.is_out_of_room();
    Ok(page.page(is_cut))
}

/// One more than the page looks at, so that it is known whether more follow.
async fn candidates(client: &Client, query: &Query, greatest: Uuid) -> Result<Vec<Row>> {
    let placed = query.is_placed();
    let key = query.held_key.as_ref().or(query.key.as_ref());
    let narrow = key.or(query.lane.as_ref());
    let mut places = Vec::new();
    if placed || narrow.is_some() {
        places = reading::all_counts(client).await?.iter().map(Count::place).collect();
        places.retain(|place| query.covers(place));
    }
    let most = limit(query.scan_max() + 1);
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
    let lane = query.lane.as_ref().map(|name| text(name));
    let least = query.least().0;
    let parameters: Parameters<'_> = &[
        &greatest, &most, &least, &pipelines, &states, &statuses, &labels, &values, &parent, &all, &narrow,
        &lane,
    ];
    let (along, count) = if query.held_key.is_some() {
        (sql::FIND_BY_HELD_KEY, 12)
    } else if query.key.is_some() {
        (sql::FIND_BY_KEY, 12)
    } else if query.lane.is_some() {
        (sql::FIND_BY_LANE, 11)
    } else if parent.is_some() {
        (sql::FIND_BY_PARENT, 9)
    } else if !labels.is_empty() {
        (sql::FIND_BY_LABEL, 8)
    } else if placed {
        (sql::FIND_BY_PLACE, 6)
    } else {
        (sql::FIND_EVERY, 3)
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
