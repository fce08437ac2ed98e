//! Push delivery: the tasks of a queue, posted in batches to whoever does them.
//!
//! A consumer is a worker by the loop of all workers: what it has claimed is kept under lease while its batch fills and its
//! request runs, each message is settled on its own, and what nobody acknowledged is tried again as its pipeline says. So
//! nothing depends on what a consumer does: one that hangs, babbles or dies has acknowledged nothing.

mod answer;
mod batch;
mod post;

use std::sync::Arc;
use std::time::Duration;

use app::{App, Visitor};
use engine::Engine;
use fetch::{Fetch, Policy};
use model::{Caller, Role};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use wire::webhook::Key;
use worker::Worker;
use worker::queue::Queue;

use batch::Waiting;
use post::Poster;

/// The time that batches under way have to be answered when the server stops.
const GRACE: Duration = Duration::from_secs(5);
/// The most bytes of an answer: outputs of a hundred tasks.
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// Somebody at an address who does the tasks of a queue.
#[derive(Debug, Clone)]
pub struct Consumer {
    pub queue: Queue,
    pub url: String,
    /// The keys that batches are signed with; several while one takes the other's place.
    pub keys: Vec<Key>,
    pub batching: Batching,
    /// The time that one request may take, with its answer.
    pub within: Duration,
}

/// The rule by which tasks become batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batching {
    /// The most messages of a batch.
    pub size: usize,
    /// The time for which the first message of a batch waits for others.
    pub wait: Duration,
    /// The most batches that are under way at a time.
    pub concurrency: usize,
}

/// The consumers of a server.
#[derive(Debug, Clone)]
pub struct Consumers {
    engine: Engine,
    policy: Policy,
    consumers: Vec<Consumer>,
}

impl Consumers {
    /// Pushes by these rules; how long and how much a consumer may answer is set here.
    #[must_use]
    pub fn new(engine: Engine, policy: Policy, consumers: Vec<Consumer>) -> Consumers {
        Consumers { engine, policy, consumers }
    }

    /// Pushes until `stop` says so, then lets what is under way be answered for a while, and gives the rest back.
    pub async fn run(self, stop: watch::Receiver<bool>) {
        let mut running = JoinSet::new();
        for consumer in self.consumers {
            let policy = Policy {
                within: consumer.within,
                body_bytes_max: ANSWER_BYTES_MAX,
                body_within: None,
                ..self.policy.clone()
            };
            let poster = Poster { consumer, fetch: Fetch::new(policy), engine: self.engine.clone() };
            running.spawn(consume(poster, stop.clone()));
        }
        while running.join_next().await.is_some() {}
    }
}

/// Claims for one consumer, and pushes.
async fn consume(poster: Poster, mut stop: watch::Receiver<bool>) {
    let Consumer { queue, batching, .. } = &poster.consumer;
    // No token can have the name.
    let caller = Caller::new(format!("queue:{}", queue.name), Role::Worker);
    let visitor = Visitor::inside(caller, Some(vec![queue.pipeline.clone()]));
    let source = App::new(poster.engine.clone(), visitor);
    let (enter, entered) = mpsc::unbounded_channel();
    let mut worker = Worker::new(source, "consumer")
        .pipelines([queue.pipeline.to_string()])
        .concurrency(batching.size * batching.concurrency)
        .grace(GRACE)
        .quietly();
    for task in &queue.tasks {
        let enter = enter.clone();
        worker = worker.task(task, move |task| Waiting::answered(task, enter.clone()));
    }
    drop(enter);
    let name = queue.name.clone();
    // In a set, so that what is under way ends when this does.
    let mut gathering = JoinSet::new();
    gathering.spawn(batch::gather(Arc::new(poster), entered));
    let stopped = async move { drop(stop.wait_for(|stopped| *stopped).await) };
    if let Err(error) = worker.run(stopped).await {
        tracing::error!(queue = &*name, %error, "the tasks of a queue are no longer pushed");
    }
    gathering.shutdown().await;
}
