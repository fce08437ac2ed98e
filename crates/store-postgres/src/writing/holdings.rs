//! Keys, lanes, slots and holds: what a row holds, waits for or is kept by. Most rows have few of them.
//!
//! All old entries of a table go before any new one comes: what is held may change hands in one commit. Two rows that hold
//! one thing meet at its unique index.

use store::entries::{LaneEntry, Stand};
use store::{OpenKey, SlotEntry};
use uuid::Uuid;

use super::Writing;
use super::columns::{Table, columns};
use super::entries::{Change, Side, sides};
use crate::codec::text;
use crate::pipe::Step;
use crate::sql;

/// A pipeline, the name of what is held or waited for, and by whom.
type Holding = (String, String, Uuid);
type InLine = (String, String, i64, String, Uuid);
type SlotRow = (String, String, String, i32, Uuid);

pub(super) fn write<'s>(writing: &'s Writing<'_>, changes: &[Change<'s>], steps: &mut Vec<Step<'s>>) {
    let client = writing.client;
    let key_waits = |side: &Side<'_>, id| side.entries.key_wait.iter().map(|key| held(key, id)).collect();
    table(sql::KEY_WAIT_DELETE, sql::KEY_WAIT_INSERT).write(client, sides(changes, key_waits), steps);
    let past_keys = |side: &Side<'_>, id| side.entries.past_key.iter().map(|key| held(key, id)).collect();
    // An older release at work beside this one leaves none.
    table(sql::PAST_KEY_DELETE, sql::PAST_KEY_INSERT).write_what_is_there(
        client,
        sides(changes, past_keys),
        steps,
    );
    let lines = |side: &Side<'_>, id| side.entries.lane.iter().filter_map(|lane| in_line(lane, id)).collect();
    let columns = |rows: &[InLine]| columns!(rows; 0, 1, 2, 3, 4);
    Table { delete: sql::LANE_LINE_DELETE, insert: sql::LANE_LINE_INSERT, columns }.write(
        client,
        sides(changes, lines),
        steps,
    );
    let parked = |side: &Side<'_>, id: Uuid| {
        side.entries.parked.iter().map(|name| (text(name).into_owned(), id)).collect::<Vec<_>>()
    };
    let columns = |rows: &[(String, Uuid)]| columns!(rows; 0, 1);
    Table { delete: sql::PARKED_DELETE, insert: sql::PARKED_INSERT, columns }.write(
        client,
        sides(changes, parked),
        steps,
    );

    let keys = |side: &Side<'_>, id| side.entries.key.iter().map(|key| held(key, id)).collect();
    table(sql::OPEN_KEY_DELETE, sql::OPEN_KEY_INSERT).write(client, sides(changes, keys), steps);
    let lanes = |side: &Side<'_>, id| side.entries.lane.iter().filter_map(|lane| holder(lane, id)).collect();
    table(sql::LANE_HOLDER_DELETE, sql::LANE_HOLDER_INSERT).write(client, sides(changes, lanes), steps);
    let slots = |side: &Side<'_>, id| side.entries.slots.iter().map(|entry| slot(entry, id)).collect();
    let columns = |rows: &[SlotRow]| columns!(rows; 0, 1, 2, 3, 4);
    Table { delete: sql::SLOT_DELETE, insert: sql::SLOT_INSERT, columns }.write(
        client,
        sides(changes, slots),
        steps,
    );
}

fn table<'a>(delete: &'static str, insert: &'static str) -> Table<'a, Holding> {
    Table { delete, insert, columns: |rows| columns!(rows; 0, 1, 2) }
}

fn held(key: &OpenKey, id: Uuid) -> Holding {
    (text(&key.pipeline).into_owned(), text(&key.key).into_owned(), id)
}

fn holder(lane: &LaneEntry, id: Uuid) -> Option<Holding> {
    let LaneEntry { key, stand } = lane;
    (*stand == Stand::Holds).then(|| (text(&key.pipeline).into_owned(), text(&key.lane).into_owned(), id))
}

fn in_line(lane: &LaneEntry, id: Uuid) -> Option<InLine> {
    let LaneEntry { key, stand: Stand::InLine { since, tie } } = lane else { return None };
    let (pipeline, lane) = (text(&key.pipeline).into_owned(), text(&key.lane).into_owned());
    Some((pipeline, lane, since.millis(), text(tie).into_owned(), id))
}

fn slot(entry: &SlotEntry, id: Uuid) -> SlotRow {
    let limit = &entry.limit;
    let [pipeline, label, value] =
        [&limit.pipeline, &limit.label, &limit.value].map(|name| text(name).into_owned());
    (pipeline, label, value, entry.no.cast_signed(), id)
}
