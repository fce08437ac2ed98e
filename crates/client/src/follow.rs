//! Following the feed, event by event.

use std::collections::VecDeque;
use std::time::Duration;

use wire::api::{CursorBody, EventView};

use crate::client::Client;
use crate::feed::{FeedFilter, Position};
use worker::Error;

/// The time that one call waits for something to happen.
const WAIT: Duration = Duration::from_secs(20);

/// A reader of the feed. It never ends: where there is nothing, it waits.
#[derive(Debug)]
pub struct Follow {
    client: Client,
    filter: FeedFilter,
    position: Position,
    cursor: Option<String>,
    /// The cursor was looked for.
    begun: bool,
    read: VecDeque<EventView>,
    /// Read, and not kept yet.
    owed: Option<u64>,
}

impl Client {
    /// Reads events as they happen, from the oldest there is unless told otherwise.
    #[must_use]
    pub fn follow(&self, filter: FeedFilter) -> Follow {
        Follow {
            client: self.clone(),
            filter,
            position: Position::default(),
            cursor: None,
            begun: false,
            read: VecDeque::new(),
            owed: None,
        }
    }
}

impl Follow {
    /// Begins here; with a cursor, only where there is none of that name yet.
    #[must_use]
    pub fn from(mut self, position: Position) -> Follow {
        self.position = position;
        self
    }

    /// Goes on where the cursor of this name is, and moves it when all events of a page were taken and more are asked
    /// for: whoever stops in between sees the rest again.
    #[must_use]
    pub fn cursor(mut self, name: impl Into<String>) -> Follow {
        self.cursor = Some(name.into());
        self
    }

    /// The next event. After an error the same can be asked again; nothing is lost.
    pub async fn next(&mut self) -> Result<EventView, Error> {
        self.begin().await?;
        loop {
            if let Some(event) = self.read.pop_front() {
                return Ok(event);
            }
            self.keep().await?;
            let page = self.client.feed(&self.filter, self.position, WAIT).await?;
            if self.position != Position::After(page.next) {
                self.owed = Some(page.next);
            }
            self.position = Position::After(page.next);
            self.read = page.events.into();
        }
    }

    async fn begin(&mut self) -> Result<(), Error> {
        if let (Some(name), false) = (&self.cursor, self.begun) {
            match self.client.cursor(name).await {
                Ok(cursor) => self.position = Position::After(cursor.position),
                Err(error) if error.code() == Some("unknown-cursor") => {}
                Err(error) => return Err(error),
            }
        }
        self.begun = true;
        Ok(())
    }

    async fn keep(&mut self) -> Result<(), Error> {
        let (Some(name), Some(position)) = (&self.cursor, self.owed) else { return Ok(()) };
        match self.client.move_cursor(name, CursorBody { position, rewind: false }).await {
            // Another reader of the same name is further on, and has kept that.
            Err(error) if error.code() != Some("cursor-ahead") => return Err(error),
            _ => self.owed = None,
        }
        Ok(())
    }
}
