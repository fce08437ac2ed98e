//! Submissions that have missed a service level, the longest ago first.

use model::{Name, Refusal, Submission, SubmissionId, Time};
use store::{Late, PAGE_BYTES_MAX, Room, Store};
use wire::api::OverduePage;

use crate::seal::{PLACE, Seal};
use crate::{App, invalid, quote};

impl App {
    /// Lists what has missed a service level, in one pipeline or in all that the visitor sees.
    pub async fn overdue(
        &self,
        pipeline: Option<Name>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<OverduePage, Refusal> {
        let seal = Seal(self.engine.secret_for("overdue"));
        let after = after.map(|text| Place::read(text, &seal)).transpose()?;
        let versions = self.engine.pipelines().current();
        let pipelines = match pipeline {
            Some(name) => {
                self.visitor.check_sees(&name)?;
                self.in_force(&versions, &name)?;
                vec![name]
            }
            None => {
                let names = versions.all().map(|pipeline| pipeline.name.clone());
                names.filter(|name| self.visitor.sees(name)).collect()
            }
        };
        let most = if self.visitor.labels.is_empty() { limit + 1 } else { AT_ONCE };
        let mut look = Look { pipelines, until: self.engine.now(), after, most };
        let visitor = self.visitor.clone();
        let page = self.engine.read(move |store| look.page(store, limit, &|row| visitor.sees_row(row)));
        let page = page.await?;
        let next = page.next.map(|next| match next {
            Next::Seen(place) => place.to_string(),
            Next::Unseen(place) => seal.close(place.bytes()),
        });
        Ok(OverduePage { submissions: page.rows.iter().map(|row| self.listed(row)).collect(), next })
    }
}

/// The number of late submissions that one look takes from the store where not all of them are shown.
const AT_ONCE: usize = 500;
/// The number that is read at a time: rows may be large.
const ROWS_AT_ONCE: usize = 50;
/// The number that one call looks at to find those it shows.
const LOOKS_MAX: usize = 5_000;

/// The place of a submission in the list: when a service level was missed, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place(Time, SubmissionId);

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.0, self.1)
    }
}

impl Place {
    fn read(text: &str, seal: &Seal) -> Result<Place, Refusal> {
        let plain = text.split_once('/').and_then(|(at, id)| Some(Place(at.parse().ok()?, id.parse().ok()?)));
        let place = plain.or_else(|| seal.open(text).and_then(Place::from_bytes));
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

    fn from_bytes(bytes: [u8; PLACE]) -> Option<Place> {
        let at = i64::from_be_bytes(std::array::from_fn(|index| bytes[index]));
        let id: String = bytes[8..].iter().map(|byte| format!("{byte:02x}")).collect();
        Some(Place(Time::from_millis(at), id.parse().ok()?))
    }
}

/// The place to go on from.
enum Next {
    Seen(Place),
    /// The place of one that was passed over: neither its time nor its id are for whoever asks.
    Unseen(Place),
}

struct Page {
    rows: Vec<Submission>,
    next: Option<Next>,
}

struct Look {
    pipelines: Vec<Name>,
    until: Time,
    after: Option<Place>,
    most: usize,
}

impl Look {
    /// Reads on until there are as many as are wanted of those that are seen, or so many were looked at.
    fn page(
        &mut self,
        store: &dyn Store,
        limit: usize,
        sees: &dyn Fn(&Submission) -> bool,
    ) -> Result<Page, store::Error> {
        let (mut found, mut looked): (Vec<(Place, Submission)>, usize) = (Vec::new(), 0);
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
    fn read(&self, store: &dyn Store) -> Result<(Vec<(Place, Submission)>, bool), store::Error> {
        let (mut late, mut read_to) = (Vec::new(), None);
        let bytes = PAGE_BYTES_MAX / self.pipelines.len().max(1);
        for pipeline in &self.pipelines {
            let mut after = self.after.map(|Place(at, id)| (at, id));
            let (mut count, mut room) = (0, Room::of(bytes));
            loop {
                let page = Late { pipeline: pipeline.clone(), until: self.until, after, limit: ROWS_AT_ONCE };
                let rows = store.late(&page)?;
                let is_last = rows.len() < page.page_size();
                count += rows.len();
                room.take(rows.iter().map(bytes_of).sum());
                late.extend(rows.into_iter().filter_map(placed));
                if is_last {
                    break;
                }
                let last = late.last().map(|(place, _)| *place);
                after = last.map(|Place(at, id)| (at, id));
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

fn rows(found: Vec<(Place, Submission)>) -> Vec<Submission> {
    found.into_iter().map(|(_, row)| row).collect()
}

fn placed(row: Submission) -> Option<(Place, Submission)> {
    let missed_at = row.clocks.iter().map(|clock| clock.due_at).min()?;
    Some((Place(missed_at, row.id), row))
}
