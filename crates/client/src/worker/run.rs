//! One task, from its lease to its settlement.

use std::any::Any;

use tokio::task::{JoinError, JoinSet};

use super::Handler;
use super::answer::{Failure, Outcome};
use super::lease::Lease;
use super::settle::Settlement;
use super::task::Task;
use crate::client::Client;

pub(super) struct Run {
    pub(super) handler: Handler,
    pub(super) task: Task,
    pub(super) lease: Lease,
    pub(super) client: Client,
}

impl Run {
    pub(super) async fn run(self) {
        let Run { handler, task, lease, client } = self;
        let token = task.token.clone();
        // A task of its own, so that a panic ends no more than itself; in a set, so that it ends when this does.
        let mut work = JoinSet::new();
        work.spawn(async move { handler(task).await });
        let ended = tokio::select! {
            biased;
            ended = work.join_next() => ended,
            () = lease.keep() => None,
        };
        // Without a lease there is nothing to say: somebody else has the task.
        if let Some(ended) = ended {
            Settlement::new(token, answer(ended)).send(&client).await;
        }
    }
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
