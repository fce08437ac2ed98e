//! The feed: what happened, in sequence, to whoever asks or as it happens.

use app::{FeedQuery, Follower};
use axum::Extension;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use model::Millis;
use wire::api::FeedPage;

use super::{Asking, stream};
use crate::charged::with_share;
use crate::layers;
use crate::media;
use crate::problem::{Answer, invalid};
use crate::query::Params;
use crate::shares::{Share, Who};
use crate::state::Server;

const PARAMS: &[&str] = &["after", "pipeline", "state", "label.", "limit", "wait"];
const WAIT_MAX: Millis = Millis::from_secs(60);
const STREAM: &str = "text/event-stream";
/// The bytes of events that a stream has read and not sent: there may be a thousand streams.
const STREAM_BYTES_MAX: usize = 64 << 10;

pub(crate) async fn read(
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
    // The last event that a stream showed before it broke off.
    let seen = headers.get("last-event-id").filter(|_| streamed);
    let seen = seen.map(|id| id.to_str().unwrap_or("?").to_owned());
    let query = FeedQuery {
        after: seen.or_else(|| params.get("after").map(str::to_owned)),
        pipeline: params.name("pipeline"),
        state: params.name("state"),
        labels: params.under("label."),
        limit: params.limit()?,
        bytes_max: streamed.then_some(STREAM_BYTES_MAX),
    };
    let follower = asking.follow(query).await?;
    let reader = Reader { server: asking.server.clone(), who, follower };
    if streamed {
        return stream::start(reader, asking.visitor().clone()).await;
    }
    let (page, set_aside) = reader.page(wait).await?;
    Ok(with_share(asking.server.apart.json(page).await, set_aside))
}

/// A follower of the feed over HTTP.
pub(super) struct Reader {
    pub(super) server: Server,
    pub(super) who: Who,
    pub(super) follower: Follower,
}

impl Reader {
    /// Ends when something may have happened, and when the server stops.
    pub(super) async fn news(&mut self) {
        tokio::select! {
            () = self.follower.news(self.server.options.wait_piece) => {}
            () = self.server.stopped() => {}
        }
    }

    /// Returns the next page that has something, or what there is when the wait is over, and what was set aside for it.
    async fn page(mut self, wait: Millis) -> Result<(FeedPage, Option<Share>), model::Refusal> {
        let over = tokio::time::sleep(wait.into());
        tokio::pin!(over);
        loop {
            let before = self.follower.position();
            let set_aside = layers::page(&self.server, &self.who).await?;
            let page = self.follower.next().await?;
            if !page.events.is_empty() || wait.is_zero() || self.server.is_stopping() {
                return Ok((page, Some(set_aside)));
            }
            drop(set_aside);
            if page.next > before {
                continue;
            }
            tokio::select! {
                () = &mut over => return Ok((page, None)),
                () = self.news() => {}
            }
        }
    }
}
