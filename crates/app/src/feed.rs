//! The feed: what happened, in sequence.

use std::collections::BTreeMap;
use std::time::Duration;

use model::{Code, Name, Refusal};
use store::Feed;
use tokio::sync::watch;
use wire::api::{EventView, FeedPage};

use crate::{App, invalid, quote};

/// The position behind the newest event.
const END: &str = "end";

/// A choice of events to follow.
#[derive(Debug, Clone, Default)]
pub struct FeedQuery {
    /// The position to go on from as a caller writes it: a number, or `end`. Without one the oldest event comes first.
    pub after: Option<String>,
    pub pipeline: Option<Name>,
    pub state: Option<Name>,
    pub labels: BTreeMap<Name, Name>,
    /// The most events of a page.
    pub limit: usize,
    /// The most bytes of a page; a bound of the store's own if there is none.
    pub bytes_max: Option<usize>,
}

/// A reader of the feed, and how far it has come.
#[derive(Debug)]
pub struct Follower {
    app: App,
    feed: Feed,
    recorded: watch::Receiver<u64>,
}

impl App {
    /// Returns a hint that changes whenever something was recorded. It says neither what nor whose.
    #[must_use]
    pub fn hints(&self) -> watch::Receiver<u64> {
        self.engine.recorded()
    }

    /// Begins to follow what happens.
    pub async fn follow(&self, query: FeedQuery) -> Result<Follower, Refusal> {
        let mut feed = Feed {
            after: 0,
            pipeline: self.chosen_pipeline(query.pipeline)?,
            state: query.state,
            labels: query.labels,
            limit: query.limit,
            bytes_max: query.bytes_max,
        };
        self.visitor.narrow_labels(&mut feed.labels)?;
        let versions = self.engine.pipelines().current();
        self.check_names(&versions, feed.pipeline.as_ref(), feed.state.as_ref())?;
        let recorded = self.engine.recorded();
        feed.after = match query.after.as_deref() {
            None => {
                self.engine.read(|store| Ok(store.feed(&Feed::default())?.oldest)).await?.saturating_sub(1)
            }
            Some(END) => self.engine.read(store::newest).await?,
            Some(text) => text.parse().map_err(|_| {
                invalid(format!("{} is no position: give the `next` of an answer, or `{END}`", quote(text)))
            })?,
        };
        Ok(Follower { app: self.clone(), feed, recorded })
    }
}

impl Follower {
    /// Returns the position behind the last event that was looked at.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.feed.after
    }

    /// Returns the events that follow. The page is empty where nothing fits, though the position may have moved.
    pub async fn next(&mut self) -> Result<FeedPage, Refusal> {
        self.recorded.borrow_and_update();
        let feed = self.feed.clone();
        let page = self.app.engine.read(move |store| store.feed(&feed)).await?;
        if self.feed.after.saturating_add(1) < page.oldest {
            let message = format!(
                "what followed {} was retired; the oldest event there is has the position {}",
                self.feed.after, page.oldest
            );
            return Err(Refusal::new(Code::FeedRetired, message).with("oldest", page.oldest));
        }
        self.feed.after = page.next;
        let versions = self.app.engine.pipelines().current();
        let view = |recorded: store::Recorded| {
            let followed = versions.by_digest(&recorded.event.leaf.definition);
            let pipeline = followed.map(|pipeline| pipeline.name.clone());
            EventView { pipeline, ..model::view::event(recorded.seq, &recorded.event) }
        };
        Ok(FeedPage { events: page.events.into_iter().map(view).collect(), next: page.next })
    }

    /// Ends when something may have happened: at a hint, and after `patience` without one.
    pub async fn news(&mut self, patience: Duration) {
        tokio::select! {
            Ok(()) = self.recorded.changed() => {}
            () = tokio::time::sleep(patience) => {}
        }
    }
}
