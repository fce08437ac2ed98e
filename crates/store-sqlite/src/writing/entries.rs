//! The index tables: what a row was found under goes, what it is found under comes, the rest is not touched.

use std::collections::BTreeMap;

use model::{Name, Submission};
use rusqlite::{CachedStatement, Connection, Params};
use store::entries::{Place, ReadyEntry};
use store::{Changes, DeadKey, Entries, LateEntry, RowChange, TimerEntry};

use super::holdings;
use super::lazy::Lazy;
use crate::codec::blob;
use crate::error::{Fault, Result};
use crate::sql;

pub(super) fn write(connection: &Connection, changes: &Changes) -> Result<()> {
    let forgotten = changes.forgotten.iter().map(Change::gone);
    let changes: Vec<Change<'_>> = changes.rows.iter().map(Change::of).chain(forgotten).collect();
    write_places(connection, &changes)?;
    write_ready(connection, &changes)?;
    write_ready_labels(connection, &changes)?;
    write_timers(connection, &changes)?;
    write_late(connection, &changes)?;
    write_dead(connection, &changes)?;
    holdings::write(connection, &changes)?;
    write_labels(connection, &changes)?;
    write_parents(connection, &changes)
}

pub(super) struct Change<'a> {
    row: &'a Submission,
    /// `None`: a new row.
    before: Option<Side<'a>>,
    /// `None`: forgotten.
    after: Option<Side<'a>>,
}

pub(super) struct Side<'a> {
    row: &'a Submission,
    pub(super) entries: Entries,
}

impl<'a> Side<'a> {
    fn of(row: &'a Submission) -> Self {
        Side { row, entries: Entries::of(row) }
    }

    /// Returns the row's place in the queue, and the labels under which it queues.
    fn queued_labels(&self) -> Option<(&ReadyEntry, &BTreeMap<Name, Name>)> {
        self.entries.ready.as_ref().map(|ready| (ready, &self.row.labels))
    }
}

impl<'a> Change<'a> {
    fn of(change: &'a RowChange) -> Self {
        let (before, after) = (change.before.as_deref().map(Side::of), Some(Side::of(&change.after)));
        Change { row: &change.after, before, after }
    }

    fn gone(row: &'a Submission) -> Self {
        Change { row, before: Some(Side::of(row)), after: None }
    }

    /// A part of both sides, if it is not the same on both.
    pub(super) fn differing<'s, T: PartialEq>(
        &'s self,
        part: impl Fn(&'s Side<'a>) -> Option<T>,
    ) -> (Option<T>, Option<T>) {
        let (before, after) = (self.before.as_ref().and_then(&part), self.after.as_ref().and_then(&part));
        if before == after { (None, None) } else { (before, after) }
    }

    pub(super) fn id(&self) -> &[u8; 16] {
        blob(&self.row.id)
    }

    fn pipeline(&self) -> &str {
        &self.row.pipeline
    }
}

/// Removes an entry that is known to be there.
pub(super) fn remove(
    delete: &mut CachedStatement<'_>,
    change: &Change<'_>,
    entry: impl Params,
) -> Result<()> {
    match delete.execute(entry)? {
        1 => Ok(()),
        _ => Err(Fault::corrupt(format!("an index lacks an entry of submission {}", change.row.id))),
    }
}

fn write_places(connection: &Connection, changes: &[Change<'_>]) -> Result<()> {
    let mut delete = connection.prepare_cached(sql::PLACE_DELETE)?;
    let mut insert = connection.prepare_cached(sql::PLACE_INSERT)?;
    let mut counts: BTreeMap<&Place, i64> = BTreeMap::new();
    for change in changes {
        let (before, after) = change.differing(|side| Some(&side.entries.place));
        if let Some(place) = before {
            remove(&mut delete, change, (&place.pipeline, &place.state, place.standing(), change.id()))?;
            *counts.entry(place).or_default() -= 1;
        }
        if let Some(place) = after {
            insert.execute((&place.pipeline, &place.state, place.standing(), change.id()))?;
            *counts.entry(place).or_default() += 1;
        }
    }
    write_counts(connection, counts)
}

fn write_counts(connection: &Connection, counts: BTreeMap<&Place, i64>) -> Result<()> {
    let mut add = connection.prepare_cached(sql::COUNTER_ADD)?;
    for (place, count) in counts.into_iter().filter(|(_, count)| *count != 0) {
        let values = (&place.pipeline, &place.state, place.standing(), count);
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
        if let Some(TimerEntry { idle, at }) = before {
            remove(&mut delete, change, (idle, at.millis(), change.id()))?;
        }
        if let Some(TimerEntry { idle, at }) = after {
            insert.execute((idle, at.millis(), change.id()))?;
        }
    }
    Ok(())
}

fn write_late(connection: &Connection, changes: &[Change<'_>]) -> Result<()> {
    let mut delete = Lazy::new(connection, sql::LATE_DELETE);
    let mut insert = Lazy::new(connection, sql::LATE_INSERT);
    for change in changes {
        let (before, after) = change.differing(|side| Some(side.entries.by_time().collect::<Vec<_>>()));
        for LateEntry { pipeline, at } in before.into_iter().flatten() {
            remove(delete.get()?, change, (pipeline, at.millis(), change.id()))?;
        }
        for LateEntry { pipeline, at } in after.into_iter().flatten() {
            insert.get()?.execute((pipeline, at.millis(), change.id()))?;
        }
    }
    Ok(())
}

fn write_dead(connection: &Connection, changes: &[Change<'_>]) -> Result<()> {
    let mut counts: BTreeMap<&DeadKey, i64> = BTreeMap::new();
    for change in changes {
        let (before, after) = change.differing(|side| side.entries.dead.as_ref());
        before.into_iter().for_each(|key| *counts.entry(key).or_default() -= 1);
        after.into_iter().for_each(|key| *counts.entry(key).or_default() += 1);
    }
    let mut add = Lazy::new(connection, sql::DEAD_ADD);
    let mut clear = Lazy::new(connection, sql::DEAD_CLEAR);
    for (key, count) in counts.into_iter().filter(|(_, count)| *count != 0) {
        let DeadKey { pipeline, state, code, pattern } = key;
        add.get()?.execute((pipeline, state, code, pattern, count))?;
        if count < 0 {
            clear.get()?.execute((pipeline, state, code, pattern))?;
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

/// A parent is for life: it is written with a new row and goes with a forgotten one.
fn write_parents(connection: &Connection, changes: &[Change<'_>]) -> Result<()> {
    let mut insert = connection.prepare_cached(sql::PARENT_INSERT)?;
    for change in changes {
        let Some(parent) = &change.row.parent else { continue };
        if change.before.is_none() {
            insert.execute((blob(parent), change.id()))?;
        } else if change.after.is_none() {
            let mut delete = connection.prepare_cached(sql::PARENT_DELETE)?;
            remove(&mut delete, change, (blob(parent), change.id()))?;
        }
    }
    Ok(())
}
