//! Values as they are stored.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::{Event, Json, Name, Submission, SubmissionId};
use rusqlite::Row;
use rusqlite::types::ValueRef;
use store::{OwedTo, Recorded};
use uuid::Uuid;

use crate::error::{Fault, Result};

pub(crate) fn id(row: &Row<'_>, column: usize) -> rusqlite::Result<SubmissionId> {
    Ok(SubmissionId(Uuid::from_bytes(row.get(column)?)))
}

pub(crate) fn blob(id: &SubmissionId) -> &[u8; 16] {
    id.0.as_bytes()
}

/// SQLite's integers are signed; what is counted here stays far below their end.
pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(crate) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}

pub(crate) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// The bytes of a text or blob, without a copy and without another look at its encoding.
fn bytes<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a [u8]> {
    match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(bytes),
        other => Err(Fault::corrupt(format!("a text is stored as {}", other.data_type()))),
    }
}

pub(crate) fn row_text(row: &Submission) -> String {
    serde_json::to_string(row).expect("a row has only string keys and finite numbers")
}

pub(crate) fn submission(row: &Row<'_>, column: usize, row_version: u64) -> Result<Submission> {
    let mut submission: Submission = serde_json::from_slice(bytes(row, column)?)
        .map_err(|error| Fault::corrupt(format!("a submission's row cannot be read: {error}")))?;
    submission.row_version = row_version;
    Ok(submission)
}

pub(crate) fn json(row: &Row<'_>, column: usize) -> Result<Json> {
    let text = std::str::from_utf8(bytes(row, column)?);
    text.map(Json::from_stored).map_err(|_| Fault::corrupt("a stored document is not text"))
}

pub(crate) fn target_text(target: &OwedTo) -> String {
    serde_json::to_string(target).expect("a target has only string keys")
}

pub(crate) fn target(row: &Row<'_>, column: usize) -> Result<OwedTo> {
    serde_json::from_slice(bytes(row, column)?)
        .map_err(|error| Fault::corrupt(format!("whom an owed row concerns cannot be read: {error}")))
}

/// The labels of a row as an event keeps them; null when there are none.
pub(crate) fn labels_text(labels: &BTreeMap<Name, Name>) -> Option<String> {
    let text = || serde_json::to_string(labels).expect("labels are strings");
    (!labels.is_empty()).then(text)
}

/// Tells whether an event's labels have all of these.
pub(crate) fn has_labels(row: &Row<'_>, column: usize, wanted: &BTreeMap<Name, Name>) -> Result<bool> {
    if row.get_ref(column)? == ValueRef::Null {
        return Ok(wanted.is_empty());
    }
    let labels: BTreeMap<Cow<'_, str>, Cow<'_, str>> = serde_json::from_slice(bytes(row, column)?)
        .map_err(|error| Fault::corrupt(format!("the labels of an event cannot be read: {error}")))?;
    Ok(wanted.iter().all(|(label, value)| labels.get(&**label).is_some_and(|found| *found == **value)))
}

/// The size of an event's leaf and detail.
pub(crate) fn recorded_bytes(row: &Row<'_>) -> Result<usize> {
    Ok(bytes(row, 1)?.len() + bytes(row, 2)?.len())
}

/// An event out of its position, leaf and detail.
pub(crate) fn recorded(row: &Row<'_>) -> Result<Recorded> {
    let seq = unsigned(row, 0)?;
    let event = Event::from_stored(bytes(row, 1)?, bytes(row, 2)?)
        .map_err(|error| Fault::corrupt(format!("event {seq} cannot be read: {error}")))?;
    Ok(Recorded { seq, event })
}
