//! However large documents are, no transaction holds many of them.

use crate::support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine::Hold;
use engine::core::{Ask, ClaimMany, Deed, Input, Output};
use engine::duty::Operations;
use model::Submission;
use store::{Clock, Query, Taken};
use support::bench::{Bench, Open, Promises, check, over_memory, over_sqlite, serve};
use support::wrapped::{Between, Wrapped};
use support::{Machine, done, hold, operation};

const PROMISES: Promises = &[
    ("what is due is done a few at a time", what_is_due),
    ("what is due has its turn however many wait for work", what_is_due_among_many),
    ("what is finished together is answered in parts", what_is_finished),
    ("what a hold parked is let go a few at a time", what_was_held),
    ("an operation goes on in smaller chunks", an_operation),
    ("who waits for work gets what there is room for", who_waits),
];

#[test]
fn promises_hold_on_memory() {
    check(PROMISES, &over_memory);
}

#[test]
fn promises_hold_on_sqlite() {
    check(PROMISES, &over_sqlite);
}

/// Every move but the first reads the payload.
const LARGE: &str = r#"
name = "large"
version = 1
start = "WORK"
[states.WORK]
task = "large.work"
on.done = "SORT"
actions.end = "SORT"
ttl = { after = "1h", to = "SORT" }
[states.SORT]
next = [{ to = "GOOD", when = "payload.grade >= 3" }, "BAD"]
[states.GOOD]
final = "success"
[states.BAD]
final = "failure"
"#;

/// A pipeline that never reads the payload.
const BLIND: &str = r#"
name = "blind"
version = 1
start = "FIRST"
[states.FIRST]
task = "large.work"
on.done = "SECOND"
[states.SECOND]
task = "blind.second"
on.done = "DONE"
[states.DONE]
final = "success"
"#;

const MANY: usize = 48;

/// The most bytes a transaction takes: what it may hold, and the document that is one too many.
const MOST: usize = 33 << 20;

/// The most documents one transaction was given.
#[derive(Debug, Default)]
struct Peak(AtomicUsize);

impl Between for Arc<Peak> {
    fn taken(&self, taken: &Taken) {
        let documents = taken.rows.values().filter_map(|stored| stored.documents.as_ref());
        self.0.fetch_max(documents.map(model::Documents::bytes).sum(), Ordering::SeqCst);
    }
}

struct Crowd {
    bench: Bench,
    peak: Arc<Peak>,
}

/// Many submissions of nearly a megabyte each.
fn crowd(open: Open<'_>, pipeline: &str, file: &str) -> Crowd {
    let (mut bench, peak) = (open(&[file]), Arc::new(Peak::default()));
    let store = Wrapped { inner: bench.store.clone(), between: peak.clone() };
    bench.machine = Machine::with(Arc::new(store), &[file]);
    let payload = format!(r#"{{"grade":4,"text":"{}"}}"#, "x".repeat(1_000_000));
    for _ in 0..MANY {
        bench.machine.submit_to(pipeline, &payload);
    }
    Crowd { bench, peak }
}

impl Crowd {
    fn rows(&self) -> Vec<Submission> {
        self.bench.store.find(&Query { limit: 2 * MANY, ..Query::default() }).unwrap().rows
    }

    fn are_all(&self, state: &str) -> bool {
        let there = self.rows().into_iter().filter(|row| &*row.state == state);
        there.count() == MANY
    }

    fn parked(&self) -> usize {
        self.rows().iter().filter(|row| row.parked.is_some()).count()
    }

    /// Each of them with a worker, and what the workers say when they are done.
    fn leased(&mut self) -> Vec<Input> {
        let mut finished = Vec::new();
        while finished.len() < MANY {
            let tasks = self.bench.machine.claim_task("large.work");
            assert!(!tasks.is_empty());
            finished.extend(tasks.iter().map(|task| Ask::Tell(task.row.id, done(task.token)).into()));
        }
        finished
    }

    #[track_caller]
    fn stayed_small(&self) {
        let peak = self.peak.0.load(Ordering::SeqCst);
        assert!(peak > 1 << 20, "documents were needed");
        assert!(peak <= MOST, "{peak} bytes at once");
    }
}

fn what_is_due(open: Open<'_>) {
    let mut crowd = crowd(open, "large", LARGE);
    crowd.bench.clock.advance(3_600_000);
    let mut steps = 0;
    while !crowd.are_all("GOOD") {
        let step = crowd.bench.machine.step(&[]);
        let now = crowd.bench.clock.now();
        let left = !crowd.are_all("GOOD");
        assert!(!left || step.next_timer.is_some_and(|at| at <= now), "the rest is due at once");
        steps += 1;
        assert!(steps < MANY / 4, "not one by one");
    }
    crowd.stayed_small();
}

fn what_is_due_among_many(open: Open<'_>) {
    let mut crowd = crowd(open, "large", LARGE);
    crowd.bench.clock.advance(3_600_000);
    let waiting = ClaimMany { tasks: vec!["another".into()], arriving: true, ..support::claim(1) };
    let waiting: Vec<Input> = (0..600).map(|_| Ask::Claim(waiting.clone()).into()).collect();
    for _ in 0..MANY / 4 {
        crowd.bench.machine.step(&waiting);
    }
    assert!(crowd.are_all("GOOD"));
    crowd.stayed_small();
}

fn what_is_finished(open: Open<'_>) {
    let mut crowd = crowd(open, "large", LARGE);
    let finished = crowd.leased();
    let step = crowd.bench.machine.step(&finished);
    let settled = step.outcomes.iter().filter(|outcome| matches!(outcome, Ok(Output::Settled { .. })));
    assert_eq!((settled.count(), step.outcomes.len()), (MANY, MANY));
    assert!(crowd.are_all("GOOD"));
    crowd.stayed_small();
}

fn what_was_held(open: Open<'_>) {
    let mut crowd = crowd(open, "large", LARGE);
    let held = Hold { pipeline: Some("large".into()), ..hold(1) };
    crowd.bench.machine.one(Ask::Hold(Box::new(held.clone()))).unwrap();
    while crowd.parked() < MANY {
        assert_eq!(crowd.bench.machine.claim_task("large.work").len(), 0);
    }
    crowd.bench.machine.one(Ask::Release(held.id)).unwrap();
    crowd.bench.machine.settle();
    assert_eq!(crowd.parked(), 0);
    crowd.stayed_small();
}

fn an_operation(open: Open<'_>) {
    let mut crowd = crowd(open, "large", LARGE);
    let end = Deed::Act { action: "end".into(), data: None, to: None };
    let wanted = operation(crowd.bench.clock.now(), "large", end);
    crowd.bench.machine.one(Ask::Start(Box::new(wanted))).unwrap();
    for _ in 0..MANY / 4 {
        serve(&mut crowd.bench, &mut Operations);
    }
    assert!(crowd.are_all("GOOD"));
    crowd.stayed_small();
}

fn who_waits(open: Open<'_>) {
    let mut crowd = crowd(open, "blind", BLIND);
    let mut asked = crowd.leased();
    let waiting = ClaimMany { tasks: vec!["blind.second".into()], arriving: true, ..support::claim(MANY) };
    asked.push(Ask::Claim(waiting).into());
    let step = crowd.bench.machine.step(&asked);
    let Ok(Output::Tasks(tasks)) = step.outcomes.last().unwrap() else { panic!("{step:?}") };
    assert!((20..MANY).contains(&tasks.len()), "{}", tasks.len());
    assert!(tasks.iter().all(|task| task.documents.bytes() > 1_000_000));
    let mut rest = 0;
    while rest < MANY - tasks.len() {
        let more = crowd.bench.machine.claim_task("blind.second");
        assert!(!more.is_empty());
        rest += more.len();
    }
    crowd.stayed_small();
}
