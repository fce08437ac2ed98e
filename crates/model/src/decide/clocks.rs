//! Service levels: clocks that begin and end with moves. Missing one is an event, and changes nothing else.

use super::cause::Step;
use super::moves::{Fact, Walk};
use crate::Name;
use crate::event::Change;
use crate::json::Json;
use crate::pipeline::{Leg, Sla, State};
use crate::submission::{SlaClock, Submission};
use crate::time::Time;

impl Walk<'_> {
    /// The clocks that run in a state entered at `since`. A submission that is only beginning starts those of legs
    /// that begin with it.
    pub(super) fn clocks(&self, state: &State, row: &Submission, since: Time) -> Vec<SlaClock> {
        if state.is_final() {
            return Vec::new();
        }
        let mut clocks = Vec::new();
        if let Some(sla) = &state.sla {
            clocks.extend(self.clock(None, sla, since));
        }
        for (name, leg) in &self.pipeline.slas {
            if leg.to.contains(&state.name) || leg.not_via.contains(&state.name) {
                continue;
            }
            let running = row.clocks.iter().find(|clock| clock.leg.as_ref() == Some(name));
            let begins = |leg: &Leg| match leg.from.as_slice() {
                [] => row.revision == 0,
                from => from.contains(&state.name),
            };
            match running {
                Some(running) => clocks.push(running.clone()),
                None if begins(leg) => clocks.extend(self.clock(Some(name), &leg.sla, since)),
                None => {}
            }
        }
        clocks
    }

    /// Takes note of every service level that was missed by now.
    pub(super) fn note_late(&mut self) {
        let row = self.row();
        let missed = |clock: &&SlaClock| !clock.late && clock.due_at <= self.context.now;
        let missed: Vec<SlaClock> = row.clocks.iter().filter(missed).cloned().collect();
        if missed.is_empty() || row.status.is_final() {
            return;
        }
        let state = row.state.clone();
        let told: Vec<_> = missed
            .iter()
            .map(|clock| serde_json::json!({ "sla": clock.leg.as_ref().unwrap_or(&state), "due_at": clock.due_at }))
            .collect();
        let metadata = Json::from(serde_json::json!({ "missed": told }));
        let clocks = missed.into_iter().map(|clock| clock.leg).collect();
        let fact =
            Fact { to: &state, trigger: &"sla".into(), actor: None, metadata: Some(metadata), tells: None };
        self.record(Change::Late { clocks }, fact, Step::rule());
    }

    fn clock(&self, leg: Option<&Name>, sla: &Sla, since: Time) -> Option<SlaClock> {
        let due_at = self.pipeline.due(sla, sla.target.or(sla.p95)?, since);
        Some(SlaClock { leg: leg.cloned(), since: Some(since), due_at, late: false })
    }
}
