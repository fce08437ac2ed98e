//! The book the checker keeps, and the order in which a step is checked.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use engine::Hold;
use engine::core::{Ask, Scheduled};
use model::pipeline::Holds;
use model::submission::Wait;
use model::{Digest, Documents, Event, Name, Status, Submission, SubmissionId, Time};
use store::entries::Place;
use store::{Entries, Feed, OpenKey, Recorded, RequestKey, Store};

use super::events::Told;
use super::law::Law;
use super::messages::Messages;
use super::once::Receipt;
use super::operations::{Deeds, Watched};
use super::owed::Debts;
use super::registry::Registry;
use super::settlement::Accepted;
use super::visit::Visit;
use super::{Checked, Seen, answers, ensure, events, explained, limits, neighbours, once, reasons, rows};
use crate::faults::Commit;
use crate::finding::{Finding, finding};
use crate::report::Report;

const PAGE: usize = 500;

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(super) law: Law,
    pub(super) known: BTreeMap<SubmissionId, Known>,
    /// The submissions that were forgotten, as they were last. Their history stays.
    pub(super) gone: BTreeMap<SubmissionId, Known>,
    /// Rows changed by the step being checked, as they were before it; `None` for new ones.
    pub(super) previous: HashMap<SubmissionId, Option<Submission>>,
    /// Every event, in sequence.
    pub(super) events: Vec<Event>,
    /// Their positions.
    pub(super) seqs: Vec<u64>,
    /// The bytes of every act and event: position 1 first.
    pub(super) leaves: Vec<Vec<u8>>,
    pub(super) keys: BTreeMap<OpenKey, SubmissionId>,
    pub(super) counts: BTreeMap<Place, u64>,
    /// The versions of each pipeline that submissions have followed.
    pub(super) followed: BTreeMap<Name, BTreeSet<u32>>,
    pub(super) receipts: BTreeMap<RequestKey, Receipt>,
    pub(super) registry: Registry,
    pub(super) operations: BTreeMap<Name, Watched>,
    pub(super) deeds: Deeds,
    pub(super) schedules: BTreeMap<String, Scheduled>,
    /// Events before this position were let go.
    pub(super) retired_before: u64,
    /// The latest time of any commit: after a restart, time may have been set back.
    pub(super) latest: Option<Time>,
    pub(super) holds: BTreeMap<Name, Hold>,
    /// The holds in force since before the step being checked. One that ended in it is not among them, even if it is in
    /// force again: whoever did not hear that it was placed asks for it once more.
    pub(super) lasting_holds: BTreeMap<Name, Hold>,
    pub(super) debts: Debts,
    pub(super) messages: Messages,
    somebody: BTreeSet<SubmissionId>,
}

/// One submission as the checker knows it.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) row: Submission,
    /// The row that its events alone make.
    pub(super) replayed: Submission,
    /// The row as the events of the commit being checked have moved it so far.
    pub(super) moving: Submission,
    pub(super) documents: Documents,
    pub(super) visit: Visit,
    /// Leaf hashes by revision, the first at 0.
    pub(super) history: Vec<Digest>,
    /// The places of its events in the sequence, counted from 0.
    pub(super) places: Vec<usize>,
    /// The last settlements that were taken, the newest last.
    pub(super) accepted: Vec<Accepted>,
}

impl Ledger {
    pub(crate) fn ids(&self) -> Vec<SubmissionId> {
        self.known.keys().copied().collect()
    }

    /// Returns the submissions that wait for a person, a guard or a redrive.
    pub(crate) fn waiting_for_somebody(&self) -> Vec<SubmissionId> {
        self.somebody.iter().copied().collect()
    }

    /// Returns the submissions that have not ended.
    pub(crate) fn open_ids(&self) -> Vec<SubmissionId> {
        self.rows().filter(|row| !row.status.is_final()).map(|row| row.id).collect()
    }

    pub(crate) fn failed_ids(&self) -> Vec<SubmissionId> {
        self.rows().filter(|row| row.status == Status::Failed).map(|row| row.id).collect()
    }

    /// Returns the submissions that have ended where somebody may still have a task run for them.
    pub(crate) fn ended_with_tasks(&self) -> Vec<SubmissionId> {
        let has_task = |row: &&Submission| {
            let book = self.law.of(row).ok();
            let state = book.and_then(|book| book.pipeline.state(&row.state));
            state.is_some_and(|state| {
                state.actions.iter().flat_map(|action| &action.edges).any(|edge| edge.task.is_some())
            })
        };
        self.rows().filter(|row| row.status.is_final()).filter(has_task).map(|row| row.id).collect()
    }

    /// The holds in force, as the store has them.
    pub(crate) fn holds(&self) -> impl Iterator<Item = &Hold> {
        self.holds.values()
    }

    /// Tells whether nothing is left to be done for others.
    pub(crate) fn owes_nothing(&self) -> bool {
        self.debts.is_empty() && self.messages.is_empty()
    }

    /// A hold that stops a row and was in force all through the step.
    pub(super) fn stopped(&self, row: &Submission, now: Time) -> Option<&Hold> {
        let stops = self.law.of(row).is_ok_and(|book| book.pipeline.holds == Holds::Stop);
        let throughout = |hold: &&Hold| {
            self.lasting_holds.contains_key(&hold.id)
                && hold.expires_at.is_none_or(|at| at > now)
                && hold.covers(row)
        };
        self.holds.values().filter(|_| stops).find(throughout)
    }

    pub(crate) fn row(&self, id: SubmissionId) -> Option<&Submission> {
        self.known.get(&id).map(|known| &known.row)
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &Submission> {
        self.known.values().map(|known| &known.row)
    }

    pub(crate) fn last_seq(&self) -> u64 {
        self.leaves.len() as u64
    }

    /// The last position that was let go.
    pub(super) fn retired_through(&self) -> u64 {
        self.retired_before.saturating_sub(1).min(self.last_seq())
    }

    /// Counts the events that were let go, oldest first.
    pub(super) fn retired(&self) -> usize {
        self.seqs.partition_point(|seq| *seq <= self.retired_through())
    }

    /// One that is there, or was.
    pub(super) fn ever(&self, id: SubmissionId) -> Option<&Known> {
        self.known.get(&id).or_else(|| self.gone.get(&id))
    }

    /// A row as it was when the step began.
    pub(super) fn before(&self, id: SubmissionId) -> Option<&Submission> {
        match self.previous.get(&id) {
            Some(before) => before.as_ref(),
            None => self.row(id),
        }
    }

    /// Checks one step and takes it into the book.
    pub(crate) fn step(&mut self, store: &dyn Store, seen: &Seen<'_>, report: &mut Report) -> Checked {
        self.previous.clear();
        self.lasting_holds = self.holds.clone();
        self.debts.begin();
        self.messages.begin();
        for input in seen.inputs {
            if let Ask::Apply(apply) = &input.ask {
                self.law.add(&apply.pipeline);
            }
        }
        let mut recorded = self.unread(store)?;
        for commit in seen.commits {
            let written = commit.changes.rows.iter().map(|change| change.after.id);
            for id in written.chain(commit.changes.forgotten.iter().map(|row| row.id)) {
                let before = self.row(id).cloned();
                self.previous.entry(id).or_insert(before);
            }
            self.latest = self.latest.max(Some(commit.now));
            self.leaves.extend(commit.changes.acts.iter().map(|act| act.leaf.clone()));
            let later = recorded.split_off(commit.changes.events.len().min(recorded.len()));
            let first = self.events.len();
            events::check(self, &Told { seen, commit, recorded: &recorded }, report)?;
            recorded = later;
            self.erase_salts(commit);
            neighbours::granted(self, commit, report)?;
            self.debts.take(commit, report);
            self.messages.take(commit, first, report)?;
            self.take_registry(commit)?;
            self.take_rows(commit, report)?;
            self.take_forgotten(commit, report)?;
            self.take_operations(commit, report)?;
            self.take_schedules(commit, report)?;
            if let Some(before) = commit.changes.retired_before {
                self.retired_before = self.retired_before.max(before);
                report.count("moment/retired");
            }
        }
        ensure!(recorded.is_empty(), "the store has {} events that no commit brought", recorded.len());
        self.read_back(store, seen)?;
        self.index()?;
        neighbours::check(self, seen.now)?;
        limits::check(self)?;
        reasons::check(self, seen.now)?;
        explained::check(self, seen)?;
        once::check(self, seen, report)?;
        answers::check(self, seen, report)?;
        Ok(())
    }

    /// Erases the salts of the digests of erased documents with them.
    fn erase_salts(&mut self, commit: &Commit) {
        let forgotten = commit.changes.forgotten.iter().map(|row| &row.id);
        for id in commit.changes.erased.iter().chain(forgotten) {
            let places = self.known.get(id).map_or(&[][..], |known| &known.places);
            for place in places {
                let salts = &mut self.events[*place].detail.salts;
                (salts.payload, salts.output) = (None, None);
            }
        }
    }

    /// The events after those in the book.
    fn unread(&self, store: &dyn Store) -> Result<Vec<Recorded>, Finding> {
        let mut unread = Vec::new();
        let mut after = self.last_seq();
        loop {
            let feed = Feed { after, limit: PAGE, ..Feed::default() };
            let page = store.feed(&feed).map_err(|error| finding!("the store cannot be read: {error}"))?;
            let is_last = page.next == after;
            after = page.next;
            unread.extend(page.events);
            if is_last {
                return Ok(unread);
            }
        }
    }

    /// Every row that was written is in the store as it was written, and fits its events.
    fn read_back(&self, store: &dyn Store, seen: &Seen<'_>) -> Checked {
        for id in self.changed() {
            if self.gone.contains_key(&id) {
                let left =
                    store.submission(id).map_err(|error| finding!("the store cannot be read: {error}"))?;
                ensure!(left.is_none(), "{id} was forgotten and is still there");
                continue;
            }
            let read = store.submission(id).map_err(|error| finding!("the store cannot be read: {error}"))?;
            let (row, documents) =
                read.ok_or_else(|| finding!("submission {id} was committed and is not there"))?;
            let known = &self.known[&id];
            ensure!(row == known.row, "submission {id} reads back as\n{row:?}\nand not as\n{:?}", known.row);
            ensure!(documents == known.documents, "the documents of {id} do not read back as they were set");
            rows::check(&self.law, known, self.latest.unwrap_or(seen.now))?;
        }
        Ok(())
    }

    /// The rows of this step, in an order that is the same in every run.
    pub(super) fn changed(&self) -> Vec<SubmissionId> {
        let mut changed: Vec<_> = self.previous.keys().copied().collect();
        changed.sort_unstable();
        changed
    }

    /// Keys and counts: all old entries go before any new one comes, for a key may change hands in one commit.
    fn index(&mut self) -> Checked {
        for before in self.previous.values().flatten() {
            let entries = Entries::of(before);
            if let Some(count) = self.counts.get_mut(&entries.place) {
                *count -= 1;
            }
            if let Some(key) = entries.key {
                self.keys.remove(&key);
            }
        }
        self.counts.retain(|_, count| *count > 0);
        for id in &self.changed() {
            let Some(row) = self.known.get(id).map(|known| &known.row) else {
                self.somebody.remove(id);
                continue;
            };
            let entries = Entries::of(row);
            *self.counts.entry(entries.place).or_default() += 1;
            if let Some(key) = entries.key
                && let Some(other) = self.keys.insert(key.clone(), *id)
            {
                return Err(finding!(
                    "{other} and {id} both hold the key `{}` of `{}`",
                    key.key,
                    key.pipeline
                ));
            }
            if matches!(row.wait, Wait::Person | Wait::Guard | Wait::Redrive) {
                self.somebody.insert(*id);
            } else {
                self.somebody.remove(id);
            }
        }
        Ok(())
    }
}
