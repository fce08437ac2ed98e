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

    pub(super) fn own_polls(&self) -> Polls {
        self.hints.polled(self.now())
    }
}
