use std::time::Duration;

use model::Name;

use super::{Duty, Look, Pass};
use crate::core::Ask;

/// Looks again at what is parked. Whoever ends a hold or gives a slot back owes that look, so this finds nothing to do
/// but where nobody gave anything back: a limit was raised, or another version of the pipeline has other tasks.
#[derive(Debug, Default)]
pub struct Sweep {
    /// The last name that was looked at: one pass looks at some, the next at those after them.
    after: Name,
}

/// Names looked at in one pass.
const AT_ONCE: usize = 200;

impl Duty for Sweep {
    fn name(&self) -> &'static str {
        "sweep"
    }

    fn every(&self) -> Duration {
        Duration::from_secs(10)
    }

    fn pass(&mut self, look: Look<'_>) -> Result<Pass, store::Error> {
        let names = look.store.parked(&self.after, AT_ONCE)?;
        self.after = names.last().filter(|_| names.len() == AT_ONCE).cloned().unwrap_or_default();
        let inputs = if names.is_empty() { Vec::new() } else { vec![Ask::LookAside(names).into()] };
        Ok(Pass { inputs, again: false })
    }
}
