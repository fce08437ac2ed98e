//! Fuel: what a check against a schema may cost, counted in looks at the document.
//!
//! The library that checks has no budget of its own, and a schema of a few lines can have it look at one value billions
//! of times. So the document it is given counts each look, and leaves the check when there were too many.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The most a check may cost, in looks at the document: some tens of nanoseconds each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fuel(pub(super) u64);

impl Fuel {
    /// The fuel for finding out what is wrong with a document: each violation takes memory, too.
    pub(super) const TELLING: Fuel = Fuel(200_000);

    /// Returns the fuel for a thread that answers others: enough for some kilobytes, less than a millisecond.
    #[must_use]
    pub const fn little() -> Self {
        Fuel(20_000)
    }

    /// Returns the fuel for one of many that the thread that commits looks at together: some milliseconds.
    #[must_use]
    pub const fn of_many() -> Self {
        Fuel(250_000)
    }

    /// Returns the fuel for the thread that commits: some tens of milliseconds at worst, as an expression may take.
    #[must_use]
    pub const fn shared() -> Self {
        Fuel(1_000_000)
    }

    /// Takes at most so much for a part of a check.
    pub(super) fn share(&mut self, most: Fuel) -> Fuel {
        let share = most.min(*self);
        self.0 -= share.0;
        share
    }

    /// Gives back what a part of a check has left over.
    pub(super) fn put_back(&mut self, left: Fuel) {
        self.0 += left.0;
    }

    /// Returns the fuel for a thread that nobody else waits for: about a second at worst.
    #[must_use]
    pub const fn whole() -> Self {
        Fuel(20_000_000)
    }
}

/// The sign that a check ran out of fuel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Empty;

/// The weights of what a schema does with a value at one look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights {
    /// The weight of each member of an object: the patterns its name may be compared with.
    pub(super) member: u64,
    /// The weight of each 32 bytes of a string: how large the program of a pattern may be.
    pub(super) text: u64,
}

impl Weights {
    const NONE: Weights = Weights { member: 1, text: 1 };
}

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(0) };
    static WEIGHTS: Cell<Weights> = const { Cell::new(Weights::NONE) };
}

/// Runs a check on this much fuel.
pub(super) fn burn<T>(fuel: &mut Fuel, weights: Weights, check: impl FnOnce() -> T) -> Result<T, Empty> {
    LEFT.set(fuel.0);
    WEIGHTS.set(weights);
    // What the check was busy with is dropped; the schema itself is not changed by checking.
    let checked = catch_unwind(AssertUnwindSafe(check));
    fuel.0 = LEFT.get();
    checked.map_err(|cause| match cause.downcast::<Empty>() {
        Ok(empty) => *empty,
        Err(panic) => resume_unwind(panic),
    })
}

/// Counts so many looks, and leaves the check when there are no more.
pub(super) fn spend(looks: u64) {
    match LEFT.get().checked_sub(looks) {
        Some(left) => LEFT.set(left),
        // Not a panic: nothing is wrong, and no hook has to hear of it.
        None => {
            LEFT.set(0);
            resume_unwind(Box::new(Empty))
        }
    }
}

/// Counts a look at a member of an object.
pub(super) fn spend_member(name: &str) {
    let Weights { member, text } = WEIGHTS.get();
    spend(member * (1 + name.len() as u64 / 32 * text));
}

/// Counts a look at this much text.
pub(super) fn spend_text(bytes: usize) {
    spend(1 + bytes as u64 / 32 * WEIGHTS.get().text);
}
