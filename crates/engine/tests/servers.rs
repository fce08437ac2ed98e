//! Several servers over one store: what one of them is told, the others act by.

use crate::support;

use std::mem::swap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use engine::Hold;
use engine::core::Ask;
use store::Changes;
use support::bench::{Open, Promises, check, over_memory, over_sqlite};
use support::wrapped::{Between, Wrapped};
use support::{Machine, memory};

const PROMISES: Promises = &[
    (
        "a hold placed on one server is in force on another from the next commit on",
        a_hold_placed_on_one_server_is_in_force_on_another,
    ),
    ("a hold ended on one server is over on another", a_hold_ended_on_one_server_is_over_on_another),
];

#[test]
fn promises_hold_on_memory() {
    check(PROMISES, &over_memory);
}

#[test]
fn promises_hold_on_sqlite() {
    check(PROMISES, &over_sqlite);
}

fn hold() -> Hold {
    Hold { pipeline: Some("work".into()), ..support::hold(1) }
}

fn a_hold_placed_on_one_server_is_in_force_on_another(open: Open<'_>) {
    let mut bench = open(&[support::WORK]);
    let mut other = bench.machine.rebuilt(bench.store.clone());
    bench.machine.submit_to("work", r#"{"id":"a"}"#);
    swap(&mut bench.machine.core, &mut other);
    bench.machine.submit_to("work", r#"{"id":"b"}"#);
    bench.machine.one(Ask::Hold(Box::new(hold()))).unwrap();
    swap(&mut bench.machine.core, &mut other);
    assert_eq!(bench.machine.claimed(10).len(), 0);
}

fn a_hold_ended_on_one_server_is_over_on_another(open: Open<'_>) {
    let mut bench = open(&[support::WORK]);
    let mut other = bench.machine.rebuilt(bench.store.clone());
    bench.machine.one(Ask::Hold(Box::new(hold()))).unwrap();
    bench.machine.submit_to("work", r#"{"id":"a"}"#);
    assert_eq!(bench.machine.claimed(10).len(), 0);
    swap(&mut bench.machine.core, &mut other);
    bench.machine.one(Ask::Release(hold().id)).unwrap();
    bench.machine.settle();
    swap(&mut bench.machine.core, &mut other);
    assert_eq!(bench.machine.claimed(10).len(), 1);
}

/// The number of rows that were set aside, and whether each such commit stands or falls with the holds it was decided
/// by.
#[derive(Debug, Default)]
struct Aside {
    set: AtomicUsize,
    unfounded: Mutex<Vec<Changes>>,
}

impl Between for Arc<Aside> {
    fn decided(&self, changes: &Changes) {
        let parked = changes.rows.iter().filter(|change| change.after.parked.is_some()).count();
        self.set.fetch_add(parked, Ordering::Relaxed);
        if parked > 0 && changes.relies_on.is_empty() {
            self.unfounded.lock().unwrap().push(changes.clone());
        }
    }
}

#[test]
fn whatever_is_set_aside_for_a_hold_stands_or_falls_with_it() {
    let aside = Arc::new(Aside::default());
    let store = Arc::new(Wrapped { inner: memory().0, between: aside.clone() });
    let mut machine = Machine::over(store);
    machine.submit_to("work", r#"{"id":"a"}"#);
    machine.one(Ask::Hold(Box::new(hold()))).unwrap();
    assert_eq!(machine.claimed(10).len(), 0);
    assert_eq!(aside.set.load(Ordering::Relaxed), 1);
    let unfounded = aside.unfounded.lock().unwrap();
    assert!(unfounded.is_empty(), "the hold may have ended meanwhile: {unfounded:?}");
}
