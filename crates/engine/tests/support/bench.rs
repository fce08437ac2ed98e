//! Promises of the engine, each checked over every store.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{Submission, SubmissionId};
use store::ManualClock;
use store::{Clock, Store};
use store_postgres::{PostgresStore, Settings};
use store_sqlite::SqliteStore;

use super::{Machine, memory};
use engine::duty::{Duty, Look};

pub(crate) struct Bench {
    pub(crate) machine: Machine,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: ManualClock,
    _folder: Option<tempfile::TempDir>,
}

impl Bench {
    pub(crate) fn row(&self, id: SubmissionId) -> Submission {
        self.store.submission(id).unwrap().unwrap().0
    }

    pub(crate) fn state(&self, id: SubmissionId) -> String {
        self.row(id).state.to_string()
    }
}

/// Makes a bench over one of the stores, with these pipeline files.
pub(crate) type Open<'a> = &'a dyn Fn(&[&str]) -> Bench;

/// Sentences and how they are checked.
pub(crate) type Promises = &'static [(&'static str, fn(Open<'_>))];

pub(crate) fn over_memory(files: &[&str]) -> Bench {
    let (store, clock) = memory();
    Bench { machine: Machine::with(store.clone(), files), store, clock, _folder: None }
}

pub(crate) fn over_sqlite(files: &[&str]) -> Bench {
    let (folder, clock) = (tempfile::tempdir().unwrap(), ManualClock::new());
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(folder.path(), Arc::new(clock.clone())).unwrap());
    Bench { machine: Machine::with(store.clone(), files), store, clock, _folder: Some(folder) }
}

/// Makes a bench over a schema of its own. Its store goes by the time of the database.
pub(crate) fn over_postgres(files: &[&str]) -> Bench {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let url = std::env::var("MILEPOST_TEST_POSTGRES")
        .expect("MILEPOST_TEST_POSTGRES names a PostgreSQL server: run the tests through `cargo xtask test`");
    let no = NEXT.fetch_add(1, Ordering::SeqCst);
    let settings = Settings::new(url).schema(format!("bench_{}_{no}", std::process::id()));
    let store: Arc<dyn Store> = Arc::new(PostgresStore::open(&settings).unwrap());
    Bench { machine: Machine::with(store.clone(), files), store, clock: ManualClock::new(), _folder: None }
}

/// Checks every sentence; all that are not true are told.
pub(crate) fn check(promises: Promises, open: Open<'_>) {
    let holds = |promise: fn(Open<'_>)| catch_unwind(AssertUnwindSafe(|| promise(open))).is_ok();
    let broken: Vec<&str> =
        promises.iter().filter(|(_, promise)| !holds(*promise)).map(|(sentence, _)| *sentence).collect();
    assert!(broken.is_empty(), "not true: {}", broken.join("; "));
}

/// Runs a duty's passes until one finds nothing more to do, as the shell does.
pub(crate) fn serve(bench: &mut Bench, duty: &mut dyn Duty) {
    loop {
        let versions = bench.machine.pipelines.current();
        let now = bench.clock.now();
        let pass =
            duty.pass(Look { store: &*bench.store, versions: &versions, now, doubtful: false }).unwrap();
        for input in pass.inputs {
            bench.machine.one(input).unwrap();
        }
        if !pass.again {
            return bench.machine.settle();
        }
    }
}
