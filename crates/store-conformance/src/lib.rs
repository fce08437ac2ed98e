//! The promises of every store, as sentences that are checked.
//!
//! A store's own test calls [`run`] with a way to make fixtures; nothing here knows which store it looks at.

mod answers;
mod chance;
mod concurrent;
mod counts;
mod differential;
mod documents;
mod events;
mod feeds;
mod figures;
mod find;
mod inbox;
mod keys;
mod lanes;
mod late;
mod letting_go;
mod log;
mod owed;
mod random;
mod ready;
mod registry;
mod restart;
mod rows;
pub mod sample;
mod sizes;
mod slots;
mod snapshot;
mod steps;
mod timers;
mod waits;
mod whole;

pub use differential::{Differential, Seen, differential};
pub use snapshot::assert_same_store;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use store::{ManualClock, Store};

/// The way a store is made and reopened for a check.
pub trait Fixture {
    /// A store of its own at every call, fresh and empty, whose time is `clock`.
    fn open(&self) -> Arc<dyn Store>;

    /// The clock of every store this fixture opened.
    fn clock(&self) -> &ManualClock;

    /// The same store as after a restart. A store that keeps nothing beyond the process returns what it was given.
    fn reopen(&self, store: Arc<dyn Store>) -> Arc<dyn Store>;
}

/// One sentence and how it is checked: the check panics when the sentence is not true.
#[derive(Debug, Clone, Copy)]
pub struct Promise {
    pub name: &'static str,
    pub check: fn(&dyn Fixture),
}

const fn promise(name: &'static str, check: fn(&dyn Fixture)) -> Promise {
    Promise { name, check }
}

/// Every promise, theme after theme.
#[must_use]
pub fn promises() -> Vec<Promise> {
    let themes = [
        rows::PROMISES,
        keys::PROMISES,
        lanes::PROMISES,
        waits::PROMISES,
        slots::PROMISES,
        whole::PROMISES,
        events::PROMISES,
        feeds::PROMISES,
        letting_go::PROMISES,
        log::PROMISES,
        documents::PROMISES,
        ready::PROMISES,
        timers::PROMISES,
        late::PROMISES,
        owed::PROMISES,
        inbox::PROMISES,
        answers::PROMISES,
        registry::PROMISES,
        counts::PROMISES,
        find::PROMISES,
        figures::PROMISES,
        sizes::PROMISES,
        restart::PROMISES,
        concurrent::PROMISES,
    ];
    themes.concat()
}

/// Checks every promise on a fixture of its own and reports all that do not hold.
///
/// # Panics
/// When a promise does not hold, with the sentences of all that do not.
pub fn run<F: Fixture>(fresh: impl Fn() -> F) {
    let promises = promises();
    let mut broken = Vec::new();
    for promise in &promises {
        if let Err(why) = catch_unwind(AssertUnwindSafe(|| (promise.check)(&fresh()))) {
            broken.push(format!("- {}: {}", promise.name, words(&*why)));
        }
    }
    println!("{} of {} promises held", promises.len() - broken.len(), promises.len());
    assert!(broken.is_empty(), "{} promises broken:\n{}", broken.len(), broken.join("\n"));
}

/// The first line of a panic: the rest was printed where it happened.
fn words(why: &(dyn Any + Send)) -> &str {
    let text = why.downcast_ref::<String>().map(String::as_str).or(why.downcast_ref::<&str>().copied());
    text.and_then(|text| text.lines().next()).unwrap_or("a panic without words")
}
