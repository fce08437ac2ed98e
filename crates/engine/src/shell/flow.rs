//! The flow of all servers, and what their workers ask for.

use model::{Name, Refusal, Time};

use super::Engine;
use crate::core;
use crate::flow::FlowReport;

/// The tasks that workers have asked the servers for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Polls {
    /// The time at which a worker last asked for each task that some pipeline has.
    pub known: std::collections::BTreeMap<Name, Time>,
    /// The worker that last asked for a task that no pipeline has, and when.
    pub unknown: std::collections::BTreeMap<Name, (Name, Time)>,
}

impl Polls {
    /// Adds what another server was asked for.
    pub(crate) fn add(&mut self, other: Polls) {
        for (task, at) in other.known {
            let mine = self.known.entry(task).or_insert(at);
            *mine = at.max(*mine);
        }
        for (task, (worker, at)) in other.unknown {
            let mine = self.unknown.entry(task).or_insert_with(|| (worker.clone(), at));
            if at > mine.1 {
                *mine = (worker, at);
            }
        }
    }
}

impl Engine {
    /// Reads the moves and the stays of the last hours, of all servers.
    pub async fn flow(&self) -> Result<FlowReport, Refusal> {
        let (metrics, now) = (self.metrics.clone(), self.now());
        self.read(move |store| metrics.flows.read(store, now)).await
    }

    /// Returns what workers have asked for lately, whichever server they asked.
    pub async fn polls(&self) -> Result<Polls, Refusal> {
        let mut polls = self.own_polls();
        if self.store.is_shared() {
            for server in self.read(core::servers).await? {
                polls.add(server.polls());
            }
        }
        Ok(polls)
    }

    /// Returns when the newest checkpoint of the audit log was published, whichever server did it; none: by none since those
    /// that run started, or there is no log.
    pub async fn checkpoint_at(&self) -> Result<Option<Time>, Refusal> {
        let mut times: Vec<Option<Time>> = vec![self.published_at()];
        if self.store.is_shared() {
            let servers = self.read(core::servers).await?;
            times.extend(servers.into_iter().map(|server| server.published_at));
        }
        Ok(times.into_iter().flatten().max())
    }

    pub(super) fn published_at(&self) -> Option<Time> {
        self.log.as_ref().and_then(|log| log.published_at())
    }

    pub(super) fn own_polls(&self) -> Polls {
        self.hints.polled(self.now())
    }
}
