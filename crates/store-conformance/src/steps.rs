//! The steps checks are made of.

use model::{Documents, Submission, SubmissionId, Time};

use super::sample::names;
use store::{
    Changes, Committed, Entries, Error, FEED_SCAN_MAX, Feed, FeedPage, Late, Query, Ready, Recorded,
    RowChange, Store, Take, Taken,
};

/// Commits changes that depend on nothing.
pub(super) fn try_commit(store: &dyn Store, changes: Changes) -> Result<Committed, Error> {
    let mut changes = Some(changes);
    store.transact(&Take::nothing(), &mut |_| changes.take().expect("decide is called once"))
}

pub(super) fn commit(store: &dyn Store, changes: Changes) -> Committed {
    try_commit(store, changes).expect("the changes are in order")
}

#[track_caller]
pub(super) fn assert_conflict(outcome: &Result<Committed, Error>) {
    assert!(matches!(outcome, Err(Error::Conflict(_))), "a conflict was due, not {outcome:?}");
}

/// Takes and changes nothing.
pub(super) fn take(store: &dyn Store, take: &Take<'_>) -> Taken {
    let mut taken = None;
    let mut look = |found| {
        taken = Some(found);
        Changes::default()
    };
    store.transact(take, &mut look).expect("taking works");
    taken.expect("decide was called")
}

pub(super) fn insert(store: &dyn Store, rows: impl IntoIterator<Item = Submission>) {
    let rows = rows.into_iter().map(RowChange::insert).collect();
    commit(store, Changes { rows, ..Changes::default() });
}

/// A change of a row that is there, as one would commit it now.
pub(super) fn change(store: &dyn Store, id: SubmissionId, change: impl FnOnce(&mut Submission)) -> RowChange {
    let before = read(store, id);
    let mut after = before.clone();
    change(&mut after);
    RowChange::update(before, after)
}

pub(super) fn update(store: &dyn Store, id: SubmissionId, edit: impl FnOnce(&mut Submission)) {
    commit(store, Changes { rows: vec![change(store, id, edit)], ..Changes::default() });
}

/// A row that is there.
pub(super) fn read(store: &dyn Store, id: SubmissionId) -> Submission {
    store.submission(id).expect("reading works").expect("the row is there").0
}

/// The documents of a row that is there.
pub(super) fn documents(store: &dyn Store, id: SubmissionId) -> Documents {
    store.submission(id).expect("reading works").expect("the row is there").1
}

/// A claim of anything that waits for one of these tasks.
pub(super) fn claim(tasks: &[&str], max: usize) -> Ready {
    Ready { tasks: names(tasks), pipelines: Vec::new(), labels: [].into(), max }
}

/// Returns the submissions that one claim would be handed.
pub(super) fn claimed(store: &dyn Store, ready: Ready) -> Vec<SubmissionId> {
    let mut taken = take(store, &Take { ready: vec![ready], ..Take::nothing() });
    assert_eq!(taken.ready.len(), 1, "one list for each claim");
    let ids = taken.ready.remove(0);
    assert!(ids.iter().all(|id| taken.rows.contains_key(id)), "ready rows are among the rows taken");
    ids
}

/// The ids of one page.
pub(super) fn found(store: &dyn Store, query: &Query) -> Vec<SubmissionId> {
    let page = store.find(query).expect("finding works");
    page.rows.iter().map(|row| row.id).collect()
}

/// One page of a feed, which keeps what every page promises.
pub(super) fn feed(store: &dyn Store, feed: &Feed) -> FeedPage {
    let page = store.feed(feed).expect("reading works");
    assert!(page.events.len() <= feed.limit, "a page is no longer than asked for");
    let seqs: Vec<_> = page.events.iter().map(|recorded| recorded.seq).collect();
    assert!(seqs.is_sorted_by(|one, next| one < next), "in sequence: {seqs:?}");
    assert!(seqs.first().is_none_or(|first| *first > feed.after && *first >= page.oldest));
    assert!(seqs.last().is_none_or(|last| *last <= page.next), "what is shown has been read");
    let from = feed.after.max(page.oldest - 1);
    assert!(
        page.next >= feed.after && page.next <= from + FEED_SCAN_MAX,
        "it passes over no more than it may"
    );
    page
}

/// Every event that fits, page after page.
pub(super) fn feed_all(store: &dyn Store, wanted: &Feed) -> Vec<Recorded> {
    let mut wanted = wanted.clone();
    let mut events = Vec::new();
    loop {
        let page = feed(store, &wanted);
        if page.next == wanted.after {
            return events;
        }
        wanted.after = page.next;
        events.extend(page.events);
    }
}

/// All events after a position, no more than so many.
pub(super) fn events(store: &dyn Store, after: u64, limit: usize) -> Vec<Recorded> {
    feed(store, &Feed { after, limit, ..Feed::default() }).events
}

/// Returns when a row that is listed as late missed its service level, and its id.
pub(super) fn missed(row: &Submission) -> (Time, SubmissionId) {
    (Entries::of(row).late.expect("a row without an entry is not listed").at, row.id)
}

/// Everything that is late, page after page.
pub(super) fn late_all(store: &dyn Store, late: &Late) -> Vec<Submission> {
    let mut late = late.clone();
    let mut rows: Vec<Submission> = Vec::new();
    loop {
        let page = store.late(&late).expect("reading works");
        assert!(page.len() <= late.page_size(), "a page is no longer than asked for");
        let Some(last) = page.last().map(missed) else { return rows };
        assert!(late.after.is_none_or(|after| after < last), "a page lies after the one before");
        late.after = Some(last);
        rows.extend(page);
    }
}

/// Every match, page after page.
pub(super) fn find_all(store: &dyn Store, query: &Query) -> Vec<Submission> {
    let mut query = query.clone();
    let mut rows = Vec::new();
    loop {
        let page = store.find(&query).expect("finding works");
        assert!(page.rows.len() <= query.page_size(), "a page is no longer than asked for");
        let next = page.next();
        assert_eq!(page.more, next.is_some(), "a page that others follow says after what");
        assert!(
            page.rows.last().is_none_or(|row| Some(row.id) >= page.last),
            "nothing lies beyond what was looked at"
        );
        assert!(
            query.after.is_none() || next.is_none() || next < query.after,
            "a page lies after the one before"
        );
        rows.extend(page.rows);
        match next {
            None => return rows,
            next => query.after = next,
        }
    }
}
