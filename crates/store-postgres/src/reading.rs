//! Queries outside a transaction, apart from pages of rows.

use deadpool_postgres::Pool;
use model::{Documents, Json, Name, Status, Submission, SubmissionId};
use store::entries::read_standing;
use store::{Count, FEED_SCAN_MAX, Feed, FeedPage, LaneKey, Late, Line, Oldest, PAGE_BYTES_MAX, Recorded};

use crate::codec::{self, limit, signed, text, unsigned};
use crate::error::{Fault, Result};
use crate::query::{Client, rows};
use crate::sql;
use crate::taking;
use crate::writer::{self, Loan};

/// Queries that see one state of the database.
const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// A connection in a transaction that only reads.
pub(crate) struct Snapshot(Loan);

impl Snapshot {
    pub(crate) async fn of(pool: &Pool) -> Result<Snapshot> {
        let loan = Loan::of(pool).await?;
        loan.client().batch_execute(SNAPSHOT).await?;
        Ok(Snapshot(loan))
    }

    pub(crate) fn client(&self) -> &Client {
        self.0.client()
    }

    /// After a fault the connection is closed instead.
    pub(crate) async fn end(self) -> Result<()> {
        self.0.client().batch_execute("COMMIT").await?;
        self.0.give_back();
        Ok(())
    }
}

pub(crate) async fn submission(pool: &Pool, id: SubmissionId) -> Result<Option<(Submission, Documents)>> {
    let loan = Loan::of(pool).await?;
    let (client, ids) = (loan.client(), [id]);
    let (begun, found, documents, ended) = tokio::join!(
        biased;
        client.batch_execute(SNAPSHOT),
        by_id(client, id),
        taking::documents(client, &ids),
        client.batch_execute("COMMIT"),
    );
    begun?;
    let (found, mut documents) = (found?, documents?);
    ended?;
    loan.give_back();
    Ok(found.map(|row| (row, documents.remove(&id).unwrap_or_default())))
}

async fn by_id(client: &Client, id: SubmissionId) -> Result<Option<Submission>> {
    let found = rows(client, sql::SUBMISSION_BY_ID, &[&codec::ids([&id])]).await?;
    found.first().map(|row| codec::found(row, 0).map(|found| found.row)).transpose()
}

pub(crate) async fn history(pool: &Pool, id: SubmissionId, after: u64, most: usize) -> Result<Vec<Recorded>> {
    let loan = Loan::of(pool).await?;
    let mut events = recorded(loan.client(), id, after, most).await?;
    if events.iter().any(|(seq, _)| seq.is_none()) {
        // Their commit was lost before it saw to its place: whoever reads them does.
        writer::sequence(loan.client(), writer::EVERYTHING).await?;
        events = recorded(loan.client(), id, after, most).await?;
    }
    loan.give_back();
    // One that was committed just now has no place yet; nor has what follows it.
    let placed = events.into_iter().map_while(|(seq, event)| Some(Recorded { seq: seq?, event }));
    Ok(placed.collect())
}

async fn recorded(
    client: &Client,
    id: SubmissionId,
    after: u64,
    most: usize,
) -> Result<Vec<(Option<u64>, model::Event)>> {
    let found =
        rows(client, sql::EVENT_HISTORY, &[&id.0, &signed(after), &limit(most), &limit(PAGE_BYTES_MAX)])
            .await?;
    let events = found.iter().map(|row| {
        let seq: Option<i64> = row.try_get(0)?;
        Ok((seq.map(unsigned).transpose()?, codec::event(row, 1)?))
    });
    events.collect()
}

/// Gives positions to what has none, left behind by servers that are gone.
pub(crate) async fn sequence(pool: &Pool, batch: i64) -> Result<()> {
    let loan = Loan::of(pool).await?;
    writer::sequence(loan.client(), batch).await?;
    loan.give_back();
    Ok(())
}

/// The beginning and the end of the sequence of events.
pub(crate) struct Bounds {
    /// The last position that was retired.
    pub(crate) retired: u64,
    pub(crate) last: u64,
    /// There are events without a position.
    waiting: bool,
}

async fn bounds(client: &Client) -> Result<Bounds> {
    let found = rows(client, sql::EVENT_BOUNDS, &[]).await?;
    let row =
        found.first().ok_or_else(|| Fault::corrupt("the database does not say where its events begin"))?;
    Ok(Bounds {
        retired: unsigned(row.try_get(0)?)?,
        last: unsigned(row.try_get(1)?)?,
        waiting: row.try_get(2)?,
    })
}

/// A view in which everything that can be seen beyond a position has one, too.
pub(crate) async fn placed(pool: &Pool, after: u64) -> Result<(Snapshot, Bounds)> {
    let snapshot = Snapshot::of(pool).await?;
    let bounds = self::bounds(snapshot.client()).await?;
    if !bounds.waiting || after < bounds.last {
        return Ok((snapshot, bounds));
    }
    // Somebody is about to see to it, or was lost on the way: no reader waits for that. One that has something to
    // read leaves it for later, for this is a commit.
    snapshot.end().await?;
    sequence(pool, writer::WHAT_IS_NEW).await?;
    let snapshot = Snapshot::of(pool).await?;
    let bounds = self::bounds(snapshot.client()).await?;
    Ok((snapshot, bounds))
}

pub(crate) async fn feed(pool: &Pool, feed: &Feed) -> Result<FeedPage> {
    let (snapshot, bounds) = placed(pool, feed.after).await?;
    let Bounds { retired, last, .. } = bounds;
    let mut page = FeedPage { events: Vec::new(), next: feed.after, oldest: retired + 1, newest: last };
    let from = feed.after.max(retired);
    let to = last.min(from.saturating_add(FEED_SCAN_MAX));
    if feed.limit > 0 && from < to {
        let (events, is_full) = events(snapshot.client(), feed, from, to).await?;
        page.next = events.last().filter(|_| is_full).map_or(to, |shown| shown.seq);
        page.events = events;
    }
    snapshot.end().await?;
    Ok(page)
}

/// The events of a page, and whether it ended before all were looked at.
async fn events(client: &Client, feed: &Feed, from: u64, to: u64) -> Result<(Vec<Recorded>, bool)> {
    let pipeline = feed.pipeline.as_ref().map(|name| text(name));
    let state = feed.state.as_ref().map(|name| text(name));
    let labels: Vec<_> = feed.labels.iter().map(|(name, value)| codec::label(name, value)).collect();
    let labels = (!labels.is_empty()).then_some(labels);
    let parameters: crate::query::Parameters<'_> = &[
        &signed(from),
        &signed(to),
        &pipeline,
        &state,
        &labels,
        &limit(feed.limit),
        &limit(feed.room().bytes()),
    ];
    let found = rows(client, sql::EVENT_PAGE, parameters).await?;
    let mut room = feed.room();
    let mut events = Vec::with_capacity(found.len());
    for row in &found {
        room.take(codec::event_bytes(row, 1)?);
        events.push(Recorded { seq: unsigned(row.try_get(0)?)?, event: codec::event(row, 1)? });
    }
    let is_full = events.len() == feed.limit || !room.is_left();
    Ok((events, is_full))
}

pub(crate) async fn line(pool: &Pool, lane: &LaneKey, most: usize) -> Result<Line> {
    let loan = Loan::of(pool).await?;
    let (pipeline, name) = (text(&lane.pipeline), text(&lane.lane));
    let found = rows(loan.client(), sql::LANE_LINE_FIRST, &[&pipeline, &name, &limit(most)]).await?;
    loan.give_back();
    let mut line = Line::default();
    for row in found {
        match row.try_get(0)? {
            true => line.holder = Some(codec::id(&row, 1)?),
            false => line.waiting.push(codec::id(&row, 1)?),
        }
    }
    Ok(line)
}

pub(crate) async fn counts(pool: &Pool) -> Result<Vec<Count>> {
    let loan = Loan::of(pool).await?;
    let counts = all_counts(loan.client()).await?;
    loan.give_back();
    Ok(counts)
}

/// Returns the counts by pipeline, then state.
pub(crate) async fn all_counts(client: &Client) -> Result<Vec<Count>> {
    let found = rows(client, sql::COUNTER_ALL, &[]).await?;
    let counts = found.iter().map(|row| {
        let (status, investigation) = read_standing(row.try_get(2)?).map_err(Fault::Corrupt)?;
        Ok(Count {
            pipeline: codec::name(row.try_get(0)?),
            state: codec::name(row.try_get(1)?),
            status,
            investigation,
            count: unsigned(row.try_get(3)?)?,
        })
    });
    counts.collect()
}

pub(crate) async fn oldest(pool: &Pool) -> Result<Vec<Oldest>> {
    let loan = Loan::of(pool).await?;
    let mut open = all_counts(loan.client()).await?;
    open.retain(|count| count.status == Status::Open);
    let pipelines: Vec<_> = open.iter().map(|count| text(&count.pipeline)).collect();
    let states: Vec<_> = open.iter().map(|count| text(&count.state)).collect();
    let found = rows(loan.client(), sql::PLACE_OLDEST, &[&pipelines, &states]).await?;
    loan.give_back();
    let oldest = found.iter().map(|row| {
        let (pipeline, state) = (codec::name(row.try_get(0)?), codec::name(row.try_get(1)?));
        Ok(Oldest { pipeline, state, id: codec::id(row, 2)? })
    });
    oldest.collect()
}

pub(crate) async fn late(pool: &Pool, late: &Late) -> Result<Vec<Submission>> {
    let loan = Loan::of(pool).await?;
    let (at, id) = late.after.map_or((i64::MIN, uuid::Uuid::nil()), |(at, id)| (at.millis(), id.0));
    let parameters: crate::query::Parameters<'_> =
        &[&text(&late.pipeline), &late.until.millis(), &at, &id, &limit(late.page_size())];
    let found = rows(loan.client(), sql::LATE_PAGE, parameters).await?;
    loan.give_back();
    found.iter().map(|row| codec::found(row, 0).map(|found| found.row)).collect()
}

pub(crate) async fn parked(pool: &Pool, after: &str, most: usize) -> Result<Vec<Name>> {
    let loan = Loan::of(pool).await?;
    let found = rows(loan.client(), sql::PARKED_NEXT, &[&text(after), &limit(most)]).await?;
    loan.give_back();
    found.iter().map(|row| Ok(codec::plain(row.try_get(0)?).into())).collect()
}

/// A page of a registry in the direction of the statement, from a name.
pub(crate) async fn registry(
    pool: &Pool,
    statement: &str,
    (kind, from, most): (&str, &str, usize),
) -> Result<Vec<(String, Json)>> {
    let loan = Loan::of(pool).await?;
    let (kind, from) = (text(kind), text(from));
    let found = rows(loan.client(), statement, &[&kind, &from, &limit(most)]).await?;
    loan.give_back();
    let entry =
        |row: &tokio_postgres::Row| Ok((codec::plain(row.try_get(0)?).into_owned(), codec::json(row, 1)?));
    found.iter().map(entry).collect()
}
