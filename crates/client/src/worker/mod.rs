//! The loop of a worker: claim, run, keep the lease, settle.

mod answer;
mod lease;
mod run;
mod settle;
mod speak;
mod task;

pub use answer::{Failure, Outcome};
pub use task::Task;

use std::collections::BTreeMap;
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use wire::Millis;
use wire::api::ClaimBody;

use crate::client::Client;
use crate::error::Error;
use crate::retries::Retries;
use lease::Lease;
use run::Run;

/// How long a claim waits for work.
const POLL: Millis = Millis::from_secs(20);
/// Tasks that one claim may ask for.
const CLAIM_MAX: usize = 1_000;
/// The time for which a worker that stops tries to give tasks back. A task whose return nobody heard of expires.
const GIVING_BACK: Duration = Duration::from_secs(5);
/// Between tries while the server cannot be reached.
const OUTAGE: Retries =
    Retries { times: u32::MAX, pause: Duration::from_millis(200), pause_max: Duration::from_secs(10) };

type Answer = Pin<Box<dyn Future<Output = Result<Outcome, Failure>> + Send>>;
type Handler = Arc<dyn Fn(Task) -> Answer + Send + Sync>;
type Hook = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// Runs tasks. See the crate's documentation for an example.
#[derive(Clone)]
pub struct Worker {
    client: Client,
    name: String,
    handlers: BTreeMap<String, Handler>,
    concurrency: usize,
    grace: Duration,
    before_giving_back: Option<Hook>,
    pipelines: Option<Vec<String>>,
    labels: Option<BTreeMap<String, String>>,
}

impl Worker {
    /// A worker under the name that its leases and events will show.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Worker {
        Worker {
            client,
            name: name.into(),
            handlers: BTreeMap::new(),
            concurrency: 1,
            grace: Duration::from_secs(30),
            before_giving_back: None,
            pipelines: None,
            labels: None,
        }
    }

    /// Takes a kind of task. The handler is stopped at its next `await` when its lease is lost, and its answer is not
    /// sent then: somebody else has the task.
    #[must_use]
    pub fn task<H, F>(mut self, name: impl Into<String>, handler: H) -> Worker
    where
        H: Fn(Task) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Outcome, Failure>> + Send + 'static,
    {
        self.handlers.insert(name.into(), Arc::new(move |task| Box::pin(handler(task))));
        self
    }

    /// How many tasks run at a time; one unless told.
    #[must_use]
    pub fn concurrency(mut self, tasks: usize) -> Worker {
        self.concurrency = tasks.max(1);
        self
    }

    /// Sets the time that running tasks may go on when the worker is to stop; 30 seconds by default. Those that do not
    /// end in time are stopped at their next `await` and given back: somebody else gets them at once, and no attempt is
    /// counted.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Worker {
        self.grace = grace;
        self
    }

    /// Does this when the grace is over, before tasks that have not ended are stopped and given back: ends what they
    /// run outside of this program, say.
    #[must_use]
    pub fn before_giving_back<H, F>(mut self, hook: H) -> Worker
    where
        H: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        self.before_giving_back = Some(Arc::new(move || Box::pin(hook())));
        self
    }

    /// Takes tasks of these pipelines only.
    #[must_use]
    pub fn pipelines(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Worker {
        self.pipelines = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Takes tasks of submissions with this label only.
    #[must_use]
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Worker {
        self.labels.get_or_insert_default().insert(name.into(), value.into());
        self
    }

    /// Works until `shutdown` ends, then finishes what is running. A server that cannot be reached is waited for.
    ///
    /// # Errors
    /// When the server refuses the worker, for waiting would not change that: a bad token, a role without the right.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        if self.handlers.is_empty() {
            return Err(Error::Setup("the worker has no tasks; give it some with `task`".to_owned()));
        }
        self.say_what_it_serves();
        let mut shutdown = pin!(shutdown);
        let mut running = JoinSet::new();
        let mut heard = Heard::default();
        let give_up = watch::Sender::new(false);
        let mut failed = 0;
        let result = loop {
            let claimed = tokio::select! {
                biased;
                () = &mut shutdown => break Ok(()),
                claimed = self.claim(&mut running, &give_up, &mut heard) => claimed,
            };
            match claimed {
                Ok(runs) => {
                    failed = 0;
                    runs.into_iter().for_each(|run| {
                        running.spawn(run.run());
                    });
                }
                Err(error) if error.is_passing() => {
                    failed += 1;
                    let pause = OUTAGE.pause_after(failed);
                    tracing::warn!(worker = self.name, %error, ?pause, "cannot claim; trying again");
                    tokio::select! {
                        () = &mut shutdown => break Ok(()),
                        () = tokio::time::sleep(pause) => {}
                    }
                }
                Err(error) => break Err(error),
            }
        };
        self.drain(running, &give_up).await;
        result
    }

    /// As many tasks as there are free slots; waits for a slot if there is none.
    async fn claim(
        &self,
        running: &mut JoinSet<()>,
        give_up: &watch::Sender<bool>,
        heard: &mut Heard,
    ) -> Result<Vec<Run>, Error> {
        while running.try_join_next().is_some() {}
        while running.len() >= self.concurrency {
            running.join_next().await;
        }
        let body = ClaimBody {
            worker: self.name.clone(),
            tasks: self.handlers.keys().cloned().collect(),
            pipelines: self.pipelines.clone(),
            labels: self.labels.clone(),
            max: Some((self.concurrency - running.len()).min(CLAIM_MAX)),
            // The first does not wait: its answer says at once if something is wrong with the names of the tasks.
            wait: heard.any.then_some(POLL),
        };
        let answer = self.client.claim(&body).await?;
        heard.any = true;
        self.say_what_nobody_has(&mut heard.unknown, answer.unknown_tasks);
        let runs = answer.tasks.into_iter().filter_map(|view| {
            let Some(handler) = self.handlers.get(&*view.task) else {
                tracing::warn!(
                    task = &*view.task,
                    "was given a task that was not asked for; its lease will expire"
                );
                return None;
            };
            let lease = Lease::new(self.client.clone(), &view);
            let task = Task::new(view, &lease);
            let (handler, client) = (handler.clone(), self.client.clone());
            Some(Run { handler, task, lease, client, give_up: give_up.subscribe() })
        });
        Ok(runs.collect())
    }

    async fn drain(&self, mut running: JoinSet<()>, give_up: &watch::Sender<bool>) {
        let all = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(self.grace, all).await.is_ok() {
            return;
        }
        tracing::warn!(
            worker = self.name,
            tasks = running.len(),
            "stopping before all tasks ended; they are given back"
        );
        if let Some(hook) = &self.before_giving_back {
            hook().await;
        }
        give_up.send_replace(true);
        let all = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(GIVING_BACK, all).await.is_err() {
            tracing::error!(
                worker = self.name,
                tasks = running.len(),
                "not all tasks could be given back; their leases will expire"
            );
            running.shutdown().await;
        }
    }
}

/// The parts of a server's answers to claims that are remembered.
#[derive(Debug, Default)]
struct Heard {
    /// Set once a claim was answered.
    any: bool,
    /// Those of the tasks that no pipeline has, as far as that was told.
    unknown: Vec<String>,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("name", &self.name)
            .field("tasks", &self.handlers.keys())
            .field("concurrency", &self.concurrency)
            .finish_non_exhaustive()
    }
}
