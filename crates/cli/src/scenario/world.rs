//! The real engine core over a store in memory, with time and chance in the scenario's hand.

use std::sync::Arc;

use engine::core::{Ask, Core, DUE_MAX, Input, Reply, Step};
use engine::duty::{Duty as _, Look, Operations};
use engine::{Holds, Pipelines};
use model::owed::DELIVERY;
use model::{Code, Digest, Millis, Pipeline, Refusal, Time};
use store::ManualClock;
use store::{Clock as _, MemoryStore};

/// The number of steps at one instant that are a circle, not work.
const STEPS_MAX: usize = 10_000;

pub(super) struct World {
    pub(super) store: Arc<MemoryStore>,
    clock: ManualClock,
    core: Core,
    known: Pipelines,
    drawn: u64,
    /// Set once something went on and on without time passing.
    pub(super) circles: bool,
}

impl World {
    pub(super) fn new(pipelines: &[Arc<Pipeline>]) -> World {
        let clock = ManualClock::new();
        let store = Arc::new(MemoryStore::new(Arc::new(clock.clone())));
        let known = Pipelines::default();
        for pipeline in pipelines {
            known.insert(pipeline.clone());
        }
        let notifies = pipelines.iter().any(|pipeline| !pipeline.notify.is_empty());
        if notifies && known.current().in_force(DELIVERY).is_none() {
            let built_in = model::pipeline::load(&engine::delivery::source());
            known.insert(Arc::new(built_in.expect("what is carried was checked by a test")));
        }
        let core = Core::new(store.clone(), known.clone(), Holds::default(), [7; 32]);
        World { store, clock, core, known, drawn: 0, circles: false }
    }

    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Asks one thing, then lets everything that follows from it happen.
    pub(super) fn ask(&mut self, ask: Ask) -> Reply {
        let step = self.step(&[Input::from(ask)]);
        let outcome = step.outcomes.into_iter().next();
        self.settle();
        outcome.unwrap_or_else(|| Err(Refusal::new(Code::Internal, "the engine gave no answer")))
    }

    /// Lets time pass. Whatever is due on the way happens at its time, in order.
    pub(super) fn pass(&mut self, span: Millis) {
        let end = self.now().plus(span);
        while let Some(next) = self.settle().filter(|next| *next <= end) {
            self.clock.set(next);
        }
        self.clock.set(end);
        self.settle();
    }

    /// Works until nothing is due at this instant; gives the time when something is.
    fn settle(&mut self) -> Option<Time> {
        for _ in 0..STEPS_MAX {
            let chunks = self.chunks();
            let next = self.step(&chunks).next_timer;
            if chunks.is_empty() && next.is_none_or(|next| next > self.now()) {
                return next;
            }
        }
        self.circles = true;
        None
    }

    /// Lists the next chunks of operations that a move has begun.
    fn chunks(&self) -> Vec<Input> {
        let versions = self.known.current();
        let look = Look { store: &*self.store, versions: &versions, now: self.now(), doubtful: false };
        Operations.pass(look).map(|pass| pass.inputs).unwrap_or_default()
    }

    fn step(&mut self, inputs: &[Input]) -> Step {
        let drawn = &mut self.drawn;
        self.core.step(inputs, DUE_MAX, &mut || {
            *drawn += 1;
            Digest::of_parts(&[b"scenario", &drawn.to_be_bytes()]).0
        })
    }
}
