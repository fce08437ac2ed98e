//! The closed list of legal moves. No command moves a submission along anything else.

use super::{Choice, Edge, Kind, Leg, Pipeline, Reviewer, Sla, State};
use crate::Name;
use crate::actor::{ActorKind, Caller};
use crate::person::is_same;
use crate::role::Role;

/// The key under `on` for what happens to a child whose parent ended cancelled.
pub(crate) const PARENT_CANCELLED: &str = "parent_cancelled";

/// The cause that makes a submission take an edge.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// The submission is submitted.
    Start,
    /// The submission enters a pass state.
    Pass,
    /// A wait is over.
    Clock,
    /// A worker finishes with this outcome.
    Outcome(Name),
    /// A worker's tries are used up.
    Error,
    /// Too many of its workers in a row stopped answering.
    Crashed,
    /// A guard cannot be evaluated, and nobody is there to be refused.
    GuardError,
    /// Somebody does this action.
    Action(Name),
    /// The submission's children ended, or one is open again: `all_succeeded`, `some_failed`, `reopened`.
    Children(Name),
    /// The submission's parent ended cancelled.
    ParentCancelled,
    /// The submission's time to live is over.
    Ttl,
    /// A service level was missed.
    Late,
}

impl By {
    /// The trigger of an edge that names none.
    pub(crate) fn trigger(&self) -> Name {
        match self {
            By::Start => "submit".into(),
            By::Pass => "next".into(),
            By::Clock => "elapsed".into(),
            By::Error => "error".into(),
            By::Crashed => "crashed".into(),
            By::GuardError => "guard_error".into(),
            By::ParentCancelled => PARENT_CANCELLED.into(),
            By::Ttl => "ttl".into(),
            By::Late => "sla".into(),
            By::Outcome(name) | By::Action(name) | By::Children(name) => name.clone(),
        }
    }

    /// Tells whether such edges may lead nowhere: to the dead letter.
    #[must_use]
    pub fn may_end_dead(&self) -> bool {
        matches!(self, By::Error | By::Crashed | By::GuardError)
    }

    /// Tells whether such edges need not say where they lead.
    pub(crate) fn may_lead_nowhere(&self) -> bool {
        self.may_end_dead() || *self == By::Late
    }

    /// Returns who makes the move, where neither edge nor state says.
    fn actor(&self) -> ActorKind {
        match self {
            By::Start => ActorKind::Submitter,
            By::Outcome(_) | By::Error => ActorKind::Worker,
            By::Action(_) => ActorKind::Admin,
            By::Pass
            | By::Clock
            | By::Crashed
            | By::GuardError
            | By::Children(_)
            | By::ParentCancelled
            | By::Ttl
            | By::Late => ActorKind::System,
        }
    }
}

/// One legal move.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Move {
    /// `None`: into the pipeline.
    pub from: Option<Name>,
    pub to: Name,
    pub trigger: Name,
    pub by: By,
    pub actor: ActorKind,
}

impl State {
    /// Every list of edges that leaves the state itself, with what makes a submission take one of them.
    #[must_use]
    pub fn ways(&self) -> Vec<(By, &[Edge])> {
        let mut ways: Vec<(By, &[Edge])> = Vec::new();
        let mut add = |by: By, edges| ways.push((by, edges));
        match &self.kind {
            Kind::Pass { next } => add(By::Pass, next),
            Kind::Wait { next, .. } => add(By::Clock, next),
            Kind::Human { .. } => {}
            Kind::Task { on, on_error, .. } => {
                on.iter().for_each(|(outcome, edges)| add(By::Outcome(outcome.clone()), edges));
                add(By::Error, on_error);
            }
            Kind::Join { on, on_error, on_all_succeeded, on_some_failed, .. } => {
                on.iter().for_each(|(outcome, edges)| add(By::Outcome(outcome.clone()), edges));
                add(By::Error, on_error);
                add(By::Children("all_succeeded".into()), on_all_succeeded);
                add(By::Children("some_failed".into()), on_some_failed);
            }
            Kind::Final { on_reopened, .. } => add(By::Children("reopened".into()), on_reopened),
        }
        add(By::Crashed, &self.on_crashed);
        add(By::GuardError, &self.on_guard_error);
        self.actions.iter().for_each(|action| add(By::Action(action.name.clone()), &action.edges));
        add(By::ParentCancelled, &self.on_parent_cancelled);
        if let Some(ttl) = &self.ttl {
            add(By::Ttl, std::slice::from_ref(&ttl.edge));
        }
        if let Some(edge) = self.sla.as_ref().and_then(Sla::way) {
            add(By::Late, std::slice::from_ref(edge));
        }
        ways.retain(|(_, edges)| !edges.is_empty());
        ways
    }

    /// Returns the role whose right an action of the state is: the edge's role, or the reviewer's, or else the admin's. Where
    /// the file names those who may act, it is the first role among them.
    #[must_use]
    pub fn role_of(&self, edge: &Edge) -> Role {
        let review = match self.kind {
            Kind::Human { review } => review,
            _ => None,
        };
        let listed = edge.reviewers.iter().find_map(|reviewer| match reviewer {
            Reviewer::Role(role) => Some(*role),
            Reviewer::Person(_) => None,
        });
        let own = edge.only_submitter.then_some(Role::Submitter);
        edge.role.or(listed).or(own).or(review).unwrap_or(Role::Admin)
    }

    /// Returns those whose right an action of the state is, as people read them.
    #[must_use]
    pub fn who(&self, edge: &Edge) -> Vec<String> {
        match edge.reviewers.as_slice() {
            [] if edge.only_submitter => vec!["its submitter".to_owned()],
            [] => vec![self.role_of(edge).to_string()],
            listed => listed.iter().map(ToString::to_string).collect(),
        }
    }

    /// Tells whether an action of the state is somebody's right. That it is only the submitter's is asked apart.
    #[must_use]
    pub fn may(&self, edge: &Edge, caller: &Caller) -> bool {
        if edge.reviewers.is_empty() {
            return self.may_role(edge, caller.role);
        }
        edge.reviewers.iter().any(|reviewer| match reviewer {
            Reviewer::Role(role) => caller.role.covers(*role),
            Reviewer::Person(name) => is_same(name, &caller.name),
        })
    }

    /// Tells whether an action of the state may be the right of somebody with this role, whoever they are.
    #[must_use]
    pub fn may_role(&self, edge: &Edge, role: Role) -> bool {
        let by_name = edge.only_submitter && edge.role.is_none();
        match edge.reviewers.as_slice() {
            [] => by_name || role.covers(self.role_of(edge)),
            listed => listed.iter().any(|reviewer| match reviewer {
                Reviewer::Role(wanted) => role.covers(*wanted),
                Reviewer::Person(_) => true,
            }),
        }
    }
}

impl Pipeline {
    /// Every list of edges that leaves a state; the pipeline's ttl leaves all that are not final.
    #[must_use]
    pub fn ways<'a>(&'a self, state: &'a State) -> Vec<(By, &'a [Edge])> {
        let mut ways = state.ways();
        if let Some(ttl) = self.ttl.as_ref().filter(|_| !state.is_final()) {
            ways.push((By::Ttl, std::slice::from_ref(&ttl.edge)));
        }
        let runs = |leg: &&Leg| {
            !state.is_final() && !leg.to.contains(&state.name) && !leg.not_via.contains(&state.name)
        };
        let late = self.slas.values().filter(runs).filter_map(|leg| leg.sla.way());
        ways.extend(late.map(|edge| (By::Late, std::slice::from_ref(edge))));
        ways
    }

    /// Every legal move: those into the pipeline, then state by state.
    #[must_use]
    pub fn moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        for edge in &self.start {
            let actor = edge.actor.or(edge.role.map(ActorKind::from)).unwrap_or(By::Start.actor());
            add(&mut moves, None, &By::Start, edge, actor);
        }
        for state in &self.states {
            for (by, edges) in self.ways(state) {
                for edge in edges {
                    let usual = match by {
                        By::Action(_) => state.role_of(edge).into(),
                        _ => by.actor(),
                    };
                    add(&mut moves, Some(&state.name), &by, edge, edge.actor.unwrap_or(usual));
                }
            }
        }
        moves
    }

    /// Every legal move once: two edges with different guards may be one move.
    #[must_use]
    pub fn distinct_moves(&self) -> Vec<Move> {
        let mut moves = self.moves();
        let mut seen = std::collections::BTreeSet::new();
        moves.retain(|one| seen.insert(one.clone()));
        moves
    }

    /// Tells whether some edge leads from one state to the other (`None`: into the pipeline).
    #[must_use]
    pub fn allows(&self, from: Option<&str>, to: &str) -> bool {
        let leads =
            |edges: &[Edge]| edges.iter().any(|edge| edge.targets().iter().any(|target| &**target == to));
        match from {
            None => leads(&self.start),
            Some(from) => {
                self.state(from).is_some_and(|state| self.ways(state).iter().any(|(_, edges)| leads(edges)))
            }
        }
    }
}

fn add(moves: &mut Vec<Move>, from: Option<&Name>, by: &By, edge: &Edge, actor: ActorKind) {
    for to in edge.targets() {
        let trigger = edge.trigger.clone();
        moves.push(Move { from: from.cloned(), to: to.clone(), trigger, by: by.clone(), actor });
    }
}

impl Sla {
    /// Returns the edge along which missing it leads.
    pub(crate) fn way(&self) -> Option<&Edge> {
        self.missed.as_ref()?.edge.as_ref()
    }
}

impl Edge {
    /// The states it may lead to: none for a dead letter, several where somebody picks.
    #[must_use]
    pub fn targets(&self) -> &[Name] {
        self.to.as_ref().map_or(&[], Choice::states)
    }
}
