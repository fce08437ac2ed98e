//! The state of the log, for whoever watches and for whoever waits for a proof.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::Time;
use tokio::sync::watch;

use super::{KeyFile, LogOptions};

/// The standing of the log: whether it goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    Running,
    /// Signing has stopped: the store does not follow what was signed, or what a witness has seen, of so many leaves.
    /// A fork is the way on.
    Refused {
        reason: String,
        seen: u64,
    },
    /// Something else is in the way; it is tried again.
    Failing(String),
}

impl Standing {
    /// Returns the number of leaves somebody has seen that are not there.
    pub(crate) fn seen(&self) -> u64 {
        match self {
            Standing::Refused { seen, .. } => *seen,
            _ => 0,
        }
    }
}

/// The result of asking a witness last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WitnessReport {
    pub name: String,
    /// The size of the last checkpoint it cosigned.
    pub cosigned: Option<u64>,
    /// The reason why the witness did not cosign, the last time it was asked.
    pub missing: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogReport {
    pub origin: String,
    /// Leaves under the published checkpoint.
    pub size: u64,
    /// The time at which the checkpoint was published, by this server; `None`: not since the server started.
    pub published_at: Option<Time>,
    pub standing: Standing,
    /// The keys as verifiers are given them.
    pub keys: Vec<String>,
    pub witnesses: Vec<WitnessReport>,
}

/// Shared between the duty that publishes and everybody else.
#[derive(Debug)]
pub(crate) struct LogState {
    pub(crate) origin: String,
    pub(crate) keys: KeyFile,
    pub(crate) guard: PathBuf,
    /// Leaves under the checkpoint, as far as this server knows.
    size: watch::Sender<u64>,
    told: Mutex<Told>,
}

#[derive(Debug)]
struct Told {
    published_at: Option<Time>,
    standing: Standing,
    witnesses: BTreeMap<String, WitnessReport>,
}

impl LogState {
    pub(crate) fn new(origin: String, keys: KeyFile, options: &LogOptions) -> Self {
        let told = Told { published_at: None, standing: Standing::Running, witnesses: BTreeMap::new() };
        LogState {
            origin,
            keys,
            guard: options.guard.clone(),
            size: watch::Sender::new(0),
            told: Mutex::new(told),
        }
    }

    pub(crate) fn sizes(&self) -> watch::Receiver<u64> {
        self.size.subscribe()
    }

    pub(crate) fn published(&self, size: u64, now: Time) {
        self.told().published_at = Some(now);
        self.size.send_replace(size);
    }

    pub(crate) fn published_at(&self) -> Option<Time> {
        self.told().published_at
    }

    pub(crate) fn standing(&self) -> Standing {
        self.told().standing.clone()
    }

    /// Says so once, when it changes.
    pub(crate) fn stands(&self, standing: Standing) {
        let before = std::mem::replace(&mut self.told().standing, standing.clone());
        if before == standing {
            return;
        }
        // Not while it is locked: whoever asks how the server is would wait for whoever reads what is logged.
        match &standing {
            Standing::Running => tracing::info!("the audit log goes on"),
            Standing::Refused { reason, .. } => {
                tracing::warn!(reason, "the audit log stands still; look what happened, then fork it");
            }
            Standing::Failing(reason) => tracing::warn!(reason, "the audit log cannot be published now"),
        }
    }

    pub(crate) fn witness(&self, name: &str, outcome: Result<u64, String>) {
        let missing = outcome.as_ref().err().cloned();
        let before = {
            let mut told = self.told();
            let report = told.witnesses.entry(name.to_owned()).or_insert_with(|| WitnessReport {
                name: name.to_owned(),
                cosigned: None,
                missing: None,
            });
            report.cosigned = outcome.ok().or(report.cosigned);
            std::mem::replace(&mut report.missing, missing.clone())
        };
        if let Some(reason) = missing.filter(|reason| before.as_ref() != Some(reason)) {
            tracing::warn!(witness = name, reason, "a witness does not cosign the audit log");
        }
    }

    pub(crate) fn report(&self, size: u64) -> LogReport {
        let keys = self.keys.verifiers().unwrap_or_default();
        let told = self.told();
        LogReport {
            origin: self.origin.clone(),
            size,
            published_at: told.published_at,
            standing: told.standing.clone(),
            keys: keys.iter().map(ToString::to_string).collect(),
            witnesses: told.witnesses.values().cloned().collect(),
        }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        // Every change is one assignment: a panic elsewhere leaves nothing half done.
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
