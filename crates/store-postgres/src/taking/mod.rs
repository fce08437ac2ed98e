//! Reading everything a take names, under the locks that keep it true.
//!
//! Rows come first. Those named by id are waited for, in the order of their ids. All others, which whoever comes first
//! may have, are locked only if they are free. Then the lines they stand in are looked at (`standing`), which may wait
//! for gates, in the order of their numbers. Nothing waits for a row after that. So waiting goes one way and nobody ever
//! waits in a circle.
//!
//! Each statement sees what was committed when it began. An index entry that was read before its row was locked may be
//! past by then: what was found under it is looked at again once it is locked.

mod dealing;
mod inbox;
mod side_tables;
mod standing;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use model::{Documents, SubmissionId, Time};
use store::{Arrival, LimitKey, OwedId, OwedTo, RegistryKey, RequestKey, Stored, Take, Taken};

use crate::clock::Now;
use crate::codec::{self, Found, Tip};
use crate::error::Result;
use crate::query::{Client, rows};
use crate::sql;
use dealing::{QueueWalk, Timers};
pub(crate) use side_tables::{documents, entries};
pub(crate) use standing::slots;

/// The wait before another look at what another server has in hand: by then that server is done with it, or gone.
const LOOK_AGAIN_MS: i64 = 100;

/// The rows and entries that were read, and what writing needs to know of them.
pub(crate) struct Reading {
    pub(crate) taken: Taken,
    pub(crate) known: Known,
}

#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Rows this transaction has locked: their versions stand until it ends.
    pub(crate) locked: HashMap<SubmissionId, (u64, Tip)>,
    /// Owed rows it has locked.
    pub(crate) owed: HashSet<OwedId>,
    /// The versions of the registry entries that were taken; `None`: there was none.
    pub(crate) entries: HashMap<RegistryKey, Option<i64>>,
    /// Requests that were asked for and had no answer.
    pub(crate) unanswered: HashSet<RequestKey>,
    /// The number of slots of each limit that were taken.
    pub(crate) slots: HashMap<LimitKey, usize>,
    /// The limits of ready rows.
    pub(crate) limits: HashMap<SubmissionId, Vec<LimitKey>>,
}

pub(crate) async fn read(client: &Client, take: &Take<'_>, now: &Now) -> Result<Reading> {
    let mut taker = Taker {
        client,
        take,
        now,
        rows: HashMap::new(),
        documents: HashMap::new(),
        bytes: 0,
        taken: Taken::default(),
        known: Known::default(),
        soon: false,
        sizes: Vec::new(),
        arrivals: Vec::new(),
    };
    let (mut lines, mut due, mut idle) = taker.begin().await?;
    taker.receive().await?;
    taker.deal(&mut lines, &mut due, &mut idle).await?;
    taker.park().await?;
    taker.bring_ready(lines).await?;
    let named = taker.named();
    taker.stand(&named).await?;
    taker.finish(named).await
}

struct Taker<'t> {
    client: &'t Client,
    take: &'t Take<'t>,
    now: &'t Now,
    /// Every row that was read, the newest of each.
    rows: HashMap<SubmissionId, Found>,
    documents: HashMap<SubmissionId, Documents>,
    /// The size of the documents of ready rows.
    bytes: usize,
    taken: Taken,
    known: Known,
    /// Something was left for later because somebody else has it in hand.
    soon: bool,
    /// The first of the inbox, with the sizes of their payloads.
    sizes: Vec<(SubmissionId, usize)>,
    /// The keys and lanes that those taken from the inbox would stand in.
    arrivals: Vec<Arrival>,
}

impl<'t> Taker<'t> {
    /// Begins the transaction and reads everything that depends on nothing else.
    async fn begin(&mut self) -> Result<(Vec<QueueWalk<'t>>, Timers, Timers)> {
        let (client, take) = (self.client, self.take);
        let ids: BTreeSet<_> = take.ids.iter().copied().collect();
        let lines =
            futures_util::future::join_all(take.ready.iter().map(|ready| QueueWalk::read(client, ready)));
        let (begun, found, owed, inbox, due, idle, lines, answers, entries, now) = tokio::join!(
            biased;
            client.batch_execute("BEGIN"),
            wait_for(client, &ids),
            side_tables::owed(client, take.owed),
            inbox::first(client, take.inbox),
            Timers::read(client, false, take.due),
            Timers::read(client, true, take.idle),
            lines,
            side_tables::answers(client, &take.requests),
            side_tables::entries(client, &take.registry),
            self.now.ask(client),
        );
        begun?;
        self.keep(found?);
        self.taken.owed = owed?;
        self.known.owed = self.taken.owed.iter().map(|owed| owed.id.clone()).collect();
        self.sizes = inbox?;
        self.taken.now = now?;
        let certain = (take.certain)(self.taken.now);
        let live = answers?.into_iter().filter(|(_, (_, expires_at))| *expires_at > certain);
        self.taken.answers = live.map(|(key, (body, _))| (key, body)).collect();
        for (key, entry) in entries? {
            self.known.entries.insert(key.clone(), entry.as_ref().map(|(version, _)| *version));
            self.taken.registry.extend(entry.map(|(_, body)| (key, body)));
        }
        let lines = lines.into_iter().collect::<Result<_>>()?;
        Ok((lines, due?, idle?))
    }

    /// Notes rows that are locked.
    fn keep(&mut self, found: Vec<Found>) {
        for found in found {
            self.known.locked.insert(found.row.id, (found.row.row_version, found.tip));
            self.rows.insert(found.row.id, found);
        }
    }

    fn is_locked(&self, id: SubmissionId) -> bool {
        self.known.locked.contains_key(&id)
    }

    /// Locks what nobody else has.
    async fn lock_free(&mut self, ids: impl IntoIterator<Item = SubmissionId>) -> Result<()> {
        let ids: BTreeSet<_> = ids.into_iter().filter(|id| !self.is_locked(*id)).collect();
        if !ids.is_empty() {
            let free = rows(self.client, sql::SUBMISSION_LOCK_FREE, &[&codec::ids(&ids)]).await?;
            let found = free.iter().map(|row| codec::found(row, 0)).collect::<Result<_>>()?;
            self.keep(found);
        }
        Ok(())
    }

    /// Leaves owed rows for later: whom they concern somebody else has in hand.
    fn postpone(&mut self, concerns: impl Fn(&OwedTo) -> bool) {
        let before = self.taken.owed.len();
        self.taken.owed.retain(|owed| !concerns(&owed.to));
        self.soon |= self.taken.owed.len() < before;
    }

    /// The rows the take names in its own right.
    fn named(&self) -> BTreeSet<SubmissionId> {
        let taken = &self.taken;
        let owed = taken.owed.iter().filter_map(|owed| match owed.to {
            OwedTo::Submission(id) => Some(id),
            _ => None,
        });
        let timed = taken.due.iter().chain(&taken.idle);
        let ids = self.take.ids.iter().chain(taken.ready.iter().flatten()).chain(timed);
        let parked = taken.parked.values().flatten();
        let promised = taken.inbox.iter().map(|received| &received.id);
        ids.chain(parked).chain(promised).copied().chain(owed).filter(|id| self.is_locked(*id)).collect()
    }

    /// The documents that are wanted, and the time: the last thing read, so that it is not before anything that was.
    async fn finish(mut self, named: BTreeSet<SubmissionId>) -> Result<Reading> {
        let taken = &self.taken;
        let seated = taken.lanes.values().flat_map(|view| [view.holder, view.first]).flatten();
        let beside = taken.holders.values().chain(taken.waiters.values()).copied().chain(seated);
        let all: BTreeSet<_> = named.into_iter().chain(beside).collect();
        let all: Vec<Found> = all.iter().filter_map(|id| self.rows.remove(id)).collect();
        let wanted = all.iter().filter(|found| !self.documents.contains_key(&found.row.id));
        let wanted: Vec<_> =
            wanted.filter(|found| (self.take.documents)(&found.row)).map(|found| found.row.id).collect();
        let promised = self.taken.inbox.iter().map(|received| received.id);
        let absent = self.take.ids.iter().copied().chain(promised).filter(|id| !self.is_locked(*id));
        let (documents, gone, now) = tokio::join!(
            biased;
            side_tables::documents_within(self.client, &wanted, self.take.room.saturating_sub(self.bytes)),
            side_tables::gone(self.client, absent.collect()),
            self.now.ask(self.client),
        );
        let (documents, _) = documents?;
        self.taken.crowded = documents.len() < wanted.len();
        self.documents.extend(documents);
        self.taken.gone = gone?;
        self.taken.now = now?;
        if self.soon {
            let soon = Time::from_millis(self.taken.now.millis() + LOOK_AGAIN_MS);
            self.taken.next_timer = Some(self.taken.next_timer.map_or(soon, |next| next.min(soon)));
        }
        for Found { row, .. } in all {
            let documents = self.documents.remove(&row.id);
            self.taken.rows.insert(row.id, Stored { row: Arc::new(row), documents });
        }
        let answered = |request: &&RequestKey| !self.taken.answers.contains_key(request);
        self.known.unanswered = self.take.requests.iter().filter(answered).cloned().collect();
        Ok(Reading { taken: self.taken, known: self.known })
    }
}

/// Rows named by id, one lock after the other in the order of their ids.
async fn wait_for(client: &Client, ids: &BTreeSet<SubmissionId>) -> Result<Vec<Found>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let found = rows(client, sql::SUBMISSION_LOCK, &[&codec::ids(ids)]).await?;
    found.iter().map(|row| codec::found(row, 0)).collect()
}
