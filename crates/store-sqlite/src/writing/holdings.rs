//! Keys, lanes, holds and limits: what a row holds, waits for or is kept by. Most rows have few of them and cost no
//! statement here.

use rusqlite::Connection;
use store::entries::{LaneEntry, SlotEntry, Stand};

use super::entries::{Change, remove};
use super::lazy::Lazy;
use crate::error::Result;
use crate::sql;

pub(super) fn write(connection: &Connection, changes: &[Change<'_>]) -> Result<()> {
    // All old entries go before any new one comes: a key, a lane or a slot may change hands in one commit.
    remove_old(connection, changes)?;
    insert_new(connection, changes)
}

fn remove_old(connection: &Connection, changes: &[Change<'_>]) -> Result<()> {
    let mut key = Lazy::new(connection, sql::OPEN_KEY_DELETE);
    let mut key_wait = Lazy::new(connection, sql::KEY_WAIT_DELETE);
    let mut past_key = Lazy::new(connection, sql::PAST_KEY_DELETE);
    let mut holder = Lazy::new(connection, sql::LANE_HOLDER_DELETE);
    let mut line = Lazy::new(connection, sql::LANE_LINE_DELETE);
    let mut parked = Lazy::new(connection, sql::PARKED_DELETE);
    let mut slot = Lazy::new(connection, sql::SLOT_DELETE);
    for change in changes {
        let id = change.id();
        if let (Some(open), _) = change.differing(|side| side.entries.key.as_ref()) {
            remove(key.get()?, change, (&open.pipeline, &open.key, id))?;
        }
        if let (Some(open), _) = change.differing(|side| side.entries.key_wait.as_ref()) {
            remove(key_wait.get()?, change, (&open.pipeline, &open.key, id))?;
        }
        if let (Some(past), _) = change.differing(|side| side.entries.past_key.as_ref()) {
            // An older release that wrote the row left none.
            past_key.get()?.execute((&past.pipeline, &past.key, id))?;
        }
        if let (Some(LaneEntry { key, stand }), _) = change.differing(|side| side.entries.lane.as_ref()) {
            let (pipeline, lane) = (&key.pipeline, &key.lane);
            match stand {
                Stand::Holds => remove(holder.get()?, change, (pipeline, lane, id))?,
                Stand::InLine { since, tie } => {
                    remove(line.get()?, change, (pipeline, lane, since.millis(), tie, id))?;
                }
            }
        }
        if let (Some(hold), _) = change.differing(|side| side.entries.parked.as_ref()) {
            remove(parked.get()?, change, (hold, id))?;
        }
        let (slots, _) = change.differing(|side| Some(&side.entries.slots));
        for SlotEntry { limit, no } in slots.into_iter().flatten() {
            remove(slot.get()?, change, (&limit.pipeline, &limit.label, &limit.value, no, id))?;
        }
    }
    Ok(())
}

fn insert_new(connection: &Connection, changes: &[Change<'_>]) -> Result<()> {
    let mut key = Lazy::new(connection, sql::OPEN_KEY_INSERT);
    let mut key_wait = Lazy::new(connection, sql::KEY_WAIT_INSERT);
    let mut past_key = Lazy::new(connection, sql::PAST_KEY_INSERT);
    let mut holder = Lazy::new(connection, sql::LANE_HOLDER_INSERT);
    let mut line = Lazy::new(connection, sql::LANE_LINE_INSERT);
    let mut parked = Lazy::new(connection, sql::PARKED_INSERT);
    let mut slot = Lazy::new(connection, sql::SLOT_INSERT);
    for change in changes {
        let id = change.id();
        if let (_, Some(open)) = change.differing(|side| side.entries.key.as_ref()) {
            key.get()?.execute((&open.pipeline, &open.key, id))?;
        }
        if let (_, Some(open)) = change.differing(|side| side.entries.key_wait.as_ref()) {
            key_wait.get()?.execute((&open.pipeline, &open.key, id))?;
        }
        if let (_, Some(past)) = change.differing(|side| side.entries.past_key.as_ref()) {
            past_key.get()?.execute((&past.pipeline, &past.key, id))?;
        }
        if let (_, Some(LaneEntry { key, stand })) = change.differing(|side| side.entries.lane.as_ref()) {
            let (pipeline, lane) = (&key.pipeline, &key.lane);
            match stand {
                Stand::Holds => holder.get()?.execute((pipeline, lane, id))?,
                Stand::InLine { since, tie } => {
                    line.get()?.execute((pipeline, lane, since.millis(), tie, id))?
                }
            };
        }
        if let (_, Some(hold)) = change.differing(|side| side.entries.parked.as_ref()) {
            parked.get()?.execute((hold, id))?;
        }
        let (_, slots) = change.differing(|side| Some(&side.entries.slots));
        for SlotEntry { limit, no } in slots.into_iter().flatten() {
            slot.get()?.execute((&limit.pipeline, &limit.label, &limit.value, no, id))?;
        }
    }
    Ok(())
}
