//! The sequence of all events, and the history of one submission.

use model::event::Leaf;
use model::{Event, Status, Submission, evolve};

use super::sample::{Sample, entry, id, json, moved, submitted};
use super::steps::{commit, events};
use super::{Fixture, Promise, promise};
use store::{Changes, Committed, Recorded, Store};

pub(super) const PROMISES: &[Promise] = &[
    promise("events get dense positions in the order given", dense_positions),
    promise("an event reads back with the bytes of its leaf and without its documents", exact_bytes),
    promise("events page by position and skip nothing", pages_by_position),
    promise("history is one submission's, oldest first", history_oldest_first),
    promise("history pages by revision", history_pages),
    promise("the history of a missing submission is empty", no_history),
];

pub(super) fn record(store: &dyn Store, events: Vec<Event>) -> Committed {
    commit(store, Changes { events, ..Changes::default() })
}

pub(super) fn positions(recorded: &[Recorded]) -> Vec<u64> {
    recorded.iter().map(|recorded| recorded.seq).collect()
}

/// A submission's first events.
pub(super) fn walk(n: u64, steps: usize) -> Vec<Event> {
    let mut events = vec![submitted(n)];
    let mut row: Submission = Sample::row(n).build();
    for _ in 1..steps {
        let event = moved(&row, "NEXT", entry(model::submission::Wait::Person, Status::Open));
        row = evolve(Some(row), &event);
        events.push(event);
    }
    events
}

fn dense_positions(fixture: &dyn Fixture) {
    let store = fixture.open();
    assert_eq!(record(&*store, vec![submitted(3)]), Committed { first_seq: 1, last_seq: 1 });
    let batch = [5, 1, 4, 2].map(submitted).to_vec();
    assert_eq!(record(&*store, batch), Committed { first_seq: 2, last_seq: 5 });
    let all = events(&*store, 0, 100);
    assert_eq!(positions(&all), [1, 2, 3, 4, 5]);
    let submissions: Vec<_> = all.iter().map(|recorded| recorded.event.leaf.submission).collect();
    assert_eq!(submissions, [3, 5, 1, 4, 2].map(id));
}

fn exact_bytes(fixture: &dyn Fixture) {
    let store = fixture.open();
    let mut walked = walk(1, 3);
    walked[1].documents.output = Some(json("{\"score\": 80}"));
    record(&*store, walked.clone());
    let all = events(&*store, 0, 100);
    assert_eq!(all.len(), walked.len());
    for (recorded, event) in all.iter().zip(&walked) {
        assert_eq!(Leaf::hash(&recorded.event.leaf.bytes()), Leaf::hash(&event.leaf.bytes()));
        let expected = Event { documents: model::event::NewDocuments::default(), ..event.clone() };
        assert_eq!(recorded.event, expected);
    }
}

fn pages_by_position(fixture: &dyn Fixture) {
    let store = fixture.open();
    for n in 0..25 {
        record(&*store, (n * 4..n * 4 + 4).map(submitted).collect());
    }
    let mut after = 0;
    let mut seen = Vec::new();
    loop {
        let page = events(&*store, after, 7);
        assert!(page.len() <= 7);
        let Some(last) = page.last() else { break };
        assert!(last.seq > after, "a page lies after the one before");
        after = last.seq;
        seen.extend(positions(&page));
        if after == 49 {
            record(&*store, vec![submitted(1_000)]);
        }
    }
    assert_eq!(seen, (1..=101).collect::<Vec<_>>());
    assert_eq!(events(&*store, 101, 7), []);
    assert_eq!(events(&*store, 1_000_000, 7), [], "a position not reached yet");
}

fn history_oldest_first(fixture: &dyn Fixture) {
    let store = fixture.open();
    let (one, two) = (walk(1, 3), walk(2, 3));
    let mixed = [&two[0], &one[0], &one[1], &two[1], &two[2], &one[2]].map(Clone::clone);
    record(&*store, mixed.to_vec());
    let history = store.history(id(1), 0, 100).expect("reading works");
    assert_eq!(positions(&history), [2, 3, 6]);
    assert_eq!(history.into_iter().map(|recorded| recorded.event).collect::<Vec<_>>(), one);
}

fn history_pages(fixture: &dyn Fixture) {
    let store = fixture.open();
    record(&*store, walk(1, 10));
    record(&*store, walk(2, 1));
    let revisions = |after, limit| -> Vec<u64> {
        let page = store.history(id(1), after, limit).expect("reading works");
        page.iter().map(|recorded| recorded.event.leaf.revision).collect()
    };
    assert_eq!(revisions(0, 4), [1, 2, 3, 4]);
    assert_eq!(revisions(4, 4), [5, 6, 7, 8]);
    assert_eq!(revisions(8, 4), [9, 10]);
    assert!(revisions(10, 4).is_empty());
}

fn no_history(fixture: &dyn Fixture) {
    let store = fixture.open();
    record(&*store, walk(1, 2));
    assert_eq!(store.history(id(2), 0, 10), Ok(Vec::new()));
}
