//! The columns and the source of each part. Statements have one shape for every table, so they are made from these.

use std::borrow::Cow;

use store::transfer::{Cell, Part};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::codec;
use crate::error::{Fault, Result};

/// The way a column's values are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Id,
    Int,
    /// Escaped, as everywhere.
    Text,
    /// Unescaped: what others write into the inbox.
    Raw,
    Bytes,
}

impl Kind {
    pub(super) fn array(self) -> &'static str {
        match self {
            Kind::Id => "uuid[]",
            Kind::Int => "bigint[]",
            Kind::Text | Kind::Raw => "text[]",
            Kind::Bytes => "bytea[]",
        }
    }

    pub(super) fn cell(self, row: &Row, column: usize) -> Result<Cell> {
        let cell = match self {
            Kind::Id => row.try_get::<_, Option<Uuid>>(column)?.map(Cell::Id),
            Kind::Int => row.try_get::<_, Option<i64>>(column)?.map(Cell::Int),
            Kind::Text => row
                .try_get::<_, Option<&str>>(column)?
                .map(|text| Cell::Text(codec::plain(text).into_owned())),
            Kind::Raw => row.try_get::<_, Option<String>>(column)?.map(Cell::Text),
            Kind::Bytes => row.try_get::<_, Option<Vec<u8>>>(column)?.map(Cell::Bytes),
        };
        Ok(cell.unwrap_or(Cell::Null))
    }
}

use Kind::{Bytes, Id, Int, Raw, Text};

/// The columns of a record, its key first.
pub(super) fn columns(part: Part) -> &'static [(&'static str, Kind)] {
    match part {
        Part::Registry => &[("kind", Text), ("name", Text), ("body", Text)],
        Part::Event => &[
            ("seq", Int),
            ("prev", Int),
            ("revision", Int),
            ("pipeline", Text),
            ("state", Text),
            // As PostgreSQL has them, until they are turned.
            ("labels", Raw),
            ("leaf", Bytes),
            ("detail", Bytes),
        ],
        Part::Submission => &[("id", Id), ("row_version", Int), ("last_seq", Int), ("row", Text)],
        Part::Document => &[("submission", Id), ("name", Text), ("body", Text)],
        Part::Tip => &[("submission", Id), ("seq", Int), ("revision", Int)],
        Part::Answer => {
            &[("subject", Text), ("route", Text), ("key", Text), ("body", Text), ("expires_at", Int)]
        }
        Part::Owed => &[
            ("seq", Int),
            ("submission", Id),
            ("revision", Int),
            ("no", Int),
            ("target", Text),
            ("body", Text),
        ],
        Part::Inbox => &[
            ("id", Id),
            ("submitter", Raw),
            ("pipeline", Raw),
            ("payload", Raw),
            ("key", Raw),
            ("priority", Int),
            ("not_before", Int),
            ("reason", Raw),
        ],
        Part::Tile => &[("level", Int), ("no", Int), ("hashes", Bytes)],
    }
}

/// Returns the table or query that the cells of a record come from, by the names of its columns.
pub(super) fn source(part: Part) -> &'static str {
    match part {
        Part::Registry => "registry",
        Part::Document => "document",
        Part::Answer => "answer",
        Part::Owed => "owed",
        Part::Inbox => "inbox",
        Part::Tile => "tile",
        // The rest is joined with positions: see the queries.
        Part::Event => include_str!("../sql/move_event.sql"),
        Part::Submission => include_str!("../sql/move_submission.sql"),
        Part::Tip => include_str!("../sql/move_tip.sql"),
    }
}

pub(super) type Parameter<'c> = Box<dyn ToSql + Sync + 'c>;

fn id(cell: &Cell) -> Option<Uuid> {
    if let Cell::Id(value) = cell { Some(*value) } else { None }
}

fn int(cell: &Cell) -> Option<i64> {
    if let Cell::Int(value) = cell { Some(*value) } else { None }
}

fn text(cell: &Cell, kind: Kind) -> Option<Cow<'_, str>> {
    match cell {
        Cell::Text(value) if kind == Kind::Text => Some(codec::text(value)),
        Cell::Text(value) => Some(Cow::Borrowed(value)),
        _ => None,
    }
}

fn bytes(cell: &Cell) -> Option<&[u8]> {
    if let Cell::Bytes(value) = cell { Some(value) } else { None }
}

impl Kind {
    pub(super) fn parameter(self, cell: &Cell) -> Parameter<'_> {
        match self {
            Kind::Id => Box::new(id(cell)),
            Kind::Int => Box::new(int(cell)),
            Kind::Text | Kind::Raw => Box::new(text(cell, self)),
            Kind::Bytes => Box::new(bytes(cell)),
        }
    }

    /// One column of many records.
    pub(super) fn column<'c>(self, cells: impl Iterator<Item = &'c Cell>) -> Parameter<'c> {
        match self {
            Kind::Id => Box::new(cells.map(id).collect::<Vec<_>>()),
            Kind::Int => Box::new(cells.map(int).collect::<Vec<_>>()),
            Kind::Text | Kind::Raw => Box::new(cells.map(|cell| text(cell, self)).collect::<Vec<_>>()),
            Kind::Bytes => Box::new(cells.map(bytes).collect::<Vec<_>>()),
        }
    }
}

/// Labels as PostgreSQL has them turned into the object others have, and back.
pub(super) fn labels_to_json(cell: Cell) -> Result<Cell> {
    let Cell::Text(joined) = cell else { return Ok(Cell::Null) };
    let mut labels = std::collections::BTreeMap::new();
    for label in joined.split("\u{1}\u{4}") {
        let (name, value) = label
            .split_once("\u{1}\u{3}")
            .ok_or_else(|| Fault::corrupt("the labels of an event have no values"))?;
        labels.insert(codec::plain(name).into_owned(), codec::plain(value).into_owned());
    }
    Ok(Cell::Text(serde_json::to_string(&labels).expect("labels are strings")))
}

pub(super) fn labels_from_json(cell: &Cell) -> Result<Cell> {
    let Cell::Text(text) = cell else { return Ok(Cell::Null) };
    let labels: std::collections::BTreeMap<model::Name, model::Name> = serde_json::from_str(text)
        .map_err(|error| Fault::corrupt(format!("the labels of an event cannot be read: {error}")))?;
    Ok(codec::labels(&labels).map_or(Cell::Null, Cell::Text))
}
