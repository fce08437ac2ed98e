//! The actions open to a caller, for a submission as it stands: a decision tried with every form left empty.
//!
//! Nothing here says what is legal. Each action is put to the checks that decide it, and what they refuse is told.

use std::collections::BTreeSet;

use wire::api::{ActionView, DeedView, FormView, Problem, TargetView};

use super::act::{self, Chosen};
use super::approve::{Vote, agreed};
use super::guard_view::Moment;
use super::moves::Walk;
use super::{Current, Decision, decide};
use crate::Name;
use crate::actor::Caller;
use crate::admit::guard_refusal;
use crate::command::{Acknowledge, Act, Amend, Command, Note, Redrive, Review, ReviewStep};
use crate::context::Context;
use crate::json::Json;
use crate::pipeline::{Action, Edge, Pipeline};
use crate::refusal::{Code, Refusal};
use crate::why::guards;

/// A reason where one is needed and not given yet.
const SOME_REASON: &str = "-";

/// Returns the actions of a submission's state as they are open to a caller, then those of other states, which are not.
#[must_use]
pub fn actions(
    pipeline: &Pipeline,
    current: Current<'_>,
    caller: &Caller,
    context: &Context,
) -> Vec<ActionView> {
    let look = Look { pipeline, current, caller, context };
    let state = pipeline.known(&current.row.state);
    let own = state.actions.iter().map(|action| look.action(action));
    let mut seen: BTreeSet<&Name> = state.actions.iter().map(|action| &action.name).collect();
    let all = pipeline.states.iter().flat_map(|state| &state.actions).map(|action| &action.name);
    let others: Vec<&Name> = all.filter(|name| seen.insert(name)).collect();
    own.chain(others.into_iter().map(|name| look.elsewhere(name))).collect()
}

/// Returns what may be asked of a submission by calls of their own.
#[must_use]
pub fn deeds(pipeline: &Pipeline, current: Current<'_>, caller: &Caller, context: &Context) -> Vec<DeedView> {
    let caller = caller.clone();
    let asked = [
        (
            "amend",
            Command::Amend(Amend {
                caller: caller.clone(),
                patch: Json::from(serde_json::json!({})),
                if_match: None,
            }),
        ),
        ("redrive", Command::Redrive(Redrive { caller: caller.clone(), reason: None })),
        (
            "acknowledge",
            Command::Acknowledge(Acknowledge { caller: caller.clone(), note: None, if_match: None }),
        ),
        (
            "review",
            Command::Review(Review {
                caller: caller.clone(),
                step: ReviewStep::Claim { span: None },
                if_match: None,
            }),
        ),
        ("note", Command::Note(Note { caller, text: SOME_REASON.to_owned(), if_match: None })),
    ];
    let view = |(name, command): (&str, Command)| {
        let refusal = decide(pipeline, Some(current), &command, context).err();
        let refusal = refusal.as_ref().map(Problem::from);
        DeedView { name: name.into(), legal: refusal.is_none(), refusal }
    };
    asked.into_iter().map(view).collect()
}

struct Look<'a> {
    pipeline: &'a Pipeline,
    current: Current<'a>,
    caller: &'a Caller,
    context: &'a Context,
}

impl<'a> Look<'a> {
    fn action(&self, action: &Action) -> ActionView {
        let (forms, refusal) = match self.open_edges(action) {
            Err(refusal) => (Vec::new(), Some(Problem::from(&refusal))),
            Ok(edges) => {
                let forms: Vec<FormView> =
                    edges.into_iter().map(|(index, edge)| self.form(action, index, edge)).collect();
                let mut targets = forms.iter().flat_map(|form| &form.to);
                let refusal = match targets.clone().any(|target| target.legal) {
                    true => None,
                    false => targets.find_map(|target| target.refusal.clone()),
                };
                (forms, refusal)
            }
        };
        let (name, title) = (action.name.clone(), title(&action.name));
        ActionView { name, title, legal: refusal.is_none(), forms, refusal }
    }

    /// Returns an action that only other states have.
    fn elsewhere(&self, name: &Name) -> ActionView {
        let state = self.pipeline.known(&self.current.row.state);
        let states = self.pipeline.states.iter().filter(|state| state.action(name).is_some());
        let refusal = act::not_allowed(state, name).with_names("states", states.map(|state| &state.name));
        let refusal = Some(Problem::from(&refusal));
        ActionView { name: name.clone(), title: title(name), legal: false, forms: Vec::new(), refusal }
    }

    fn walk(&self) -> Walk<'a> {
        Walk::new(self.pipeline, self.current, self.context)
    }

    /// Returns the edges that an action may take now: the first whose guard holds, after those whose guards read the data
    /// that are yet to be given.
    fn open_edges<'e>(&self, action: &'e Action) -> Result<Vec<(usize, &'e Edge)>, Refusal> {
        let (walk, row) = (self.walk(), self.current.row);
        let mut open = Vec::new();
        for (index, edge) in action.edges.iter().enumerate() {
            let holds = match &edge.when {
                Some(guard) if guard.reads("data") => {
                    open.push((index, edge));
                    continue;
                }
                Some(guard) => walk.sight.holds(row, guard),
                None => Ok(true),
            };
            match holds {
                Ok(false) => {}
                Ok(true) => {
                    open.push((index, edge));
                    break;
                }
                Err(error) if open.is_empty() => return Err(guard_refusal(&error)),
                Err(_) => break,
            }
        }
        if open.is_empty() { Err(self.not_met(&walk, action)) } else { Ok(open) }
    }

    /// Refuses as the decision does, and adds what the names in the conditions are now.
    fn not_met(&self, walk: &Walk<'_>, action: &Action) -> Refusal {
        let row = self.current.row;
        let guards = action.edges.iter().filter_map(|edge| edge.when.as_ref());
        let values: serde_json::Map<_, _> =
            guards.flat_map(|guard| guards::values(&walk.sight, row, guard)).collect();
        guards::not_met(&walk.sight, row, Moment::default(), action).with("values", values)
    }

    fn form(&self, action: &Action, index: usize, edge: &Edge) -> FormView {
        let row = self.current.row;
        let pick = act::pick(row, edge, &self.wish(action, None)).ok().cloned();
        let to = edge.targets().iter().map(|state| {
            let refusal = self.tried(action, (index, edge), state).err();
            TargetView {
                state: state.clone(),
                title: self.pipeline.known(state).title.clone(),
                legal: refusal.is_none(),
                agreed: agreed(row, &action.name, state).map(|approval| approval.by.clone()).collect(),
                refusal: refusal.as_ref().map(Problem::from),
            }
        });
        let to = to.collect();
        FormView {
            when: edge
                .when
                .as_ref()
                .filter(|guard| guard.reads("data"))
                .map(|guard| guard.source().to_owned()),
            role: self.pipeline.known(&row.state).role_of(edge),
            reviewers: edge.reviewers.iter().map(|reviewer| reviewer.to_string().into()).collect(),
            only_submitter: edge.only_submitter,
            reason: edge.reason,
            data: edge.data.as_ref().map(|schema| Json::from_stored(schema.source())),
            task: edge.task.as_ref().map(|task| task.name.clone()),
            approvals: edge.approvals.max(1),
            to,
            pick,
        }
    }

    /// Decides without keeping anything. What depends on the data is left open: they are not there yet.
    fn tried(&self, action: &Action, (index, edge): (usize, &Edge), to: &Name) -> Result<(), Refusal> {
        let wish = self.wish(action, Some(to.clone()));
        let walk = self.walk();
        let (to, vote) = act::permit(&walk, edge, &wish)?;
        if matches!(vote, Vote::Repeated) {
            return Err(already(format!("you agreed to `{}` before", action.name)));
        }
        if act::is_under_way(self.current.row, &wish, &to) {
            return Err(already(format!("`{}` was asked for, and its task is not done yet", action.name)));
        }
        if edge.data.is_some() {
            return Ok(());
        }
        act::along(walk, Chosen { index, edge, to, vote }, &wish).map(|_: Decision| ())
    }

    fn wish(&self, action: &Action, to: Option<Name>) -> Act {
        let (caller, action) = (self.caller.clone(), action.name.clone());
        Act { caller, action, reason: Some(SOME_REASON.to_owned()), data: None, to, if_match: None }
    }
}

fn already(message: String) -> Refusal {
    Refusal::new(Code::AlreadyAsked, message)
}

/// Returns a name as people read it: `request-changes` is "Request changes".
fn title(name: &str) -> String {
    let words = name.replace(['-', '_'], " ");
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
