//! Moving all of a store: the tables as they are, and the entries that follow from rows made anew.
//!
//! The statements are of one shape for every table, so they are made from the names of its columns.

use model::Submission;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, ToSql, TransactionBehavior, params_from_iter};
use store::transfer::{Cell, Part, Row, Transfer};
use store::{Changes, Error, RowChange};
use uuid::Uuid;

use crate::SqliteStore;
use crate::error::{Fault, Result};
use crate::reading;
use crate::schema::{self, MIGRATING};
use crate::sql;
use crate::writing;

/// The columns of each table, its key first.
fn columns(part: Part) -> &'static [&'static str] {
    match part {
        Part::Registry => &["kind", "name", "body"],
        Part::Event => &["seq", "prev", "revision", "pipeline", "state", "labels", "leaf", "detail"],
        Part::Submission => &["id", "row_version", "last_seq", "row"],
        Part::Document => &["submission", "name", "body"],
        Part::Tip => &["submission", "seq", "revision"],
        Part::Answer => &["subject", "route", "key", "body", "expires_at"],
        Part::Owed => &["seq", "submission", "revision", "no", "target", "body"],
        Part::Inbox => &["id", "submitter", "pipeline", "payload", "key", "priority", "not_before", "reason"],
        Part::Tile => &["level", "no", "hashes"],
    }
}

/// A page ends once it has this much in it.
const BYTES_MAX: usize = 8 << 20;

/// Documents and rows are told from ids by their columns: both are blobs.
fn is_id(column: &str) -> bool {
    matches!(column, "id" | "submission")
}

struct Bound<'c>(&'c Cell);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Cell::Null => ToSqlOutput::Owned(Value::Null),
            Cell::Int(value) => ToSqlOutput::Owned(Value::Integer(*value)),
            Cell::Text(value) => ToSqlOutput::Borrowed(ValueRef::Text(value.as_bytes())),
            Cell::Bytes(value) => ToSqlOutput::Borrowed(ValueRef::Blob(value)),
            Cell::Id(value) => ToSqlOutput::Borrowed(ValueRef::Blob(value.as_bytes())),
        })
    }
}

fn cell(column: &str, value: ValueRef<'_>) -> Result<Cell> {
    let text =
        |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| Fault::corrupt("a text is no UTF-8"));
    Ok(match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(value) => Cell::Int(value),
        ValueRef::Text(bytes) => Cell::Text(text(bytes)?),
        ValueRef::Blob(bytes) if is_id(column) => {
            Cell::Id(Uuid::from_slice(bytes).map_err(|_| Fault::corrupt("an id has not 16 bytes"))?)
        }
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
        ValueRef::Real(_) => return Err(Fault::corrupt("a number is no whole one")),
    })
}

fn size(cell: &Cell) -> usize {
    match cell {
        Cell::Text(value) => value.len(),
        Cell::Bytes(value) => value.len(),
        _ => 8,
    }
}

fn page(connection: &Connection, part: Part, after: &[Cell], limit: usize) -> Result<Vec<Row>> {
    let columns = columns(part);
    let key = columns[..part.key_len()].join(", ");
    let marks = vec!["?"; part.key_len()].join(", ");
    let query = format!(
        "SELECT {} FROM {} WHERE ({key}) > ({marks}) ORDER BY {key} LIMIT {limit}",
        columns.join(", "),
        part.as_str()
    );
    let mut statement = connection.prepare_cached(&query)?;
    let mut rows = statement.query(params_from_iter(after.iter().map(Bound)))?;
    let (mut records, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()?.filter(|_| bytes < BYTES_MAX) {
        let cells = columns.iter().enumerate().map(|(no, column)| cell(column, row.get_ref(no)?));
        let record = cells.collect::<Result<Row>>()?;
        bytes += record.iter().map(size).sum::<usize>();
        records.push(record);
    }
    Ok(records)
}

fn last(connection: &Connection, part: Part) -> Result<Option<Vec<Cell>>> {
    let key = &columns(part)[..part.key_len()];
    let order: Vec<_> = key.iter().map(|column| format!("{column} DESC")).collect();
    let query =
        format!("SELECT {} FROM {} ORDER BY {} LIMIT 1", key.join(", "), part.as_str(), order.join(", "));
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query([])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let cells = key.iter().enumerate().map(|(no, column)| cell(column, row.get_ref(no)?));
    cells.collect::<Result<_>>().map(Some)
}

fn count(connection: &Connection, part: Part) -> Result<u64> {
    let count = format!("SELECT count(*) FROM {}", part.as_str());
    Ok(connection.query_row(&count, [], |row| crate::codec::unsigned(row, 0))?)
}

fn insert(connection: &Connection, part: Part, records: &[Row]) -> Result<()> {
    let columns = columns(part);
    let marks = vec!["?"; columns.len()].join(", ");
    let query = format!("INSERT INTO {} ({}) VALUES ({marks})", part.as_str(), columns.join(", "));
    let mut statement = connection.prepare_cached(&query)?;
    for record in records {
        statement.execute(params_from_iter(record.iter().map(Bound)))?;
    }
    if part == Part::Submission {
        let rows = records.iter().map(row).collect::<Result<_>>()?;
        writing::write_entries(connection, &Changes { rows, ..Changes::default() })?;
    }
    Ok(())
}

fn row(record: &Row) -> Result<RowChange> {
    let unreadable = |error: &dyn std::fmt::Display| Fault::corrupt(format!("a row cannot be read: {error}"));
    let text = record[3].text().map_err(|error| unreadable(&error))?;
    let after: Submission = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
    Ok(RowChange::insert(after))
}

fn begin(connection: &Connection, from: u64, retired: u64) -> Result<()> {
    let here = connection
        .query_row(sql::META_VALUE, [MIGRATING], |row| crate::codec::unsigned(row, 0))
        .optional()?;
    match here {
        Some(begun) if begun == from => return Ok(()),
        Some(_) => {
            return Err(Fault::Conflict(
                "the target holds a part of another move, or the source has changed since; empty it and begin again"
                    .to_owned(),
            ));
        }
        None => {}
    }
    for part in Part::ALL {
        if count(connection, part)? > 0 {
            return Err(Fault::Conflict("the target is not empty; choose another".to_owned()));
        }
    }
    connection.execute(sql::META_INSERT, (MIGRATING, crate::codec::signed(from)))?;
    connection.execute(sql::META_SET, ("retired", crate::codec::signed(retired)))?;
    Ok(())
}

impl SqliteStore {
    fn look<T>(&self, look: impl FnOnce(&Connection) -> Result<T>) -> Result<T, Error> {
        look(&self.writer().connection).map_err(Fault::before_commit)
    }

    fn change(&self, change: impl FnOnce(&Connection) -> Result<()>) -> Result<(), Error> {
        let mut writer = self.writer();
        let transaction = writer
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| Fault::from(error).before_commit())?;
        change(&transaction).map_err(Fault::before_commit)?;
        transaction.commit().map_err(|error| Fault::from(error).while_syncing())?;
        writer.moved_in()
    }
}

impl Transfer for SqliteStore {
    fn count(&self, part: Part) -> Result<u64, Error> {
        self.look(|connection| count(connection, part))
    }

    fn retired(&self) -> Result<u64, Error> {
        self.look(|connection| Ok(reading::bounds(connection)?.retired))
    }

    fn export(&self, part: Part, after: &[Cell], limit: usize) -> Result<Vec<Row>, Error> {
        self.look(|connection| page(connection, part, after, limit))
    }

    fn last(&self, part: Part) -> Result<Option<Vec<Cell>>, Error> {
        self.look(|connection| last(connection, part))
    }

    fn begin_import(&self, from: u64, retired: u64) -> Result<(), Error> {
        self.change(|connection| begin(connection, from, retired))
    }

    fn import(&self, part: Part, records: &[Row]) -> Result<(), Error> {
        self.change(|connection| insert(connection, part, records))
    }

    fn end_import(&self) -> Result<(), Error> {
        self.change(schema::end_move)
    }
}
