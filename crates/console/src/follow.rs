//! Streams that keep pages fresh: hints that something happened, and events as they happen.
//!
//! A hint says nothing of what happened. A page that gets one is read again, so it cannot show what its reader may not see,
//! and misses nothing when hints were lost. Hints are kept apart: where much happens a page is read again every few
//! seconds, however many events there were.

use std::time::Duration;

use app::{App, FeedQuery, Follower};
use askama::Template;
use tokio::sync::watch;
use wire::{Refusal, SubmissionId};

use crate::answer::Answer;
use crate::ask::Visit;
use crate::assets;
use crate::look::Eye;
use crate::pages::tail::{Row, rows};

/// The least time between two hints: at first, and where something happens all the time.
const PACE: Duration = Duration::from_millis(700);
const PACE_MAX: Duration = Duration::from_secs(5);
/// The time after which a page is read again although nothing was said: workers come and go without an event.
const SLOWLY: Duration = Duration::from_secs(15);
/// The events that are shown at a time. More in one breath are passed over: nobody could read them.
const ROWS_MAX: usize = 60;
const BREATH: Duration = Duration::from_millis(400);

/// A stream that is sent as long as its reader listens.
#[derive(Debug)]
pub enum Live {
    Hints(Box<Hints>),
    Tail(Box<Tail>),
}

/// One message of a stream.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece {
    /// The name of what happened; none for something to be shown.
    pub event: Option<&'static str>,
    /// The position to go on from.
    pub id: Option<String>,
    pub data: String,
}

impl Live {
    /// Returns the next message; none where the stream ends.
    pub async fn next(&mut self) -> Option<Piece> {
        match self {
            Live::Hints(hints) => hints.next().await,
            Live::Tail(tail) => tail.next().await.ok(),
        }
    }
}

/// Hints that a page may not be true any more.
#[derive(Debug)]
pub struct Hints {
    app: App,
    recorded: watch::Receiver<u64>,
    /// The one submission the page is about, and its revision when it was last looked at.
    about: Option<(SubmissionId, u64)>,
    pace: Duration,
    greeted: bool,
}

impl Hints {
    async fn next(&mut self) -> Option<Piece> {
        let hint = |event, data: &str| Some(Piece { event: Some(event), id: None, data: data.to_owned() });
        if !self.greeted {
            self.greeted = true;
            // By which a page that was left open over an upgrade finds out.
            return hint("hello", assets::stamp());
        }
        loop {
            let changed = tokio::time::timeout(SLOWLY, self.recorded.changed()).await;
            match changed {
                Ok(Err(_)) => return None,
                Ok(Ok(())) => self.settle().await,
                Err(_) => self.pace = PACE,
            }
            if self.is_news().await {
                return hint("news", "");
            }
        }
    }

    /// Waits until what happens together has happened.
    async fn settle(&mut self) {
        tokio::time::sleep(self.pace).await;
        let goes_on = self.recorded.has_changed().unwrap_or(false);
        self.recorded.borrow_and_update();
        self.pace = if goes_on { (self.pace * 2).min(PACE_MAX) } else { PACE };
    }

    async fn is_news(&mut self) -> bool {
        let Some((id, revision)) = self.about else { return true };
        // Whoever may not see it any more is told so by the page itself.
        let Ok(page) = self.app.events(id, revision, 100).await else { return true };
        let Some(last) = page.events.last() else { return false };
        self.about = Some((id, last.revision));
        true
    }
}

/// Gives hints for a page, or for the page of one submission.
pub(crate) async fn hints(visit: Visit) -> Result<Answer, Refusal> {
    let query = visit.ask.query();
    let revision = query.get("revision").and_then(|text| text.parse().ok()).unwrap_or(0);
    let about = query.get("submission").and_then(|text| text.parse().ok()).map(|id| (id, revision));
    let recorded = visit.app.hints();
    let hints = Hints { app: visit.app, recorded, about, pace: PACE, greeted: false };
    Ok(Answer::Live(Live::Hints(Box::new(hints))))
}

/// Events as they happen, as rows of a table.
#[derive(Debug)]
pub struct Tail {
    app: App,
    query: FeedQuery,
    follower: Follower,
    eye: Eye,
}

#[derive(Template)]
#[template(path = "part/tail_rows.html")]
struct Rows {
    passed: u64,
    rows: Vec<Row>,
}

impl Tail {
    async fn next(&mut self) -> Result<Piece, Refusal> {
        loop {
            let before = self.follower.position();
            let page = self.follower.next().await?;
            let passed = if page.events.len() >= ROWS_MAX { self.skip().await? } else { 0 };
            if !page.events.is_empty() {
                tokio::time::sleep(BREATH).await;
                self.eye.now = self.app.clock().now;
                let mut rows = rows(&self.eye, &page.events);
                rows.reverse();
                let data = Rows { passed, rows }.render().unwrap_or_default();
                return Ok(Piece { event: None, id: Some(self.follower.position().to_string()), data });
            }
            if self.follower.position() == before {
                self.follower.news(SLOWLY).await;
            }
        }
    }

    /// Goes on with the newest event, and tells how many positions that leaves out.
    async fn skip(&mut self) -> Result<u64, Refusal> {
        let before = self.follower.position();
        let query = FeedQuery { after: Some("end".to_owned()), ..self.query.clone() };
        self.follower = self.app.follow(query).await?;
        Ok(self.follower.position().saturating_sub(before))
    }
}

/// Gives the events that follow those that a reader has.
pub(crate) async fn tail(visit: Visit) -> Result<Answer, Refusal> {
    let after = visit.ask.header("last-event-id").map(str::to_owned);
    let filter = crate::pages::tail::filter(&visit);
    let after = after.or_else(|| visit.ask.query().get("after").map(str::to_owned));
    let query = FeedQuery { after, limit: ROWS_MAX, bytes_max: Some(256 << 10), ..filter };
    let follower = visit.app.follow(query.clone()).await?;
    let eye = visit.eye();
    Ok(Answer::Live(Live::Tail(Box::new(Tail { app: visit.app, query, follower, eye }))))
}
