//! The feed as it happens: server-sent events.

use std::collections::VecDeque;
use std::convert::Infallible;

use app::Visitor;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use wire::api::EventView;

use super::feed::Reader;
use crate::charged::in_pieces;
use crate::problem::Answer;
use crate::shares::Share;

/// A stream that is being sent.
struct Sending {
    reader: Reader,
    visitor: Visitor,
    /// Read, not sent yet.
    ready: VecDeque<EventView>,
    _place: Share,
}

/// Begins a stream. The first look is made before, so that a reader that comes too late is told so.
pub(super) async fn start(mut reader: Reader, visitor: Visitor) -> Answer<Response> {
    let place = reader.server.streams.take(&reader.who, 1)?;
    let ready = reader.follower.next().await?.events.into();
    let beat = KeepAlive::new().interval(reader.server.options.heartbeat);
    let sending = Sending { reader, visitor, ready, _place: place };
    let events = stream::unfold(sending, |mut sending| async {
        let event = sending.next().await?;
        Some((Ok::<_, Infallible>(event), sending))
    });
    Ok(in_pieces(Sse::new(events).keep_alive(beat).into_response(), None))
}

impl Sending {
    /// The next event. Nothing when the server stops, the reader's token ends, the store cannot be read or the position
    /// was retired: whoever comes again with the last id they saw goes on from there, or is told why not.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(view) = self.ready.pop_front() {
                let data = serde_json::to_string(&view).expect("an event has only string keys");
                return Some(Event::default().id(view.seq.to_string()).data(data));
            }
            let server = self.reader.server.clone();
            if server.is_stopping() || !server.access.holds(&self.visitor).await {
                return None;
            }
            let before = self.reader.follower.position();
            self.ready = self.reader.follower.next().await.ok()?.events.into();
            if !self.ready.is_empty() {
                continue;
            }
            if self.reader.follower.position() > before {
                // Where to go on from, for a filter that little passes.
                return Some(Event::default().id(self.reader.follower.position().to_string()));
            }
            tokio::select! {
                () = self.reader.news() => {}
                () = server.access.over(&self.visitor) => return None,
            }
        }
    }
}
