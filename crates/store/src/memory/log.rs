//! The sequence of all events, of which the oldest may be retired.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ops::Bound::{Excluded, Included};

use model::event::NewDocuments;
use model::{Event, Name, Submission, SubmissionId};

use crate::{Committed, Error, FEED_SCAN_MAX, Feed, FeedPage, RETIRED_MAX, Recorded};

#[derive(Default)]
pub(super) struct Log {
    /// How many are gone: the event at position n is at n - 1 - retired.
    retired: u64,
    events: VecDeque<Logged>,
    /// Positions by submission and revision.
    history: BTreeMap<(SubmissionId, u64), u64>,
}

struct Logged {
    event: Event,
    about: Option<About>,
}

/// What a feed filters by that is not in the event.
#[derive(Clone)]
pub(super) struct About {
    pipeline: Name,
    labels: BTreeMap<Name, Name>,
}

impl About {
    pub(super) fn of(row: &Submission) -> Self {
        About { pipeline: row.pipeline.clone(), labels: row.labels.clone() }
    }

    fn unborn(event: &Event) -> Option<Self> {
        event.unborn_pipeline().map(|pipeline| About { pipeline: pipeline.clone(), labels: BTreeMap::new() })
    }
}

impl Log {
    fn last_seq(&self) -> u64 {
        self.retired + self.events.len() as u64
    }

    /// An event at a position that is known to be there.
    fn at(&self, seq: u64) -> &Logged {
        let index =
            usize::try_from(seq - 1 - self.retired).expect("what is in memory fits the address space");
        &self.events[index]
    }

    fn recorded(&self, seq: u64) -> Recorded {
        Recorded { seq, event: self.at(seq).event.clone() }
    }

    /// Versions fence revisions, so a revision that is already there means that rows and events have parted.
    pub(super) fn check(&self, events: &[Event]) -> Result<(), Error> {
        let mut new = HashSet::new();
        for event in events {
            let at = (event.leaf.submission, event.leaf.revision);
            if self.history.contains_key(&at) || !new.insert(at) {
                return Err(Error::corrupt(format!(
                    "submission {} has two events of revision {}",
                    at.0, at.1
                )));
            }
        }
        Ok(())
    }

    pub(super) fn append(&mut self, events: Vec<Event>, about: &HashMap<SubmissionId, About>) -> Committed {
        if events.is_empty() {
            return Committed::default();
        }
        let first_seq = self.last_seq() + 1;
        for event in events {
            let (id, revision) = (event.leaf.submission, event.leaf.revision);
            let about = about.get(&id).cloned().or_else(|| About::unborn(&event));
            let event = Event { documents: NewDocuments::default(), ..event };
            self.events.push_back(Logged { event, about });
            self.history.insert((id, revision), self.last_seq());
        }
        Committed { first_seq, last_seq: self.last_seq() }
    }

    pub(super) fn retire(&mut self, before: u64) {
        for _ in 0..RETIRED_MAX {
            if self.retired + 1 >= before {
                return;
            }
            let Some(Logged { event, .. }) = self.events.pop_front() else { return };
            self.retired += 1;
            self.history.remove(&(event.leaf.submission, event.leaf.revision));
        }
    }

    pub(super) fn history(&self, id: SubmissionId, after: u64, limit: usize) -> Vec<Recorded> {
        let later = self.history.range((Excluded((id, after)), Included((id, u64::MAX))));
        later.take(limit).map(|(_, &seq)| self.recorded(seq)).collect()
    }

    pub(super) fn feed(&self, feed: &Feed) -> FeedPage {
        let mut page = FeedPage { events: Vec::new(), next: feed.after, oldest: self.retired + 1 };
        let before = feed.after.max(self.retired);
        for seq in before.saturating_add(1)..=self.last_seq().min(before.saturating_add(FEED_SCAN_MAX)) {
            if page.events.len() == feed.limit {
                break;
            }
            page.next = seq;
            if self.at(seq).fits(feed) {
                page.events.push(self.recorded(seq));
            }
        }
        page
    }
}

impl Logged {
    fn fits(&self, feed: &Feed) -> bool {
        let about = self.about.as_ref();
        let labelled = |(label, value)| about.is_some_and(|about| about.labels.get(label) == Some(value));
        feed.state.as_ref().is_none_or(|state| *state == self.event.leaf.to)
            && feed.pipeline.as_ref().is_none_or(|name| about.is_some_and(|about| about.pipeline == *name))
            && feed.labels.iter().all(labelled)
    }
}
