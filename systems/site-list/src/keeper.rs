//! The list as it is now: read from the feed, kept in a file so that the next start need not read it all.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use client::{Client, FeedFilter, Position};
use tlog::durable;
use tokio::sync::Mutex;
use wire::{SubmissionId, Time};
use worker::Error;

use crate::PIPELINE;
use crate::list::{Applied, Change, List};

/// The keeper of the list. Clones share it.
#[derive(Debug, Clone)]
pub struct Keeper {
    client: Client,
    /// None: nothing is kept from one start to the next.
    file: Option<PathBuf>,
    list: Arc<Mutex<Kept>>,
}

/// The list in memory, and how much of it is in the file.
#[derive(Debug, Default)]
struct Kept {
    list: Option<Arc<List>>,
    in_file: u64,
}

/// Events that are read again after a start, at most: the file is written once in so many.
const EVENTS_A_FILE: u64 = 1_000;

/// The time that one look for a submission waits for events, and how many looks there are. On a fleet, an event is in the
/// feed a moment after its commit.
const LOOK: Duration = Duration::from_secs(1);
const LOOKS: usize = 10;

impl Keeper {
    /// Keeps the list in a folder, as a cache: without it, the feed is read from its beginning.
    #[must_use]
    pub fn new(client: Client, folder: &Path) -> Keeper {
        Keeper { client, file: Some(folder.join("list.json")), list: Arc::default() }
    }

    /// Reads the list for one question.
    #[must_use]
    pub fn passing(client: Client) -> Keeper {
        Keeper { client, file: None, list: Arc::default() }
    }

    /// Returns the way to the server whose list it is.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the list with all that is committed by now.
    pub async fn current(&self) -> Result<Arc<List>, Error> {
        let mut kept = self.list.lock().await;
        let list = match &kept.list {
            Some(list) => list.clone(),
            None => {
                let list = Arc::new(self.read());
                (kept.list, kept.in_file) = (Some(list.clone()), list.seq);
                list
            }
        };
        let filter = FeedFilter { pipeline: Some(PIPELINE.to_owned()), ..FeedFilter::default() };
        let mut next = None;
        loop {
            let seq = next.as_ref().map_or(list.seq, |next: &List| next.seq);
            let position = if seq == 0 { Position::Oldest } else { Position::After(seq) };
            let page = self.client.feed(&filter, position, Duration::ZERO).await?;
            if page.next > seq {
                let next = next.get_or_insert_with(|| (*list).clone());
                page.events.iter().flat_map(Change::of_event).for_each(|change| apply(next, &change));
                next.seq = page.next;
            }
            if page.events.is_empty() || page.next <= seq {
                break;
            }
        }
        let Some(next) = next else { return Ok(list) };
        let next = Arc::new(next);
        if next.seq >= kept.in_file + EVENTS_A_FILE {
            self.write(&next);
            kept.in_file = next.seq;
        }
        kept.list = Some(next.clone());
        Ok(next)
    }

    /// Returns the time, by the clock of the server whose events the list is made of.
    pub async fn now(&self) -> Result<Time, Error> {
        Ok(self.client.clock().await?.now)
    }

    /// Waits until a submission is in the feed, and returns its number; none where that takes longer than a form waits.
    pub(crate) async fn number_of(&self, submission: SubmissionId) -> Result<Option<usize>, Error> {
        let filter = FeedFilter { pipeline: Some(PIPELINE.to_owned()), ..FeedFilter::default() };
        for _ in 0..LOOKS {
            let list = self.current().await?;
            if let Some(number) = list.number_of(submission) {
                return Ok(Some(number));
            }
            self.client.feed(&filter, Position::After(list.seq), LOOK).await?;
        }
        Ok(None)
    }

    /// Reads the file. One that is not there or not whole is no loss.
    fn read(&self) -> List {
        let text = self.file.as_ref().and_then(|file| durable::read(file).ok().flatten());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    fn write(&self, list: &List) {
        let Some(file) = &self.file else { return };
        let written = serde_json::to_vec(list).map_err(std::io::Error::other);
        if let Err(error) = written.and_then(|bytes| durable::replace(file, &bytes)) {
            tracing::warn!(file = %file.display(), %error, "cannot keep the list; the feed will be read again");
        }
    }
}

fn apply(list: &mut List, change: &Change) {
    if list.apply(change) == Applied::Superseded {
        let submission = change.submission;
        tracing::warn!(%submission, "an emergency overtook a change that is complete; the list keeps the emergency's");
    }
}
