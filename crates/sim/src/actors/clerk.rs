//! The actor that does a server's duties: passes over operations, schedules, what is set aside and what is old. What a
//! pass found is asked at once, late, twice, out of order, or never: there are other servers, and the network is what
//! it is.

use engine::core::Input;
use engine::duty::{Duty, Housekeeping, Look, Operations, Pass, Schedules, Sweep};
use model::Millis;
use store::{Error, Layer, Page, Query, Store};

use super::View;

#[derive(Debug)]
pub(crate) struct Clerk {
    operations: Operations,
    schedules: Schedules,
    housekeeping: Housekeeping,
    sweep: Sweep,
    /// Found, and not asked yet.
    waiting: Vec<Input>,
    /// Asked before.
    past: Vec<Input>,
}

impl Default for Clerk {
    fn default() -> Self {
        Clerk {
            operations: Operations,
            schedules: Schedules,
            housekeeping: Housekeeping { keep_events: Some(Millis::from_secs(4 * 24 * 3600)), logged: false },
            sweep: Sweep::default(),
            waiting: Vec::new(),
            past: Vec::new(),
        }
    }
}

const PAST_MAX: usize = 6;

impl Clerk {
    pub(crate) fn turn(&mut self, view: &mut View<'_>) -> Option<Input> {
        if !self.past.is_empty() && view.chance.percent(15) {
            return Some(view.chance.pick(&self.past).clone());
        }
        if self.waiting.is_empty() {
            let duty: &mut dyn Duty = match view.chance.below(20) {
                0..9 => &mut self.operations,
                9..17 => &mut self.schedules,
                17 => &mut self.sweep,
                _ => &mut self.housekeeping,
            };
            self.waiting = passed(duty, view).inputs;
        }
        if self.waiting.is_empty() || view.chance.percent(8) {
            return None;
        }
        let input = self.waiting.remove(view.chance.index(self.waiting.len()));
        self.past.push(input.clone());
        if self.past.len() > PAST_MAX {
            self.past.remove(0);
        }
        Some(input)
    }
}

/// A pass that finds the store out of reach finds nothing.
fn passed(duty: &mut dyn Duty, view: &mut View<'_>) -> Pass {
    let versions = view.pipelines.current();
    let store = Narrow(view.store);
    duty.pass(Look { store: &store, versions: &versions, now: view.now, doubtful: false }).unwrap_or_default()
}

/// Finds few at a time, so that an operation over a handful of submissions has many chunks.
#[derive(Debug)]
pub(crate) struct Narrow<'a>(pub(crate) &'a dyn Store);

const FOUND_MAX: usize = 3;

impl Layer for Narrow<'_> {
    fn inner(&self) -> &dyn Store {
        self.0
    }

    fn find(&self, query: &Query) -> Result<Page, Error> {
        self.0.find(&Query { limit: query.limit.min(FOUND_MAX), ..query.clone() })
    }
}
