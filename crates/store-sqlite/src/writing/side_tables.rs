//! Writing what is kept beside rows and events: documents, answers, owed effects, registries, tiles.

use model::Time;
use rusqlite::Connection;
use store::{AnswerChange, Changes, DocumentChange, Owed, OwedId, RegistryChange, Tile};

use crate::codec::{blob, limit, signed, target_text};
use crate::error::{Fault, Result};
use crate::sql;

/// The number of expired answers a commit removes, beside two for each new one: a few at a time, and no backlog.
const SWEPT: usize = 16;

pub(super) fn write(connection: &Connection, changes: &Changes, certain: Time) -> Result<()> {
    write_documents(connection, &changes.documents)?;
    sweep_answers(connection, certain, SWEPT + 2 * changes.answers.len())?;
    write_answers(connection, &changes.answers)?;
    write_owed(connection, &changes.owed)?;
    write_paid(connection, &changes.paid)?;
    write_inbox(connection, changes)?;
    write_registry(connection, &changes.registry)?;
    write_tiles(connection, &changes.tiles)
}

fn write_documents(connection: &Connection, documents: &[DocumentChange]) -> Result<()> {
    let mut set = connection.prepare_cached(sql::DOCUMENT_SET)?;
    for DocumentChange { submission, name, body } in documents {
        set.execute((blob(submission), name, body.as_str()))?;
    }
    Ok(())
}

fn sweep_answers(connection: &Connection, certain: Time, count: usize) -> Result<()> {
    connection.prepare_cached(sql::ANSWER_SWEEP)?.execute((certain.millis(), limit(count)))?;
    Ok(())
}

fn write_answers(connection: &Connection, answers: &[AnswerChange]) -> Result<()> {
    let mut set = connection.prepare_cached(sql::ANSWER_SET)?;
    for AnswerChange { key, body, expires_at } in answers {
        set.execute((&key.subject, &key.route, &key.key, body.as_str(), expires_at.millis()))?;
    }
    Ok(())
}

fn write_owed(connection: &Connection, owed: &[Owed]) -> Result<()> {
    let mut insert = connection.prepare_cached(sql::OWED_INSERT)?;
    for Owed { id, to, body } in owed {
        let target = target_text(to);
        insert.execute((blob(&id.submission), signed(id.revision), signed(id.no), target, body.as_str()))?;
    }
    Ok(())
}

fn write_paid(connection: &Connection, paid: &[OwedId]) -> Result<()> {
    let mut delete = connection.prepare_cached(sql::OWED_DELETE)?;
    for OwedId { submission, revision, no } in paid {
        delete.execute((blob(submission), signed(*revision), signed(*no)))?;
    }
    Ok(())
}

fn write_inbox(connection: &Connection, changes: &Changes) -> Result<()> {
    if changes.received.is_empty() && changes.decided.is_empty() {
        return Ok(());
    }
    let mut delete = connection.prepare_cached(sql::INBOX_DELETE)?;
    for id in &changes.decided {
        if delete.execute([blob(id)])? == 0 {
            return Err(Fault::Conflict(format!("what was promised the id {id} was decided already")));
        }
    }
    let mut insert = connection.prepare_cached(sql::INBOX_INSERT)?;
    for received in &changes.received {
        insert.execute((
            blob(&received.id),
            &received.submitter,
            &received.pipeline,
            &received.payload,
            &received.key,
            received.priority,
            received.not_before.map(Time::millis),
            &received.reason,
        ))?;
    }
    Ok(())
}

/// Nobody else has written since the take: what was taken of the registry, and what is relied on, still stands.
fn write_registry(connection: &Connection, registry: &[RegistryChange]) -> Result<()> {
    for RegistryChange { key, body } in registry {
        match body {
            Some(body) => connection.prepare_cached(sql::REGISTRY_SET)?.execute((
                &key.kind,
                &key.name,
                body.as_str(),
            ))?,
            None => connection.prepare_cached(sql::REGISTRY_DELETE)?.execute((&key.kind, &key.name))?,
        };
    }
    Ok(())
}

fn write_tiles(connection: &Connection, tiles: &[Tile]) -> Result<()> {
    for Tile { level, index, hashes } in tiles {
        connection.prepare_cached(sql::TILE_SET)?.execute((level, signed(*index), hashes))?;
    }
    Ok(())
}
