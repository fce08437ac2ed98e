//! Sources of tasks.

use async_trait::async_trait;
use tokio::sync::watch;
use wire::api::{ClaimAnswer, ClaimBody, RenewBody, SettleResult};

use crate::Settlement;
use crate::error::Error;

/// A place that lends tasks: a server, or the engine in the same process.
#[async_trait]
pub trait TaskSource: Send + Sync {
    /// Returns the name of the place, for people.
    fn name(&self) -> String;

    /// Takes leases, waiting for the first task where the claim says so. Once `ended` says so it waits no longer, and
    /// returns what it has got; it is never dropped before that.
    async fn claim(&self, claim: &ClaimBody, ended: Ended) -> Result<ClaimAnswer, Error>;

    /// Keeps a lease longer.
    async fn renew(&self, renewal: RenewBody) -> Result<SettleResult, Error>;

    /// Says what became of a task. An exact repeat gets the same answer again.
    async fn settle(&self, settlement: &Settlement) -> Result<SettleResult, Error>;
}

/// The moment from which a worker waits for no more tasks.
#[derive(Debug, Clone)]
pub struct Ended(watch::Receiver<bool>);

impl Ended {
    /// Returns the moment, and the sender that makes it come.
    pub(crate) fn to_come() -> (watch::Sender<bool>, Ended) {
        let (sender, receiver) = watch::channel(false);
        (sender, Ended(receiver))
    }

    /// Waits for the moment.
    pub async fn comes(mut self) {
        if self.0.wait_for(|ended| *ended).await.is_err() {
            // Nobody is left to say so.
            std::future::pending::<()>().await;
        }
    }
}
