//! A store that goes wrong: around a real one, at any transaction, in every way the contract allows.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{Documents, Json, Name, Time};
use store::{Changes, Committed, Error, Layer, Page, Query, Store, Stored, Take, Taken};

use crate::chance::Chance;

/// Servers over one store.
pub(crate) const SERVERS: usize = 2;

/// The fault of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Not even read.
    Unreachable,
    /// Decided, then not written.
    WriteFailed,
    /// Lost while committing; it was committed.
    UnknownDone,
    /// Lost while committing; it was not committed.
    UnknownLost,
    /// A race that nobody else ran, before reading.
    EarlyConflict,
    /// The same, after deciding.
    LateConflict,
    /// Beyond use until it is opened again; nothing was written.
    Corrupt,
    /// A sync that failed: beyond use, and what was written is found after all when it is opened again.
    SyncFailed,
    /// The process dies just before the commit.
    CrashBefore,
    /// The process dies just after the commit, before anybody is answered.
    CrashAfter,
}

impl Fault {
    pub const ALL: [Fault; 10] = [
        Fault::Unreachable,
        Fault::WriteFailed,
        Fault::UnknownDone,
        Fault::UnknownLost,
        Fault::EarlyConflict,
        Fault::LateConflict,
        Fault::Corrupt,
        Fault::SyncFailed,
        Fault::CrashBefore,
        Fault::CrashAfter,
    ];

    fn commits(self) -> bool {
        matches!(self, Fault::UnknownDone | Fault::SyncFailed | Fault::CrashAfter)
    }

    fn reads(self) -> bool {
        !matches!(self, Fault::Unreachable | Fault::EarlyConflict)
    }

    /// Tells whether the process is gone with the fault.
    fn ends_the_process(self) -> bool {
        matches!(self, Fault::Corrupt | Fault::SyncFailed | Fault::CrashBefore | Fault::CrashAfter)
    }

    fn error(self) -> Error {
        let lost =
            |outcome_unknown| Error::Unavailable { message: format!("simulated: {self:?}"), outcome_unknown };
        match self {
            Fault::Unreachable | Fault::WriteFailed => lost(false),
            Fault::UnknownDone | Fault::UnknownLost | Fault::CrashBefore | Fault::CrashAfter => lost(true),
            Fault::EarlyConflict | Fault::LateConflict => Error::Conflict("simulated".to_owned()),
            Fault::Corrupt | Fault::SyncFailed => Error::corrupt("simulated"),
        }
    }
}

/// The changes that one transaction really made, whatever its caller was told.
#[derive(Debug, Clone)]
pub(crate) struct Commit {
    pub(crate) now: Time,
    /// Since when the engine could reach the store, as of this commit.
    pub(crate) reachable_since: Time,
    pub(crate) changes: Changes,
}

/// The misbehaviour of the store, and what really happened in it. Outlives any one opening of the store.
#[derive(Debug)]
pub(crate) struct Trouble {
    chance: Chance,
    /// The number of transactions in a thousand that go wrong.
    pub(crate) per_mille: u64,
    /// Every transaction fails while this is set.
    pub(crate) outage: bool,
    /// Races still to be lost in a row: enough of them, and a batch is split.
    conflicts: u64,
    /// Set by a fault that ends the process: nothing works until it is started again.
    pub(crate) process_over: bool,
    /// Set if the store tells who comes next in a lane. One that others write to does not.
    pub(crate) tells_successors: bool,
    /// The bytes of documents that have room, where a take can do with less than all.
    pub(crate) room: usize,
    /// The number of times there was no room.
    pub(crate) crowds: u64,
    /// The server that uses the store.
    pub(crate) server: usize,
    /// Set if it is the engine that reads, and not one of those who look up what to ask of it.
    pub(crate) stepping: bool,
    /// Since when each of them has reached the store.
    reachable_since: [Option<Time>; SERVERS],
    /// Since the last look.
    pub(crate) commits: Vec<Commit>,
    pub(crate) faults: Vec<Fault>,
    /// Errors of the real store that are no simulated ones and no races.
    pub(crate) unexpected: Option<Error>,
}

impl Trouble {
    pub(crate) fn new(chance: Chance) -> Self {
        Trouble {
            chance,
            per_mille: 0,
            outage: false,
            conflicts: 0,
            process_over: false,
            tells_successors: true,
            room: usize::MAX,
            crowds: 0,
            server: 0,
            stepping: false,
            reachable_since: [None; SERVERS],
            commits: Vec::new(),
            faults: Vec::new(),
            unexpected: None,
        }
    }

    pub(crate) fn restarted(&mut self) {
        self.process_over = false;
        self.reachable_since = [None; SERVERS];
    }

    /// One server alone has started again.
    pub(crate) fn replaced(&mut self, server: usize) {
        self.reachable_since[server] = None;
    }

    /// Decides whether a read fails.
    fn unreadable(&mut self) -> Option<Fault> {
        let fails = self.chance.per_mille(self.per_mille / 4);
        (fails || self.process_over || self.outage).then_some(Fault::Unreachable)
    }

    fn next(&mut self) -> Option<Fault> {
        if self.process_over || self.outage {
            return Some(Fault::Unreachable);
        }
        // Drawn in any case: switching faults off and on must not shift what is drawn later.
        let (goes_wrong, fault) = (self.chance.per_mille(self.per_mille), *self.chance.pick(&Fault::ALL));
        let more = self.chance.below(8);
        if self.conflicts > 0 {
            self.conflicts -= 1;
            return Some(Fault::LateConflict);
        }
        if goes_wrong && fault == Fault::LateConflict {
            self.conflicts = more;
        }
        goes_wrong.then_some(fault)
    }

    fn went_wrong(&mut self, fault: Fault) -> Error {
        self.faults.push(fault);
        self.process_over |= fault.ends_the_process();
        let error = fault.error();
        if !matches!(error, Error::Conflict(_)) {
            self.reachable_since[self.server] = None;
        }
        error
    }
}

#[derive(Debug)]
pub(crate) struct Faulty {
    inner: Arc<dyn Store>,
    trouble: Mutex<Trouble>,
}

impl Faulty {
    pub(crate) fn new(inner: Arc<dyn Store>, trouble: Trouble) -> Self {
        Faulty { inner, trouble: Mutex::new(trouble) }
    }

    /// The store as it is, for those who check it.
    pub(crate) fn truth(&self) -> &dyn Store {
        &*self.inner
    }

    pub(crate) fn trouble(&self) -> MutexGuard<'_, Trouble> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn readable(&self) -> Result<(), Error> {
        let mut trouble = self.trouble();
        match trouble.unreadable() {
            None => Ok(()),
            Some(fault) if trouble.stepping => Err(trouble.went_wrong(fault)),
            Some(fault) => Err(fault.error()),
        }
    }

    /// The trouble, to be carried over; the store is closed.
    pub(crate) fn close(self) -> (Arc<dyn Store>, Trouble) {
        (self.inner, self.trouble.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Leaves out documents as a store does that has no more room, in an order that is the same in all of them.
fn crowd(taken: &mut Taken, room: usize) {
    let ready: BTreeSet<_> = taken.ready.iter().flatten().copied().collect();
    let bytes = |stored: &Stored| stored.documents.as_ref().map_or(0, Documents::bytes);
    let mut there: usize = ready.iter().filter_map(|id| taken.rows.get(id)).map(bytes).sum();
    let others: BTreeSet<_> = taken.rows.keys().copied().filter(|id| !ready.contains(id)).collect();
    for id in others {
        let Some(stored) = taken.rows.get_mut(&id).filter(|stored| stored.documents.is_some()) else {
            continue;
        };
        if there < room {
            there += bytes(stored);
        } else {
            stored.documents = None;
            taken.crowded = true;
        }
    }
}

impl Layer for Faulty {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn transact(
        &self,
        take: &Take<'_>,
        decide: &mut dyn FnMut(Taken) -> Changes,
    ) -> Result<Committed, Error> {
        let fault = self.trouble().next();
        if let Some(fault) = fault.filter(|fault| !fault.reads()) {
            return Err(self.trouble().went_wrong(fault));
        }
        let keeps = fault.is_none_or(Fault::commits);
        let mut decided = None;
        let (tells_successors, room) = {
            let trouble = self.trouble();
            (trouble.tells_successors, trouble.room)
        };
        let mut crowded = false;
        let result = self.inner.transact(take, &mut |mut taken| {
            let now = taken.now;
            if !tells_successors {
                taken.successors.clear();
            }
            if take.room < usize::MAX {
                crowd(&mut taken, room);
                crowded = taken.crowded;
            }
            let changes = decide(taken);
            decided = Some((now, changes.clone()));
            if keeps { changes } else { Changes::default() }
        });
        let mut trouble = self.trouble();
        trouble.crowds += u64::from(crowded);
        match &result {
            Err(Error::Conflict(_)) => return result,
            Err(error) => {
                trouble.unexpected = Some(error.clone());
                return result;
            }
            Ok(_) => {}
        }
        if let Some((now, changes)) = decided.filter(|_| keeps) {
            let server = trouble.server;
            let reachable_since = *trouble.reachable_since[server].get_or_insert(now);
            if !changes.is_empty() {
                trouble.commits.push(Commit { now, reachable_since, changes });
            }
        }
        match fault {
            None => result,
            Some(fault) => Err(trouble.went_wrong(fault)),
        }
    }

    fn find(&self, query: &Query) -> Result<Page, Error> {
        self.readable()?;
        self.inner.find(query)
    }

    fn parked(&self, after: &str, limit: usize) -> Result<Vec<Name>, Error> {
        self.readable()?;
        self.inner.parked(after, limit)
    }

    fn registry(&self, kind: &str, after: &str, limit: usize) -> Result<Vec<(String, Json)>, Error> {
        self.readable()?;
        self.inner.registry(kind, after, limit)
    }

    fn registry_back(&self, kind: &str, upto: &str, limit: usize) -> Result<Vec<(String, Json)>, Error> {
        self.readable()?;
        self.inner.registry_back(kind, upto, limit)
    }
}
