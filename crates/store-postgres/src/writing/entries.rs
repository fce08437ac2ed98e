//! The index tables: what a row was found under goes, what it is found under comes, the rest is not touched.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::{Name, Submission};
use store::entries::{Place, ReadyEntry};
use store::{DeadKey, Entries, RowChange};
use uuid::Uuid;

use super::columns::{Table, column, columns, writes};
use super::{Writing, holdings};
use crate::codec::text;
use crate::pipe::Step;
use crate::sql;

pub(super) type Text<'a> = Cow<'a, str>;

pub(super) fn write<'s>(writing: &'s Writing<'_>, steps: &mut Vec<Step<'s>>) {
    let changes = changes(writing);
    let client = writing.client;
    places().write(client, sides(&changes, |side, id| place(side, id).into_iter().collect()), steps);
    ready().write(client, sides(&changes, |side, id| queued(side, id).into_iter().collect()), steps);
    ready_labels().write(client, sides(&changes, queued_labels), steps);
    timers().write(client, sides(&changes, |side, id| timer(side, id).into_iter().collect()), steps);
    late().write(client, sides(&changes, lateness), steps);
    labels().write(client, sides(&changes, labelled), steps);
    parents().write(client, sides(&changes, |side, id| parent(side, id).into_iter().collect()), steps);
    holdings::write(writing, &changes, steps);
}

/// Counts rows by pipeline and state, last of all: writers that share a slot of counters wait for each other here.
pub(super) fn count<'s>(writing: &'s Writing<'_>, steps: &mut Vec<Step<'s>>) {
    let changes = changes(writing);
    count_dead(writing, &changes, steps);
    let mut counts: BTreeMap<(&str, &str, &str), i64> = BTreeMap::new();
    fn of(side: &Side<'_>) -> Place {
        side.entries.place.clone()
    }
    let places: Vec<_> = changes
        .iter()
        .map(|change| (change.before.as_ref().map(of), change.after.as_ref().map(of)))
        .filter(|(before, after)| before != after)
        .collect();
    for (before, after) in &places {
        for (place, step) in [(before, -1), (after, 1)] {
            if let Some(place) = place {
                let key = (&*place.pipeline, &*place.state, place.standing());
                *counts.entry(key).or_default() += step;
            }
        }
    }
    counts.retain(|_, count| *count != 0);
    if counts.is_empty() {
        return;
    }
    // Owned, because the places do not outlive this function.
    let text_column = |part: fn(&(&str, &str, &str)) -> String| column(counts.keys().map(part));
    let columns = vec![
        text_column(|place| text(place.0).into_owned()),
        text_column(|place| text(place.1).into_owned()),
        text_column(|place| place.2.to_owned()),
        column(counts.values().copied()),
    ];
    steps.push(writes(writing.client, sql::COUNTER_ADD, columns));
}

/// Counts dead letters by their errors, in the order of their keys.
fn count_dead<'s>(writing: &'s Writing<'_>, changes: &[Change<'_>], steps: &mut Vec<Step<'s>>) {
    let mut counts: BTreeMap<DeadKey, i64> = BTreeMap::new();
    for change in changes {
        let of = |side: &Option<Side<'_>>| side.as_ref().and_then(|side| side.entries.dead.clone());
        let (before, after) = (of(&change.before), of(&change.after));
        if before != after {
            before.into_iter().for_each(|key| *counts.entry(key).or_default() -= 1);
            after.into_iter().for_each(|key| *counts.entry(key).or_default() += 1);
        }
    }
    counts.retain(|_, count| *count != 0);
    if counts.is_empty() {
        return;
    }
    let fewer = counts.iter().filter(|(_, count)| **count < 0).map(|(key, _)| key.clone());
    writing.fewer_dead.borrow_mut().extend(fewer);
    let text_column =
        |part: fn(&DeadKey) -> &Name| column(counts.keys().map(|key| text(part(key)).into_owned()));
    let columns = vec![
        text_column(|key| &key.pipeline),
        text_column(|key| &key.state),
        text_column(|key| &key.code),
        text_column(|key| &key.pattern),
        column(counts.values().copied()),
    ];
    steps.push(writes(writing.client, sql::DEAD_ADD, columns));
}

pub(super) struct Change<'a> {
    id: Uuid,
    /// `None`: a new row.
    before: Option<Side<'a>>,
    /// `None`: forgotten.
    after: Option<Side<'a>>,
}

pub(super) struct Side<'a> {
    pub(super) row: &'a Submission,
    pub(super) entries: Entries,
}

impl<'a> Side<'a> {
    fn of(row: &'a Submission) -> Self {
        Side { row, entries: Entries::of(row) }
    }
}

fn changes<'s>(writing: &'s Writing<'_>) -> Vec<Change<'s>> {
    let rows = writing.changes.rows.iter().map(|RowChange { before, after }| Change {
        id: after.id.0,
        before: before.as_deref().map(Side::of),
        after: Some(Side::of(after)),
    });
    let forgotten = writing.changes.forgotten.iter();
    let gone = forgotten.map(|row| Change { id: row.id.0, before: Some(Side::of(row)), after: None });
    rows.chain(gone).collect()
}

/// The entries of one kind that go, and those that come. What is the same on both sides stays.
pub(super) fn sides<'a, T: PartialEq>(
    changes: &[Change<'a>],
    part: impl Fn(&Side<'a>, Uuid) -> Vec<T>,
) -> (Vec<T>, Vec<T>) {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for change in changes {
        let of =
            |side: &Option<Side<'a>>| side.as_ref().map(|side| part(side, change.id)).unwrap_or_default();
        let (before, after) = (of(&change.before), of(&change.after));
        if before != after {
            old.extend(before);
            new.extend(after);
        }
    }
    (old, new)
}

type PlaceRow = (String, String, &'static str, Uuid);

fn place(side: &Side<'_>, id: Uuid) -> Option<PlaceRow> {
    let place = &side.entries.place;
    Some((text(&place.pipeline).into_owned(), text(&place.state).into_owned(), place.standing(), id))
}

fn places<'a>() -> Table<'a, PlaceRow> {
    Table { delete: sql::PLACE_DELETE, insert: sql::PLACE_INSERT, columns: |rows| columns!(rows; 0, 1, 2, 3) }
}

type ReadyRow = (String, String, i64, Uuid);

fn queued(side: &Side<'_>, id: Uuid) -> Option<ReadyRow> {
    let ReadyEntry { task, rank } = side.entries.ready.as_ref()?;
    Some((text(task).into_owned(), text(&side.row.pipeline).into_owned(), *rank, id))
}

fn ready<'a>() -> Table<'a, ReadyRow> {
    Table { delete: sql::READY_DELETE, insert: sql::READY_INSERT, columns: |rows| columns!(rows; 0, 1, 2, 3) }
}

type ReadyLabelRow<'a> = (String, String, Text<'a>, Text<'a>, i64, Uuid);

fn queued_labels<'a>(side: &Side<'a>, id: Uuid) -> Vec<ReadyLabelRow<'a>> {
    let Some((task, pipeline, rank, _)) = queued(side, id) else { return Vec::new() };
    let row = |(name, value): (&'a Name, &'a Name)| {
        (task.clone(), pipeline.clone(), text(name), text(value), rank, id)
    };
    side.row.labels.iter().map(row).collect()
}

fn ready_labels<'a>() -> Table<'a, ReadyLabelRow<'a>> {
    let columns = |rows: &[ReadyLabelRow<'a>]| columns!(rows; 0, 1, 2, 3, 4, 5);
    Table { delete: sql::READY_LABEL_DELETE, insert: sql::READY_LABEL_INSERT, columns }
}

type TimerRow = (bool, i64, Uuid);

fn timer(side: &Side<'_>, id: Uuid) -> Option<TimerRow> {
    side.entries.timer.map(|timer| (timer.idle, timer.at.millis(), id))
}

fn timers<'a>() -> Table<'a, TimerRow> {
    Table { delete: sql::TIMER_DELETE, insert: sql::TIMER_INSERT, columns: |rows| columns!(rows; 0, 1, 2) }
}

type LateRow = (String, i64, Uuid);

fn lateness(side: &Side<'_>, id: Uuid) -> Vec<LateRow> {
    let lists = side.entries.by_time();
    lists.map(|late| (text(&late.pipeline).into_owned(), late.at.millis(), id)).collect()
}

fn late<'a>() -> Table<'a, LateRow> {
    Table { delete: sql::LATE_DELETE, insert: sql::LATE_INSERT, columns: |rows| columns!(rows; 0, 1, 2) }
}

type LabelRow<'a> = (Text<'a>, Text<'a>, Uuid);

fn labelled<'a>(side: &Side<'a>, id: Uuid) -> Vec<LabelRow<'a>> {
    side.row.labels.iter().map(|(name, value)| (text(name), text(value), id)).collect()
}

fn labels<'a>() -> Table<'a, LabelRow<'a>> {
    let columns = |rows: &[LabelRow<'a>]| columns!(rows; 0, 1, 2);
    Table { delete: sql::LABEL_DELETE, insert: sql::LABEL_INSERT, columns }
}

type ParentRow = (Uuid, Uuid);

fn parent(side: &Side<'_>, id: Uuid) -> Option<ParentRow> {
    side.row.parent.map(|parent| (parent.0, id))
}

fn parents<'a>() -> Table<'a, ParentRow> {
    Table { delete: sql::PARENT_DELETE, insert: sql::PARENT_INSERT, columns: |rows| columns!(rows; 0, 1) }
}
