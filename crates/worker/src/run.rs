//! One task, from its lease to its settlement.

use std::any::Any;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

use crate::TaskSource;
use crate::answer::{Failure, Outcome};
use crate::lease::Lease;
use crate::settle::Settlement;
use crate::speak::{About, Voice};
use crate::task::Task;
use crate::worker::Handler;

pub(crate) struct Run {
    pub(crate) handler: Handler,
    pub(crate) task: Task,
    pub(crate) lease: Lease,
    pub(crate) source: Arc<dyn TaskSource>,
    pub(crate) voice: Voice,
    /// Set if the run is to stop before the task has ended.
    pub(crate) give_up: watch::Receiver<bool>,
}

impl Run {
    pub(crate) async fn run(self) {
        let Run { handler, task, lease, source, voice, mut give_up } = self;
        let (token, about, began) = (task.token.clone(), About::new(&task, voice), Instant::now());
        // A task of its own, so that a panic ends no more than itself; in a set, so that it ends when this does.
        let mut work = JoinSet::new();
        work.spawn(async move { handler(task).await });
        let over = tokio::select! {
            biased;
            ended = work.join_next() => ended.map_or(Over::Lost, Over::Ended),
            () = lease.keep() => Over::Lost,
            _ = give_up.wait_for(|give_up| *give_up) => Over::GivenUp,
        };
        match over {
            Over::Ended(ended) => {
                let answer = answer(ended);
                about.say_how_it_ended(began.elapsed(), &answer);
                Settlement::new(token, answer).send(&*source).await;
            }
            // Without a lease there is nothing to say: somebody else has the task.
            Over::Lost => {}
            Over::GivenUp => {
                // Nobody else may have it while the handler is at it.
                work.shutdown().await;
                about.say_it_was_given_back(began.elapsed());
                Settlement::give_back(token).send(&*source).await;
            }
        }
    }
}

/// The reason why a task is no longer run.
enum Over {
    Ended(Result<Result<Outcome, Failure>, JoinError>),
    /// The task's lease is somebody else's.
    Lost,
    /// The worker stops.
    GivenUp,
}

fn answer(ended: Result<Result<Outcome, Failure>, JoinError>) -> Result<Outcome, Failure> {
    ended.unwrap_or_else(|error| match error.try_into_panic() {
        Ok(panic) => Err(Failure::new("panic", text(&*panic))),
        Err(error) => Err(Failure::new("stopped", error.to_string())),
    })
}

fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "the task panicked without a text".to_owned())
}
