//! Service levels: clocks that begin and end with moves. Missing one is an event. It tells those whom the
//! file names, and moves the submission on where the file says so.

use super::cause::Step;
use super::moves::{Fact, Walk, only};
use crate::Name;
use crate::event::Change;
use crate::json::Json;
use crate::pipeline::{Edge, Leg, Missed, Sla, State};
use crate::submission::{SlaClock, Submission};
use crate::time::Time;

impl<'a> Walk<'a> {
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
                Some(running) => clocks.push(self.carried(running, leg)),
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
        let told: Vec<Name> = missed
            .iter()
            .filter_map(|clock| self.missed_by(clock))
            .flat_map(|missed| missed.notify.iter().cloned())
            .collect();
        let clocks = missed.into_iter().map(|clock| clock.leg).collect();
        let tells = Some(&*told);
        let fact = Fact { to: &state, trigger: &"sla".into(), actor: None, metadata: Some(metadata), tells };
        self.record(Change::Late { clocks }, fact, Step::rule());
    }

    /// Returns the edge that a missed service level leads along now, and the leg that it is of.
    pub(super) fn escalation(&self) -> Option<(&'a Edge, Option<Name>)> {
        let row = self.row();
        row.escalates_at()?;
        let late = row.clocks.iter().filter(|clock| clock.late && clock.moves);
        let clock = late.min_by_key(|clock| clock.due_at)?;
        Some((self.missed_by(clock)?.edge.as_ref()?, clock.leg.clone()))
    }

    /// Moves on along the edge of a missed service level. That of a leg does so once.
    pub(super) fn escalate(&mut self) {
        let Some((edge, leg)) = self.escalation() else { return };
        self.escalated = leg;
        self.go_or_die(edge, only(edge), Step::rule(), None);
    }

    /// Returns what the file says of missing a clock.
    fn missed_by(&self, clock: &SlaClock) -> Option<&'a Missed> {
        let sla = match &clock.leg {
            None => self.state().sla.as_ref()?,
            Some(leg) => &self.pipeline.slas.get(leg)?.sla,
        };
        sla.missed.as_ref()
    }

    /// Returns a leg's clock as it runs on in another state, or under another version.
    fn carried(&self, running: &SlaClock, leg: &Leg) -> SlaClock {
        let done = self.escalated.is_some() && self.escalated == running.leg;
        let moves = !done && leg.sla.moves() && (running.moves || !running.late);
        SlaClock { moves, ..running.clone() }
    }

    fn clock(&self, leg: Option<&Name>, sla: &Sla, since: Time) -> Option<SlaClock> {
        let due_at = self.pipeline.due(sla, sla.target.or(sla.p95)?, since);
        Some(SlaClock { leg: leg.cloned(), since: Some(since), due_at, late: false, moves: sla.moves() })
    }
}
