//! Values as they are stored.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::{Event, Json, Name, Submission, SubmissionId, Time};
use store::OwedTo;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Fault, Result};

/// The newest event of a submission: its batch, its number in the batch, and its revision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tip {
    pub(crate) batch: i64,
    pub(crate) no: i32,
    pub(crate) revision: u64,
}

/// A row as it is stored.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) row: Submission,
    pub(crate) tip: Tip,
}

/// Text with the two characters escaped of which PostgreSQL cannot store the first. Order is kept, and most text too.
pub(crate) fn text(value: &str) -> Cow<'_, str> {
    if !value.contains(['\0', '\u{1}']) {
        return Cow::Borrowed(value);
    }
    Cow::Owned(value.replace('\u{1}', "\u{1}\u{2}").replace('\0', "\u{1}\u{1}"))
}

/// The inverse of `text`.
pub(crate) fn name(stored: &str) -> Name {
    plain(stored).as_ref().into()
}

pub(crate) fn plain(stored: &str) -> Cow<'_, str> {
    if !stored.contains('\u{1}') {
        return Cow::Borrowed(stored);
    }
    Cow::Owned(stored.replace("\u{1}\u{1}", "\0").replace("\u{1}\u{2}", "\u{1}"))
}

/// A label and its value as one text: neither contains what parts them.
pub(crate) fn label(name: &str, value: &str) -> String {
    format!("{}\u{1}\u{3}{}", text(name), text(value))
}

/// The labels of a row as an event keeps them; null when there are none. The query takes them apart again.
pub(crate) fn labels(labels: &BTreeMap<Name, Name>) -> Option<String> {
    let all: Vec<_> = labels.iter().map(|(name, value)| label(name, value)).collect();
    (!all.is_empty()).then(|| all.join("\u{1}\u{4}"))
}

/// PostgreSQL's integers are signed; what is counted here stays far below their end.
pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(crate) fn unsigned(value: i64) -> Result<u64> {
    u64::try_from(value).map_err(|_| Fault::corrupt("a count that is stored is below zero"))
}

pub(crate) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// A number counted from 1 by the query that sent it along.
pub(crate) fn index(row: &Row, column: usize) -> Result<usize> {
    let no: i32 = row.try_get(column)?;
    usize::try_from(no - 1).map_err(|_| Fault::corrupt("a query counted below one"))
}

pub(crate) fn id(row: &Row, column: usize) -> Result<SubmissionId> {
    Ok(SubmissionId(row.try_get::<_, Uuid>(column)?))
}

pub(crate) fn ids<'a>(ids: impl IntoIterator<Item = &'a SubmissionId>) -> Vec<Uuid> {
    ids.into_iter().map(|id| id.0).collect()
}

pub(crate) fn time(row: &Row, column: usize) -> Result<Time> {
    Ok(Time::from_millis(row.try_get(column)?))
}

pub(crate) fn json(row: &Row, column: usize) -> Result<Json> {
    Ok(Json::from_stored(row.try_get(column)?))
}

pub(crate) fn row_text(row: &Submission) -> String {
    serde_json::to_string(row).expect("a row has only string keys and finite numbers")
}

/// A submission out of `id, row_version, event_batch, event_no, row`, which begin at a column.
pub(crate) fn found(row: &Row, from: usize) -> Result<Found> {
    let text: &str = row.try_get(from + 4)?;
    let mut submission: Submission = serde_json::from_str(text)
        .map_err(|error| Fault::corrupt(format!("a submission's row cannot be read: {error}")))?;
    submission.row_version = unsigned(row.try_get(from + 1)?)?;
    let (batch, no) = (row.try_get(from + 2)?, row.try_get(from + 3)?);
    let tip = match batch {
        0 => Tip::default(),
        batch => Tip { batch, no, revision: submission.revision },
    };
    Ok(Found { row: submission, tip })
}

pub(crate) fn target_text(target: &OwedTo) -> String {
    serde_json::to_string(target).expect("a target has only string keys")
}

pub(crate) fn target(row: &Row, column: usize) -> Result<OwedTo> {
    serde_json::from_str(row.try_get(column)?)
        .map_err(|error| Fault::corrupt(format!("whom an owed row concerns cannot be read: {error}")))
}

/// The size of an event out of its leaf and the detail after it.
pub(crate) fn event_bytes(row: &Row, leaf: usize) -> Result<usize> {
    let (leaf, detail): (&[u8], &[u8]) = (row.try_get(leaf)?, row.try_get(leaf + 1)?);
    Ok(leaf.len() + detail.len())
}

pub(crate) fn event(row: &Row, leaf: usize) -> Result<Event> {
    Event::from_stored(row.try_get(leaf)?, row.try_get(leaf + 1)?)
        .map_err(|error| Fault::corrupt(format!("an event cannot be read: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_comes_back_and_keeps_its_order() {
        let texts = [
            "",
            "\0",
            "\0\0",
            "\0\u{1}",
            "\u{1}",
            "\u{1}\0",
            "\u{1}\u{1}",
            "\u{1}\u{2}",
            "\u{2}",
            "a",
            "a\0",
        ];
        let stored: Vec<_> = texts.iter().map(|value| text(value)).collect();
        assert!(stored.is_sorted_by(|one, next| one < next), "{stored:?}");
        assert!(stored.iter().all(|value| !value.contains('\0')));
        for (value, stored) in texts.iter().zip(&stored) {
            assert_eq!(plain(stored), *value);
        }
    }
}
