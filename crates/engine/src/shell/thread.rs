//! The thread that commits: takes what is queued, steps the core, answers, keeps time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::command::GiveBack;
use model::{Code, Command, LeaseToken, Refusal, Time};
use store::{Hint, Store};
use tokio::sync::watch;
use tracing::{Span, debug_span};

use super::hints::Hints;
use super::queue::{More, Queues, Request, Stays};
use crate::clock;
use crate::core::{Ask, Core, DUE_MAX, Input, Output, Reply, Tally};
use crate::metrics::{Recorder, Stepped};

/// Inputs of one transaction. Larger gains little: the cost of a write is flat from here on.
const BATCH_MAX: usize = 512;
/// The time a batch may wait for more, as a share of what the last one took: whoever has been waiting hardly notices.
const LINGER_SHARE: u32 = 8;
const LINGER_MAX: Duration = Duration::from_millis(1);
/// The slow sweep: what a lost hint or a clock that stepped would have missed is found after this long.
const SWEEP: Duration = Duration::from_secs(1);
/// The interval at which a shared store is looked at all the same: what others put into its inbox comes without a hint.
const LOOK: Duration = Duration::from_millis(200);
/// Pause between tries while the store cannot be reached.
const BACK_OFF: Duration = Duration::from_millis(250);

/// The condition of the engine, for whoever watches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    Running,
    /// The store cannot be reached or written at present.
    Unreachable,
    /// Ended: everything asked was done.
    Drained,
    /// Ended: the store is beyond use.
    Broken(String),
}

pub(super) struct Thread {
    pub(super) core: Core,
    pub(super) queues: Arc<Queues>,
    pub(super) hints: Arc<Hints>,
    pub(super) condition: watch::Sender<Condition>,
    /// The way to other servers, where there may be some.
    pub(super) others: Option<Arc<dyn Store>>,
    pub(super) received: Arc<Mutex<Tally>>,
    pub(super) recorder: Recorder,
}

impl Thread {
    pub(super) fn run(mut self) {
        let mut patience = Duration::ZERO;
        let mut seed = clock::entropy;
        let mut returned: Vec<Input> = Vec::new();
        let mut more = More::default();
        loop {
            let batch = self.queues.next(BATCH_MAX.min(self.core.bulk()), patience, more);
            if batch.over && returned.is_empty() {
                // A shared store has a clock of its own, and its other servers go on keeping time.
                if self.others.is_none() {
                    self.core.keep_time(&mut seed);
                }
                self.condition.send_replace(Condition::Drained);
                return;
            }
            // Claims that only wait along are none of what was asked now.
            let commands = batch.requests.len();
            let requests = batch.requests.into_iter().chain(batch.waiting);
            let (mut inputs, askers): (Vec<Input>, Vec<_>) =
                requests.map(|request| (request.input, (request.reply, request.stays))).unzip();
            inputs.append(&mut returned);
            let began = clock::instant();
            // Looking at the clock is no batch.
            let span = if commands == 0 { Span::none() } else { debug_span!("batch", commands) };
            let step = span.in_scope(|| self.core.step(&inputs, DUE_MAX, &mut seed));
            drop(span);
            let took = clock::instant().saturating_duration_since(began);
            more = More { expected: commands, linger: (took / LINGER_SHARE).min(LINGER_MAX) };
            if let Some(now) = step.now {
                self.hints.stepped(now);
                self.hints.watched(step.known.unwrap_or(now), step.doubt);
            }
            if step.received != Tally::default() {
                self.received.lock().unwrap_or_else(PoisonError::into_inner).add(&step.received);
            }
            if let Some(seq) = step.last_seq {
                self.hints.recorded(seq);
            }
            if let Some(others) = &self.others
                && (step.last_seq.is_some() || !step.ready.is_empty())
            {
                others.announce(&Hint { ready: step.ready.clone(), seq: step.last_seq });
            }
            let mut still_waiting = Vec::new();
            for (((reply, stays), outcome), input) in askers.into_iter().zip(step.outcomes).zip(inputs) {
                if goes_on_waiting(stays, &outcome) {
                    still_waiting.push(Request { input, reply, stays: Stays::Waits });
                    continue;
                }
                // A caller that went away does not change what was decided, but what it was lent comes back.
                if let Err(Ok(Output::Tasks(tasks))) = reply.send(outcome) {
                    returned.extend(tasks.iter().map(|task| give_back(task.token)));
                }
            }
            self.queues.go_on_waiting(still_waiting);
            self.queues.call(&step.ready);
            let (failed, now, next_timer) = (step.unreachable.is_some(), step.now, step.next_timer);
            let stepped = Stepped { took, inputs: commands, failed, now, next_timer };
            self.recorder.observe(step.notes, &stepped);
            if let Some(reason) = step.corrupt {
                tracing::error!(reason, "the store cannot be used; stopping");
                self.refuse_the_rest();
                self.condition.send_replace(Condition::Broken(reason));
                return;
            }
            patience = self.patience(step.now, step.next_timer, step.unreachable);
            if !returned.is_empty() {
                patience = Duration::ZERO;
            }
        }
    }

    /// Returns the time to wait for input before looking at the clock again.
    fn patience(&self, now: Option<Time>, next_timer: Option<Time>, unreachable: Option<String>) -> Duration {
        let trouble = unreachable.is_some();
        let condition = if trouble { Condition::Unreachable } else { Condition::Running };
        self.condition.send_if_modified(|seen| {
            let changed = *seen != condition;
            match unreachable {
                Some(reason) if changed => tracing::warn!(reason, "the store cannot be used; trying again"),
                None if changed => tracing::info!("the store is back"),
                _ => {}
            }
            *seen = condition;
            changed
        });
        let Some(now) = now.filter(|_| !trouble) else { return BACK_OFF };
        let sweep = if self.others.is_some() { LOOK } else { SWEEP };
        let until = next_timer.map_or(sweep, |at| Duration::from_millis(at.since(now).millis()));
        until.min(sweep)
    }

    /// Everyone who still waits is told, rather than left waiting.
    fn refuse_the_rest(&self) {
        self.queues.close();
        loop {
            let batch = self.queues.next(BATCH_MAX, Duration::ZERO, More::default());
            if batch.over {
                return;
            }
            for request in batch.requests {
                let stopping =
                    Refusal::new(Code::Draining, "the store cannot be used and the server is stopping");
                let _ = request.reply.send(Err(stopping));
            }
        }
    }
}

/// Tells whether a claim that came away with nothing keeps waiting. A waiting claim survives store errors; a first look
/// reports them.
fn goes_on_waiting(stays: Stays, outcome: &Reply) -> bool {
    let nothing = !matches!(outcome, Ok(Output::Tasks(tasks)) if !tasks.is_empty());
    match stays {
        Stays::No => false,
        Stays::Waits => nothing,
        Stays::Looks(looked) => {
            let goes_on = nothing && outcome.is_ok();
            if goes_on {
                let _ = looked.send(());
            }
            goes_on
        }
    }
}

/// Lets go of a lease nobody has: the next worker gets the task at once, and it counts as no crash.
fn give_back(token: LeaseToken) -> Input {
    Ask::Tell(token.submission, Command::GiveBack(GiveBack { token })).into()
}
