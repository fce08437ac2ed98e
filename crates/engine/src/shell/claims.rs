//! Claiming: a look at the queue, and then waiting for what arrives.

use std::time::Duration;

use model::{Name, Refusal};
use tokio::sync::oneshot;

use super::handle::{Engine, unexpected};
use super::hints::WorkerReport;
use super::queue::Job;
use crate::core::{Ask, ClaimMany, Granted, Outcome, Output};

impl Engine {
    /// Takes up to `max` tasks, waiting for the first if there is none.
    pub async fn claim(&self, mut claim: ClaimMany, wait: Duration) -> Result<Vec<Granted>, Refusal> {
        if !claim.pipelines.is_empty() {
            // Names nobody applied have no work, and looking for it would hold up everyone.
            let versions = self.pipelines().current();
            claim.pipelines.retain(|name| versions.latest(name).is_some());
            if claim.pipelines.is_empty() {
                return Ok(Vec::new());
            }
        }
        let choosy = !claim.pipelines.is_empty() || !claim.labels.is_empty();
        let over = tokio::time::sleep(wait);
        tokio::pin!(over);
        let declared: Vec<_> = self.declared(&claim).collect();
        let _polling = self.metrics.polls(&declared);
        let bells: Vec<_> = declared.iter().map(|task| self.hints.bell(task, choosy)).collect();
        loop {
            declared.iter().for_each(|task| self.hints.polls(task));
            if !declared.is_empty() {
                self.hints.asks(&claim.worker, &declared);
            }
            // Listening starts before the look, so that work arriving in between is heard.
            let mut rings: Vec<_> = bells.iter().map(|bell| Box::pin(bell.notified())).collect();
            rings.iter_mut().for_each(|ring| {
                ring.as_mut().enable();
            });
            match self.ask(Ask::Claim(claim.clone()).into()).await? {
                Output::Tasks(tasks) if tasks.is_empty() => {}
                Output::Tasks(tasks) => return Ok(tasks),
                _ => return Err(unexpected()),
            }
            let mut arrival = self.arrival(&claim);
            let over = tokio::select! {
                tasks = &mut arrival => return Ok(granted(tasks).unwrap_or_default()),
                () = &mut over => true,
                () = first(rings) => false,
                () = tokio::time::sleep(self.claim_sweep) => false,
                () = self.stopping() => true,
            };
            // What was lent at the same moment is taken; from here on it would go back.
            arrival.close();
            if let Some(tasks) = arrival.try_recv().ok().and_then(|outcome| granted(Ok(outcome))) {
                return Ok(tasks);
            }
            if over {
                return Ok(Vec::new());
            }
        }
    }

    /// What a batch brings for a claim that found its queue empty, granted in the commit that brings it.
    fn arrival(&self, claim: &ClaimMany) -> oneshot::Receiver<Outcome> {
        let (reply, answer) = oneshot::channel();
        self.queues
            .stay(Job { input: Ask::Claim(ClaimMany { arriving: true, ..claim.clone() }).into(), reply });
        answer
    }

    /// Who has asked for work lately.
    #[must_use]
    pub fn workers(&self) -> Vec<WorkerReport> {
        self.hints.workers()
    }

    /// How many claims wait for work to arrive.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.queues.waiting()
    }

    /// How long ago a worker last asked for a task; none: not since this engine started.
    #[must_use]
    pub fn polled_ago(&self, task: &str) -> Option<Duration> {
        self.hints.polled_ago(task)
    }

    /// The claimed tasks that some pipeline declares.
    fn declared(&self, claim: &ClaimMany) -> impl Iterator<Item = Name> {
        let versions = self.pipelines().current();
        let tasks: Vec<_> = claim
            .tasks
            .iter()
            .filter(|task| versions.all().any(|pipeline| pipeline.has_task(task)))
            .cloned()
            .collect();
        tasks.into_iter()
    }
}

fn granted(arrived: Result<Outcome, oneshot::error::RecvError>) -> Option<Vec<Granted>> {
    match arrived {
        Ok(Ok(Output::Tasks(tasks))) => Some(tasks),
        _ => None,
    }
}

/// Ends with the first of them; with none, never.
async fn first<F: Future<Output = ()> + Unpin>(mut rings: Vec<F>) {
    std::future::poll_fn(move |context| {
        let rung = rings.iter_mut().any(|ring| std::pin::Pin::new(ring).poll(context).is_ready());
        if rung { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}
