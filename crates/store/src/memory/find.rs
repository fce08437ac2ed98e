//! Pages of rows.

use std::ops::Bound::{Excluded, Unbounded};

use model::{Submission, SubmissionId};

use super::Tables;
use super::merge::merge;
use crate::entries::Entries;
use crate::{Filling, Page, Query};

type Newest<'a> = Box<dyn Iterator<Item = SubmissionId> + 'a>;

impl Tables {
    pub(super) fn find(&self, query: &Query) -> Page {
        let matching = self.candidates(query).map(|id| &self.rows[&id]).filter(|row| matches(row, query));
        let mut page = Filling::new(query);
        for row in matching {
            if page.is_full() {
                return page.page(true);
            }
            page.look(row.clone(), serde_json::to_vec(row).map_or(0, |text| text.len()));
        }
        page.page(false)
    }

    /// Every row that can match and is not on an earlier page, newest first, out of the narrowest index.
    fn candidates<'a>(&'a self, query: &'a Query) -> Newest<'a> {
        let before = query.after.map_or(Unbounded, Excluded);
        let holders = query.held_key.as_ref().map(|key| self.index.keyed.of(key));
        let keyed = query.key.as_ref().map(|key| self.index.with_key.of(key));
        let seated = query.lane.as_ref().map(|lane| self.index.seated.of(lane));
        let children = query.parent.map(|parent| self.index.children.of(&parent));
        let labelled = query
            .labels
            .iter()
            .map(|(label, value)| self.index.labels.of(&(label.clone(), value.clone())))
            .min_by_key(|ids| ids.map_or(0, |ids| ids.len()));
        if let Some(ids) = holders.or(keyed).or(seated).or(children).or(labelled) {
            let ids = ids.into_iter().flat_map(move |ids| ids.range((Unbounded, before)).rev());
            return Box::new(ids.copied());
        }
        let places = self.index.places.iter().filter(|(place, _)| query.covers(place));
        Box::new(merge(places.map(move |(_, ids)| ids.range((Unbounded, before)).rev().copied())))
    }
}

fn matches(row: &Submission, query: &Query) -> bool {
    let entries = Entries::of(row);
    query.covers(&entries.place)
        && query.held_key.as_ref().is_none_or(|key| entries.key.as_ref().is_some_and(|open| open.key == *key))
        && query.key.as_ref().is_none_or(|key| row.key.as_ref() == Some(key))
        && query.lane.as_ref().is_none_or(|lane| entries.lane.as_ref().is_some_and(|at| at.key.lane == *lane))
        && query.parent.is_none_or(|parent| row.parent == Some(parent))
        && query.labels.iter().all(|(label, value)| row.labels.get(label) == Some(value))
        && query.greatest().is_some_and(|greatest| row.id <= greatest)
        && row.id >= query.least()
}
