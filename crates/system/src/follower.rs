//! Followers: readers of the feed that go on where they were.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use client::{Client, FeedFilter, Retries};
use wire::api::EventView;
use worker::Failure;

/// The pauses between tries while the feed cannot be read, or an event not be handled.
const AGAIN: Retries =
    Retries { times: u32::MAX, pause: Duration::from_millis(200), pause_max: Duration::from_secs(10) };

type Handler =
    Arc<dyn Fn(EventView) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>> + Send + Sync>;

/// A reader of the feed under a named cursor. It sees every event that fits, in their order, each at least once.
#[derive(Clone)]
pub struct Follower {
    name: &'static str,
    filter: FeedFilter,
    handler: Handler,
}

impl Follower {
    /// Makes a follower. `name` is that of its cursor, within the system. An event whose handling fails is handled again
    /// until it does not: whatever the handler does must be safe to do twice.
    pub fn new<F>(
        name: &'static str,
        filter: FeedFilter,
        handler: impl Fn(EventView) -> F + Send + Sync + 'static,
    ) -> Follower
    where
        F: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        Follower { name, filter, handler: Arc::new(move |event| Box::pin(handler(event))) }
    }

    /// Follows until it is dropped. What was handled and not kept by then is seen again.
    pub(crate) async fn run(self, client: Client, system: &str) {
        let cursor = format!("{system}.{}", self.name);
        let mut follow = client.follow(self.filter.clone()).cursor(cursor.as_str());
        let mut failed = 0;
        loop {
            match follow.next().await {
                Ok(event) => {
                    failed = 0;
                    self.handle(event, &cursor).await;
                }
                Err(error) => {
                    failed += 1;
                    let pause = AGAIN.pause_after(failed);
                    tracing::warn!(cursor, %error, ?pause, "cannot read the feed; trying again");
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }

    /// Handles an event, and again until it does not fail.
    async fn handle(&self, event: EventView, cursor: &str) {
        let mut failed = 0;
        while let Err(failure) = (self.handler)(event.clone()).await {
            failed += 1;
            let (pause, seq) = (AGAIN.pause_after(failed), event.seq);
            tracing::warn!(cursor, seq, %failure, ?pause, "cannot handle an event; trying again");
            tokio::time::sleep(pause).await;
        }
    }
}

impl fmt::Debug for Follower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follower")
            .field("name", &self.name)
            .field("filter", &self.filter)
            .finish_non_exhaustive()
    }
}
