//! The engine as the place that workers of the same process take their tasks from.

use async_trait::async_trait;
use model::Refusal;
use wire::api::{ClaimAnswer, ClaimBody, Problem, RenewBody, SettleResult, Tasks};
use worker::{Ended, Error, Settlement as Word, TaskSource};

use crate::App;
use crate::tasks::Settlement;

#[async_trait]
impl TaskSource for App {
    fn name(&self) -> String {
        "this process".to_owned()
    }

    async fn claim(&self, claim: &ClaimBody, ended: Ended) -> Result<ClaimAnswer, Error> {
        App::claim(self, claim.clone(), ended.comes()).await.map_err(problem)
    }

    async fn renew(&self, renewal: RenewBody) -> Result<SettleResult, Error> {
        self.only(renewal).await
    }

    async fn settle(&self, word: &Word) -> Result<SettleResult, Error> {
        match word.clone() {
            Word::Finish(body) => self.only(body).await,
            Word::Fail(body) => self.only(body).await,
            Word::Snooze(body) => self.only(body).await,
            Word::GiveBack(body) => self.only(body).await,
        }
    }
}

impl App {
    async fn only<T: Settlement>(&self, word: T) -> Result<SettleResult, Error> {
        let answer = App::settle(self, Tasks { tasks: vec![word] }, false).await.map_err(problem)?;
        Ok(answer.results.into_iter().next().expect("one was settled, and one was answered"))
    }
}

fn problem(refusal: Refusal) -> Error {
    Error::Problem(Box::new(Problem::from(&refusal)))
}
