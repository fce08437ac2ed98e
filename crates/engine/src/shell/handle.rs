//! The engine as its callers see it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use model::{Caller, Code, Links, Millis, Name, Pipeline, Refusal, Time, Trace};
use store::{Changes, Store, Take};
use thiserror::Error;
use tokio::sync::{Semaphore, oneshot, watch};
use wire::receipt::ReceiptKey;

use super::background::Aside;
use super::duties::Duties;
use super::hints::Hints;
use super::queue::{QueueReport, Queues, Request};
use super::thread::{Condition, Thread};
use crate::bounds::Part;
use crate::clock;
use crate::core::{Answered, Ask, Asker, Core, Input, Output, Reply, Tally, Trust};
use crate::duty::{Duty, Flow, Housekeeping, Levels, Log, Operations, Presence, Schedules, Sweep};
use crate::holds::{Holds, InForce};
use crate::log::{Follower, KeyFile, KeyFileError, LogOptions, LogState};
use crate::metrics::{Metrics, Recorder};
use crate::pipelines::{LoadError, PayloadChecks, Pipelines, VERSIONS_MAX};
use crate::registry::{Entry, EntryKey, OneEntry};

/// The time a waiting claim trusts in hints before it looks by itself.
const CLAIM_SWEEP: Duration = Duration::from_secs(5);

/// Reads at a time. Each has a thread and what it reads: more would take memory and the processor from those who commit, and
/// would not end sooner.
const READS_MAX: usize = 8;

#[derive(Debug, Error)]
pub enum StartError {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Definition(#[from] LoadError),
    #[error(transparent)]
    Key(#[from] KeyFileError),
    #[error("the engine's thread did not start: {0}")]
    Thread(#[from] std::io::Error),
}

#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The decision to use in tests that need one to go wrong.
    pub decide: Option<crate::core::Decide>,
    /// The time for which events stay in the feed; `None`: for ever.
    pub keep_events: Option<Millis>,
    /// The number of versions of one pipeline are kept; `None`: as many as are by default.
    pub versions_max: Option<usize>,
    /// The name people call this server; empty: what it calls itself.
    pub name: Name,
    /// The time a waiting claim trusts in hints before it looks by itself; `None`: a few seconds.
    pub claim_sweep: Option<Duration>,
    /// The checks of payloads that systems bring, by pipeline.
    pub payload_checks: PayloadChecks,
    /// The options for publishing the audit log; `None`: it is not published.
    pub log: Option<LogOptions>,
    /// The address of the server as people reach it, for messages; `None`: they name no address.
    pub base_url: Option<String>,
    /// The pipelines that have public pages.
    pub public: BTreeSet<Name>,
}

/// A running engine. Cloning it is cheap; all clones are the same engine.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(super) store: Arc<dyn Store>,
    /// The id of this server among those over the same store.
    pub(super) id: Name,
    pub(super) name: Name,
    pub(super) address: Arc<OnceLock<String>>,
    pub(super) started_at: Time,
    pipelines: Pipelines,
    holds: Holds,
    pub(super) queues: Arc<Queues>,
    pub(super) hints: Arc<Hints>,
    pub(super) duties: Arc<Duties>,
    pub(super) claim_sweep: Duration,
    pub(super) aside: Arc<Aside>,
    /// Places of reads: see `READS_MAX`.
    reads: Arc<Semaphore>,
    /// The audit log, where it is published.
    pub(super) log: Option<Arc<LogState>>,
    received: Arc<Mutex<Tally>>,
    pub(super) metrics: Arc<Metrics>,
    condition: watch::Receiver<Condition>,
    /// Set once nobody is to be kept waiting for work any more.
    pub(super) hurried: Arc<watch::Sender<bool>>,
    /// In whose name this handle asks.
    by: Option<Caller>,
    secret: Hidden,
    links: Option<Arc<Links>>,
    /// The part that whoever asks through this handle may use of what is bounded.
    part: Part,
}

/// The deployment's secret, which no log shows.
#[derive(Clone, Copy)]
struct Hidden([u8; 32]);

impl std::fmt::Debug for Hidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hidden(..)")
    }
}

impl Engine {
    /// Loads what was applied and starts to work.
    pub fn start(store: Arc<dyn Store>, options: &Options) -> Result<Engine, StartError> {
        let pipelines =
            Pipelines::new(options.versions_max.unwrap_or(VERSIONS_MAX), options.payload_checks.clone());
        pipelines.catch_up(&*store)?;
        let holds = load_holds(&*store)?;
        let here: Option<fn() -> Time> = store.is_shared().then_some(clock::wall);
        let trust = Trust::over(&*store, here)?;
        let hints = Arc::new(Hints::new(trust.known()));
        let secret = secret(&*store)?;
        let mut core = Core::new(store.clone(), pipelines.clone(), holds.clone(), secret);
        let receipts = ReceiptKey::new(secret_for(ReceiptKey::PURPOSE, &secret));
        let links = options.base_url.as_deref();
        let links = links.map(|base| Arc::new(Links::new(base, options.public.clone(), receipts)));
        core = core.watching_the_clock(trust).with_links(links.clone());
        if let Some(decide) = options.decide {
            core = core.with_decide(decide);
        }
        let queues = Arc::new(Queues::default());
        let condition = watch::Sender::new(Condition::Running);
        let shared = store.is_shared();
        let id: Name = clock::fresh_id().to_string().into();
        let log = options.log.as_ref().map(log_state).transpose()?;
        let engine = Engine {
            store,
            name: if options.name.is_empty() { id.clone() } else { options.name.clone() },
            id,
            address: Arc::default(),
            started_at: clock::wall(),
            pipelines,
            holds,
            queues: queues.clone(),
            hints: hints.clone(),
            duties: Arc::default(),
            claim_sweep: options.claim_sweep.unwrap_or(CLAIM_SWEEP),
            aside: Arc::default(),
            reads: Arc::new(Semaphore::new(READS_MAX)),
            log,
            received: Arc::default(),
            metrics: Arc::default(),
            condition: condition.subscribe(),
            hurried: Arc::new(watch::Sender::new(false)),
            by: None,
            secret: Hidden(secret),
            links,
            part: Part::Whole,
        };
        let others = engine.store.is_shared().then(|| engine.store.clone());
        let received = engine.received.clone();
        let recorder = Recorder::new(engine.metrics.clone(), engine.started_at);
        let thread = Thread { core, queues, hints, condition, others, received, recorder };
        std::thread::Builder::new().name("milepost-engine".to_owned()).spawn(move || thread.run())?;
        let keep_events = options.keep_events;
        let mut duties: Vec<Box<dyn Duty>> = vec![
            Box::new(Operations),
            Box::new(Schedules),
            Box::new(Sweep::default()),
            Box::new(Levels { metrics: engine.metrics.clone() }),
            Box::new(Flow { metrics: engine.metrics.clone(), server: engine.id.clone() }),
            Box::new(Housekeeping { keep_events, logged: options.log.is_some() }),
        ];
        if let (Some(state), Some(options)) = (&engine.log, &options.log) {
            if shared && options.witnesses.is_none() {
                tracing::warn!(
                    "no witness sees the audit log: a database set back to an old copy is noticed only by the guard \
                     file of the server that signed last"
                );
            }
            let follower = Follower::new(state.clone(), options.witnesses.clone());
            duties.push(Box::new(Log { follower, every: options.every }));
        }
        if shared {
            engine.hear_others();
            let this = engine.clone();
            duties.push(Box::new(Presence { server: Box::new(move || this.server()) }));
        }
        super::duties::start(&engine, duties)?;
        Ok(engine)
    }

    /// The same engine, for somebody who looks after it: what is asked of it here goes on record in their name.
    #[must_use]
    pub fn by(&self, caller: &Caller) -> Engine {
        Engine { by: Some(caller.clone()), ..self.clone() }
    }

    /// The same engine, for somebody who is no owner: they get no more than a subject's share of what is bounded.
    #[must_use]
    pub fn sharing(self) -> Engine {
        Engine { part: Part::Share, ..self }
    }

    /// A secret for one purpose, the same on all servers over the store and after a restart.
    #[must_use]
    pub fn secret_for(&self, purpose: &str) -> [u8; 32] {
        secret_for(purpose, &self.secret.0)
    }

    /// Returns the addresses by which people find submissions, where the server was told its own.
    #[must_use]
    pub fn links(&self) -> Option<&Links> {
        self.links.as_deref()
    }

    /// Returns the key of the deployment's receipts.
    #[must_use]
    pub fn receipts(&self) -> ReceiptKey {
        ReceiptKey::new(self.secret_for(ReceiptKey::PURPOSE))
    }

    /// Passes on what other servers over the same store say.
    fn hear_others(&self) {
        let (hints, queues) = (Arc::downgrade(&self.hints), Arc::downgrade(&self.queues));
        self.store.listen(Box::new(move |hint| {
            let (Some(hints), Some(queues)) = (hints.upgrade(), queues.upgrade()) else { return };
            queues.call(&hint.ready);
            hint.seq.into_iter().for_each(|seq| hints.recorded(seq));
        }));
    }

    /// Returns the number of entries of the inbox that this server decided since it started, by what became of them.
    #[must_use]
    pub fn received(&self) -> Tally {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the counts since this engine started.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Reports how many wait in each of the queues before the core, and how many were sent away because one was full.
    #[must_use]
    pub fn queues(&self) -> Vec<QueueReport> {
        self.queues.report()
    }

    #[must_use]
    pub fn started_at(&self) -> Time {
        self.started_at
    }

    #[must_use]
    pub fn pipelines(&self) -> &Pipelines {
        &self.pipelines
    }

    #[must_use]
    pub fn holds(&self) -> &Holds {
        &self.holds
    }

    /// Reads from the store without holding up anybody.
    pub async fn read<T, F>(&self, read: F) -> Result<T, Refusal>
    where
        T: Send + 'static,
        F: FnOnce(&dyn Store) -> Result<T, store::Error> + Send + 'static,
    {
        let store = self.store.clone();
        let place = self.reads.clone().acquire_owned().await;
        let result = tokio::task::spawn_blocking(move || {
            let _place = place;
            read(&*store)
        })
        .await;
        match result {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a read failed");
                Err(Refusal::new(Code::Unavailable, "the store cannot be read now; try again"))
            }
            Err(_) => Err(Refusal::new(Code::Internal, "the read did not end as it should")),
        }
    }

    /// A receiver of the newest event's position: a hint that something happened.
    #[must_use]
    pub fn recorded(&self) -> watch::Receiver<u64> {
        self.hints.subscribe()
    }

    /// Returns the condition of the engine, now and whenever it changes.
    #[must_use]
    pub fn condition(&self) -> watch::Receiver<Condition> {
        self.condition.clone()
    }

    /// Tells whether the thread that commits answers within a time, even if only that it cannot reach the store.
    pub async fn answers(&self, within: Duration) -> bool {
        let asked = self.ask(Ask::LookAside(Vec::new()).into());
        tokio::time::timeout(within, asked).await.is_ok()
    }

    /// Takes nothing more in, does what was asked, and ends.
    pub async fn drain(&self) -> Condition {
        self.leave().await;
        let mut condition = self.condition.clone();
        let ended = |seen: &Condition| matches!(seen, Condition::Drained | Condition::Broken(_));
        match condition.wait_for(ended).await {
            Ok(seen) => seen.clone(),
            Err(_) => Condition::Broken("the engine's thread ended by itself".to_owned()),
        }
    }

    pub(super) async fn stopping(&self) {
        let mut condition = self.condition.clone();
        let ended = |seen: &Condition| matches!(seen, Condition::Drained | Condition::Broken(_));
        let _ = condition.wait_for(ended).await;
    }

    /// Puts an input in the name of whoever this handle asks for.
    pub(super) fn in_name(&self, input: Input) -> Input {
        let asker = |caller: &Caller| Asker { caller: caller.clone(), part: self.part };
        Input { by: self.by.as_ref().map(asker), ..input }
    }

    pub(super) async fn ask(&self, input: Input) -> Reply {
        let input = self.in_name(input);
        let (reply, answer) = oneshot::channel();
        let outcome = match self.queues.push(Request::new(input, reply)) {
            Ok(()) => heard(answer.await),
            Err(refusal) => Err(refusal),
        };
        outcome.inspect_err(|refusal| self.metrics.refused(refusal.code))
    }

    pub(super) fn in_force(&self, name: &str) -> Result<Arc<Pipeline>, Refusal> {
        self.pipelines.current().in_force_or_refuse(name).cloned()
    }
}

/// Returns the outcome of something asked, if the engine lived to tell.
pub(super) fn heard(answer: Result<Reply, oneshot::error::RecvError>) -> Reply {
    answer.unwrap_or_else(|_| {
        Err(Refusal::new(
            Code::OutcomeUnknown,
            "the engine stopped before it could answer; look before you repeat",
        ))
    })
}

/// The submissions of a pipeline that somebody may make, and what they make them for.
#[derive(Clone, Copy)]
pub struct Within<'a> {
    pub trace: Option<&'a Trace>,
    pub covers: &'a (dyn Fn(&Labels) -> bool + Sync),
    pub outside: &'a (dyn Fn() -> Refusal + Sync),
}

impl std::fmt::Debug for Within<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Within(..)")
    }
}

type Labels = std::collections::BTreeMap<Name, Name>;

pub(super) fn submission(output: Output) -> Result<Answered, Refusal> {
    match output {
        Output::Submission(answered) => Ok(*answered),
        _ => Err(unexpected()),
    }
}

pub(super) fn unexpected() -> Refusal {
    Refusal::new(Code::Internal, "the engine gave an answer of another kind than was asked for")
}

fn load_holds(store: &dyn Store) -> Result<Holds, StartError> {
    let holds = Holds::default();
    holds.replace(InForce::stored(store)?);
    Ok(holds)
}

fn log_state(options: &LogOptions) -> Result<Arc<LogState>, KeyFileError> {
    let (keys, origin) = KeyFile::open(&options.key, options.origin.as_deref())?;
    Ok(Arc::new(LogState::new(origin, keys, options)))
}

fn secret_for(purpose: &str, secret: &[u8; 32]) -> [u8; 32] {
    model::Digest::of_parts(&[b"secret for\0", purpose.as_bytes(), b"\0", secret]).0
}

/// The secret that pseudonyms are made with.
enum Pseudonyms {}

impl Entry for Pseudonyms {
    const KIND: &'static str = "secret";
    type Body = [u8; 32];
}

impl OneEntry for Pseudonyms {
    const NAME: &'static str = "pseudonyms";
}

/// The deployment's secret, made once and kept with the data.
fn secret(store: &dyn Store) -> Result<[u8; 32], StartError> {
    let key = EntryKey::<Pseudonyms>::one();
    let take = Take { registry: vec![key.raw()], ..Take::nothing() };
    let fresh = clock::entropy();
    let mut kept = Ok(None);
    store.transact(&take, &mut |taken| {
        kept = key.of(&taken);
        let missing = matches!(kept, Ok(None)).then(|| key.change(Some(&fresh)));
        Changes { registry: missing.into_iter().collect(), ..Changes::default() }
    })?;
    // A new one in place of one that cannot be read would give every actor a second pseudonym.
    let kept = kept.map_err(|_| store::Error::corrupt("the deployment's secret cannot be read"))?;
    Ok(kept.unwrap_or(fresh))
}
