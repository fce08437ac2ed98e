//! The calls of workers. Each one takes many tasks; an exact repeat of a settlement gets the same answer again.

use std::time::Duration;

use serde::Serialize;
use wire::api::{
    ClaimAnswer, ClaimBody, FailBody, FinishBody, GiveBackBody, RenewBody, SettleAnswer, SnoozeBody,
    SpawnBody, Tasks,
};

use crate::call::Call;
use crate::client::{Answer, Client};
use worker::Error;

impl Client {
    /// Takes leases. Not repeated by itself: an answer that was lost has granted leases nobody knows of.
    pub async fn claim(&self, body: &ClaimBody) -> Result<ClaimAnswer, Error> {
        let waits = body.wait.map_or(Duration::ZERO, Duration::from);
        self.send(Call::post(self.at(["tasks:claim"]), body)?.waiting(waits)).await?.json()
    }

    pub async fn finish(&self, tasks: Vec<FinishBody>) -> Result<SettleAnswer, Error> {
        self.settle("tasks:finish", tasks).await?.json()
    }

    pub async fn fail(&self, tasks: Vec<FailBody>) -> Result<SettleAnswer, Error> {
        self.settle("tasks:fail", tasks).await?.json()
    }

    pub async fn snooze(&self, tasks: Vec<SnoozeBody>) -> Result<SettleAnswer, Error> {
        self.settle("tasks:snooze", tasks).await?.json()
    }

    /// Gives leases back: somebody else gets the tasks at once, from the start, and no attempt is counted.
    pub async fn give_back(&self, tasks: Vec<GiveBackBody>) -> Result<SettleAnswer, Error> {
        self.settle("tasks:give-back", tasks).await?.json()
    }

    /// Keeps leases longer. A renewal may say how far its task has come; that costs no event.
    pub async fn renew(&self, tasks: Vec<RenewBody>) -> Result<SettleAnswer, Error> {
        self.settle("tasks:renew", tasks).await?.json()
    }

    /// Makes children without settling the task. The same name is the same child, so a repeat makes nothing twice.
    pub async fn spawn(&self, tasks: Vec<SpawnBody>) -> Result<SettleAnswer, Error> {
        self.settle("tasks:spawn", tasks).await?.json()
    }

    async fn settle<T: Serialize>(&self, route: &str, tasks: Vec<T>) -> Result<Answer, Error> {
        self.send(Call::post(self.at([route]), &Tasks { tasks })?.repeatable()).await
    }
}
