//! Claiming: a look at the queue, and then waiting with the engine for what arrives.

use std::time::Duration;

use model::{Name, Refusal};
use tokio::sync::oneshot;

use super::handle::{Engine, heard, unexpected};
use super::hints::WorkerReport;
use super::queue::{Request, Stays};
use crate::core::{Ask, ClaimMany, Granted, Output, Reply};

impl Engine {
    /// Takes up to `max` tasks, waiting for the first if there is none.
    pub async fn claim(&self, claim: ClaimMany, wait: Duration) -> Result<Vec<Granted>, Refusal> {
        self.claim_until(claim, wait, std::future::pending()).await
    }

    /// Takes up to `max` tasks, waiting for the first if there is none, and no longer than until `ended`. A claim that
    /// waits must not be dropped instead: what it is granted at that moment would be nobody's.
    pub async fn claim_until(
        &self,
        mut claim: ClaimMany,
        wait: Duration,
        ended: impl Future<Output = ()>,
    ) -> Result<Vec<Granted>, Refusal> {
        if !claim.pipelines.is_empty() {
            // Names nobody applied have no work, and looking for it would hold up everyone.
            let versions = self.pipelines().current();
            claim.pipelines.retain(|name| versions.in_force(name).is_some());
            if claim.pipelines.is_empty() {
                return Ok(Vec::new());
            }
        }
        let wait = if *self.hurried.borrow() { Duration::ZERO } else { wait };
        let declared: Vec<_> = self.declared(&claim).collect();
        if declared.len() < claim.tasks.len() {
            let unknown = claim.tasks.iter().filter(|task| !declared.contains(task)).cloned();
            self.hints.asks_in_vain(&claim.worker, unknown);
        }
        let _polling = self.metrics.polls(&declared);
        let over = tokio::time::sleep(wait);
        tokio::pin!(over, ended);
        loop {
            declared.iter().for_each(|task| self.hints.polls(task));
            if !declared.is_empty() {
                self.hints.asks(&claim, &declared);
            }
            if wait.is_zero() {
                return tasks(self.ask(Ask::Claim(claim).into()).await);
            }
            let (reply, mut answer) = oneshot::channel();
            let (looked, has_looked) = oneshot::channel();
            let input = Ask::Claim(claim.clone()).into();
            let refused = |refusal: &Refusal| self.metrics.refused(refusal.code);
            self.queues.push(Request { input, reply, stays: Stays::Looks(looked) }).inspect_err(refused)?;
            // However short the time, it looks once.
            tokio::select! {
                outcome = &mut answer => return tasks(heard(outcome).inspect_err(refused)),
                _ = has_looked => {}
            }
            let over = tokio::select! {
                outcome = &mut answer => return tasks(heard(outcome).inspect_err(refused)),
                () = &mut over => true,
                () = &mut ended => true,
                () = tokio::time::sleep(self.claim_sweep) => false,
                () = self.hurries() => true,
                () = self.stopping() => true,
            };
            // What was lent at the same moment is taken; from here on it would go back.
            answer.close();
            if let Ok(outcome) = answer.try_recv() {
                return tasks(outcome);
            }
            if over {
                return Ok(Vec::new());
            }
        }
    }

    /// Answers every claim that waits with what there is, which is nothing, and lets later ones look but not wait: for a
    /// server that is about to stop.
    pub fn end_waiting(&self) {
        self.hurried.send_replace(true);
    }

    async fn hurries(&self) {
        let mut hurried = self.hurried.subscribe();
        // The sender is this handle's own, so it is there for as long as somebody waits here.
        let _ = hurried.wait_for(|hurried| *hurried).await;
    }

    /// Lists the workers that have asked for work lately.
    #[must_use]
    pub fn workers(&self) -> Vec<WorkerReport> {
        self.hints.workers()
    }

    /// Counts the claims that wait for work to arrive.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.queues.waiting()
    }

    /// Returns the time since a worker last asked for a task; none: not since this engine started.
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

fn tasks(outcome: Reply) -> Result<Vec<Granted>, Refusal> {
    match outcome? {
        Output::Tasks(tasks) => Ok(tasks),
        _ => Err(unexpected()),
    }
}
