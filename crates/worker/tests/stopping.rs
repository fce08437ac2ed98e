//! The loop at its edges: what is lent while it stops, and places that answer at once with nothing.
#![expect(clippy::unwrap_used, reason = "all of this is tests")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tokio::sync::Notify;
use wire::api::{ClaimAnswer, ClaimBody, RenewBody, SettleResult};
use worker::{Ended, Error, Outcome, Settlement, TaskSource, Worker};

/// A place that notes what is asked of it.
#[derive(Clone, Default)]
struct Place {
    claims: Arc<Mutex<usize>>,
    settled: Arc<Mutex<Vec<Settlement>>>,
    /// Told once a claim waits.
    waits: Arc<Notify>,
    /// Set if a claim that waits is lent a task at the moment at which it is ended.
    lends_late: bool,
}

#[async_trait]
impl TaskSource for Place {
    fn name(&self) -> String {
        "a place".to_owned()
    }

    async fn claim(&self, claim: &ClaimBody, ended: Ended) -> Result<ClaimAnswer, Error> {
        let claims = {
            let mut claims = self.claims.lock().unwrap();
            *claims += 1;
            *claims
        };
        assert!(claims < 1_000, "asked again and again");
        if claim.wait.is_none() || !self.lends_late {
            return Ok(ClaimAnswer::default());
        }
        self.waits.notify_one();
        ended.comes().await;
        Ok(serde_json::from_value(json!({ "tasks": [{
            "token": "t-1", "submission": "01a1e148-25d3-7c36-9f16-9d3a7fedad24", "pipeline": "p", "state": "S",
            "task": "p.do", "with": null, "params": {}, "attempt": 1, "payload": {}, "payload_revision": 1,
            "outputs": {}, "labels": {}, "lease": "1m", "lease_expires_at": "2026-11-15T22:17:05.448Z",
        }] }))
        .unwrap())
    }

    async fn renew(&self, _: RenewBody) -> Result<SettleResult, Error> {
        Ok(said("t-1"))
    }

    async fn settle(&self, settlement: &Settlement) -> Result<SettleResult, Error> {
        self.settled.lock().unwrap().push(settlement.clone());
        Ok(said("t-1"))
    }
}

fn said(token: &str) -> SettleResult {
    serde_json::from_value(json!({ "token": token, "status": 200 })).unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_is_lent_while_a_worker_stops_is_given_back() {
    let place = Place { lends_late: true, ..Place::default() };
    let waits = place.waits.clone();
    let worker = Worker::new(place.clone(), "w").grace(Duration::from_secs(1)).task("p.do", |_| async {
        std::future::pending::<()>().await;
        Ok(Outcome::new("done"))
    });
    worker.run(async move { waits.notified().await }).await.unwrap();
    let settled = place.settled.lock().unwrap();
    assert!(matches!(&settled[..], [Settlement::GiveBack(body)] if body.token == "t-1"), "{settled:?}");
}

#[tokio::test(start_paused = true)]
async fn a_place_that_answers_at_once_with_nothing_is_asked_once_a_second() {
    let place = Place::default();
    let worker = Worker::new(place.clone(), "w").task("p.do", |_| async { Ok(Outcome::new("done")) });
    worker.run(tokio::time::sleep(Duration::from_secs(60))).await.unwrap();
    let claims = *place.claims.lock().unwrap();
    assert!((60..=62).contains(&claims), "{claims}");
}
