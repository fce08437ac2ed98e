//! The index tables: what a row was found under goes, what it is found under comes, the rest is not touched.

use std::collections::BTreeMap;

use model::{Name, Submission};
use rusqlite::{CachedStatement, Connection, Params};
use store::entries::{Place, ReadyEntry};
use store::{Entries, RowChange};

use crate::codec::blob;
use crate::error::{Fault, Result};
use crate::sql;

pub(super) fn write(connection: &Connection, rows: &[RowChange]) -> Result<()> {
    let changes: Vec<Change<'_>> = rows.iter().map(Change::of).collect();
    write_places(connection, &changes)?;
    write_ready(connection, &changes)?;
    write_ready_labels(connection, &changes)?;
    write_timers(connection, &changes)?;
    write_keys(connection, &changes)?;
    write_labels(connection, &changes)?;
    write_parents(connection, &changes)
}

struct Change<'a> {
    before: Option<Side<'a>>,
    after: Side<'a>,
}

struct Side<'a> {
    row: &'a Submission,
    entries: Entries,
}

impl<'a> Side<'a> {
    fn of(row: &'a Submission) -> Self {
        Side { row, entries: Entries::of(row) }
    }

    /// Where the row queues under its labels.
    fn queued_labels(&self) -> Option<(&ReadyEntry, &BTreeMap<Name, Name>)> {
        self.entries.ready.as_ref().map(|ready| (ready, &self.row.labels))
    }
}

impl<'a> Change<'a> {
    fn of(change: &'a RowChange) -> Self {
        Change { before: change.before.as_ref().map(Side::of), after: Side::of(&change.after) }
    }

    /// A part of both sides, if it is not the same on both.
    fn differing<'s, T: PartialEq>(
        &'s self,
        part: impl Fn(&'s Side<'a>) -> Option<T>,
    ) -> (Option<T>, Option<T>) {
        let (before, after) = (self.before.as_ref().and_then(&part), part(&self.after));
        if before == after { (None, None) } else { (before, after) }
    }

    fn id(&self) -> &[u8; 16] {
        blob(&self.after.row.id)
    }

    fn pipeline(&self) -> &str {
        &self.after.row.pipeline
    }
}

/// Removes an entry that is known to be there.
fn remove(delete: &mut CachedStatement<'_>, change: &Change<'_>, entry: impl Params) -> Result<()> {
    match delete.execute(entry)? {
        1 => Ok(()),
        _ => Err(Fault::corrupt(format!("an index lacks an entry of submission {}", change.after.row.id))),
    }
}

fn write_places(connection: &Connection, changes: &[Change<'_>]) -> Result<()> {
    let mut delete = connection.prepare_cached(sql::PLACE_DELETE)?;
    let mut insert = connection.prepare_cached(sql::PLACE_INSERT)?;
    let mut counts: BTreeMap<&Place, i64> = BTreeMap::new();
    for change in changes {
        let (before, after) = change.differing(|side| Some(&side.entries.place));
        if let Some(place) = before {
            remove(&mut delete, change, (&place.pipeline, &place.state, place.status.as_str(), change.id()))?;
            *counts.entry(place).or_default() -= 1;
        }
        if let Some(place) = after {
            insert.execute((&place.pipeline, &place.state, place.status.as_str(), change.id()))?;
            *counts.entry(place).or_default() += 1;
        }
    }
    write_counts(connection, counts)
}

fn write_counts(connection: &Connection, counts: BTreeMap<&Place, i64>) -> Result<()> {
    let mut add = connection.prepare_cached(sql::COUNTER_ADD)?;
    for (place, count) in counts.into_iter().filter(|(_, count)| *count != 0) {
        let values = (&place.pipeline, &place.state, place.status.as_str(), count);
        if add.execute(values)? == 0 {
            connection.prepare_cached(sql::COUNTER_INSERT)?.execute(values)?;
        }
    }
    Ok(())
}

fn write_ready(connection: &Connection, changes: &[Change<'_>]) -> Result<()> {
    let mut delete = connection.prepare_cached(sql::READY_DELETE)?;
    let mut insert = connection.prepare_cached(sql::READY_INSERT)?;
    for change in changes {
        let (before, after) = change.differing(|side| side.entries.ready.as_ref());
        if let Some(ready) = before {
            remove(&mut delete, change, (&ready.task, change.pipeline(), ready.rank, change.id()))?;
        }
        if let Some(ready) = after {
            insert.execute((&ready.task, change.pipeline(), ready.rank, change.id()))?;
        }
    }
    Ok(())
}

fn write_ready_labels(connection: &Connection, changes: &[Change<'_>]) -> Result<()> {
    let mut delete = connection.prepare_cached(sql::READY_LABEL_DELETE)?;
    let mut insert = connection.prepare_cached(sql::READY_LABEL_INSERT)?;
    for change in changes {
        let (before, after) = change.differing(Side::queued_labels);
        if let Some((ready, labels)) = before {
            for (name, value) in labels {
                let entry = (&ready.task, change.pipeline(), name, value, ready.rank, change.id());
                remove(&mut delete, change, entry)?;
            }
        }
        if let Some((ready, labels)) = after {
            for (name, value) in labels {
                insert.execute((&ready.task, change.pipeline(), name, value, ready.rank, change.id()))?;
            }
        }
    }
    Ok(())
}

fn write_timers(connection: &Connection, changes: &[Change<'_>]) -> Result<()> {
    let mut delete = connection.prepare_cached(sql::TIMER_DELETE)?;
    let mut insert = connection.prepare_cached(sql::TIMER_INSERT)?;
    for change in changes {
        let (before, after) = change.differing(|side| side.entries.timer);
        if let Some(at) = before {
            remove(&mut delete, change, (at.millis(), change.id()))?;
        }
        if let Some(at) = after {
            insert.execute((at.millis(), change.id()))?;
        }
    }
    Ok(())
}

/// All old keys go before any new one comes: a key may change hands in one commit.
fn write_keys(connection: &Connection, changes: &[Change<'_>]) -> Result<()> {
    let mut delete = connection.prepare_cached(sql::OPEN_KEY_DELETE)?;
    let mut insert = connection.prepare_cached(sql::OPEN_KEY_INSERT)?;
    for change in changes {
        if let (Some(open), _) = change.differing(|side| side.entries.key.as_ref()) {
            remove(&mut delete, change, (&open.pipeline, &open.key, change.id()))?;
        }
    }
    for change in changes {
        if let (_, Some(open)) = change.differing(|side| side.entries.key.as_ref()) {
            insert.execute((&open.pipeline, &open.key, change.id()))?;
        }
    }
    Ok(())
}

fn write_labels(connection: &Connection, changes: &[Change<'_>]) -> Result<()> {
    let mut delete = connection.prepare_cached(sql::LABEL_DELETE)?;
    let mut insert = connection.prepare_cached(sql::LABEL_INSERT)?;
    for change in changes {
        let (before, after) = change.differing(|side| Some(&side.row.labels));
        for (name, value) in before.into_iter().flatten() {
            remove(&mut delete, change, (name, value, change.id()))?;
        }
        for (name, value) in after.into_iter().flatten() {
            insert.execute((name, value, change.id()))?;
        }
    }
    Ok(())
}

/// A parent is for life.
fn write_parents(connection: &Connection, changes: &[Change<'_>]) -> Result<()> {
    let mut insert = connection.prepare_cached(sql::PARENT_INSERT)?;
    for change in changes.iter().filter(|change| change.before.is_none()) {
        if let Some(parent) = &change.after.row.parent {
            insert.execute((blob(parent), change.id()))?;
        }
    }
    Ok(())
}
