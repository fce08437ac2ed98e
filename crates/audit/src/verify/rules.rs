//! The rules of a definition, for single events: edge, trigger, right, actor. `stand` tells what was allowed *then*.

use model::event::Kind;
use model::json::Json;
use model::pipeline::{self, After, By, Clock, Edge, Pipeline, Source, State, Stretch, Ttl};
use model::{ActorKind, Digest, Right, Role, Time};

use super::finding::{Fault, Finding};
use crate::leaf::EventLeaf;

/// A definition, loaded from the exact bytes that were logged.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) pipeline: Pipeline,
}

/// The way an event fits the definition: from which state to which, along one of these edges.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Verdict {
    pub(super) from: Option<usize>,
    pub(super) to: usize,
    /// Every edge that a move or a request may have taken; never empty for those.
    pub(super) ways: Vec<Way>,
}

/// One edge, by its place in the definition, with what decides whether it may be taken now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    /// The list of edges, by its place among those that leave the state.
    pub(super) list: usize,
    pub(super) edge: usize,
    pub(super) by: Means,
    /// Set if a task runs between the grant and the move.
    pub(super) task: bool,
    /// Set if the move is recorded as the system's, whoever made it.
    pub(super) by_system: bool,
    pub(super) due: Due,
}

/// The means by which a submission takes an edge: [`By`] without its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    Start,
    Pass,
    Clock,
    Outcome,
    Error,
    Crashed,
    GuardError,
    Action,
    Children,
    ParentCancelled,
    Ttl,
    Late,
}

/// The time at which the clock may take an edge. Computed times are not known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    Always,
    SinceEntry(Stretch),
    SinceSubmission(Stretch),
    /// With the service level of the state.
    Missed,
    At(Time),
}

impl Rules {
    /// Loads a definition and checks that it is the one with this digest.
    pub(super) fn load(bytes: &[u8], digest: &Digest) -> Result<Self, Finding> {
        let fault = |message: String| Finding::new(Fault::Definition, message);
        if Digest::of(bytes) != *digest {
            return Err(fault(format!("the definition's bytes do not have the digest {digest}")));
        }
        let json = Json::parse_bytes(bytes).ok().filter(|json| json.as_str().as_bytes() == bytes);
        let json = json.ok_or_else(|| fault(format!("definition {digest} is no JSON document")))?;
        let source = Source::from_definition(&json).map_err(&fault)?;
        let pipeline = pipeline::load_applied(&source).map_err(|problems| {
            let first =
                problems.iter().next().map_or(String::new(), |problem| format!(": {}", problem.message));
            fault(format!("this version cannot load the definition {digest}{first}"))
        })?;
        Ok(Rules { pipeline })
    }

    pub(super) fn state(&self, index: usize) -> &State {
        &self.pipeline.states[index]
    }

    fn find(&self, name: &str) -> Result<usize, Finding> {
        let found = self.pipeline.states.iter().position(|state| &*state.name == name);
        found.ok_or_else(|| Finding::new(Fault::Move, format!("the definition has no state {name}")))
    }

    /// The lists of edges that leave a state, or lead into the pipeline, in an order that never changes.
    pub(super) fn lists(&self, from: Option<usize>) -> Vec<(By, &[Edge])> {
        match from {
            None => vec![(By::Start, self.pipeline.start.as_slice())],
            Some(from) => self.pipeline.ways(self.state(from)),
        }
    }

    /// Judges an event on its own.
    pub(super) fn judge(&self, leaf: &EventLeaf<'_>) -> Result<Verdict, Finding> {
        // The state a migration leaves is one of another definition.
        let here = leaf.from.as_deref().filter(|_| leaf.kind != Kind::Migrated);
        let from = here.map(|from| self.find(from)).transpose()?;
        let to = self.find(&leaf.to)?;
        let ways = match (leaf.kind, from) {
            (Kind::Submitted, None) | (Kind::Moved, Some(_)) => self.moved(leaf, from)?,
            (Kind::Submitted, Some(_)) => {
                return Err(illegal("a submission is submitted into a state, from none"));
            }
            (Kind::Migrated, _) => return self.migrated(leaf, to),
            (_, None) => return Err(illegal("only a submission comes from no state")),
            (_, Some(from)) if from != to => return Err(illegal("only a move changes the state")),
            (Kind::Requested, Some(from)) => self.requested(leaf, from)?,
            (_, Some(from)) => {
                self.noted(leaf, self.state(from))?;
                Vec::new()
            }
        };
        Ok(Verdict { from, to, ways })
    }

    /// Judges a migration into this definition. The state in the other one is checked by whoever follows the chain.
    fn migrated(&self, leaf: &EventLeaf<'_>, to: usize) -> Result<Verdict, Finding> {
        check_actor(leaf)?;
        if self.state(to).is_final() || leaf.from.is_none() {
            return Err(illegal("a migration leads from a state to one that is not final"));
        }
        if leaf.trigger != "migrate" {
            let message = format!("{} is not the trigger of what is migrated", leaf.trigger);
            return Err(Finding::new(Fault::Trigger, message));
        }
        if !covers(leaf.right, Role::Admin) {
            let message = format!("{} gives no right to migrate", shown(leaf.right));
            return Err(Finding::new(Fault::Right, message));
        }
        Ok(Verdict { from: None, to, ways: Vec::new() })
    }

    fn way(&self, (list, edge): (usize, usize), by: &By, found: &Edge, state: Option<&State>) -> Way {
        let task = found.task.is_some();
        let by_system = found.actor == Some(ActorKind::System);
        Way { list, edge, by: means(by), task, by_system, due: self.due(by, found, state) }
    }

    fn due(&self, by: &By, edge: &Edge, state: Option<&State>) -> Due {
        let clock = state.and_then(|state| match &state.kind {
            pipeline::Kind::Wait { clock, .. } => Some(clock),
            _ => None,
        });
        let is_it = |ttl: &&Ttl| std::ptr::eq(edge, &ttl.edge);
        let of_state = state.and_then(|state| state.ttl.as_ref()).filter(is_it);
        let of_pipeline = self.pipeline.ttl.as_ref().filter(is_it);
        let of_level = state.and_then(|state| state.sla.as_ref()?.missed.as_ref()?.edge.as_ref());
        match (by, clock, of_state, of_pipeline) {
            (By::Late, ..) if of_level.is_some_and(|missed| std::ptr::eq(missed, edge)) => Due::Missed,
            (By::Clock, Some(Clock::For(span)), ..) => Due::SinceEntry(*span),
            (By::Clock, Some(Clock::Until(time)), ..) => Due::At(*time),
            (By::Ttl, _, Some(Ttl { after: After::Fixed(span), .. }), _) => Due::SinceEntry(*span),
            (By::Ttl, _, None, Some(Ttl { after: After::Fixed(span), .. })) => Due::SinceSubmission(*span),
            _ => Due::Always,
        }
    }

    fn moved(&self, leaf: &EventLeaf<'_>, from: Option<usize>) -> Result<Vec<Way>, Finding> {
        let lists = self.lists(from);
        let state = from.map(|from| self.state(from));
        let mut ways = Vec::new();
        for (list, (by, edges)) in lists.iter().enumerate() {
            for (edge, found) in edges.iter().enumerate() {
                if found.targets().iter().any(|target| **target == *leaf.to) {
                    ways.push(self.way((list, edge), by, found, state));
                }
            }
        }
        let at = |way: &Way| (&lists[way.list].0, &lists[way.list].1[way.edge]);
        let (whence, to) = (leaf.from.as_deref().unwrap_or("outside"), &leaf.to);
        narrow(&mut ways, |_| true, || illegal(format!("no edge leads from {whence} to {to}")))?;
        let trigger = || {
            let message = format!("no edge from {whence} to {to} has the trigger {}", leaf.trigger);
            Finding::new(Fault::Trigger, message)
        };
        narrow(&mut ways, |way| *at(way).1.trigger == *leaf.trigger, trigger)?;
        let right = || {
            let message = format!("{} gives no right to move from {whence} to {to}", shown(leaf.right));
            Finding::new(Fault::Right, message)
        };
        let scheduled = !self.pipeline.schedules.is_empty();
        let by_clock = |by: &By| scheduled && *by == By::Start && leaf.right == Right::Rule;
        let allowed = |by: &By, edge: &Edge| by_clock(by) || may(by, edge, state, leaf.right);
        narrow(&mut ways, |way| allowed(at(way).0, at(way).1), right)?;
        let actor = || {
            let message =
                format!("the move from {whence} to {to} is not recorded for {}", leaf.actor.as_str());
            Finding::new(Fault::Right, message)
        };
        narrow(&mut ways, |way| at(way).1.actor.unwrap_or(actor_by(leaf.right)) == leaf.actor, actor)?;
        Ok(ways)
    }

    /// An action with a task: granted now, moved later.
    fn requested(&self, leaf: &EventLeaf<'_>, from: usize) -> Result<Vec<Way>, Finding> {
        let state = self.state(from);
        let mut ways = Vec::new();
        for (list, (by, edges)) in self.lists(Some(from)).iter().enumerate() {
            if matches!(by, By::Action(name) if **name == *leaf.trigger) {
                let with_task = edges.iter().enumerate().filter(|(_, edge)| edge.task.is_some());
                let granted = with_task.filter(|(_, edge)| may_act(state, edge, leaf.right));
                ways.extend(granted.map(|(edge, found)| self.way((list, edge), by, found, Some(state))));
            }
        }
        check_actor(leaf)?;
        let message = format!("{} does not grant {} in {}", shown(leaf.right), leaf.trigger, state.name);
        narrow(&mut ways, |_| true, || Finding::new(Fault::Right, message))?;
        Ok(ways)
    }

    /// Events that leave the submission where it is.
    fn noted(&self, leaf: &EventLeaf<'_>, state: &State) -> Result<(), Finding> {
        check_actor(leaf)?;
        let has_task = state.task().is_some()
            || state.actions.iter().flat_map(|action| &action.edges).any(|edge| edge.task.is_some());
        let by_machine = leaf.right == Right::Rule;
        let by_worker = matches!(leaf.right, Right::Lease(_));
        let amend = self.pipeline.amend.as_ref();
        let (fits, trigger, right) = match leaf.kind {
            Kind::Retried => (has_task, Some("retry"), by_machine || by_worker),
            Kind::Crashed => (has_task, Some("lease-expired"), by_machine),
            // The trigger is the error's code, which the worker chose.
            Kind::Died => (true, None, by_machine || by_worker),
            Kind::Abandoned => (has_task, Some("abandoned"), by_machine || by_worker),
            Kind::Amended => {
                (amend.is_some(), Some("amend"), amend.is_some_and(|amend| covers(leaf.right, amend.role)))
            }
            Kind::Redriven => (true, Some("redrive"), covers(leaf.right, Role::Admin)),
            Kind::Sealed => {
                let makes_children = matches!(state.kind, pipeline::Kind::Join { task: Some(_), .. });
                (makes_children, Some("sealed"), by_worker)
            }
            Kind::Erased => (state.is_final() && state.retention.is_some(), Some("retention"), by_machine),
            Kind::Forgotten => (state.is_final() && state.forget.is_some(), Some("forget"), by_machine),
            Kind::Late => (state.sla.is_some() || !self.pipeline.slas.is_empty(), Some("sla"), by_machine),
            Kind::Approved => {
                let edges = state.actions.iter().flat_map(|action| &action.edges);
                let several: Vec<_> = edges.filter(|edge| edge.approvals > 1).collect();
                let may = several.iter().any(|edge| may_act(state, edge, leaf.right));
                (!several.is_empty(), Some("approve"), may)
            }
            Kind::Acknowledged => {
                let role = state.investigate();
                (role.is_some(), Some("acknowledge"), role.is_some_and(|role| covers(leaf.right, role)))
            }
            Kind::Assigned | Kind::Released => {
                let mut edges = state.actions.iter().flat_map(|action| &action.edges);
                let expires = by_machine && leaf.kind == Kind::Released;
                let human = matches!(state.kind, pipeline::Kind::Human { .. });
                let trigger = if leaf.kind == Kind::Assigned { "assign" } else { "release" };
                (human, Some(trigger), expires || edges.any(|edge| may_act(state, edge, leaf.right)))
            }
            Kind::Noted => {
                let may = matches!(leaf.right, Right::Role(role) if role != Role::Viewer);
                (true, Some("note"), may)
            }
            Kind::Submitted
            | Kind::Moved
            | Kind::Requested
            | Kind::Migrated
            | Kind::Refused
            | Kind::Merged => {
                return Err(illegal("it is no note"));
            }
        };
        if !fits {
            return Err(illegal(format!("nothing is {} in {}", leaf.kind.as_str(), state.name)));
        }
        if trigger.is_some_and(|trigger| trigger != leaf.trigger) {
            let message = format!("{} is not the trigger of what is {}", leaf.trigger, leaf.kind.as_str());
            return Err(Finding::new(Fault::Trigger, message));
        }
        if !right {
            let message = format!("{} gives no right to it in {}", shown(leaf.right), state.name);
            return Err(Finding::new(Fault::Right, message));
        }
        Ok(())
    }
}

pub(super) fn illegal(message: impl Into<String>) -> Finding {
    Finding::new(Fault::Move, message)
}

fn narrow(
    ways: &mut Vec<Way>,
    keep: impl FnMut(&Way) -> bool,
    none: impl FnOnce() -> Finding,
) -> Result<(), Finding> {
    ways.retain(keep);
    if ways.is_empty() { Err(none()) } else { Ok(()) }
}

fn means(by: &By) -> Means {
    match by {
        By::Start => Means::Start,
        By::Pass => Means::Pass,
        By::Clock => Means::Clock,
        By::Outcome(_) => Means::Outcome,
        By::Error => Means::Error,
        By::Crashed => Means::Crashed,
        By::GuardError => Means::GuardError,
        By::Action(_) => Means::Action,
        By::Children(_) => Means::Children,
        By::ParentCancelled => Means::ParentCancelled,
        By::Ttl => Means::Ttl,
        By::Late => Means::Late,
    }
}

fn may(by: &By, edge: &Edge, state: Option<&State>, right: Right) -> bool {
    match (by, right) {
        (By::Start, Right::Role(role)) => edge.role.is_none_or(|wanted| role.covers(wanted)),
        (By::Action(_), right) => state.is_some_and(|state| may_act(state, edge, right)),
        // A redriven outcome is followed by the machine: whether it was redriven is asked later.
        (By::Outcome(_) | By::Error | By::GuardError, Right::Lease(_) | Right::Rule) => true,
        (
            By::Pass | By::Clock | By::Crashed | By::Children(_) | By::ParentCancelled | By::Ttl | By::Late,
            Right::Rule,
        ) => true,
        _ => false,
    }
}

/// Tells whether a right may be one to an action. Names are not in a leaf, so somebody who is named may be anybody.
fn may_act(state: &State, edge: &Edge, right: Right) -> bool {
    matches!(right, Right::Role(role) if state.may_role(edge, role))
}

fn covers(right: Right, wanted: Role) -> bool {
    matches!(right, Right::Role(role) if role.covers(wanted))
}

fn actor_by(right: Right) -> ActorKind {
    match right {
        Right::Rule => ActorKind::System,
        Right::Lease(_) => ActorKind::Worker,
        Right::Role(role) => role.into(),
    }
}

pub(super) fn check_actor(leaf: &EventLeaf<'_>) -> Result<(), Finding> {
    if leaf.actor == actor_by(leaf.right) {
        return Ok(());
    }
    let message = format!("{} is not how {} acts", shown(leaf.right), leaf.actor.as_str());
    Err(Finding::new(Fault::Right, message))
}

fn shown(right: Right) -> String {
    match right {
        Right::Rule => "the machine's own rule".to_owned(),
        Right::Lease(no) => format!("lease {no}"),
        Right::Role(role) => format!("the role {role}"),
    }
}
