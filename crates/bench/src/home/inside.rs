//! The engine in this process.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use engine::core::{ClaimMany, Output};
use engine::{ApplyError, Engine, Options};
use futures_util::future::join_all;
use model::admit::{Application, Door};
use model::command::Finish;
use model::{Caller as Person, Command, Json, LeaseToken, Name, Refusal, Role};
use store::Store;

use super::{Caller, Home, Submitter, Task};
use crate::pipelines::{ALL, Machine};

#[derive(Debug, Clone)]
pub(crate) struct Inside {
    engine: Engine,
    label: String,
}

impl Inside {
    /// Starts an engine over a store and applies the machines that are measured.
    pub(crate) async fn start(store: Arc<dyn Store>, label: &str, options: &Options) -> Result<Inside> {
        let engine = Engine::start(store, options)?;
        for machine in ALL {
            let source = machine.source();
            engine.apply(&source).await.map_err(|error| match error {
                ApplyError::Problems(problems) => anyhow!("{}", problems.render(&source)),
                ApplyError::Refused(refusal) => refused(refusal),
            })?;
        }
        Ok(Inside { engine, label: label.to_owned() })
    }

    /// Asks the store, beside whatever is written meanwhile.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn Store) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.engine.read(|store| Ok(read(store))).await.map_err(refused)?
    }

    pub(crate) async fn stop(self) {
        self.engine.drain().await;
    }
}

impl Home for Inside {
    type Caller = Inside;

    fn servers(&self) -> &[SocketAddr] {
        &[]
    }

    async fn caller(&self) -> Result<Inside> {
        Ok(self.clone())
    }

    fn label(&self) -> &str {
        &self.label
    }
}

impl Submitter for Inside {
    async fn submit(&mut self, machine: Machine, payloads: Vec<String>) -> Result<()> {
        let each = payloads.into_iter().map(|payload| self.submit_one(machine, payload));
        join_all(each).await.into_iter().collect()
    }
}

impl Caller for Inside {
    type Token = LeaseToken;

    async fn claim(&mut self, machine: Machine, max: usize, wait: Duration) -> Result<Vec<Task<LeaseToken>>> {
        let tasks = machine.tasks.iter().copied().map(Name::from).collect();
        let (pipelines, labels) = (Vec::new(), [].into());
        let claim = ClaimMany {
            worker: "bench".into(),
            tasks,
            pipelines,
            labels,
            max,
            arriving: false,
            only: None,
            lease: None,
        };
        let granted = self.engine.claim(claim, wait).await.map_err(refused)?;
        let task = |granted: engine::core::Granted| {
            Ok(Task { token: granted.token, number: number(granted.documents.payload.as_str())? })
        };
        granted.into_iter().map(task).collect()
    }

    async fn finish(&mut self, tasks: Vec<Task<LeaseToken>>) -> Result<()> {
        let each = tasks.into_iter().map(|task| self.finish_one(task.token));
        join_all(each).await.into_iter().collect()
    }
}

impl Inside {
    async fn submit_one(&self, machine: Machine, payload: String) -> Result<()> {
        let application = Application {
            caller: Person::new("bench", Role::Submitter),
            payload: Json::parse(&payload)?,
            key: None,
            priority: None,
            not_before: None,
            reason: None,
            door: Door::Api,
        };
        self.engine.submit(machine.name, application, None).await.map(drop).map_err(refused)
    }

    async fn finish_one(&self, token: LeaseToken) -> Result<()> {
        let finish = Finish {
            token,
            outcome: "done".into(),
            output: None,
            result: None,
            children: Vec::new(),
            entries: Vec::new(),
        };
        match self.engine.settle(token, Command::Finish(finish)).await.map_err(refused)? {
            Output::Settled { .. } => Ok(()),
            other => bail!("a settlement was answered {other:?}"),
        }
    }
}

fn refused(refusal: Refusal) -> anyhow::Error {
    anyhow!("{} ({})", refusal.message, refusal.code.as_str())
}

/// Payloads begin with their number.
pub(super) fn number(payload: &str) -> Result<u64> {
    let digits = payload.strip_prefix(r#"{"n":"#).and_then(|rest| rest.split(',').next());
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| anyhow!("this payload is not from here"))
}
