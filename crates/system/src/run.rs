//! Running a system: its worker and its followers, inside of a server or elsewhere.

use tokio::task::JoinSet;
use worker::{Error, Worker};

use crate::{Desk, System};

/// Does a system's tasks by this worker, and follows the feed for it, until `stop` ends.
///
/// # Errors
/// When the server refuses the worker, for waiting would not change that.
pub async fn run(
    system: &dyn System,
    desk: &Desk,
    worker: Worker,
    stop: impl Future<Output = ()>,
) -> Result<(), Error> {
    let mut followers = JoinSet::new();
    for follower in system.followers(desk) {
        followers.spawn(follower.run(desk.client.clone(), system.name()));
    }
    let worker = system.tasks(desk, worker);
    let ended = match worker.has_tasks() {
        true => worker.run(stop).await,
        false => {
            stop.await;
            Ok(())
        }
    };
    followers.shutdown().await;
    ended
}
