//! A server over HTTP as the place that workers take their tasks from.

use async_trait::async_trait;
use wire::api::{ClaimAnswer, ClaimBody, RenewBody, SettleAnswer, SettleResult};
use worker::{Ended, Error, Settlement, TaskSource};

use crate::client::Client;

#[async_trait]
impl TaskSource for Client {
    fn name(&self) -> String {
        self.server()
    }

    async fn claim(&self, claim: &ClaimBody, ended: Ended) -> Result<ClaimAnswer, Error> {
        tokio::select! {
            biased;
            answer = Client::claim(self, claim) => answer,
            // The server hears that the connection is closed, and lends nothing over it.
            () = ended.comes() => Ok(ClaimAnswer::default()),
        }
    }

    async fn renew(&self, renewal: RenewBody) -> Result<SettleResult, Error> {
        only(Client::renew(self, vec![renewal]).await?)
    }

    async fn settle(&self, settlement: &Settlement) -> Result<SettleResult, Error> {
        only(match settlement.clone() {
            Settlement::Finish(body) => self.finish(vec![body]).await?,
            Settlement::Fail(body) => self.fail(vec![body]).await?,
            Settlement::Snooze(body) => self.snooze(vec![body]).await?,
            Settlement::GiveBack(body) => self.give_back(vec![body]).await?,
        })
    }
}

/// Returns the one result of an answer about one task.
fn only(answer: SettleAnswer) -> Result<SettleResult, Error> {
    let result = answer.results.into_iter().next();
    result.ok_or_else(|| Error::Protocol("an answer about no task".to_owned()))
}
