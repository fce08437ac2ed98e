//! The store for many machines: one PostgreSQL, any number of servers.
//!
//! A transaction locks the rows it takes, decides, and writes one statement a table, several under way at once. What
//! only one may have (a key, a lane, a slot) is kept by unique indexes; `gate` says how nobody is left waiting in a line;
//! `schema_sequence.sql` how events get their order; the heads of `taking` and `writing` why nobody waits in a circle.

mod address;
mod blocking;
mod clock;
mod codec;
mod connection;
mod error;
mod figures;
mod find;
mod gate;
mod hints;
mod log;
mod machines;
mod partition;
mod past_keys;
mod pipe;
mod query;
mod reading;
mod schema;
mod sql;
mod taking;
mod tls;
mod transfer;
mod writer;
mod writing;

pub use connection::Settings;

use std::future::Future;
use std::sync::{Arc, OnceLock};

use deadpool_postgres::Pool;
use model::{Documents, Json, Name, Submission, SubmissionId, Time};
use store::{
    Changes, Clock, Committed, Count, DeadKey, Error, Feed, FeedPage, Hint, LaneKey, Late, LeafPage, Line,
    Oldest, Page, Query, Recorded, SlotEntry, Store, Take, Taken,
};
use tokio::runtime::{Builder, Runtime};

use clock::Now;
use error::{Fault, Result};
use hints::Hints;
use writer::{Ways, within};

pub struct PostgresStore {
    readers: Pool,
    writers: Pool,
    now: Now,
    settings: Settings,
    /// Made when the first hint is announced or listened for: not everybody who opens a store is a server.
    hints: OnceLock<Arc<Hints>>,
    /// Serves the sockets. `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl PostgresStore {
    /// Opens the store, whose tables are made if they are missing. Time is the database's.
    ///
    /// # Errors
    /// When the database cannot be reached, and when what is in the schema is not a store or was written by a release
    /// this one does not understand.
    pub fn open(settings: &Settings) -> Result<PostgresStore, Error> {
        PostgresStore::open_at(settings, None)?.moved()
    }

    /// The same for a store that is about to be moved into, or was in the middle of that.
    ///
    /// # Errors
    /// The errors of [`PostgresStore::open`].
    pub fn open_to_move(settings: &Settings) -> Result<PostgresStore, Error> {
        PostgresStore::open_at(settings, None)
    }

    /// The same with a time of its own, for tests and simulations.
    ///
    /// # Errors
    /// The errors of [`PostgresStore::open`].
    pub fn open_with_clock(settings: &Settings, clock: Arc<dyn Clock>) -> Result<PostgresStore, Error> {
        PostgresStore::open_at(settings, Some(clock))?.moved()
    }

    /// Refuses a store that another one was not moved into to the end.
    fn moved(self) -> Result<PostgresStore, Error> {
        match self.read(schema::is_moving(&self.readers))? {
            false => Ok(self),
            true => Err(Error::unavailable(
                "another store is being moved into this one; run `milepost migrate-store` again to the end",
            )),
        }
    }

    fn open_at(settings: &Settings, clock: Option<Arc<dyn Clock>>) -> Result<PostgresStore, Error> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("postgres")
            .enable_all()
            .build()
            .map_err(|error| Error::unavailable(format!("cannot start threads: {error}")))?;
        let store = PostgresStore {
            readers: connection::pool(settings, settings.readers, connection::READS)?,
            writers: connection::pool(settings, settings.writers, connection::WRITES)?,
            now: Now::new(clock),
            settings: settings.clone(),
            hints: OnceLock::new(),
            runtime: Some(runtime),
        };
        store.wait(schema::migrate(settings))?;
        store.read(reading::sequence(&store.readers, writer::EVERYTHING))?;
        Ok(store)
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is there until the store is dropped")
    }

    fn hints(&self) -> &Arc<Hints> {
        self.hints.get_or_init(|| {
            let hints = Arc::new(Hints::default());
            self.runtime().spawn(hints.clone().send(self.settings.clone()));
            hints
        })
    }

    /// Waits on this thread while the runtime's serve the sockets.
    fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        let _entered = self.runtime().enter();
        blocking::wait(future)
    }

    fn read<T>(&self, reading: impl Future<Output = Result<T>>) -> Result<T, Error> {
        self.wait(within(self.settings.patience, reading)).map_err(Fault::before_commit)
    }
}

/// Removes a store and all that is in it, for tests and simulations, which make one for themselves.
///
/// # Errors
/// When the database cannot be reached, or does not allow it.
pub fn remove(settings: &Settings) -> Result<(), Error> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| Error::unavailable(format!("cannot start threads: {error}")))?;
    let entered = runtime.enter();
    let removed = blocking::wait(schema::remove(settings));
    drop(entered);
    runtime.shutdown_background();
    removed
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.readers.close();
        self.writers.close();
        // Dropping a runtime waits for its tasks, which is not allowed where another runtime's run.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Addresses have passwords, and contents are other people's documents: never printed.
impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}

impl Store for PostgresStore {
    fn transact(
        &self,
        take: &Take<'_>,
        decide: &mut dyn FnMut(Taken) -> Changes,
    ) -> Result<Committed, Error> {
        let ways = Ways { pool: &self.writers, now: &self.now, patience: self.settings.patience };
        self.wait(writer::transact(&ways, take, decide))
    }

    fn submission(&self, id: SubmissionId) -> Result<Option<(Submission, Documents)>, Error> {
        self.read(reading::submission(&self.readers, id))
    }

    fn find(&self, query: &Query) -> Result<Page, Error> {
        self.read(find::find(&self.readers, query))
    }

    fn history(&self, id: SubmissionId, after: u64, limit: usize) -> Result<Vec<Recorded>, Error> {
        self.read(reading::history(&self.readers, id, after, limit))
    }

    fn feed(&self, feed: &Feed) -> Result<FeedPage, Error> {
        self.read(reading::feed(&self.readers, feed))
    }

    fn leaves(&self, after: u64, limit: usize) -> Result<LeafPage, Error> {
        self.read(log::leaves(&self.readers, after, limit))
    }

    fn act(&self, series: SubmissionId, revision: u64) -> Result<Option<(u64, Vec<u8>)>, Error> {
        self.read(log::act(&self.readers, series, revision))
    }

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, Error> {
        self.read(log::tile(&self.readers, level, index))
    }

    fn line(&self, lane: &LaneKey, limit: usize) -> Result<Line, Error> {
        self.read(reading::line(&self.readers, lane, limit))
    }

    fn counts(&self) -> Result<Vec<Count>, Error> {
        self.read(reading::counts(&self.readers))
    }

    fn oldest(&self) -> Result<Vec<Oldest>, Error> {
        self.read(reading::oldest(&self.readers))
    }

    fn late(&self, late: &Late) -> Result<Vec<Submission>, Error> {
        self.read(reading::late(&self.readers, late))
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn announce(&self, hint: &Hint) {
        self.hints().announce(hint);
    }

    fn listen(&self, heard: Box<dyn Fn(Hint) + Send + Sync>) {
        self.runtime().spawn(self.hints().clone().hear(self.settings.clone(), heard.into()));
    }

    fn parked(&self, after: &str, limit: usize) -> Result<Vec<Name>, Error> {
        self.read(reading::parked(&self.readers, after, limit))
    }

    fn dead(&self, after: Option<&DeadKey>, limit: usize) -> Result<Vec<(DeadKey, u64)>, Error> {
        self.read(figures::dead(&self.readers, after, limit))
    }

    fn slots(&self, after: Option<&SlotEntry>, limit: usize) -> Result<Vec<SlotEntry>, Error> {
        self.read(figures::slots(&self.readers, after, limit))
    }

    fn lanes(&self, pipeline: &str, after: &str, limit: usize) -> Result<Vec<Name>, Error> {
        self.read(figures::lanes(&self.readers, pipeline, after, limit))
    }

    fn bytes(&self) -> Result<Option<u64>, Error> {
        self.read(figures::bytes(&self.readers))
    }

    fn backed_up_at(&self) -> Result<Option<Time>, Error> {
        self.read(figures::backed_up_at(&self.readers))
    }

    fn registry(&self, kind: &str, after: &str, limit: usize) -> Result<Vec<(String, Json)>, Error> {
        self.read(reading::registry(&self.readers, sql::REGISTRY_PAGE, (kind, after, limit)))
    }

    fn registry_back(&self, kind: &str, upto: &str, limit: usize) -> Result<Vec<(String, Json)>, Error> {
        self.read(reading::registry(&self.readers, sql::REGISTRY_BACK, (kind, upto, limit)))
    }
}
