//! The thread that commits: takes what is queued, steps the core, answers, keeps time.

use std::sync::Arc;
use std::time::Duration;

use model::command::Snooze;
use model::{Command, Millis, Time, Token};
use tokio::sync::watch;

use super::hints::Hints;
use super::queue::Queues;
use crate::clock;
use crate::core::{Ask, Core, DUE_MAX, Input, Output};

/// Inputs of one transaction. Larger gains little: the cost of a write is flat from here on.
const BATCH_MAX: usize = 512;
/// The slow sweep: what a lost hint or a clock that stepped would have missed is found after this long.
const SWEEP: Duration = Duration::from_secs(1);
/// Pause between tries while the store cannot be reached.
const BACK_OFF: Duration = Duration::from_millis(250);

/// How the engine is doing, for whoever watches.
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
}

impl Thread {
    pub(super) fn run(mut self) {
        let mut patience = Duration::ZERO;
        let mut seed = clock::entropy;
        let mut returned: Vec<Input> = Vec::new();
        loop {
            let batch = self.queues.next(BATCH_MAX, patience);
            if batch.over && returned.is_empty() {
                self.condition.send_replace(Condition::Drained);
                return;
            }
            let (mut inputs, replies): (Vec<Input>, Vec<_>) =
                batch.jobs.into_iter().map(|job| (job.input, job.reply)).unzip();
            inputs.append(&mut returned);
            let step = self.core.step(&inputs, DUE_MAX, &mut seed);
            // Hints before answers: a caller that acts on its answer must not find its work unannounced.
            self.hints.ready(&step.ready);
            if let Some(seq) = step.last_seq {
                self.hints.recorded(seq);
            }
            for (reply, outcome) in replies.into_iter().zip(step.outcomes) {
                // A caller that went away does not change what was decided, but what it was lent comes back.
                if let Err(Ok(Output::Tasks(tasks))) = reply.send(outcome) {
                    returned.extend(tasks.iter().map(|task| give_back(task.token)));
                }
            }
            if let Some(reason) = step.corrupt {
                tracing::error!(reason, "the store cannot be used; stopping");
                self.queues.close();
                self.condition.send_replace(Condition::Broken(reason));
                return;
            }
            patience = self.patience(step.now, step.next_timer, step.unreachable);
            if !returned.is_empty() {
                patience = Duration::ZERO;
            }
        }
    }

    /// How long to wait for input before looking at the clock again.
    fn patience(&self, now: Option<Time>, next_timer: Option<Time>, unreachable: bool) -> Duration {
        let condition = if unreachable { Condition::Unreachable } else { Condition::Running };
        self.condition.send_if_modified(|seen| {
            let changed = *seen != condition;
            if changed && condition == Condition::Unreachable {
                tracing::warn!("the store cannot be reached; trying again");
            }
            *seen = condition;
            changed
        });
        let Some(now) = now.filter(|_| !unreachable) else { return BACK_OFF };
        let until = next_timer.map_or(SWEEP, |at| Duration::from_millis(at.since(now).millis()));
        until.min(SWEEP)
    }
}

/// Lets go of a lease nobody has: the next worker gets the task at once, and it counts as no crash.
fn give_back(token: Token) -> Input {
    Ask::Tell(token.submission, Command::Snooze(Snooze { token, span: Millis::ZERO })).into()
}
