//! The loop itself.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use wire::Millis;
use wire::api::{ClaimAnswer, ClaimBody};

use crate::answer::{Failure, Outcome};
use crate::error::Error;
use crate::lease::Lease;
use crate::retries::Retries;
use crate::run::Run;
use crate::source::{Ended, TaskSource};
use crate::speak::Voice;
use crate::task::Task;

/// The time that a claim waits for work.
const POLL: Millis = Millis::from_secs(20);
/// The shortest time that an empty answer may take to a claim that waits. A place without any of the worker's pipelines
/// answers at once, and is not asked again at once.
const EMPTY: Duration = Duration::from_secs(1);
/// The most tasks that one claim asks for.
const CLAIM_MAX: usize = 1_000;
/// The time for which a worker that stops tries to give tasks back. A task whose return nobody heard of expires.
const GIVING_BACK: Duration = Duration::from_secs(5);
/// The pauses between claims while nobody can be reached.
const OUTAGE: Retries =
    Retries { times: u32::MAX, pause: Duration::from_millis(200), pause_max: Duration::from_secs(10) };

type Answer = Pin<Box<dyn Future<Output = Result<Outcome, Failure>> + Send>>;
pub(crate) type Handler = Arc<dyn Fn(Task) -> Answer + Send + Sync>;
type Hook = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// Runs tasks. See the crate's documentation for an example.
#[derive(Clone)]
pub struct Worker {
    pub(crate) source: Arc<dyn TaskSource>,
    pub(crate) name: String,
    pub(crate) handlers: BTreeMap<String, Handler>,
    pub(crate) concurrency: usize,
    claim_max: usize,
    pub(crate) voice: Voice,
    grace: Duration,
    before_giving_back: Option<Hook>,
    pub(crate) pipelines: Option<Vec<String>>,
    pub(crate) labels: Option<BTreeMap<String, String>>,
}

impl Worker {
    /// Makes a worker under the name that its leases and events will show.
    #[must_use]
    pub fn new(source: impl TaskSource + 'static, name: impl Into<String>) -> Worker {
        Worker {
            source: Arc::new(source),
            name: name.into(),
            handlers: BTreeMap::new(),
            concurrency: 1,
            claim_max: CLAIM_MAX,
            voice: Voice::Plain,
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

    /// Sets the number of tasks that run at a time; one by default.
    #[must_use]
    pub fn concurrency(mut self, tasks: usize) -> Worker {
        self.concurrency = tasks.max(1);
        self
    }

    /// Sets the most tasks that one claim asks for.
    #[must_use]
    pub fn claim_max(mut self, tasks: usize) -> Worker {
        self.claim_max = tasks.clamp(1, CLAIM_MAX);
        self
    }

    /// Tells whether the worker has anything to do.
    #[must_use]
    pub fn has_tasks(&self) -> bool {
        !self.handlers.is_empty()
    }

    /// Writes into the log at `debug` alone: for workers inside of a server, which shows their tasks itself.
    #[must_use]
    pub fn quietly(mut self) -> Worker {
        self.voice = Voice::Low;
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
        if !self.has_tasks() {
            return Err(Error::Setup("the worker has no tasks; give it some with `task`".to_owned()));
        }
        self.say_what_it_serves();
        let mut work = Work::default();
        let result = self.work(&mut work, pin!(shutdown)).await;
        self.drain(work).await;
        result
    }

    /// Claims and runs until `shutdown` ends.
    async fn work(
        &self,
        work: &mut Work,
        mut shutdown: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<(), Error> {
        let mut failed = 0;
        loop {
            tokio::select! {
                biased;
                () = &mut shutdown => return Ok(()),
                () = work.below(self.concurrency) => {}
            }
            let (end, ended) = Ended::to_come();
            let (body, asked_at) = (self.wish(work), Instant::now());
            let mut claim = pin!(self.source.claim(&body, ended));
            let (claimed, is_over) = tokio::select! {
                biased;
                () = &mut shutdown => {
                    // Ended, not dropped: what it is lent at this moment would be nobody's.
                    end.send_replace(true);
                    (claim.await, true)
                }
                claimed = &mut claim => (claimed, false),
            };
            let pause = match claimed {
                Ok(answer) => {
                    failed = 0;
                    let came_too_soon = answer.tasks.is_empty() && asked_at.elapsed() < EMPTY;
                    let waited = body.wait.is_some();
                    self.begin(answer, work);
                    (came_too_soon && waited).then_some(EMPTY)
                }
                Err(_) if is_over => None,
                Err(error) if error.is_passing() => {
                    failed += 1;
                    let pause = OUTAGE.pause_after(failed);
                    say!(self.voice, warn, worker = self.name, %error, ?pause, "cannot claim; trying again");
                    Some(pause)
                }
                Err(error) => return Err(error),
            };
            if is_over {
                return Ok(());
            }
            if let Some(pause) = pause {
                tokio::select! {
                    () = &mut shutdown => return Ok(()),
                    () = tokio::time::sleep(pause) => {}
                }
            }
        }
    }

    /// Returns a claim for as many tasks as there are free places.
    fn wish(&self, work: &Work) -> ClaimBody {
        ClaimBody {
            worker: self.name.clone(),
            tasks: self.handlers.keys().cloned().collect(),
            pipelines: self.pipelines.clone(),
            labels: self.labels.clone(),
            max: Some((self.concurrency - work.running.len()).min(self.claim_max)),
            // The first does not wait: its answer says at once if something is wrong with the names of the tasks.
            wait: work.was_answered.then_some(POLL),
            lease: None,
        }
    }

    /// Runs the tasks of a claim's answer.
    fn begin(&self, answer: ClaimAnswer, work: &mut Work) {
        work.was_answered = true;
        self.say_what_nobody_has(&mut work.unknown, answer.unknown_tasks);
        for view in answer.tasks {
            let Some(handler) = self.handlers.get(&*view.task).cloned() else {
                let task = &*view.task;
                tracing::warn!(task, "was given a task that was not asked for; its lease will expire");
                continue;
            };
            let lease = Lease::new(self.source.clone(), &view);
            let (task, source) = (Task::new(view, &lease), self.source.clone());
            let run =
                Run { handler, task, lease, source, voice: self.voice, give_up: work.give_up.subscribe() };
            work.running.spawn(run.run());
        }
    }

    async fn drain(&self, work: Work) {
        let Work { mut running, give_up, .. } = work;
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

/// The tasks of a worker that run, and the parts of the answers to its claims that are remembered.
#[derive(Debug, Default)]
struct Work {
    running: JoinSet<()>,
    give_up: watch::Sender<bool>,
    /// Set once a claim was answered.
    was_answered: bool,
    /// The tasks that no pipeline has, as far as that was told.
    unknown: Vec<String>,
}

impl Work {
    /// Waits until fewer tasks than these run.
    async fn below(&mut self, places: usize) {
        while self.running.try_join_next().is_some() {}
        while self.running.len() >= places {
            self.running.join_next().await;
        }
    }
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
