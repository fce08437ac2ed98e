//! The fuel that all documents of one step share. Each may take some tens of milliseconds of the thread that commits, and a
//! step may have a thousand of them: without a bound on their sum, everybody would wait for a minute.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Fuel, Misfit, Schema};
use crate::json::Json;
use crate::refusal::{Code, Refusal};

/// The fuel left for the documents of a step. Clones share the same fuel.
#[derive(Debug, Clone)]
pub struct Tank(Arc<AtomicU64>);

impl Tank {
    /// The cost of four documents that cost all they may.
    const FULL: u64 = 4 * Fuel::shared().0;
    /// The looks that each document has even when nothing is left: most need fewer, and wait for nobody else's.
    const ALWAYS: u64 = 2_000;

    #[must_use]
    pub fn full() -> Tank {
        Tank(Arc::new(AtomicU64::new(Self::FULL)))
    }

    /// Tells whether there is so much left.
    #[must_use]
    pub fn has(&self, fuel: Fuel) -> bool {
        self.left() >= fuel.0
    }

    /// Runs a check on at most this much of what is left. Where that was too little, and the check might have got further in
    /// another step, the caller is to come again.
    pub fn run<T>(
        &self,
        most: Fuel,
        check: impl FnOnce(&mut Fuel) -> T,
        ran_out: impl FnOnce(&T) -> bool,
    ) -> Result<T, Refusal> {
        let granted = most.0.min(self.left().max(Self::ALWAYS));
        let mut fuel = Fuel(granted);
        let checked = check(&mut fuel);
        let left = self.left().saturating_sub(granted.saturating_sub(fuel.0));
        self.0.store(left, Ordering::Relaxed);
        match granted < most.0 && ran_out(&checked) {
            true => Err(Refusal::new(
                Code::Overloaded,
                "others have documents that take long to check, too; nothing was changed, send it again in a second",
            )),
            false => Ok(checked),
        }
    }

    /// Checks a document on the thread that commits.
    pub fn check(&self, schema: &Schema, document: &Json) -> Result<Result<(), Misfit>, Refusal> {
        let too_complex = |checked: &Result<(), Misfit>| *checked == Err(Misfit::TooComplex);
        self.run(Fuel::shared(), |fuel| schema.check(document, fuel), too_complex)
    }

    fn left(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_of_a_step_share_their_fuel_and_small_ones_always_pass() {
        let tank = Tank::full();
        let burn = |looks: u64| {
            let check = |fuel: &mut Fuel| match fuel.0.checked_sub(looks) {
                Some(left) => {
                    fuel.0 = left;
                    true
                }
                None => {
                    fuel.0 = 0;
                    false
                }
            };
            tank.run(Fuel::shared(), check, |fits| !fits).map_err(|refusal| refusal.code)
        };
        for _ in 0..4 {
            assert!(tank.has(Fuel::shared()));
            assert_eq!(burn(u64::MAX), Ok(false), "it had all that one may have");
        }
        assert!(!tank.has(Fuel::of_many()));
        assert_eq!(burn(Tank::ALWAYS), Ok(true));
        assert_eq!(burn(Tank::ALWAYS + 1), Err(Code::Overloaded));
    }
}
