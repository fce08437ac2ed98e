//! Writing rows, whose versions were checked under their locks.

use model::SubmissionId;

use super::Writing;
use super::columns::{column, writes, writes_all};
use super::events::Log;
use crate::codec::{Tip, row_text, signed};
use crate::pipe::Step;
use crate::sql;

pub(super) fn write<'s>(writing: &'s Writing<'_>, log: &'s Log, steps: &mut Vec<Step<'s>>) {
    insert(writing, log, steps);
    update(writing, log, steps);
    forget(writing, log, steps);
    link(writing, log, steps);
}

fn insert<'s>(writing: &'s Writing<'_>, log: &'s Log, steps: &mut Vec<Step<'s>>) {
    let new: Vec<_> = writing.changes.rows.iter().filter(|change| change.before.is_none()).collect();
    if new.is_empty() {
        return;
    }
    let newest = |id: SubmissionId| log.newest.get(&id).map(|(no, _)| *no);
    let tips: Vec<_> =
        new.iter().map(|change| (newest(change.after.id), writing.tip(change.after.id))).collect();
    let columns = vec![
        column(new.iter().map(|change| change.after.id.0)),
        column(tips.iter().map(|(newest, _)| newest.is_some())),
        column(tips.iter().map(|(_, tip)| tip.batch)),
        column(tips.iter().map(|(newest, tip)| newest.unwrap_or(tip.no))),
        column(new.iter().map(|change| row_text(&change.after))),
    ];
    steps.push(writes(writing.client, sql::SUBMISSION_INSERT, columns));
}

fn update<'s>(writing: &'s Writing<'_>, log: &'s Log, steps: &mut Vec<Step<'s>>) {
    let changed: Vec<_> = writing.changes.rows.iter().filter(|change| change.before.is_some()).collect();
    if changed.is_empty() {
        return;
    }
    let columns = vec![
        column(changed.iter().map(|change| change.after.id.0)),
        column(changed.iter().map(|change| log.newest.get(&change.after.id).map(|(no, _)| *no))),
        column(changed.iter().map(|change| row_text(&change.after))),
    ];
    steps.push(writes_all(writing.client, sql::SUBMISSION_UPDATE, columns, changed.len()));
}

/// Removes rows and notes where their events end.
fn forget<'s>(writing: &'s Writing<'_>, log: &'s Log, steps: &mut Vec<Step<'s>>) {
    let forgotten = &writing.changes.forgotten;
    if forgotten.is_empty() {
        return;
    }
    let ids = vec![column(forgotten.iter().map(|row| row.id.0))];
    steps.push(writes_all(writing.client, sql::SUBMISSION_DELETE, ids, forgotten.len()));
    let ends = forgotten.iter().map(|row| row.id).filter(|id| !log.newest.contains_key(id));
    let ends: Vec<_> = ends.map(|id| (id, writing.tip(id))).filter(|(_, tip)| tip.batch > 0).collect();
    tips(
        writing,
        ends.iter().map(|(id, Tip { batch, no, revision })| (*id, Some(*batch), *no, *revision)),
        steps,
    );
}

/// Events that came without a change of their row, or without a row.
fn link<'s>(writing: &'s Writing<'_>, log: &'s Log, steps: &mut Vec<Step<'s>>) {
    let changes = writing.changes;
    let written: std::collections::HashSet<_> = changes.rows.iter().map(|change| change.after.id).collect();
    let gone: std::collections::HashSet<_> = changes.forgotten.iter().map(|row| row.id).collect();
    let rest = log.newest.iter().filter(|(id, _)| !written.contains(id));
    let (linked, loose): (Vec<_>, Vec<_>) =
        rest.partition(|(id, _)| writing.has_row(**id) && !gone.contains(id));
    if !linked.is_empty() {
        let columns =
            vec![column(linked.iter().map(|(id, _)| id.0)), column(linked.iter().map(|(_, (no, _))| *no))];
        steps.push(writes_all(writing.client, sql::SUBMISSION_LINK, columns, linked.len()));
    }
    tips(writing, loose.iter().map(|(id, (no, revision))| (**id, None, *no, *revision)), steps);
}

fn tips<'s>(
    writing: &'s Writing<'_>,
    ends: impl Iterator<Item = (SubmissionId, Option<i64>, i32, u64)>,
    steps: &mut Vec<Step<'s>>,
) {
    let ends: Vec<_> = ends.collect();
    if ends.is_empty() {
        return;
    }
    let columns = vec![
        column(ends.iter().map(|end| end.0.0)),
        column(ends.iter().map(|end| end.1)),
        column(ends.iter().map(|end| end.2)),
        column(ends.iter().map(|end| signed(end.3))),
    ];
    steps.push(writes(writing.client, sql::TIP_SET, columns));
}
