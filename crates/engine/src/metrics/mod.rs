//! Counts of what the engine commits, as plain numbers: whoever serves them gives them names.
//!
//! The thread that commits notes what a batch did while it decides ([`Notes`]), and counts it once everybody has been
//! answered ([`Recorder`]). Counters are atomic and found once for each state; a reader never holds anybody up.

mod family;
mod instrument;
mod notes;
mod recorder;

pub use family::{Family, OTHER};
pub use instrument::{Counter, Gauge, Histogram, Reading};
pub(crate) use notes::Decided;
pub use notes::Notes;
pub(crate) use recorder::{Recorder, Stepped};

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use model::{Code, Name};

use crate::flow::Flows;
use crate::levels::Levels;

/// From what a machine notices to what people wait for. Declared service levels should find their bound here.
const DWELL_S: &[f64] = &[
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    15.0,
    30.0,
    60.0,
    300.0,
    1_800.0,
    3_600.0,
    21_600.0,
    86_400.0,
    604_800.0,
    2_592_000.0,
];
const COMMIT_S: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
const BATCH: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

/// Pairs of a pipeline and a state, or of a pipeline and a task, that are told apart. More are counted together.
const LABELS_MAX: usize = 1_000;

/// Everything that is counted since this engine started.
#[derive(Debug)]
pub struct Metrics {
    /// By pipeline and state.
    pub places: Family<StateMetrics>,
    /// The durations of stays and legs that service levels are declared for.
    pub levels: Levels,
    /// The moves of each minute, and the stays they ended.
    pub flows: Flows,
    /// By pipeline and task.
    pub leases: Family<Leases>,
    /// Transactions that wrote something: on disk, one sync each.
    pub commits: Counter,
    /// The duration of a step that committed: taking, deciding, writing, syncing.
    pub commit_seconds: Histogram,
    /// The number of requests in one step.
    pub batch: Histogram,
    /// Steps that could not reach or write the store.
    pub store_failures: Counter,
    /// The time that due work has been due, in milliseconds.
    pub due_behind_ms: Gauge,
    /// Long polls that wait, by task.
    polling: Mutex<BTreeMap<Name, u64>>,
    refusals: Vec<Counter>,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics {
            places: Family::new(LABELS_MAX),
            levels: Levels::default(),
            flows: Flows::default(),
            leases: Family::new(LABELS_MAX),
            commits: Counter::default(),
            commit_seconds: Histogram::new(COMMIT_S),
            batch: Histogram::new(BATCH),
            store_failures: Counter::default(),
            due_behind_ms: Gauge::default(),
            polling: Mutex::default(),
            refusals: Code::ALL.iter().map(|_| Counter::default()).collect(),
        }
    }
}

impl Metrics {
    pub(crate) fn refused(&self, code: Code) {
        self.refusals[code as usize].add(1);
    }

    /// Lists how often each code was answered by the engine.
    pub fn refusals(&self) -> impl Iterator<Item = (Code, u64)> {
        Code::ALL.iter().zip(&self.refusals).map(|(code, counter)| (*code, counter.get()))
    }

    /// Somebody waits for these tasks until the answer is dropped. The names come from pipeline files, so there are few.
    pub(crate) fn polls<'a>(&'a self, tasks: &'a [Name]) -> Polling<'a> {
        let mut polling = self.polling.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.iter().for_each(|task| *polling.entry(task.clone()).or_default() += 1);
        Polling { metrics: self, tasks }
    }

    /// Counts who waits for each task that somebody has waited for.
    #[must_use]
    pub fn polling(&self) -> BTreeMap<Name, u64> {
        self.polling.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

pub(crate) struct Polling<'a> {
    metrics: &'a Metrics,
    tasks: &'a [Name],
}

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        let mut polling = self.metrics.polling.lock().unwrap_or_else(PoisonError::into_inner);
        for task in self.tasks {
            if let Some(count) = polling.get_mut(task) {
                *count = count.saturating_sub(1);
            }
        }
    }
}

/// The counts of what happened in one state.
#[derive(Debug)]
pub struct StateMetrics {
    pub submitted: Counter,
    pub entered: Counter,
    pub left: Counter,
    /// The durations of stays that ended by a move, in seconds.
    pub dwell: Histogram,
    /// The durations of the attempts that finished their task, in seconds.
    pub attempt: Histogram,
    pub tasks: Tasks,
    pub retried: Counter,
    pub crashed: Counter,
    pub died: Counter,
    pub redriven: Counter,
    late: Mutex<BTreeMap<Option<Name>, u64>>,
}

impl Default for StateMetrics {
    fn default() -> Self {
        let none = Counter::default;
        StateMetrics {
            submitted: none(),
            entered: none(),
            left: none(),
            dwell: Histogram::new(DWELL_S),
            attempt: Histogram::new(DWELL_S),
            tasks: Tasks::default(),
            retried: none(),
            crashed: none(),
            died: none(),
            redriven: none(),
            late: Mutex::default(),
        }
    }
}

impl StateMetrics {
    fn missed(&self, levels: &[Option<Name>]) {
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        levels.iter().for_each(|level| *late.entry(level.clone()).or_default() += 1);
    }

    /// Missed service levels: those of legs by their name, the state's own by none.
    #[must_use]
    pub fn late(&self) -> BTreeMap<Option<Name>, u64> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Tasks that have ended, by how. One that is tried again, given back or taken away has not.
#[derive(Debug, Default)]
pub struct Tasks {
    /// A worker's answer was followed.
    pub finished: Counter,
    /// The task's tries were used up, and the file says where that leads.
    pub failed: Counter,
    /// The submission became a dead letter.
    pub dead: Counter,
}

impl Tasks {
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.finished.get() + self.failed.get() + self.dead.get()
    }
}

/// The counts of what became of one task's leases.
#[derive(Debug, Default)]
pub struct Leases {
    pub granted: Counter,
    /// The worker answered.
    pub settled: Counter,
    /// The worker gave it back: not yet.
    pub snoozed: Counter,
    /// By a worker that stopped, or because whoever had asked was gone.
    pub given_back: Counter,
    /// The worker was not heard of in time.
    pub expired: Counter,
    /// Taken away: by time-out, action, amendment.
    pub revoked: Counter,
    /// The number of leases that are out, of those that were granted here and since the start.
    pub held: Gauge,
}
