//! The feed: events in sequence, and how far a reader has come.

use std::collections::BTreeMap;
use std::time::Duration;

use wire::Millis;
use wire::api::{CursorBody, CursorList, CursorView, FeedPage};

use crate::call::Call;
use crate::client::Client;
use worker::Error;

/// The events to read. Every condition given must hold.
#[derive(Debug, Clone, Default)]
pub struct FeedFilter {
    pub pipeline: Option<String>,
    /// The state the event leads to.
    pub state: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub limit: Option<usize>,
}

/// The cursors to list.
#[derive(Debug, Clone, Default)]
pub struct CursorFilter {
    /// The subject whose cursors are listed: the caller, for whoever does not see all.
    pub subject: Option<String>,
    pub limit: Option<usize>,
    /// The `next` of the page before.
    pub after: Option<String>,
}

/// The place where a reader begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Position {
    /// The place before the oldest event there is.
    #[default]
    Oldest,
    /// The place after this event: the `next` of the page before.
    After(u64),
    /// The place after the newest event there is.
    End,
}

impl Client {
    /// A page of the feed, waiting so long for something to happen (up to a minute) where there is nothing.
    pub async fn feed(
        &self,
        filter: &FeedFilter,
        position: Position,
        wait: Duration,
    ) -> Result<FeedPage, Error> {
        let wait_ms = Millis::new(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let given = [
            ("pipeline", filter.pipeline.clone()),
            ("state", filter.state.clone()),
            ("limit", filter.limit.map(|limit| limit.to_string())),
            ("wait", Some(wait_ms).filter(|wait| !wait.is_zero()).map(|wait| wait.to_string())),
            (
                "after",
                match position {
                    Position::Oldest => None,
                    Position::After(position) => Some(position.to_string()),
                    Position::End => Some("end".to_owned()),
                },
            ),
        ];
        let given = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let labels = filter.labels.iter().map(|(name, value)| (format!("label.{name}"), value.clone()));
        let mut url = self.at(["feed"]);
        url.query_pairs_mut().extend_pairs(given.chain(labels));
        self.json(Call::get(url).waiting(wait)).await
    }

    pub async fn cursor(&self, name: &str) -> Result<CursorView, Error> {
        self.json(Call::get(self.at(["feed", "cursors", name]))).await
    }

    /// A page of the cursors that are the caller's, or everybody's for whoever sees all.
    pub async fn cursors(&self, page: &CursorFilter) -> Result<CursorList, Error> {
        let limit = page.limit.map(|limit| limit.to_string());
        let given = [("subject", page.subject.clone()), ("limit", limit), ("after", page.after.clone())];
        let mut url = self.at(["feed", "cursors"]);
        url.query_pairs_mut()
            .extend_pairs(given.into_iter().filter_map(|(name, value)| Some((name, value?))));
        self.json(Call::get(url)).await
    }

    /// Lets go of how far a named reader has come: the caller's own, or that of another subject for whoever sees all.
    pub async fn delete_cursor(&self, name: &str, subject: Option<&str>) -> Result<CursorView, Error> {
        let mut url = self.at(["feed", "cursors", name]);
        if let Some(subject) = subject {
            url.query_pairs_mut().append_pair("subject", subject);
        }
        self.json(Call::delete(url)).await
    }

    /// Keeps how far a named reader has come.
    pub async fn move_cursor(&self, name: &str, body: CursorBody) -> Result<CursorView, Error> {
        self.json(Call::put(self.at(["feed", "cursors", name]), &body)?.repeatable()).await
    }
}
