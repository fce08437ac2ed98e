//! The committing thread's hand on the counters.

use std::sync::Arc;
use std::time::Duration;

use model::{Millis, Time};

use super::family::Found;
use super::notes::{Fact, LeaseFact, LeaseWhat, Notes, What};
use super::{Leases, Metrics, StateMetrics};

pub(crate) struct Recorder {
    metrics: Arc<Metrics>,
    places: Found<StateMetrics>,
    leases: Found<Leases>,
    /// Leases from before are in nobody's count of what is out.
    started_at: Time,
}

/// A step, as the clock saw it.
pub(crate) struct Stepped {
    pub(crate) took: Duration,
    pub(crate) inputs: usize,
    pub(crate) failed: bool,
    /// The store's time, and when something is due next.
    pub(crate) now: Option<Time>,
    pub(crate) next_timer: Option<Time>,
}

impl Recorder {
    pub(crate) fn new(metrics: Arc<Metrics>, started_at: Time) -> Self {
        Recorder { metrics, places: Found::default(), leases: Found::default(), started_at }
    }

    /// Counts what a step did. Nobody waits for it any more.
    pub(crate) fn observe(&mut self, notes: Notes, stepped: &Stepped) {
        let metrics = &self.metrics;
        if notes.commits > 0 {
            metrics.commits.add(notes.commits);
            metrics.commit_seconds.observe(stepped.took.as_secs_f64());
        }
        if stepped.inputs > 0 {
            metrics.batch.observe(stepped.inputs as f64);
        }
        if stepped.failed {
            metrics.store_failures.add(1);
        }
        if let Some(now) = stepped.now {
            let behind = stepped.next_timer.map_or(0, |at| now.since(at).millis());
            metrics.due_behind_ms.set(i64::try_from(behind).unwrap_or(i64::MAX));
        }
        notes.facts.iter().for_each(|fact| self.fact(fact));
        notes.leases.iter().for_each(|fact| self.lease(fact));
        if !notes.moves.is_empty() {
            self.metrics.flows.note(notes.moves);
        }
        notes.measured.iter().for_each(|(pipeline, one)| self.metrics.levels.note(pipeline, one));
    }

    fn fact(&mut self, fact: &Fact) {
        self.places.with(&self.metrics.places, &fact.pipeline, &fact.state, |place| match &fact.what {
            What::Submitted => place.submitted.add(1),
            What::Entered => place.entered.add(1),
            What::Left(dwell) => {
                place.left.add(1);
                dwell.iter().for_each(|dwell| place.dwell.observe(seconds(*dwell)));
            }
            What::Retried => place.retried.add(1),
            What::Crashed => place.crashed.add(1),
            What::Died => place.died.add(1),
            What::Redriven => place.redriven.add(1),
            What::Late(levels) => place.missed(levels),
            What::Finished(took) => {
                place.tasks.finished.add(1);
                place.attempt.observe(seconds(*took));
            }
            What::Failed => place.tasks.failed.add(1),
            What::EndedDead(took) => {
                place.tasks.dead.add(1);
                took.iter().for_each(|took| place.attempt.observe(seconds(*took)));
            }
        });
    }

    fn lease(&mut self, fact: &LeaseFact) {
        let ours = fact.granted_at >= self.started_at;
        self.leases.with(&self.metrics.leases, &fact.pipeline, &fact.task, |leases| {
            let counter = match fact.what {
                LeaseWhat::Granted => &leases.granted,
                LeaseWhat::Settled => &leases.settled,
                LeaseWhat::Snoozed => &leases.snoozed,
                LeaseWhat::GivenBack => &leases.given_back,
                LeaseWhat::Expired => &leases.expired,
                LeaseWhat::Revoked => &leases.revoked,
            };
            counter.add(1);
            if ours {
                leases.held.add(if fact.what == LeaseWhat::Granted { 1 } else { -1 });
            }
        });
    }
}

fn seconds(span: Millis) -> f64 {
    Duration::from(span).as_secs_f64()
}
