//! Services of ledgers: very many with one batch each, beside the same without lanes, and one with very many batches beside
//! another one's single batch.

use std::time::Duration;

use anyhow::{Result, ensure};

use super::home::{MANY, filled};
use super::{Run, TURNS, Workload};
use crate::home::{Caller, Home, Submitter as _};
use crate::pipelines::{LANELESS, SERVICES, of_service};
use crate::spread::Spread;
use crate::stopwatch::now;
use crate::workload::Rate;

/// Services with one batch each.
const SERVICE_COUNT: usize = 100_000;
/// Batches of the one service that has many, and how many go in one call.
const OF_ONE_SERVICE: usize = 10_000;
const IN_A_CALL: usize = 500;
/// Single batches that are waited for, one after the other.
const LONE: usize = 200;
/// Beyond what other workloads number.
const FIRST: u64 = 1 << 41;
const MANY_OF_IT: &str = "many";
const WAIT: Duration = Duration::from_secs(5);

impl Run<'_> {
    pub(super) async fn services<H: Home>(&mut self, home: &H) -> Result<()> {
        let (mut lanes, mut laneless) = (Rate::default(), Rate::default());
        let services = self.sized(SERVICE_COUNT);
        for _ in 0..if self.plan.quick { 1 } else { TURNS } {
            laneless += filled(home, LANELESS, services, MANY).await?;
            lanes += filled(home, SERVICES, services, MANY).await?;
        }
        let what = format!("{services} batches without lanes");
        self.add(self.rate(Workload::Services, &what, home.label(), laneless));
        let what = format!("{services} services, a batch each");
        let figure = self.rate(Workload::Services, &what, home.label(), lanes);
        self.add(figure.over_some(Some((laneless.per_second(), "without lanes"))));
        self.beside_many(home).await
    }

    /// Measures the way of a single batch to the worker, alone and beside a service with very many.
    async fn beside_many<H: Home>(&mut self, home: &H) -> Result<()> {
        let mut caller = home.caller().await?;
        let mut numbers = FIRST..;
        let mut spread = [Spread::default(), Spread::default()];
        for (is_beside, spread) in spread.iter_mut().enumerate() {
            if is_beside == 1 {
                let many = self.sized(OF_ONE_SERVICE);
                for _ in 0..many / IN_A_CALL {
                    let batches = numbers.by_ref().take(IN_A_CALL);
                    let batches = batches.map(|number| of_service(number, MANY_OF_IT)).collect();
                    caller.submit(SERVICES, batches).await?;
                }
            }
            for number in numbers.by_ref().take(self.sized(LONE)) {
                let began = now();
                caller.submit(SERVICES, vec![of_service(number, &format!("lone-{number}"))]).await?;
                // One round: whoever is let in, one of each service.
                let round = caller.claim(SERVICES, IN_A_CALL, WAIT).await?;
                spread.add(began.elapsed());
                ensure!(
                    round.iter().any(|task| task.number == number) && round.len() <= 2,
                    "the round after batch {number} came has {} batches, and not this one and one of the other service",
                    round.len()
                );
                // To the end, so that the next round of the service with many has its next batch.
                caller.finish(round).await?;
                let watched = caller.claim(SERVICES, IN_A_CALL, WAIT).await?;
                caller.finish(watched).await?;
            }
        }
        let [alone, beside] = spread.map(|spread| spread.at(0.5));
        self.add(self.time(Workload::Services, "a lone batch, submit to start", home.label(), alone));
        let what = format!("the same beside {} of a service", self.sized(OF_ONE_SERVICE));
        let figure = self.time(Workload::Services, &what, home.label(), beside);
        self.add(figure.over_some(Some((crate::report::millis(alone), "alone"))));
        Ok(())
    }
}
