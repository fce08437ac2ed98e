//! Writing what is kept beside rows and events: documents, answers, owed effects, registries, tiles.

use std::collections::{BTreeMap, HashSet};

use model::{Event, Time};
use store::{AnswerChange, Changes, OwedId};

use super::Writing;
use super::columns::{column, writes};
use crate::codec::{self, signed, target_text, text};
use crate::error::Fault;
use crate::pipe::Step;
use crate::query::{execute, rows};
use crate::sql;

/// The number of expired answers that a commit with new ones removes, beside two for each new one: no backlog grows.
const SWEPT: usize = 16;

pub(super) fn write<'s>(writing: &'s Writing<'_>, steps: &mut Vec<Step<'s>>) {
    let Writing { client, changes, .. } = *writing;
    write_documents(writing, steps);
    write_registry(writing, steps);
    write_owed(writing, steps);
    write_tiles(writing, steps);
    erase_salts(writing, steps);
    write_inbox(writing, steps);
    if !changes.answers.is_empty() {
        let most = codec::limit(SWEPT + 2 * changes.answers.len());
        let certain = writing.certain.millis();
        steps.push(Box::pin(async move {
            execute(client, sql::ANSWER_SWEEP, &[&certain, &most]).await.map(drop)
        }));
        let fresh = |answer: &&AnswerChange| writing.known.unanswered.contains(&answer.key);
        let (new, any): (Vec<_>, Vec<_>) = last_answers(changes).into_iter().partition(fresh);
        steps.push(answers(writing, new, true));
        steps.push(answers(writing, any, false));
    }
}

/// The last of each key: it replaces those before.
fn last_answers(changes: &Changes) -> Vec<&AnswerChange> {
    let last: BTreeMap<_, _> = changes.answers.iter().map(|answer| (&answer.key, answer)).collect();
    last.into_values().collect()
}

/// Answers to requests that had none when they were taken: two servers that got the same request meet here.
fn answers<'s>(writing: &'s Writing<'_>, answers: Vec<&'s AnswerChange>, fresh: bool) -> Step<'s> {
    Box::pin(async move {
        if answers.is_empty() {
            return Ok(());
        }
        let subjects: Vec<_> = answers.iter().map(|answer| text(&answer.key.subject)).collect();
        let routes: Vec<_> = answers.iter().map(|answer| text(&answer.key.route)).collect();
        let keys: Vec<_> = answers.iter().map(|answer| text(&answer.key.key)).collect();
        let bodies: Vec<_> = answers.iter().map(|answer| answer.body.as_str()).collect();
        let expiries: Vec<_> = answers.iter().map(|answer| answer.expires_at.millis()).collect();
        let certain = writing.certain.millis();
        let parameters: crate::query::Parameters<'_> =
            &[&subjects, &routes, &keys, &bodies, &expiries, &fresh, &certain];
        if execute(writing.client, sql::ANSWER_SET, parameters).await? < answers.len() as u64 {
            return Err(Fault::Conflict("the same request was answered at the same time".to_owned()));
        }
        Ok(())
    })
}

/// The last of each name stays, and none of what is erased.
fn write_documents<'s>(writing: &'s Writing<'_>, steps: &mut Vec<Step<'s>>) {
    let Writing { client, changes, .. } = *writing;
    let forgotten = changes.forgotten.iter().map(|row| row.id);
    let erased: HashSet<_> = changes.erased.iter().copied().chain(forgotten).collect();
    let kept = changes.documents.iter().filter(|document| !erased.contains(&document.submission));
    let last: BTreeMap<_, _> =
        kept.map(|document| ((document.submission, &document.name), &document.body)).collect();
    if !last.is_empty() {
        let columns = vec![
            column(last.keys().map(|(id, _)| id.0)),
            column(last.keys().map(|(_, name)| text(name))),
            column(last.values().map(|body| body.as_str())),
        ];
        steps.push(writes(client, sql::DOCUMENT_SET, columns));
    }
    if !erased.is_empty() {
        steps.push(writes(client, sql::DOCUMENT_ERASE, vec![column(erased.into_iter().map(|id| id.0))]));
    }
}

/// The last change of each entry is what it comes to.
fn write_registry<'s>(writing: &'s Writing<'_>, steps: &mut Vec<Step<'s>>) {
    let Writing { client, changes, .. } = *writing;
    let last: BTreeMap<_, _> =
        changes.registry.iter().map(|change| (&change.key, change.body.as_ref())).collect();
    let set: Vec<_> = last.iter().filter_map(|(key, body)| Some((*key, (*body)?))).collect();
    if !set.is_empty() {
        let columns = vec![
            column(set.iter().map(|(key, _)| text(&key.kind))),
            column(set.iter().map(|(key, _)| text(&key.name))),
            column(set.iter().map(|(_, body)| body.as_str())),
        ];
        steps.push(writes(client, sql::REGISTRY_SET, columns));
    }
    let removed: Vec<_> = last.iter().filter(|(_, body)| body.is_none()).map(|(key, _)| *key).collect();
    if !removed.is_empty() {
        let columns = vec![
            column(removed.iter().map(|key| text(&key.kind))),
            column(removed.iter().map(|key| text(&key.name))),
        ];
        steps.push(writes(client, sql::REGISTRY_DELETE, columns));
    }
}

fn write_owed<'s>(writing: &'s Writing<'_>, steps: &mut Vec<Step<'s>>) {
    let Writing { client, changes, .. } = *writing;
    let owed = &changes.owed;
    if !owed.is_empty() {
        let columns = vec![
            column(owed.iter().map(|owed| owed.id.submission.0)),
            column(owed.iter().map(|owed| signed(owed.id.revision))),
            column(owed.iter().map(|owed| signed(owed.id.no))),
            column(owed.iter().map(|owed| target_text(&owed.to))),
            column(owed.iter().map(|owed| owed.body.as_str())),
        ];
        steps.push(writes(client, sql::OWED_INSERT, columns));
    }
    let paid: &[OwedId] = &changes.paid;
    if !paid.is_empty() {
        let columns = vec![
            column(paid.iter().map(|id| id.submission.0)),
            column(paid.iter().map(|id| signed(id.revision))),
            column(paid.iter().map(|id| signed(id.no))),
        ];
        steps.push(writes(client, sql::OWED_DELETE, columns));
    }
}

fn write_tiles<'s>(writing: &'s Writing<'_>, steps: &mut Vec<Step<'s>>) {
    let last: BTreeMap<_, _> =
        writing.changes.tiles.iter().map(|tile| ((tile.level, tile.index), &tile.hashes)).collect();
    if last.is_empty() {
        return;
    }
    let columns = vec![
        column(last.keys().map(|(level, _)| i64::from(*level))),
        column(last.keys().map(|(_, index)| signed(*index))),
        column(last.values().map(|hashes| hashes.as_slice())),
    ];
    steps.push(writes(writing.client, sql::TILE_SET, columns));
}

/// Erases, with the documents, what their digests in the events before this commit were salted with.
fn erase_salts<'s>(writing: &'s Writing<'_>, steps: &mut Vec<Step<'s>>) {
    let Writing { client, changes, .. } = *writing;
    let forgotten = changes.forgotten.iter().map(|row| row.id.0);
    let ids: Vec<_> = changes.erased.iter().map(|id| id.0).chain(forgotten).collect();
    if ids.is_empty() {
        return;
    }
    steps.push(Box::pin(async move {
        let (mut batches, mut numbers, mut details) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows(client, sql::EVENT_DETAIL, &[&ids]).await? {
            let (batch, no): (i64, i32) = (row.try_get(0)?, row.try_get(1)?);
            let stripped = Event::without_salts(row.try_get(2)?)
                .map_err(|error| Fault::corrupt(format!("event {no} of {batch} cannot be read: {error}")))?;
            if let Some(detail) = stripped {
                batches.push(batch);
                numbers.push(no);
                details.push(detail);
            }
        }
        if !batches.is_empty() {
            execute(client, sql::EVENT_SET_DETAIL, &[&batches, &numbers, &details]).await?;
        }
        Ok(())
    }));
}

/// Removes what was decided from the inbox and adds what was received. What was decided must still be there: whoever
/// has it locked decides it, and nobody else.
fn write_inbox<'s>(writing: &'s Writing<'_>, steps: &mut Vec<Step<'s>>) {
    let Writing { client, changes, .. } = *writing;
    if !changes.decided.is_empty() {
        steps.push(Box::pin(async move {
            let ids = codec::ids(&changes.decided);
            if execute(client, sql::INBOX_DELETE, &[&ids]).await? < ids.len() as u64 {
                return Err(Fault::Conflict("something of the inbox was decided already".to_owned()));
            }
            Ok(())
        }));
    }
    let received = &changes.received;
    if !received.is_empty() {
        let columns = vec![
            column(received.iter().map(|sent| sent.id.0)),
            column(received.iter().map(|sent| &*sent.submitter)),
            column(received.iter().map(|sent| &*sent.pipeline)),
            column(received.iter().map(|sent| sent.payload.as_str())),
            column(received.iter().map(|sent| sent.key.as_deref())),
            column(received.iter().map(|sent| sent.priority)),
            column(received.iter().map(|sent| sent.not_before.map(Time::millis))),
            column(received.iter().map(|sent| sent.reason.as_deref())),
        ];
        steps.push(writes(client, sql::INBOX_INSERT, columns));
    }
}
