//! `[states.NAME]`.

use std::collections::BTreeMap;

use super::Reader;
use super::defaults::Defaults;
use super::expression::Scope;
use super::fields::{Fields, Place};
use super::kind::Subject;
use super::name::Spelling;
use super::state_keys::StateKey;
use crate::Name;
use crate::pipeline::file::{Entry, Table};
use crate::pipeline::problem::{Problem, quote};
use crate::pipeline::{Kind, LaneRule, State};

const LANE_RULES: [(&str, LaneRule); 2] = [("wait", LaneRule::Wait), ("free", LaneRule::Free)];

impl Reader<'_> {
    pub(super) fn state(&mut self, entry: &Entry, defaults: &mut Defaults<'_>) -> State {
        let name = self.spelled(&entry.key, &entry.at, Spelling::Free);
        let shaped = self.table(&entry.node).and_then(|table| {
            self.unknown_state_keys(table);
            Some((table, self.shape(entry, table)?))
        });
        let Some((table, shape)) = shaped else {
            self.doubtful.insert(name.clone());
            return blank(name, entry);
        };
        let filled = defaults.fill(table, shape);
        let subject = Subject { table: &filled, shape, name: &entry.key, at: &entry.at };
        self.illegal_keys(&subject);
        self.shaped_state(name, entry, &subject)
    }

    fn shaped_state(&mut self, name: Name, entry: &Entry, subject: &Subject<'_>) -> State {
        let mut state = blank(name, entry);
        let mut fields = Fields::new(Place::State, subject.table);
        let lost_before = std::mem::take(&mut self.lost_edges);
        let rules = self.task_rules(&mut fields);
        let mut on = self.on(fields.take("on"), subject);
        let kind = self.kind(&mut fields, subject, &rules, &mut on);
        let is_whole = kind.is_some() && !Self::is_mixed(subject.shape, subject.table);
        state.kind = kind.unwrap_or(state.kind);
        (state.on_crashed, state.on_guard_error) = (on.crashed, on.guard_error);
        state.output = self.output_schemas(fields.node("output"), &state.kind);
        state.on_parent_cancelled = on.parent_cancelled;
        let actions = fields.take("actions");
        state.actions = self.actions(actions.map(|entry| &entry.node), &rules);
        state.title = fields.node("title").and_then(|node| self.short_text(node, 200)).map(str::to_owned);
        state.phase = fields.node("phase").and_then(|node| self.short_text(node, 64)).map(Name::from);
        state.ttl = self.ttl(fields.take("ttl"), Scope::Move);
        state.sla = fields.take("sla").and_then(|entry| self.state_sla(entry));
        state.notify = self.notifications(fields.node("notify"));
        state.retention = fields.node("retention").and_then(|node| self.span(node));
        state.forget = fields.node("forget").and_then(|node| self.span(node));
        if let Some(lane) = fields.take("lane") {
            state.lane = self.word(&lane.node, &LANE_RULES).unwrap_or_default();
            if !self.known.lane {
                self.report("key-not-here", &lane.at, "a state's `lane` needs a `lane` of the pipeline");
            }
        }
        state.checkpoint = fields.node("checkpoint").and_then(|node| self.flag(node)).unwrap_or(true);
        let can_be_reviewed = self.can_be_reviewed(&state, subject);
        self.note_keys(subject.table);
        if !is_whole || !can_be_reviewed || self.lost_edges {
            self.doubtful.insert(state.name.clone());
        }
        self.lost_edges = lost_before;
        state
    }

    /// A reviewer must be able to do something.
    fn can_be_reviewed(&mut self, state: &State, subject: &Subject<'_>) -> bool {
        let Some(review) = subject.table.entry("review").filter(|_| state.actions.is_empty()) else {
            return true;
        };
        let message = format!("{} is reviewed, but has no action", quote(subject.name));
        let problem = Problem::new("review-without-action", review.at.clone(), message);
        self.problems
            .push(problem.help("declare what a reviewer may do, like `actions.approve = \"STATE\"`"));
        false
    }

    /// Notes the keys of the state. `shape` said whether they are legal; unknown ones were never asked for.
    fn note_keys(&mut self, table: &Table) {
        for entry in table.iter().filter(|entry| StateKey::find(&entry.key).is_some()) {
            self.note(Place::State, entry);
        }
    }
}

fn blank(name: Name, entry: &Entry) -> State {
    State {
        at: entry.at.clone(),
        name,
        title: None,
        phase: None,
        kind: Kind::Human { review: None },
        actions: Vec::new(),
        on_parent_cancelled: Vec::new(),
        ttl: None,
        sla: None,
        notify: Vec::new(),
        retention: None,
        forget: None,
        lane: LaneRule::Keep,
        checkpoint: true,
        on_crashed: Vec::new(),
        on_guard_error: Vec::new(),
        output: BTreeMap::new(),
    }
}
