//! Reading everything a take names.

use std::collections::HashMap;

use model::{SubmissionId, Time};
use rusqlite::{Connection, OptionalExtension};
use store::{Owed, OwedId, Stored, Take, Taken};

use crate::codec;
use crate::error::Result;
use crate::ready::Dealer;
use crate::rows::Rows;
use crate::sql;
use crate::writing::Tip;

/// What was read, and what writing needs to know of it.
pub(crate) struct Reading {
    pub(crate) taken: Taken,
    pub(crate) tips: HashMap<SubmissionId, Tip>,
}

pub(crate) fn read(connection: &Connection, take: &Take<'_>, now: Time) -> Result<Reading> {
    let mut taken = Taken { now, ..Taken::default() };
    read_holders(connection, take, &mut taken)?;
    read_answers(connection, take, &mut taken)?;
    read_registry(connection, take, &mut taken)?;
    read_due(connection, take, &mut taken)?;
    read_owed(connection, take, &mut taken)?;
    let mut dealer = Dealer::new(connection);
    for ready in &take.ready {
        taken.ready.push(dealer.deal(ready)?);
    }
    let tips = read_rows(connection, take, &mut taken)?;
    Ok(Reading { taken, tips })
}

fn read_holders(connection: &Connection, take: &Take<'_>, taken: &mut Taken) -> Result<()> {
    if take.keys.is_empty() {
        return Ok(());
    }
    let mut holder = connection.prepare_cached(sql::OPEN_KEY_HOLDER)?;
    for key in &take.keys {
        if let Some(id) = holder.query_row((&key.pipeline, &key.key), |row| codec::id(row, 0)).optional()? {
            taken.holders.insert(key.clone(), id);
        }
    }
    Ok(())
}

fn read_answers(connection: &Connection, take: &Take<'_>, taken: &mut Taken) -> Result<()> {
    if take.requests.is_empty() {
        return Ok(());
    }
    let mut answer = connection.prepare_cached(sql::ANSWER_GET)?;
    for request in &take.requests {
        let key = (&request.subject, &request.route, &request.key, taken.now.millis());
        let mut rows = answer.query(key)?;
        if let Some(row) = rows.next()? {
            taken.answers.insert(request.clone(), codec::json(row, 0)?);
        }
    }
    Ok(())
}

fn read_registry(connection: &Connection, take: &Take<'_>, taken: &mut Taken) -> Result<()> {
    if take.registry.is_empty() {
        return Ok(());
    }
    let mut entry = connection.prepare_cached(sql::REGISTRY_GET)?;
    for key in &take.registry {
        let mut rows = entry.query((&key.kind, &key.name))?;
        if let Some(row) = rows.next()? {
            taken.registry.insert(key.clone(), codec::json(row, 0)?);
        }
    }
    Ok(())
}

fn read_due(connection: &Connection, take: &Take<'_>, taken: &mut Taken) -> Result<()> {
    let mut timers = connection.prepare_cached(sql::TIMER_FIRST)?;
    let mut rows = timers.query([codec::limit(take.due.saturating_add(1))])?;
    while let Some(row) = rows.next()? {
        let at = Time::from_millis(row.get(0)?);
        if at > taken.now || taken.due.len() == take.due {
            taken.next_timer = Some(at);
            break;
        }
        taken.due.push(codec::id(row, 1)?);
    }
    Ok(())
}

fn read_owed(connection: &Connection, take: &Take<'_>, taken: &mut Taken) -> Result<()> {
    if take.owed == 0 {
        return Ok(());
    }
    let mut owed = connection.prepare_cached(sql::OWED_FIRST)?;
    let mut rows = owed.query([codec::limit(take.owed)])?;
    while let Some(row) = rows.next()? {
        let id =
            OwedId { submission: codec::id(row, 0)?, revision: codec::unsigned(row, 1)?, no: row.get(2)? };
        taken.owed.push(Owed { id, body: codec::json(row, 3)? });
    }
    Ok(())
}

/// The rows of everything named so far. Those that go to a worker come first: they always bring their documents.
fn read_rows(
    connection: &Connection,
    take: &Take<'_>,
    taken: &mut Taken,
) -> Result<HashMap<SubmissionId, Tip>> {
    let mut rows = Rows::new(connection)?;
    let mut tips = HashMap::new();
    for &id in taken.ready.iter().flatten() {
        let found = rows.indexed(id)?;
        tips.insert(id, found.tip());
        let documents = Some(rows.documents(id)?);
        taken.rows.insert(id, Stored { row: found.row, documents });
    }
    for &id in take.ids.iter().chain(taken.holders.values()).chain(&taken.due) {
        if taken.rows.contains_key(&id) {
            continue;
        }
        let Some(found) = rows.get(id)? else { continue };
        tips.insert(id, found.tip());
        let documents = if (take.documents)(&found.row) { Some(rows.documents(id)?) } else { None };
        taken.rows.insert(id, Stored { row: found.row, documents });
    }
    Ok(tips)
}
