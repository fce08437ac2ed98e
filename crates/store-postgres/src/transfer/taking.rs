//! Taking: a chunk a commit, with everything that follows from it.

use deadpool_postgres::Pool;
use model::{Submission, Time};
use store::transfer::{Part, Row};
use store::{Changes, RowChange};
use tokio_postgres::types::ToSql;

use super::tables::{columns, labels_from_json};
use crate::codec::signed;
use crate::error::{Fault, Result};
use crate::query::{Client, execute, rows};
use crate::schema::MIGRATING;
use crate::sql;
use crate::taking::Known;
use crate::writer::Loan;
use crate::writing::Writing;

/// One commit. After a fault the connection is closed, and nothing of it stays.
async fn commit(loan: Loan) -> Result<()> {
    loan.client().batch_execute("COMMIT").await?;
    loan.give_back();
    Ok(())
}

async fn begun(pool: &Pool) -> Result<Loan> {
    let loan = Loan::of(pool).await?;
    loan.client().batch_execute("BEGIN; SET LOCAL statement_timeout = '10min'").await?;
    Ok(loan)
}

pub(super) async fn begin(pool: &Pool, from: u64, retired: u64) -> Result<()> {
    let loan = begun(pool).await?;
    let client = loan.client();
    // Two that begin at once meet here.
    rows(client, "SELECT value FROM meta WHERE name = 'retired' FOR UPDATE", &[]).await?;
    let here = rows(client, sql::META_VALUE, &[&MIGRATING]).await?;
    if let Some(row) = here.first() {
        if row.try_get::<_, i64>(0)? == signed(from) {
            return commit(loan).await;
        }
        return Err(Fault::Conflict(
            "the target holds a part of another move, or the source has changed since; empty it and begin again"
                .to_owned(),
        ));
    }
    for part in Part::ALL {
        let any = format!("SELECT FROM {} LIMIT 1", part.as_str());
        if !rows(client, &any, &[]).await?.is_empty() {
            return Err(Fault::Conflict("the target is not empty; choose another".to_owned()));
        }
    }
    execute(client, sql::META_INSERT, &[&MIGRATING, &signed(from)]).await?;
    execute(client, "UPDATE meta SET value = $1 WHERE name = 'retired'", &[&signed(retired)]).await?;
    if retired > 0 {
        // A batch without events ends where the past was retired: the next one follows it.
        let place = "INSERT INTO position (last_seq, first_seq, batch, high) \
                     SELECT $1::bigint, $1 + 1, b, b FROM nextval('batch_no') b";
        execute(client, place, &[&signed(retired)]).await?;
    }
    commit(loan).await
}

pub(super) async fn import(pool: &Pool, part: Part, records: &[Row]) -> Result<()> {
    let loan = begun(pool).await?;
    let client = loan.client();
    match part {
        Part::Event => events(client, records).await?,
        Part::Submission => {
            insert(client, include_str!("../sql/move_submission_insert.sql"), part, records, &[]).await?;
            entries(client, records).await?;
        }
        Part::Tip => insert(client, include_str!("../sql/move_tip_insert.sql"), part, records, &[]).await?,
        _ => insert(client, &plain(part), part, records, &[]).await?,
    }
    commit(loan).await
}

/// The statement for a table that is copied as it is.
fn plain(part: Part) -> String {
    let names: Vec<_> = columns(part).iter().map(|(name, _)| *name).collect();
    let arrays: Vec<_> =
        (1..).zip(columns(part)).map(|(no, (_, kind))| format!("${no}::{}", kind.array())).collect();
    let (table, names, arrays) = (part.as_str(), names.join(", "), arrays.join(", "));
    match part {
        // Versions are this store's own.
        Part::Registry => format!(
            "INSERT INTO registry (version, {names}) SELECT nextval('registry_version'), w.* FROM unnest({arrays}) w"
        ),
        Part::Owed => {
            format!("INSERT INTO owed ({names}) OVERRIDING SYSTEM VALUE SELECT * FROM unnest({arrays})")
        }
        _ => format!("INSERT INTO {table} ({names}) SELECT * FROM unnest({arrays})"),
    }
}

async fn insert(
    client: &Client,
    query: &str,
    part: Part,
    records: &[Row],
    before: &[&(dyn ToSql + Sync)],
) -> Result<()> {
    let arrays = columns(part).iter().enumerate();
    let arrays: Vec<_> =
        arrays.map(|(no, (_, kind))| kind.column(records.iter().map(move |record| &record[no]))).collect();
    let parameters: Vec<&(dyn ToSql + Sync)> =
        before.iter().copied().chain(arrays.iter().map(|array| &**array as _)).collect();
    let written = execute(client, query, &parameters).await?;
    if written != records.len() as u64 {
        return Err(Fault::corrupt(format!("{written} of {} records were written", records.len())));
    }
    Ok(())
}

/// A chunk is a batch: it follows the one before.
async fn events(client: &Client, records: &[Row]) -> Result<()> {
    let position = |record: Option<&Row>| {
        let cell = record.map(|record| record[0].int()).transpose();
        cell.map_err(|error| Fault::corrupt(error.to_string())).map(Option::unwrap_or_default)
    };
    let (first, last) = (position(records.first())?, position(records.last())?);
    if usize::try_from(last - first + 1).ok() != Some(records.len()) {
        return Err(Fault::corrupt("the events of the source have gaps; restore a backup"));
    }
    let records: Vec<Row> = records
        .iter()
        .map(|record| {
            let mut record = record.clone();
            record[5] = labels_from_json(&record[5])?;
            Ok(record)
        })
        .collect::<Result<_>>()?;
    let place = "INSERT INTO position (last_seq, first_seq, batch, high) \
                 SELECT $1, $2, b, b FROM nextval('batch_no') b RETURNING batch";
    let placed = rows(client, place, &[&last, &first]).await?;
    let batch: i64 = placed.first().ok_or_else(|| Fault::corrupt("a batch got no number"))?.try_get(0)?;
    let query = include_str!("../sql/move_event_insert.sql");
    insert(client, query, Part::Event, &records, &[&batch, &first]).await
}

/// Writes the entries by which rows are found and counted.
async fn entries(client: &Client, records: &[Row]) -> Result<()> {
    let row = |record: &Row| {
        let text = record[3].text().map_err(|error| Fault::corrupt(error.to_string()))?;
        let after: Submission = serde_json::from_str(text)
            .map_err(|error| Fault::corrupt(format!("a submission's row cannot be read: {error}")))?;
        Ok(RowChange::insert(after))
    };
    let rows = records.iter().map(row).collect::<Result<_>>()?;
    let (changes, known) = (Changes { rows, ..Changes::default() }, Known::default());
    Writing::new(client, &changes, &known, Time::EPOCH).write_entries().await
}

pub(super) async fn end(pool: &Pool) -> Result<()> {
    let loan = begun(pool).await?;
    let client = loan.client();
    let numbers =
        "SELECT setval(pg_get_serial_sequence('owed', 'seq'), max(seq)) FROM owed HAVING max(seq) > 0";
    rows(client, numbers, &[]).await?;
    execute(client, "DELETE FROM meta WHERE name = $1", &[&MIGRATING]).await?;
    commit(loan).await?;
    // What the planner knows of the tables is from when they were empty.
    let loan = Loan::of(pool).await?;
    loan.client().batch_execute("ANALYZE submission, event, document").await?;
    loan.give_back();
    Ok(())
}
