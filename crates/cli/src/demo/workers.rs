//! One sample worker for all tasks that nobody does for real. It works on nothing but the payload: real ones would clone,
//! scan, sign and send.

use std::collections::BTreeSet;
use std::time::Duration;

use client::{Client, Error, Task, Worker};
use serde_json::Value;

use super::answers::ANSWERS;

const GRACE: Duration = Duration::from_secs(5);

/// Does all sample tasks but those of `real`.
pub(super) async fn run(
    client: Client,
    real: BTreeSet<String>,
    stop: impl Future<Output = ()>,
) -> Result<(), Error> {
    let worker = Worker::new(client, "sample-worker").concurrency(4).grace(GRACE);
    let sampled = ANSWERS.iter().filter(|(name, _)| !real.contains(*name));
    let worker = sampled.fold(worker, |worker, (name, answer)| {
        worker.task(*name, move |task: Task| async move { answer(&task.payload::<Value>()?) })
    });
    worker.run(stop).await
}
