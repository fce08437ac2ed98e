//! Batches: messages that wait for each other, and not for long.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use worker::{Failure, Outcome, Task};

use super::Batching;
use super::post::Poster;

/// The most bytes of a batch's payloads together. One message may have more: then it is alone.
const BYTES_MAX: usize = 4 << 20;
/// The shortest time that a request is given.
const WITHIN_MIN: Duration = Duration::from_secs(1);

/// A task under lease whose message has not been answered.
pub(super) struct Waiting {
    pub(super) task: Task,
    since: Instant,
    answer: oneshot::Sender<Result<Outcome, Failure>>,
}

impl Waiting {
    /// Hands a task in, and waits for what its consumer says. Whoever drops this has lost the lease.
    pub(super) async fn answered(task: Task, enter: UnboundedSender<Waiting>) -> Result<Outcome, Failure> {
        let (answer, answered) = oneshot::channel();
        let gone = |_| Failure::new("stopped", "the server stopped before the message was answered");
        let waiting = Waiting { task, since: Instant::now(), answer };
        enter.send(waiting).map_err(|_| gone(()))?;
        answered.await.map_err(|_| gone(()))?
    }

    /// Tells whether the lease was lost: somebody else has the task, or nobody wants it any more.
    pub(super) fn is_lost(&self) -> bool {
        self.answer.is_closed()
    }

    pub(super) fn tell(self, answer: Result<Outcome, Failure>) {
        // Where the lease was lost nobody listens.
        drop(self.answer.send(answer));
    }

    /// Returns when the message goes, with others or alone. Waiting leaves most of the attempt's time to the consumer.
    fn goes_at(&self, wait: Duration) -> Instant {
        let timeout = self.task.timeout.map(Duration::from);
        self.since + timeout.map_or(wait, |timeout| wait.min(timeout * 2 / 5))
    }

    /// Returns how long a request with the message may take. It ends before the attempt does, so that it is us who say what
    /// went wrong.
    pub(super) fn within(&self, most: Duration) -> Duration {
        let timeout = self.task.timeout.map(Duration::from);
        let left = timeout.map_or(most, |timeout| (timeout * 4 / 5).saturating_sub(self.since.elapsed()));
        left.clamp(WITHIN_MIN, most.max(WITHIN_MIN))
    }

    fn bytes(&self) -> usize {
        let outputs = self.task.outputs.values().map(|output| output.as_str().len());
        self.task.payload.as_str().len() + outputs.sum::<usize>()
    }
}

/// Makes batches of what comes in and posts them, no more at a time than the consumer wants.
pub(super) async fn gather(poster: Arc<Poster>, mut entered: UnboundedReceiver<Waiting>) {
    let batching = poster.consumer.batching;
    let places = Arc::new(Semaphore::new(batching.concurrency));
    let mut under_way = JoinSet::new();
    let mut over = None;
    loop {
        let place = places.clone().acquire_owned().await.expect("nobody closes it");
        while under_way.try_join_next().is_some() {}
        let first = match over.take() {
            Some(first) => Some(first),
            None => entered.recv().await,
        };
        let Some(first) = first else { break };
        let batch;
        (batch, over) = fill(first, &mut entered, batching).await;
        let poster = poster.clone();
        under_way.spawn(async move {
            poster.deliver(batch).await;
            drop(place);
        });
    }
    while under_way.join_next().await.is_some() {}
}

/// Returns a batch, and the message that was too large to come along.
async fn fill(
    first: Waiting,
    entered: &mut UnboundedReceiver<Waiting>,
    batching: Batching,
) -> (Vec<Waiting>, Option<Waiting>) {
    let mut goes_at = first.goes_at(batching.wait);
    let mut bytes = first.bytes();
    let mut batch = vec![first];
    while batch.len() < batching.size {
        let Ok(Some(next)) = timeout_at(goes_at, entered.recv()).await else { break };
        bytes += next.bytes();
        if bytes > BYTES_MAX {
            return (batch, Some(next));
        }
        goes_at = goes_at.min(next.goes_at(batching.wait));
        batch.push(next);
    }
    (batch, None)
}
