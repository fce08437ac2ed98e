//! Pages of rows.

use std::ops::Bound::{Excluded, Unbounded};

use model::{Submission, SubmissionId};

use super::Tables;
use super::merge::merge;
use crate::entries::Entries;
use crate::{Page, Query, Room};

type Newest<'a> = Box<dyn Iterator<Item = SubmissionId> + 'a>;

impl Tables {
    pub(super) fn find(&self, query: &Query) -> Page {
        let matching = self.candidates(query).map(|id| &self.rows[&id]).filter(|row| matches(row, query));
        let (mut page, mut room) = (Page::default(), Room::default());
        for row in matching {
            if page.rows.len() == query.page_size() || !room.is_left() {
                page.more = true;
                break;
            }
            room.take(serde_json::to_vec(row).map_or(0, |text| text.len()));
            page.rows.push(row.clone());
        }
        page
    }

    /// Every row that can match and is not on an earlier page, newest first, out of the narrowest index.
    fn candidates<'a>(&'a self, query: &'a Query) -> Newest<'a> {
        let before = query.after.map_or(Unbounded, Excluded);
        let holders = query.key.as_ref().map(|key| self.index.keyed.of(key));
        let seated = query.lane.as_ref().map(|lane| self.index.seated.of(lane));
        let children = query.parent.map(|parent| self.index.children.of(&parent));
        let labelled = query
            .labels
            .iter()
            .map(|(label, value)| self.index.labels.of(&(label.clone(), value.clone())))
            .min_by_key(|ids| ids.map_or(0, |ids| ids.len()));
        if let Some(ids) = holders.or(seated).or(children).or(labelled) {
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
        && query.key.as_ref().is_none_or(|key| entries.key.as_ref().is_some_and(|open| open.key == *key))
        && query.lane.as_ref().is_none_or(|lane| entries.lane.as_ref().is_some_and(|at| at.key.lane == *lane))
        && query.parent.is_none_or(|parent| row.parent == Some(parent))
        && query.labels.iter().all(|(label, value)| row.labels.get(label) == Some(value))
        && query.created_before.is_none_or(|time| row.created_at < time)
}
