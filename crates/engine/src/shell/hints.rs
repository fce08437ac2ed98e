//! Hints: "look now". Nobody relies on one; whoever waits looks by itself every now and then.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::{Name, Time};
use tokio::sync::watch;

use super::fleet::millis;
use super::flow::Polls;
use crate::clock;
use crate::core::{ClaimMany, Doubt};

/// The number of remembered tasks that no pipeline declares.
const UNKNOWN_MAX: usize = 100;
/// The number of workers that are remembered, and for how long.
const WORKERS_MAX: usize = 1_000;
const WORKERS_FOR: Duration = Duration::from_secs(3_600);

/// A worker that has asked this server for work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerReport {
    pub worker: Name,
    /// The tasks the worker asked for last.
    pub tasks: Vec<Name>,
    /// The pipelines the worker asked for; none are all.
    pub pipelines: Vec<Name>,
    /// The labels that what it asked for has to have.
    pub labels: BTreeMap<Name, Name>,
    pub ago: Duration,
}

/// The last request of a worker, and when it came.
#[derive(Debug)]
struct Asked {
    tasks: Vec<Name>,
    pipelines: Vec<Name>,
    labels: BTreeMap<Name, Name>,
    at: Instant,
}

#[derive(Debug)]
pub(super) struct Hints {
    /// The time at which a worker last asked for each of these tasks.
    polled: Mutex<HashMap<Name, Instant>>,
    /// The worker that last asked for each task that no pipeline declares, and when.
    unknown: Mutex<HashMap<Name, (Name, Instant)>>,
    /// The workers that asked for work, for what, and when.
    workers: Mutex<HashMap<Name, Asked>>,
    /// The position of the newest event.
    seq: watch::Sender<u64>,
    /// The store's time at the last step, and when that was.
    stepped: Mutex<Option<(Time, Instant)>>,
    watched: Mutex<Watched>,
}

/// The judgement of the store's clock.
#[derive(Debug)]
struct Watched {
    known: Option<Time>,
    at: Instant,
    doubt: Option<Doubt>,
}

impl Hints {
    /// `known`: a time that is certain to have come, if any is.
    pub(super) fn new(known: Option<Time>) -> Self {
        Hints {
            watched: Mutex::new(Watched { known, at: clock::instant(), doubt: None }),
            polled: Mutex::default(),
            unknown: Mutex::default(),
            workers: Mutex::default(),
            seq: watch::Sender::new(0),
            stepped: Mutex::default(),
        }
    }

    /// A worker asks for a task that some pipeline declares.
    pub(super) fn polls(&self, task: &Name) {
        self.polled.lock().unwrap_or_else(PoisonError::into_inner).insert(task.clone(), clock::instant());
    }

    /// A worker asks for tasks that no pipeline declares.
    pub(super) fn asks_in_vain(&self, worker: &Name, tasks: impl Iterator<Item = Name>) {
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        for task in tasks {
            // Names are what callers make up.
            if unknown.len() < UNKNOWN_MAX || unknown.contains_key(&task) {
                unknown.insert(task, (worker.clone(), clock::instant()));
            }
        }
    }

    /// Returns the tasks that workers asked for within the hour that ends at `now`.
    pub(super) fn polled(&self, now: Time) -> Polls {
        let instant = clock::instant();
        let ago = |at: &Instant| instant.saturating_duration_since(*at);
        let time = |at: &Instant| now.minus(millis(ago(at)));
        let polled = self.polled.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = polled.iter().filter(|(_, at)| ago(at) < WORKERS_FOR);
        let known = fresh.map(|(task, at)| (task.clone(), time(at))).collect();
        drop(polled);
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        unknown.retain(|_, (_, at)| ago(at) < WORKERS_FOR);
        let unknown = unknown.iter().map(|(task, (worker, at))| (task.clone(), (worker.clone(), time(at))));
        Polls { known, unknown: unknown.collect() }
    }

    /// A worker asks for these tasks.
    pub(super) fn asks(&self, claim: &ClaimMany, tasks: &[Name]) {
        let worker = &claim.worker;
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        if workers.len() >= WORKERS_MAX && !workers.contains_key(worker) {
            // Names are what callers make up: the longest silent one goes.
            let silent = workers.iter().min_by_key(|(_, asked)| asked.at).map(|(name, _)| name.clone());
            silent.into_iter().for_each(|name| drop(workers.remove(&name)));
        }
        let (pipelines, labels) = (claim.pipelines.clone(), claim.labels.clone());
        let asked = Asked { tasks: tasks.to_vec(), pipelines, labels, at: clock::instant() };
        workers.insert(worker.clone(), asked);
    }

    /// Returns the workers that asked within an hour, in the order of their names.
    pub(super) fn workers(&self) -> Vec<WorkerReport> {
        let now = clock::instant();
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        workers.retain(|_, asked| now.saturating_duration_since(asked.at) < WORKERS_FOR);
        let reports = workers.iter().map(|(worker, asked)| WorkerReport {
            worker: worker.clone(),
            tasks: asked.tasks.clone(),
            pipelines: asked.pipelines.clone(),
            labels: asked.labels.clone(),
            ago: now.saturating_duration_since(asked.at),
        });
        let mut reports: Vec<_> = reports.collect();
        reports.sort_by(|one, other| one.worker.cmp(&other.worker));
        reports
    }

    /// Returns the time since a worker last asked for a task.
    pub(super) fn polled_ago(&self, task: &str) -> Option<Duration> {
        let polled = self.polled.lock().unwrap_or_else(PoisonError::into_inner);
        polled.get(task).map(|at| clock::instant().saturating_duration_since(*at))
    }

    /// The core has looked at the store at this time.
    pub(super) fn stepped(&self, now: Time) {
        *self.stepped.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, clock::instant()));
    }

    /// Takes the core's judgement of the clock. The first doubt, or its end, is logged.
    pub(super) fn watched(&self, known: Time, doubt: Option<Doubt>) {
        let now = Watched { known: Some(known), at: clock::instant(), doubt };
        let before =
            std::mem::replace(&mut *self.watched.lock().unwrap_or_else(PoisonError::into_inner), now);
        // Not while it is locked: whoever asks how the server is would wait for whoever reads the log.
        match (before.doubt, doubt) {
            (None, Some(doubt)) => tracing::warn!("the clock is in doubt: {doubt}"),
            (Some(_), None) => tracing::info!("the clock is believed again"),
            _ => {}
        }
    }

    pub(super) fn doubt(&self) -> Option<Doubt> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).doubt
    }

    /// The latest time that was certain to have come, and how long ago that was so.
    pub(super) fn known(&self) -> Option<(Time, Duration)> {
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.known.map(|known| (known, clock::instant().saturating_duration_since(watched.at)))
    }

    /// The store's time, as of the last step; and how long ago that was.
    pub(super) fn last_step(&self) -> Option<(Time, Duration)> {
        let stepped = *self.stepped.lock().unwrap_or_else(PoisonError::into_inner);
        stepped.map(|(now, at)| (now, clock::instant().saturating_duration_since(at)))
    }

    /// A later event than any before. Others may tell of theirs out of turn; nobody has to look for those again.
    pub(super) fn recorded(&self, seq: u64) {
        self.seq.send_if_modified(|newest| {
            let later = seq > *newest;
            *newest = seq.max(*newest);
            later
        });
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.seq.subscribe()
    }
}
