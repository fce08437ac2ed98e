//! Keeping a lease while its task runs.

use std::time::Duration;

use tokio::sync::watch;
use wire::Millis;
use wire::api::{RenewBody, TaskView};

use crate::client::Client;

/// Never oftener than this, however short the lease.
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// Between tries while the server cannot be reached.
const PAUSE_UNREACHABLE: Duration = Duration::from_secs(1);

/// The lease of one task.
pub(super) struct Lease {
    client: Client,
    token: String,
    pause: Duration,
    /// The revision that last changed the payload, as far as renewals have said.
    newest: watch::Sender<u64>,
}

impl Lease {
    pub(super) fn new(client: Client, task: &TaskView) -> Lease {
        let newest = watch::Sender::new(task.payload_revision);
        Lease { client, token: task.token.clone(), pause: pause(task.lease), newest }
    }

    pub(super) fn newest(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// Renews, and ends only when the lease is lost.
    pub(super) async fn keep(self) {
        let mut pause = self.pause;
        loop {
            tokio::time::sleep(pause).await;
            let answer = match self.client.renew(vec![RenewBody { token: self.token.clone() }]).await {
                Ok(answer) => answer,
                Err(error) => {
                    tracing::warn!(%error, "cannot renew a lease; trying again");
                    pause = self.pause.min(PAUSE_UNREACHABLE);
                    continue;
                }
            };
            let Some(result) = answer.results.into_iter().next() else { continue };
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

/// A third of the lease: two renewals may be lost before it is.
fn pause(lease: Millis) -> Duration {
    (Duration::from(lease) / 3).max(PAUSE_MIN)
}
