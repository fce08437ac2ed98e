//! Keeping a lease while its task runs.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use wire::Millis;
use wire::api::{RenewBody, TaskView};
use wire::submission::Progress;

use crate::TaskSource;

/// The shortest time between renewals, however short the lease.
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// The time between tries while nobody can be reached.
const PAUSE_UNREACHABLE: Duration = Duration::from_secs(1);

/// The time between renewals that say how far the task has come: people read it, and it is written to disk.
const PAUSE_TOLD: Duration = Duration::from_secs(1);

/// The lease of one task.
pub(crate) struct Lease {
    source: Arc<dyn TaskSource>,
    token: String,
    pause: Duration,
    /// The revision that last changed the payload, as far as renewals have said.
    newest: watch::Sender<u64>,
    /// The progress that the handler told last.
    told: watch::Sender<Option<Progress>>,
}

impl Lease {
    pub(crate) fn new(source: Arc<dyn TaskSource>, task: &TaskView) -> Lease {
        let (newest, told) = (watch::Sender::new(task.payload_revision), watch::Sender::new(None));
        Lease { source, token: task.token.clone(), pause: pause(task.lease), newest, told }
    }

    pub(crate) fn told(&self) -> watch::Sender<Option<Progress>> {
        self.told.clone()
    }

    pub(crate) fn newest(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// Renews, and ends only when the lease is lost.
    pub(crate) async fn keep(self) {
        let mut pause = self.pause;
        let mut told = self.told.subscribe();
        let mut unsent = None;
        loop {
            let progress = told_within(&mut told, pause).await.or(unsent.take());
            let renewal = RenewBody { token: self.token.clone(), progress: progress.clone() };
            let result = match self.source.renew(renewal).await {
                Ok(result) => result,
                Err(error) => {
                    tracing::warn!(%error, "cannot renew a lease; trying again");
                    (pause, unsent) = (self.pause.min(PAUSE_UNREACHABLE), progress);
                    continue;
                }
            };
            match (result.lease_expires_at, result.problem) {
                (Some(_), None) => {
                    pause = self.pause;
                    self.hear(result.payload_revision);
                }
                // The submission's time is over, but what is running may still end well.
                (_, Some(problem)) if problem.code == "expired" => std::future::pending().await,
                (_, Some(problem)) if problem.status < 500 => {
                    tracing::warn!(code = problem.code, "lost a lease; its task is stopped");
                    return;
                }
                _ => pause = self.pause.min(PAUSE_UNREACHABLE),
            }
        }
    }

    fn hear(&self, payload_revision: Option<u64>) {
        let said = payload_revision.unwrap_or_default();
        self.newest.send_if_modified(|newest| {
            let is_news = said > *newest;
            *newest = said.max(*newest);
            is_news
        });
    }
}

/// Waits until it is time to renew, or until there is progress to tell, and returns that.
async fn told_within(told: &mut watch::Receiver<Option<Progress>>, pause: Duration) -> Option<Progress> {
    let renewal = tokio::time::sleep(pause);
    let news = async {
        tokio::time::sleep(PAUSE_TOLD).await;
        told.changed().await
    };
    // An error is none: whoever keeps the lease has a sender, too.
    let is_told = tokio::select! {
        news = news => news.is_ok(),
        () = renewal => false,
    };
    let is_news = is_told || told.has_changed().unwrap_or_default();
    told.borrow_and_update().clone().filter(|_| is_news)
}

/// Returns a third of the lease: two renewals may be lost before it is.
fn pause(lease: Millis) -> Duration {
    (Duration::from(lease) / 3).max(PAUSE_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn progress_hastens_a_renewal_and_the_newest_is_told() {
        let (sender, mut told) = watch::channel(None);
        let (began, pause) = (tokio::time::Instant::now(), Duration::from_secs(10));
        let say = |done| drop(sender.send_replace(Some(Progress { done, ..Progress::default() })));
        say(1);
        say(2);
        let heard = told_within(&mut told, pause).await.map(|progress| progress.done);
        assert_eq!((heard, began.elapsed()), (Some(2), PAUSE_TOLD));
        assert_eq!(told_within(&mut told, pause).await, None, "it is told once");
        assert_eq!(began.elapsed(), PAUSE_TOLD + pause);
        say(3);
        let short = PAUSE_TOLD / 4;
        let heard = told_within(&mut told, short).await.map(|progress| progress.done);
        assert_eq!(
            (heard, began.elapsed()),
            (Some(3), PAUSE_TOLD + pause + short),
            "with a lease that is short"
        );
    }
}
