//! Running a system: its worker and its followers, inside of a server or elsewhere.

use tokio::task::JoinSet;
use worker::{Error, Worker};

use crate::{Desk, System};

/// Does a system's tasks by this worker, and follows the feed for it, until `stop` ends.
///
/// # Errors
/// When the server refuses the worker, for waiting would not change that; and when a follower has panicked, for it would again.
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
    let mut has_panicked = false;
    let over = async {
        // A follower never ends by itself.
        tokio::select! {
            () = stop => {}
            Some(_) = followers.join_next() => has_panicked = true,
        }
    };
    match worker.has_tasks() {
        true => worker.run(over).await?,
        false => over.await,
    }
    followers.shutdown().await;
    match has_panicked {
        true => Err(Error::Setup("a follower of the feed made a mistake that the log tells of".to_owned())),
        false => Ok(()),
    }
}
