//! Writing what was decided, one statement a table whatever the size of the batch.
//!
//! Writing goes in two steps. The first one checks everything and writes what hangs on rows; nothing can fail after
//! it but for a race that only a unique index sees. The second one takes the batch number, writes events and rows,
//! and commits: so a number is almost never taken in vain.
//!
//! Within the first step waiting goes one way again: gates of the registry by number, then keys, lanes, slots, answers
//! and counters, each in order.

mod checks;
mod columns;
mod entries;
mod events;
mod holdings;
mod rows;
mod side_tables;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use model::{SubmissionId, Time};
use store::{Changes, DeadKey};

use crate::codec::{Found, Tip};
use crate::error::{Fault, Result};
use crate::pipe::{Step, in_order};
use crate::query::Client;
use crate::taking::Known;

/// The changes to write, and what is known of the rows they change.
pub(crate) struct Writing<'w> {
    pub(crate) client: &'w Client,
    pub(crate) changes: &'w Changes,
    pub(crate) known: &'w Known,
    /// The latest time that is certain to have come.
    pub(crate) certain: Time,
    /// Rows that were not locked by the take, found and locked while writing.
    found: RefCell<HashMap<SubmissionId, Found>>,
    /// The newest event of each submission without a row.
    tips: RefCell<HashMap<SubmissionId, Tip>>,
    /// The kinds of dead letters that there are fewer of.
    fewer_dead: RefCell<Vec<DeadKey>>,
}

impl<'w> Writing<'w> {
    pub(crate) fn new(client: &'w Client, changes: &'w Changes, known: &'w Known, certain: Time) -> Self {
        let (found, tips, fewer_dead) = (RefCell::default(), RefCell::default(), RefCell::default());
        Writing { client, changes, known, certain, found, tips, fewer_dead }
    }

    /// The first step.
    pub(crate) async fn prepare(&self) -> Result<()> {
        self.refuse_twice()?;
        let mut steps: Vec<Step<'_>> = Vec::new();
        self.check(&mut steps);
        entries::write(self, &mut steps);
        side_tables::write(self, &mut steps);
        entries::count(self, &mut steps);
        in_order(steps).await
    }

    /// The index entries of rows that are there already, and nothing else.
    pub(crate) async fn write_entries(&self) -> Result<()> {
        let mut steps: Vec<Step<'_>> = Vec::new();
        entries::write(self, &mut steps);
        entries::count(self, &mut steps);
        in_order(steps).await
    }

    /// The second one. The number of the batch, if there were events.
    pub(crate) async fn commit(&self) -> Result<Option<i64>> {
        let log = events::Log::of(self)?;
        let batch = RefCell::new(None);
        let mut steps: Vec<Step<'_>> = Vec::new();
        log.write(self.client, &batch, &mut steps);
        rows::write(self, &log, &mut steps);
        steps.push(Box::pin(async { Ok(self.client.batch_execute("COMMIT").await?) }));
        in_order(steps).await?;
        Ok(batch.into_inner())
    }

    /// Returns the kinds of dead letters that there are fewer of than before.
    pub(crate) fn fewer_dead(&self) -> Vec<DeadKey> {
        self.fewer_dead.take()
    }

    fn refuse_twice(&self) -> Result<()> {
        let mut ids = HashSet::new();
        let rows = self.changes.rows.iter().map(|change| change.after.id);
        for id in rows.chain(self.changes.forgotten.iter().map(|row| row.id)) {
            if !ids.insert(id) {
                return Err(Fault::Conflict(format!("submission {id} is in the changes twice")));
            }
        }
        Ok(())
    }

    /// Returns the submission's newest event before this commit.
    fn tip(&self, id: SubmissionId) -> Tip {
        if let Some((_, tip)) = self.known.locked.get(&id) {
            return *tip;
        }
        if let Some(found) = self.found.borrow().get(&id) {
            return found.tip;
        }
        self.tips.borrow().get(&id).copied().unwrap_or_default()
    }

    /// Tells whether the submission has a row that is locked.
    fn has_row(&self, id: SubmissionId) -> bool {
        self.known.locked.contains_key(&id) || self.found.borrow().contains_key(&id)
    }
}
