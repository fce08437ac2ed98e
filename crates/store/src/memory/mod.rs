//! The reference store: everything in maps behind one mutex, gone with the process.
//!
//! The other stores are compared with this one, so it is written to be obviously right. Its maps are keyed like
//! the tables of the SQL stores.

mod commit;
mod find;
mod index;
mod log;
mod merge;
mod reading;
mod sets;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{Documents, Json, Name, Status, Submission, SubmissionId, Time};

use crate::take::{RegistryKey, RequestKey};
use crate::{
    Changes, Clock, Committed, Count, DeadKey, Error, Feed, FeedPage, LaneKey, Late, LeafPage, Line, Oldest,
    Owed, OwedId, Page, Query, Received, Recorded, SlotEntry, Store, Take, Taken,
};
use index::Index;
use log::Log;

pub struct MemoryStore {
    clock: Arc<dyn Clock>,
    tables: Mutex<Tables>,
}

#[derive(Default)]
struct Tables {
    rows: BTreeMap<SubmissionId, Submission>,
    documents: HashMap<SubmissionId, Documents>,
    index: Index,
    log: Log,
    answers: HashMap<RequestKey, Answer>,
    /// The times at which answers expire, the next one first.
    expiries: BTreeSet<(Time, RequestKey)>,
    owed: OwedQueue,
    inbox: BTreeMap<SubmissionId, Received>,
    registry: BTreeMap<RegistryKey, Json>,
    /// The log's hashes, by level and index.
    tiles: BTreeMap<(u8, u64), Vec<u8>>,
}

struct Answer {
    body: Json,
    expires_at: Time,
}

/// Owed rows in the order they came, each once.
#[derive(Default)]
struct OwedQueue {
    next: u64,
    by_age: BTreeMap<u64, Owed>,
    by_id: HashMap<OwedId, u64>,
}

impl MemoryStore {
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        MemoryStore { clock, tables: Mutex::default() }
    }

    /// A panic under the lock comes from `decide` or the take's filter, before anything was written: the tables are
    /// as the last commit left them, and poison says nothing.
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Contents are other people's documents: never printed.
impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

impl Store for MemoryStore {
    fn transact(
        &self,
        take: &Take<'_>,
        decide: &mut dyn FnMut(Taken) -> Changes,
    ) -> Result<Committed, Error> {
        let mut tables = self.tables();
        let now = self.clock.now();
        let changes = decide(tables.take(take, now));
        tables.commit(changes, (take.certain)(now))
    }

    fn submission(&self, id: SubmissionId) -> Result<Option<(Submission, Documents)>, Error> {
        let tables = self.tables();
        Ok(tables.rows.get(&id).map(|row| (row.clone(), tables.documents(id))))
    }

    fn find(&self, query: &Query) -> Result<Page, Error> {
        Ok(self.tables().find(query))
    }

    fn history(&self, id: SubmissionId, after: u64, limit: usize) -> Result<Vec<Recorded>, Error> {
        Ok(self.tables().log.history(id, after, limit))
    }

    fn feed(&self, feed: &Feed) -> Result<FeedPage, Error> {
        Ok(self.tables().log.feed(feed))
    }

    fn leaves(&self, after: u64, limit: usize) -> Result<LeafPage, Error> {
        Ok(self.tables().log.leaves(after, limit))
    }

    fn act(&self, series: SubmissionId, revision: u64) -> Result<Option<(u64, Vec<u8>)>, Error> {
        Ok(self.tables().log.act(series, revision))
    }

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.tables().tiles.get(&(level, index)).cloned())
    }

    fn line(&self, lane: &LaneKey, limit: usize) -> Result<Line, Error> {
        let tables = self.tables();
        let waiting = tables.index.lines.of(lane).into_iter().flatten().take(limit);
        Ok(Line {
            holder: tables.index.lanes.get(lane).copied(),
            waiting: waiting.map(|(_, _, id)| *id).collect(),
        })
    }

    fn counts(&self) -> Result<Vec<Count>, Error> {
        let tables = self.tables();
        let counts = tables.index.places.iter().map(|(place, ids)| Count {
            pipeline: place.pipeline.clone(),
            state: place.state.clone(),
            status: place.status,
            investigation: place.investigation,
            count: ids.len() as u64,
        });
        Ok(counts.collect())
    }

    fn oldest(&self) -> Result<Vec<Oldest>, Error> {
        let tables = self.tables();
        let open = tables.index.places.iter().filter(|(place, _)| place.status == Status::Open);
        let oldest = open.filter_map(|(place, ids)| {
            let (pipeline, state) = (place.pipeline.clone(), place.state.clone());
            Some(Oldest { pipeline, state, id: *ids.first()? })
        });
        Ok(oldest.collect())
    }

    fn late(&self, late: &Late) -> Result<Vec<Submission>, Error> {
        let tables = self.tables();
        let after = late.after.map_or(Unbounded, Excluded);
        let missed =
            tables.index.late.of(&late.pipeline).into_iter().flat_map(|at| at.range((after, Unbounded)));
        let missed = missed.take_while(|(at, _)| *at <= late.until).take(late.page_size());
        Ok(missed.map(|(_, id)| tables.rows[id].clone()).collect())
    }

    fn parked(&self, after: &str, limit: usize) -> Result<Vec<Name>, Error> {
        let tables = self.tables();
        let names = tables.index.parked.after(after).take(limit).cloned();
        Ok(names.collect())
    }

    fn dead(&self, after: Option<&DeadKey>, limit: usize) -> Result<Vec<(DeadKey, u64)>, Error> {
        let tables = self.tables();
        let later = tables.index.dead.iter().filter(|(key, _)| after.is_none_or(|after| *key > after));
        Ok(later.take(limit).map(|(key, ids)| (key.clone(), ids.len() as u64)).collect())
    }

    fn slots(&self, after: Option<&SlotEntry>, limit: usize) -> Result<Vec<SlotEntry>, Error> {
        let tables = self.tables();
        let after = after.map_or(Unbounded, Excluded);
        Ok(tables.index.slots.range((after, Unbounded)).map(|(slot, _)| slot.clone()).take(limit).collect())
    }

    fn lanes(&self, pipeline: &str, after: &str, limit: usize) -> Result<Vec<Name>, Error> {
        let tables = self.tables();
        let after = LaneKey { pipeline: pipeline.into(), lane: after.into() };
        let later = tables.index.lines.after(&after).take_while(|lane| &*lane.pipeline == pipeline);
        Ok(later.take(limit).map(|lane| lane.lane.clone()).collect())
    }

    fn registry(&self, kind: &str, after: &str, limit: usize) -> Result<Vec<(String, Json)>, Error> {
        let tables = self.tables();
        let after = RegistryKey { kind: kind.to_owned(), name: after.to_owned() };
        let later = tables.registry.range((Excluded(after), Unbounded));
        let entries = later.take_while(|(key, _)| key.kind == kind).take(limit);
        Ok(entries.map(|(key, body)| (key.name.clone(), body.clone())).collect())
    }

    fn registry_back(&self, kind: &str, upto: &str, limit: usize) -> Result<Vec<(String, Json)>, Error> {
        let tables = self.tables();
        let upto = RegistryKey { kind: kind.to_owned(), name: upto.to_owned() };
        let earlier = tables.registry.range((Unbounded, Included(upto))).rev();
        let entries = earlier.take_while(|(key, _)| key.kind == kind).take(limit);
        Ok(entries.map(|(key, body)| (key.name.clone(), body.clone())).collect())
    }
}

impl Tables {
    fn documents(&self, id: SubmissionId) -> Documents {
        self.documents.get(&id).cloned().unwrap_or_default()
    }
}
