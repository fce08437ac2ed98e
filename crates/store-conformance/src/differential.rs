//! The same changes on two stores: whatever can be asked, they answer the same.

use std::collections::BTreeSet;

use super::figures::recount;
use super::random::Random;
use super::snapshot::{KINDS, assert_same, look};
use super::steps::{feed_all, find_all, late_all};
use store::ManualClock;
use store::{Changes, Committed, Error, LaneView, Store, Taken, registry_all};

/// The steps between two comparisons by readers: reading is slower than writing and differences do not go away.
const READ_EVERY: usize = 5;

#[derive(Debug)]
pub struct Differential<'a> {
    /// The clock of both stores.
    pub clock: &'a ManualClock,
    pub seed: u64,
    pub steps: usize,
}

/// The things a run came across, so that a test can say that the run was worth it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    pub commits: usize,
    pub conflicts: usize,
    pub events: u64,
    pub rows: usize,
    pub ready: usize,
    pub due: usize,
    pub idle: usize,
    pub owed: usize,
    pub inbox: usize,
    pub answers: usize,
    pub holders: usize,
    pub waiters: usize,
    /// Lanes somebody holds or is in line for.
    pub lanes: usize,
    pub parked: usize,
    /// Slots that are taken, of limits that ready rows count under.
    pub slots: usize,
    /// Rows that were late when that was asked.
    pub late: usize,
    /// Entries of the registry that commits relied on.
    pub relied_on: usize,
    pub erased: usize,
    pub forgotten: usize,
    pub retirements: usize,
}

/// Applies one random history to two empty stores and compares everything on the way.
///
/// # Panics
/// At the first difference, with the seed and the step that show it again.
pub fn differential(a: &dyn Store, b: &dyn Store, how: &Differential<'_>) -> Seen {
    let mut random = Random::new(how.seed, how.clock);
    let mut seen = Seen::default();
    for step in 0..how.steps {
        let place = format!("seed {}, step {step}", how.seed);
        transact(a, b, &mut random, &place, &mut seen);
        if step % READ_EVERY == 0 {
            seen.late += compare_reads(a, b, &mut random, &place);
        }
    }
    assert_same(&look(a), &look(b), &format!("seed {}, at the end", how.seed));
    seen
}

fn transact(a: &dyn Store, b: &dyn Store, random: &mut Random<'_>, place: &str, seen: &mut Seen) {
    random.pass_time();
    let take = random.take();
    let (mut decided, mut first, mut second) = (None, None, None);
    let outcome_a = a.transact(&take, &mut |taken| {
        let changes = random.changes(&taken);
        decided = Some(changes.clone());
        first = Some(taken);
        changes
    });
    let outcome_b = b.transact(&take, &mut |taken| {
        second = Some(taken);
        decided.clone().expect("the first store called decide")
    });
    assert_eq!(first, second, "what is taken: {place}");
    assert_eq!(reaction(&outcome_a), reaction(&outcome_b), "outcomes {outcome_a:?}, {outcome_b:?}: {place}");
    seen.add(&outcome_a, &first.expect("decide was called"));
    if outcome_a.is_ok() {
        seen.committed(&decided.expect("decide was called"));
    }
}

/// Returns what a caller acts on: the kind of an error, not its words.
fn reaction(outcome: &Result<Committed, Error>) -> Result<Committed, &'static str> {
    match outcome {
        Ok(committed) => Ok(*committed),
        Err(Error::Conflict(_)) => Err("conflict"),
        Err(Error::Unavailable { .. }) => Err("unavailable"),
        Err(Error::Corrupt(_)) => Err("corrupt"),
    }
}

/// Says how many were late.
fn compare_reads(a: &dyn Store, b: &dyn Store, random: &mut Random<'_>, place: &str) -> usize {
    let query = random.query();
    assert_eq!(a.find(&query), b.find(&query), "a page of {query:?}: {place}");
    assert_eq!(find_all(a, &query), find_all(b, &query), "all pages of {query:?}: {place}");
    let id = random.known_id();
    assert_eq!(a.submission(id), b.submission(id), "a submission: {place}");
    let (after, limit) = (random.below(4), random.size());
    assert_eq!(a.history(id, after, limit), b.history(id, after, limit), "a history: {place}");
    let feed = random.feed();
    assert_eq!(a.feed(&feed), b.feed(&feed), "a page of {feed:?}: {place}");
    assert_eq!(feed_all(a, &feed), feed_all(b, &feed), "all pages of {feed:?}: {place}");
    let (lane, limit) = (random.lane(), random.size());
    assert_eq!(a.line(&lane, limit), b.line(&lane, limit), "the line of {lane:?}: {place}");
    let late = random.late();
    assert_eq!(a.late(&late), b.late(&late), "a page of {late:?}: {place}");
    let all_late = late_all(a, &late);
    assert_eq!(all_late, late_all(b, &late), "all pages of {late:?}: {place}");
    for kind in KINDS {
        let (after, limit) = (random.registry_after(), random.size());
        let [page_a, page_b] = [a, b].map(|store| store.registry(kind, after, limit));
        assert_eq!(page_a, page_b, "{limit} of the registry of {kind} after {after:?}: {place}");
        assert_eq!(registry_all(a, kind), registry_all(b, kind), "the registry of {kind}: {place}");
    }
    let [mut counts_a, mut counts_b] = [a, b].map(|store| store.counts().expect("counting works"));
    counts_a.sort();
    counts_b.sort();
    assert_eq!(counts_a, counts_b, "counts: {place}");
    let dead = a.dead(None, 1_000).expect("counting works");
    assert_eq!(dead, recount(a), "dead letters by error: {place}");
    assert_eq!(dead, b.dead(None, 1_000).expect("counting works"), "dead letters by error: {place}");
    assert_eq!(a.slots(None, 1_000), b.slots(None, 1_000), "slots: {place}");
    assert_eq!(a.lanes("alpha", "", 1_000), b.lanes("alpha", "", 1_000), "lanes: {place}");
    all_late.len()
}

impl Seen {
    fn add(&mut self, outcome: &Result<Committed, Error>, taken: &Taken) {
        match outcome {
            Ok(committed) => {
                self.commits += 1;
                self.events = self.events.max(committed.last_seq);
            }
            Err(_) => self.conflicts += 1,
        }
        self.rows += taken.rows.len();
        self.ready += taken.ready.iter().map(Vec::len).sum::<usize>();
        self.due += taken.due.len();
        self.idle += taken.idle.len();
        self.owed += taken.owed.len();
        self.inbox += taken.inbox.len();
        self.answers += taken.answers.len();
        self.holders += taken.holders.len();
        self.waiters += taken.waiters.len();
        self.lanes += taken.lanes.values().filter(|view| **view != LaneView::default()).count();
        self.parked += taken.parked.values().map(Vec::len).sum::<usize>();
        self.slots += taken.slots.values().map(BTreeSet::len).sum::<usize>();
    }

    fn committed(&mut self, changes: &Changes) {
        self.relied_on += changes.relies_on.len();
        self.erased += changes.erased.len();
        self.forgotten += changes.forgotten.len();
        self.retirements += usize::from(changes.retired_before.is_some());
    }
}
