//! The sequence of all acts and events, of which the oldest may be retired.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ops::Bound::{Excluded, Included};

use model::event::NewDocuments;
use model::{Event, Name, Submission, SubmissionId};

use crate::{
    Changes, Committed, Error, FEED_SCAN_MAX, Feed, FeedPage, LeafPage, RETIRED_MAX, Record, Recorded, Room,
};

#[derive(Default)]
pub(super) struct Log {
    /// The number of entries that are gone: position n is at index n - 1 - retired.
    retired: u64,
    entries: VecDeque<Entry>,
    /// Positions by submission and revision, or by series and revision.
    history: BTreeMap<(SubmissionId, u64), u64>,
    /// Submissions and series that ever had one.
    begun: HashSet<SubmissionId>,
}

enum Entry {
    Record(Record),
    Event(Box<Logged>),
}

struct Logged {
    event: Event,
    about: Option<About>,
}

/// The facts a feed filters by that are not in the event.
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

impl Entry {
    fn at(&self) -> (SubmissionId, u64) {
        match self {
            Entry::Record(act) => (act.series, act.revision),
            Entry::Event(logged) => (logged.event.leaf.submission, logged.event.leaf.revision),
        }
    }

    fn leaf(&self) -> Vec<u8> {
        match self {
            Entry::Record(act) => act.leaf.clone(),
            Entry::Event(logged) => logged.event.leaf.bytes(),
        }
    }

    fn event(&self) -> Option<&Logged> {
        match self {
            Entry::Record(_) => None,
            Entry::Event(logged) => Some(logged),
        }
    }
}

impl Log {
    fn last_seq(&self) -> u64 {
        self.retired + self.entries.len() as u64
    }

    fn index(&self, seq: u64) -> usize {
        usize::try_from(seq - 1 - self.retired).expect("what is in memory fits the address space")
    }

    /// Returns the entry at a position that is known to be there.
    fn at(&self, seq: u64) -> &Entry {
        &self.entries[self.index(seq)]
    }

    fn recorded(&self, seq: u64) -> Option<Recorded> {
        self.at(seq).event().map(|logged| Recorded { seq, event: logged.event.clone() })
    }

    pub(super) fn has_begun(&self, id: SubmissionId) -> bool {
        self.begun.contains(&id)
    }

    /// Versions fence revisions, so a revision that is already there means that rows and events have parted.
    pub(super) fn check(&self, changes: &Changes) -> Result<(), Error> {
        let mut new = HashSet::new();
        let acts = changes.acts.iter().map(|act| (act.series, act.revision));
        let events = changes.events.iter().map(|event| (event.leaf.submission, event.leaf.revision));
        for at in acts.chain(events) {
            if self.history.contains_key(&at) || !new.insert(at) {
                return Err(Error::corrupt(format!(
                    "submission {} has two events of revision {}",
                    at.0, at.1
                )));
            }
        }
        Ok(())
    }

    pub(super) fn append(
        &mut self,
        acts: Vec<Record>,
        events: Vec<Event>,
        about: &HashMap<SubmissionId, About>,
    ) -> Committed {
        if acts.is_empty() && events.is_empty() {
            return Committed::default();
        }
        let first_seq = self.last_seq() + 1;
        let events = events.into_iter().map(|event| {
            let about = about.get(&event.leaf.submission).cloned().or_else(|| About::unborn(&event));
            let event = Event { documents: NewDocuments::default(), bytes: None, ..event };
            Entry::Event(Box::new(Logged { event, about }))
        });
        for entry in acts.into_iter().map(Entry::Record).chain(events) {
            let at = entry.at();
            self.entries.push_back(entry);
            self.begun.insert(at.0);
            self.history.insert(at, self.last_seq());
        }
        Committed { first_seq, last_seq: self.last_seq() }
    }

    pub(super) fn retire(&mut self, before: u64) {
        for _ in 0..RETIRED_MAX {
            if self.retired + 1 >= before {
                return;
            }
            let Some(entry) = self.entries.pop_front() else { return };
            self.retired += 1;
            self.history.remove(&entry.at());
        }
    }

    /// Erases the salts of the digests of a submission's documents: they go with the documents.
    pub(super) fn erase_salts(&mut self, id: SubmissionId) {
        let seqs: Vec<u64> = self.history.range((id, 0)..=(id, u64::MAX)).map(|(_, seq)| *seq).collect();
        for seq in seqs {
            let index = self.index(seq);
            if let Entry::Event(logged) = &mut self.entries[index] {
                let salts = &mut logged.event.detail.salts;
                (salts.payload, salts.output) = (None, None);
            }
        }
    }

    pub(super) fn history(&self, id: SubmissionId, after: u64, limit: usize) -> Vec<Recorded> {
        let later = self.history.range((Excluded((id, after)), Included((id, u64::MAX))));
        let mut room = Room::default();
        let later = later.filter_map(|(_, &seq)| self.recorded(seq)).take(limit);
        later
            .take_while(|recorded| {
                room.is_left() && {
                    room.take(stored_bytes(&recorded.event));
                    true
                }
            })
            .collect()
    }

    pub(super) fn act(&self, series: SubmissionId, revision: u64) -> Option<(u64, Vec<u8>)> {
        let seq = *self.history.get(&(series, revision))?;
        match self.at(seq) {
            Entry::Record(act) => Some((seq, act.leaf.clone())),
            Entry::Event(_) => None,
        }
    }

    pub(super) fn leaves(&self, after: u64, limit: usize) -> LeafPage {
        let first = after.max(self.retired) + 1;
        let skipped = usize::try_from(first - 1 - self.retired).unwrap_or(usize::MAX);
        let leaves = self.entries.iter().skip(skipped).take(limit).map(Entry::leaf).collect();
        LeafPage { first, leaves }
    }

    pub(super) fn feed(&self, feed: &Feed) -> FeedPage {
        let mut page = FeedPage {
            events: Vec::new(),
            next: feed.after,
            oldest: self.retired + 1,
            newest: self.last_seq(),
        };
        let before = feed.after.max(self.retired);
        let mut room = feed.room();
        for seq in before.saturating_add(1)..=self.last_seq().min(before.saturating_add(FEED_SCAN_MAX)) {
            if page.events.len() == feed.limit || !room.is_left() {
                break;
            }
            page.next = seq;
            if self.at(seq).event().is_some_and(|logged| logged.fits(feed)) {
                page.events.extend(self.recorded(seq));
                room.take(page.events.last().map_or(0, |shown| stored_bytes(&shown.event)));
            }
        }
        page
    }
}

/// The bytes that an event would take where it is written down.
fn stored_bytes(event: &Event) -> usize {
    event.leaf_bytes().len() + event.detail_text().len()
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
