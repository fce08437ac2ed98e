//! Appending events, each linked to the one before it of the same submission.

use std::cell::RefCell;
use std::collections::HashMap;

use model::{Name, Submission, SubmissionId};
use store::Record;

use super::Writing;
use super::columns::{column, writes};
use crate::codec::{self, Tip, signed, text};
use crate::error::{Fault, Result};
use crate::pipe::Step;
use crate::query::{Client, rows};
use crate::sql;

/// The events of a commit as they are written. A batch without a number is this one.
pub(super) struct Log {
    events: Vec<Logged>,
    /// The newest event of each submission that got one: its number in this batch, and its revision.
    pub(super) newest: HashMap<SubmissionId, (i32, u64)>,
}

struct Logged {
    no: i32,
    prev_batch: Option<i64>,
    prev_no: i32,
    revision: i64,
    pipeline: Option<String>,
    state: String,
    labels: Option<String>,
    leaf: Vec<u8>,
    detail: Vec<u8>,
}

/// The pipeline and the labels, by which feeds filter and which the event does not have.
type About = (Option<Name>, Option<String>);

impl Log {
    pub(super) fn of(writing: &Writing<'_>) -> Result<Log> {
        let changes = writing.changes;
        let written = changes.rows.iter().map(|change| &*change.after).chain(&changes.forgotten);
        let written: HashMap<SubmissionId, &Submission> = written.map(|row| (row.id, row)).collect();
        let count = changes.acts.len() + changes.events.len();
        let mut log = Log { events: Vec::with_capacity(count), newest: HashMap::new() };
        for (no, Record { series, revision, leaf }) in (0..).zip(&changes.acts) {
            let (prev_batch, prev_no) = log.follow(writing, no, (*series, *revision))?;
            log.events.push(Logged {
                no,
                prev_batch,
                prev_no,
                revision: signed(*revision),
                pipeline: None,
                state: String::new(),
                labels: None,
                leaf: leaf.clone(),
                detail: Vec::new(),
            });
        }
        for (no, event) in (log.next_no()..).zip(&changes.events) {
            let (id, revision) = (event.leaf.submission, event.leaf.revision);
            let (prev_batch, prev_no) = log.follow(writing, no, (id, revision))?;
            let (pipeline, labels) = match written.get(&id) {
                Some(row) => about(row),
                None => {
                    let unborn = (event.unborn_pipeline().cloned(), None);
                    writing.found.borrow().get(&id).map_or(unborn, |found| about(&found.row))
                }
            };
            let (leaf, detail) = event.to_stored();
            log.events.push(Logged {
                no,
                prev_batch,
                prev_no,
                revision: signed(revision),
                pipeline: pipeline.map(|name| text(&name).into_owned()),
                state: text(&event.leaf.to).into_owned(),
                labels,
                leaf,
                detail,
            });
        }
        Ok(log)
    }

    fn next_no(&self) -> i32 {
        i32::try_from(self.events.len()).unwrap_or(i32::MAX)
    }

    /// Notes an entry as the newest of its submission or series, and returns the one that came before.
    fn follow(
        &mut self,
        writing: &Writing<'_>,
        no: i32,
        (id, revision): (SubmissionId, u64),
    ) -> Result<(Option<i64>, i32)> {
        let (prev_batch, prev_no, prev_revision) = match self.newest.get(&id) {
            Some((no, revision)) => (None, *no, *revision),
            None => {
                let Tip { batch, no, revision } = writing.tip(id);
                (Some(batch), no, revision)
            }
        };
        // Versions fence revisions, so this means that rows and events have parted.
        if revision <= prev_revision {
            return Err(Fault::corrupt(format!("submission {id} has two events of revision {revision}")));
        }
        self.newest.insert(id, (no, revision));
        Ok((prev_batch, prev_no))
    }

    pub(super) fn write<'s>(
        &'s self,
        client: &'s Client,
        batch: &'s RefCell<Option<i64>>,
        steps: &mut Vec<Step<'s>>,
    ) {
        let events = &self.events;
        let Ok(count @ 1..) = i32::try_from(events.len()) else { return };
        steps.push(Box::pin(async move {
            let inserted = rows(client, sql::BATCH_INSERT, &[&count]).await?;
            let row = inserted.first().ok_or_else(|| Fault::corrupt("a batch got no number"))?;
            *batch.borrow_mut() = Some(row.try_get(0)?);
            Ok(())
        }));
        let columns = vec![
            column(events.iter().map(|event| event.no)),
            column(events.iter().map(|event| event.prev_batch)),
            column(events.iter().map(|event| event.prev_no)),
            column(events.iter().map(|event| event.revision)),
            column(events.iter().map(|event| event.pipeline.as_deref())),
            column(events.iter().map(|event| event.state.as_str())),
            column(events.iter().map(|event| event.labels.as_deref())),
            column(events.iter().map(|event| event.leaf.as_slice())),
            column(events.iter().map(|event| event.detail.as_slice())),
        ];
        steps.push(writes(client, sql::EVENT_INSERT, columns));
    }
}

fn about(row: &Submission) -> About {
    (Some(row.pipeline.clone()), codec::labels(&row.labels))
}
