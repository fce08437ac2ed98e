//! `GET /v1/feed`: what happened, in sequence, to whoever asks or as it happens.

use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use model::{Code, Millis, Refusal};
use store::{Feed, Query};
use tokio::sync::watch;
use wire::api::{EventView, FeedPage};

use super::submissions::{check_names, pipeline};
use super::{Asking, stream};
use crate::access::Visitor;
use crate::app::App;
use crate::frame;
use crate::media;
use crate::problem::{Answer, invalid, quote};
use crate::query::Params;
use crate::shares::{Share, Who};

const PARAMS: &[&str] = &["after", "pipeline", "state", "label.", "limit", "wait"];
const WAIT_MAX: Millis = Millis::from_secs(60);
const STREAM: &str = "text/event-stream";
/// The bytes of events that a stream has read and not sent: there may be a thousand streams.
const STREAM_BYTES_MAX: usize = 64 << 10;
/// The position behind the newest event.
const END: &str = "end";

pub(crate) async fn read(
    State(app): State<App>,
    asking: Asking,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    uri: Uri,
) -> Answer<Response> {
    let params = Params::read(&uri, PARAMS)?;
    let streamed = media::preferred(&headers, &["application/json", STREAM]) == STREAM;
    let wait: Millis = params.parse("wait")?.unwrap_or_default();
    if wait > WAIT_MAX {
        return Err(invalid(format!("`wait` is at most {WAIT_MAX}; ask again after it")).into());
    }
    let seen = headers.get("last-event-id").filter(|_| streamed);
    let seen = seen.map(|id| id.to_str().unwrap_or("?").to_owned());
    let mut reader = Reader::begin((app, who), &asking, &params, seen).await?;
    if streamed {
        reader.feed.bytes_max = Some(STREAM_BYTES_MAX);
        return stream::start(reader, asking.0).await;
    }
    let (page, set_aside) = reader.page(wait).await?;
    let answer = Json(page).into_response();
    drop(set_aside);
    Ok(answer)
}

/// Somebody who reads the feed, and how far they have come.
pub(super) struct Reader {
    pub(super) app: App,
    pub(super) who: Who,
    pub(super) feed: Feed,
    recorded: watch::Receiver<u64>,
}

impl Reader {
    /// `seen` is the last event a stream showed before it broke off.
    async fn begin(
        (app, who): (App, Who),
        visitor: &Visitor,
        params: &Params,
        seen: Option<String>,
    ) -> Result<Reader, Refusal> {
        let mut feed = Feed {
            after: 0,
            pipeline: pipeline(visitor, params.name("pipeline"))?,
            state: params.name("state"),
            labels: params.under("label."),
            limit: params.limit()?,
            bytes_max: None,
        };
        visitor.narrow_labels(&mut feed.labels)?;
        let names = Query { pipeline: feed.pipeline.clone(), state: feed.state.clone(), ..Query::default() };
        check_names(visitor, &app.engine.pipelines().current(), &names)?;
        let recorded = app.engine.recorded();
        let given = seen.or_else(|| params.get("after").map(str::to_owned));
        feed.after = match given.as_deref() {
            None => {
                app.engine.read(|store| Ok(store.feed(&Feed::default())?.oldest)).await?.saturating_sub(1)
            }
            Some(END) => app.engine.read(store::newest).await?,
            Some(text) => text.parse().map_err(|_| {
                invalid(format!("{} is no position: give the `next` of an answer, or `{END}`", quote(text)))
            })?,
        };
        Ok(Reader { app, who, feed, recorded })
    }

    /// Returns the events that follow. Empty where nothing fits, though the position may have moved.
    pub(super) async fn next(&mut self) -> Result<Vec<EventView>, Refusal> {
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
        let view = |recorded: store::Recorded| model::view::event(recorded.seq, &recorded.event);
        Ok(page.events.into_iter().map(view).collect())
    }

    /// Ends when something may have happened: at a hint, after a while without one, and when the server stops.
    pub(super) async fn news(&mut self) {
        tokio::select! {
            Ok(()) = self.recorded.changed() => {}
            () = tokio::time::sleep(self.app.options.wait_piece) => {}
            () = self.app.stopped() => {}
        }
    }

    /// Returns the next page that has something, or what there is when the wait is over, and what was set aside for it.
    async fn page(mut self, wait: Millis) -> Result<(FeedPage, Option<Share>), Refusal> {
        let over = tokio::time::sleep(wait.into());
        tokio::pin!(over);
        loop {
            let before = self.feed.after;
            let set_aside = frame::page(&self.app, &self.who).await?;
            let events = self.next().await?;
            let next = self.feed.after;
            if !events.is_empty() || wait.is_zero() || self.app.is_stopping() {
                return Ok((FeedPage { events, next }, Some(set_aside)));
            }
            drop(set_aside);
            if next > before {
                continue;
            }
            tokio::select! {
                () = &mut over => return Ok((FeedPage { events, next }, None)),
                () = self.news() => {}
            }
        }
    }
}
