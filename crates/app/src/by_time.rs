//! Pages of lists that are ordered by time, and of those alone that a visitor sees.

use model::{Name, Refusal, Submission, SubmissionId, Time};
use store::{Late, PAGE_BYTES_MAX, Room, Store};

use crate::seal::{PLACE, Seal};
use crate::{invalid, quote};

/// The number of submissions that one look takes from the store where not all of them are shown.
pub(crate) const AT_ONCE: usize = 500;
/// The number that is read at a time: rows may be large.
const ROWS_AT_ONCE: usize = 50;
/// The number that one call looks at to find those it shows.
const LOOKS_MAX: usize = 5_000;

/// The place of a submission in a list by time: when it is due, and its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TimePlace(Time, SubmissionId);

impl std::fmt::Display for TimePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.0, self.1)
    }
}

impl TimePlace {
    pub(crate) fn read(text: &str, seal: &Seal) -> Result<TimePlace, Refusal> {
        let plain =
            text.split_once('/').and_then(|(at, id)| Some(TimePlace(at.parse().ok()?, id.parse().ok()?)));
        let place = plain.or_else(|| seal.open(text).and_then(TimePlace::from_bytes));
        place.ok_or_else(|| {
            invalid(format!(
                "`after` is {}, which is not valid: give the `next` of the page before",
                quote(text)
            ))
        })
    }

    fn bytes(self) -> [u8; PLACE] {
        let (at, id) = (self.0.millis().to_be_bytes(), self.1.0.into_bytes());
        std::array::from_fn(|index| if index < at.len() { at[index] } else { id[index - at.len()] })
    }

    fn from_bytes(bytes: [u8; PLACE]) -> Option<TimePlace> {
        let at = i64::from_be_bytes(std::array::from_fn(|index| bytes[index]));
        let id: String = bytes[8..].iter().map(|byte| format!("{byte:02x}")).collect();
        Some(TimePlace(Time::from_millis(at), id.parse().ok()?))
    }
}

/// The place to go on from.
pub(crate) enum Next {
    Seen(TimePlace),
    /// The place of one that was passed over: neither its time nor its id are for whoever asks.
    Unseen(TimePlace),
}

impl Next {
    /// Writes the place for the caller, who reads only the places of what they see.
    pub(crate) fn shown(self, seal: &Seal) -> String {
        match self {
            Next::Seen(place) => place.to_string(),
            Next::Unseen(place) => seal.close(place.bytes()),
        }
    }
}

pub(crate) struct Page {
    pub(crate) rows: Vec<Submission>,
    pub(crate) next: Option<Next>,
}

/// A look along several lists by time, as if they were one.
pub(crate) struct Look {
    /// Pipelines, or names of lists of what waits for people.
    pub(crate) lists: Vec<Name>,
    /// Returns when a row of the lists is due.
    pub(crate) due: fn(&Submission) -> Option<Time>,
    pub(crate) until: Time,
    pub(crate) after: Option<TimePlace>,
    /// The number of each list's rows that are read at a time.
    pub(crate) most: usize,
}

impl Look {
    /// Reads on until there are as many as are wanted of those that are seen, or so many were looked at.
    pub(crate) fn page(
        &mut self,
        store: &dyn Store,
        limit: usize,
        sees: &dyn Fn(&Submission) -> bool,
    ) -> Result<Page, store::Error> {
        let (mut found, mut looked): (Vec<(TimePlace, Submission)>, usize) = (Vec::new(), 0);
        let mut room = Room::default();
        loop {
            let (late, is_last) = self.read(store)?;
            for (place, row) in late {
                if found.len() == limit || !room.is_left() {
                    let next = found.last().map(|(place, _)| Next::Seen(*place)).filter(|_| sees(&row));
                    if next.is_some() {
                        return Ok(Page { rows: rows(found), next });
                    }
                } else if sees(&row) {
                    room.take(bytes_of(&row));
                    found.push((place, row));
                }
                self.after = Some(place);
                looked += 1;
            }
            if is_last {
                return Ok(Page { rows: rows(found), next: None });
            }
            if looked >= LOOKS_MAX {
                return Ok(Page { rows: rows(found), next: self.after.map(Next::Unseen) });
            }
        }
    }

    /// Reads on, and tells whether that is all. Each pipeline has its own list; together they are in the order of all, as
    /// far as each of them was read.
    fn read(&self, store: &dyn Store) -> Result<(Vec<(TimePlace, Submission)>, bool), store::Error> {
        let (mut late, mut read_to) = (Vec::new(), None);
        let bytes = PAGE_BYTES_MAX / self.lists.len().max(1);
        for pipeline in &self.lists {
            let mut after = self.after.map(|TimePlace(at, id)| (at, id));
            let (mut count, mut room) = (0, Room::of(bytes));
            loop {
                let page = Late { pipeline: pipeline.clone(), until: self.until, after, limit: ROWS_AT_ONCE };
                let rows = store.late(&page)?;
                let is_last = rows.len() < page.page_size();
                count += rows.len();
                room.take(rows.iter().map(bytes_of).sum());
                late.extend(
                    rows.into_iter().filter_map(|row| Some((TimePlace((self.due)(&row)?, row.id), row))),
                );
                if is_last {
                    break;
                }
                let last = late.last().map(|(place, _)| *place);
                after = last.map(|TimePlace(at, id)| (at, id));
                if count >= self.most || !room.is_left() {
                    read_to = read_to.into_iter().chain(last).min();
                    break;
                }
            }
        }
        late.sort_by_key(|(place, _)| *place);
        late.retain(|(place, _)| read_to.is_none_or(|read_to| *place <= read_to));
        Ok((late, read_to.is_none()))
    }
}

fn bytes_of(row: &Submission) -> usize {
    serde_json::to_vec(row).map_or(0, |text| text.len())
}

fn rows(found: Vec<(TimePlace, Submission)>) -> Vec<Submission> {
    found.into_iter().map(|(_, row)| row).collect()
}
