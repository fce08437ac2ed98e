//! The thread that does the duties: one for all of them, a pass of each off it, so that one that hangs delays no other.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::{Millis, Name};
use tokio::sync::Notify;

use super::Engine;
use crate::clock;
use crate::core::{self, Ask, Output};
use crate::duty::{Duty, Look, Pass};

/// A shift with less time left is asked for again.
const SHIFT_RENEWED: Millis = Millis::from_secs(5);
/// The interval at which a server looks whether a duty is its own, however rarely it is done: a dead server's are taken
/// over within its lease and this.
const SHIFT_LOOK: Duration = Duration::from_secs(2);

/// The condition of a duty. People watch `last_good_ago`: it grows when something is wrong, whatever that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DutyReport {
    pub name: &'static str,
    /// The time since a pass ended well; `None`: none has since the start.
    pub last_good_ago: Option<Duration>,
    pub passes: u64,
    pub failures: u64,
    /// The time that the pass which is under way has taken.
    pub running_for: Option<Duration>,
    /// Set if that is longer than a pass may take.
    pub overdue: bool,
    pub last_error: Option<String>,
    /// The server that does it, where another one does.
    pub elsewhere: Option<Name>,
}

#[derive(Debug, Default)]
pub(super) struct Duties {
    gauges: Mutex<BTreeMap<&'static str, Gauge>>,
}

#[derive(Debug)]
struct Gauge {
    bell: Arc<Notify>,
    timeout: Duration,
    last_good: Option<Instant>,
    passes: u64,
    failures: u64,
    running_since: Option<Instant>,
    last_error: Option<String>,
    elsewhere: Option<Name>,
}

impl Duties {
    /// A hint: there is something to do.
    pub(super) fn wake(&self, name: &str) {
        let gauges = self.gauges.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gauge) = gauges.get(name) {
            gauge.bell.notify_one();
        }
    }

    pub(super) fn names(&self) -> Vec<Name> {
        let gauges = self.gauges.lock().unwrap_or_else(PoisonError::into_inner);
        gauges.keys().map(|name| (*name).into()).collect()
    }

    fn note(&self, name: &'static str, change: impl FnOnce(&mut Gauge)) {
        let mut gauges = self.gauges.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gauge) = gauges.get_mut(name) {
            change(gauge);
        }
    }

    fn report(&self) -> Vec<DutyReport> {
        let now = clock::instant();
        let ago = |at: Instant| now.saturating_duration_since(at);
        let gauges = self.gauges.lock().unwrap_or_else(PoisonError::into_inner);
        let report = |(name, gauge): (&&'static str, &Gauge)| DutyReport {
            name,
            last_good_ago: gauge.last_good.map(ago),
            passes: gauge.passes,
            failures: gauge.failures,
            running_for: gauge.running_since.map(ago),
            overdue: gauge.running_since.map(ago).is_some_and(|running| running > gauge.timeout),
            last_error: gauge.last_error.clone(),
            elsewhere: gauge.elsewhere.clone(),
        };
        gauges.iter().map(report).collect()
    }
}

impl Engine {
    /// Reports how every duty is doing, the engine's own thread first.
    #[must_use]
    pub fn duties(&self) -> Vec<DutyReport> {
        let last_good_ago = self.hints.last_step().map(|(_, ago)| ago);
        let steps = DutyReport {
            name: "steps",
            last_good_ago,
            passes: 0,
            failures: 0,
            running_for: None,
            overdue: last_good_ago.is_some_and(|ago| ago > Duration::from_secs(30)),
            last_error: None,
            elsewhere: None,
        };
        std::iter::once(steps).chain(self.duties.report()).collect()
    }
}

pub(super) fn start(engine: &Engine, duties: Vec<Box<dyn Duty>>) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let mut shifts = Vec::new();
    for duty in duties {
        let (name, bell) = (duty.name(), Arc::new(Notify::new()));
        let gauge = Gauge {
            bell: bell.clone(),
            timeout: duty.timeout(),
            last_good: None,
            passes: 0,
            failures: 0,
            running_since: None,
            last_error: None,
            elsewhere: None,
        };
        engine.duties.gauges.lock().unwrap_or_else(PoisonError::into_inner).insert(name, gauge);
        let shared = engine.store.is_shared() && duty.is_for_one();
        shifts.push(Post { engine: engine.clone(), duty: Some(duty), bell, shared, shift: None });
    }
    std::thread::Builder::new().name("milepost-duties".to_owned()).spawn(move || {
        let over = shifts.first().map(|shift| shift.engine.clone());
        runtime.block_on(async {
            for shift in shifts {
                tokio::spawn(shift.serve());
            }
            if let Some(engine) = over {
                engine.stopping().await;
            }
        });
        // A pass that hangs must not keep the process from ending.
        runtime.shutdown_background();
    })?;
    Ok(())
}

/// Somebody who does one duty.
struct Post {
    engine: Engine,
    /// Away while a pass is under way.
    duty: Option<Box<dyn Duty>>,
    bell: Arc<Notify>,
    /// Set if other servers would do the duty too.
    shared: bool,
    /// The server that does the duty, as far as is known.
    shift: Option<core::Shift>,
}

impl Post {
    async fn serve(mut self) {
        let Some((name, every, timeout)) =
            self.duty.as_ref().map(|duty| (duty.name(), duty.every(), duty.timeout()))
        else {
            return;
        };
        let look = if self.shared { every.min(SHIFT_LOOK) } else { every };
        let (mut again, mut due_at) = (false, clock::instant() + every);
        loop {
            let rung = tokio::select! {
                biased;
                () = std::future::ready(()), if again => true,
                () = self.bell.notified() => true,
                () = tokio::time::sleep(look) => false,
            };
            if !self.is_ours(name).await {
                again = false;
                continue;
            }
            if !rung && clock::instant() < due_at {
                continue;
            }
            due_at = clock::instant() + every;
            self.engine.duties.note(name, |gauge| gauge.running_since = Some(clock::instant()));
            let passed = self.pass(name, timeout).await;
            again = matches!(passed, Ok(true));
            self.engine.duties.note(name, |gauge| gauge.done(passed));
        }
    }

    /// Tells whether this server does the duty. The duty is asked for again when half of its time has gone.
    async fn is_ours(&mut self, name: &'static str) -> bool {
        let Some((now, _)) = self.engine.hints.last_step().filter(|_| self.shared) else {
            return !self.shared;
        };
        let server = &self.engine.id;
        // Another server's may be given up before it ends: looking costs no write.
        let stands = self.shift.as_ref();
        let stands = stands.filter(|shift| shift.server == *server && shift.until.since(now) > SHIFT_RENEWED);
        if stands.is_none() {
            let ask = Ask::TakeDuty { duty: name.into(), server: server.clone() };
            self.shift = match self.engine.ask(ask.into()).await {
                Ok(Output::Shift(shift)) => Some(shift),
                _ => None,
            };
        }
        let elsewhere = self.shift.as_ref().map(|shift| shift.server.clone()).filter(|other| other != server);
        let ours = self.shift.is_some() && elsewhere.is_none();
        self.engine.duties.note(name, |gauge| gauge.elsewhere = elsewhere);
        ours
    }

    /// One pass and what it asks for. Whether there is more to do at once.
    async fn pass(&mut self, name: &'static str, timeout: Duration) -> Result<bool, String> {
        // Before the first step there is no time to go by.
        let Some((now, _)) = self.engine.hints.last_step() else { return Ok(false) };
        let mut duty = self.duty.take().ok_or("the pass before did not end as it should")?;
        let (store, versions) = (self.engine.store.clone(), self.engine.pipelines().current());
        let doubtful = self.engine.hints.doubt().is_some();
        let mut looking = tokio::task::spawn_blocking(move || {
            let found = duty.pass(Look { store: &*store, versions: &versions, now, doubtful });
            (duty, found)
        });
        let looked = match tokio::time::timeout(timeout, &mut looking).await {
            Ok(looked) => looked,
            Err(_) => {
                let error = format!("a pass takes longer than {} s", timeout.as_secs());
                tracing::warn!(duty = name, "{error}");
                self.engine.duties.note(name, |gauge| gauge.failed(error));
                looking.await
            }
        };
        let (duty, found) = looked.map_err(|error| error.to_string())?;
        self.duty = Some(duty);
        let Pass { inputs, again } = found.map_err(|error| error.to_string())?;
        for input in inputs {
            // Refused: the next pass finds it again.
            self.engine.ask(input).await.map_err(|refusal| refusal.to_string())?;
        }
        self.duty.iter_mut().for_each(|duty| duty.done());
        Ok(again)
    }
}

impl Gauge {
    fn done(&mut self, passed: Result<bool, String>) {
        self.running_since = None;
        match passed {
            Ok(_) => {
                self.passes += 1;
                self.last_good = Some(clock::instant());
                self.last_error = None;
            }
            Err(error) => self.failed(error),
        }
    }

    fn failed(&mut self, error: String) {
        self.failures += 1;
        self.last_error = Some(error);
    }
}
