//! One sample worker for all tasks. It works on nothing but the payload: real ones would clone, scan, sign and send.

use std::time::Duration;

use client::{Client, Error, Task, Worker};
use serde_json::Value;

use super::answers::ANSWERS;

const GRACE: Duration = Duration::from_secs(5);

pub(super) async fn run(client: Client, stop: impl Future<Output = ()>) -> Result<(), Error> {
    let worker = Worker::new(client, "sample-worker").concurrency(4).grace(GRACE);
    let worker = ANSWERS.iter().fold(worker, |worker, (name, answer)| {
        worker.task(*name, move |task: Task| async move { answer(&task.payload::<Value>()?) })
    });
    worker.run(stop).await
}
