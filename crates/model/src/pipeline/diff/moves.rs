//! Moves as facts, and the order in which they are tried.

use std::collections::BTreeMap;

use super::facts::{Fact, Facts, Section};
use super::values::words;
use super::{Difference, What};
use crate::Name;
use crate::json::Json;
use crate::pipeline::{By, Choice, Edge, Pipeline, State};

/// The target of an edge without one.
const DEAD: &str = "dead letter";

/// The edges that are tried one after the other, and whoever they leave.
struct Way<'a> {
    from: &'a str,
    by: By,
    edges: &'a [Edge],
    state: Option<&'a State>,
}

/// The ways into a pipeline, and out of whatever state a submission is in.
pub(super) fn start(pipeline: &Pipeline) -> Vec<Fact> {
    facts(&outer(pipeline))
}

fn outer(pipeline: &Pipeline) -> Vec<Way<'_>> {
    let start = Way { from: "(start)", by: By::Start, edges: &pipeline.start, state: None };
    let ttl = pipeline.ttl.as_ref().map(|ttl| Way {
        from: "any open state",
        by: By::Ttl,
        edges: std::slice::from_ref(&ttl.edge),
        state: None,
    });
    std::iter::once(start).chain(ttl).collect()
}

pub(super) fn leaving(state: &State) -> Vec<Fact> {
    facts(&ways(state))
}

fn ways(state: &State) -> Vec<Way<'_>> {
    let ways = state.ways().into_iter();
    ways.map(|(by, edges)| Way { from: &state.name, by, edges, state: Some(state) }).collect()
}

fn facts(ways: &[Way<'_>]) -> Vec<Fact> {
    let mut all = Vec::new();
    let mut seen = BTreeMap::new();
    for way in ways {
        for edge in way.edges {
            for name in names(way, edge, &mut seen) {
                all.extend(one(way, edge, &name));
            }
        }
    }
    all
}

/// Returns the names of a move, one for each state it may lead to. The second of the same name says so.
fn names(way: &Way<'_>, edge: &Edge, seen: &mut BTreeMap<String, usize>) -> Vec<String> {
    let targets: Vec<&str> = match edge.targets() {
        [] => vec![DEAD],
        targets => targets.iter().map(|name| &**name).collect(),
    };
    let numbered = targets.into_iter().map(|to| {
        let name = format!("{} -> {to} by {}", way.from, edge.trigger);
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name} ({count})") }
    });
    numbered.collect()
}

fn one(way: &Way<'_>, edge: &Edge, name: &str) -> Vec<Fact> {
    let mut all = Facts::new(Section::Move, format!("{name}: "));
    all.head(format!("move {name}"), format!("({})", cause(&way.by)));
    all.expression("when", edge.when.as_ref());
    match (way.state, &way.by) {
        (Some(state), By::Action(_)) => all.add("role", state.role_of(edge).as_str()),
        _ => all.maybe("role", edge.role.as_ref()),
    }
    all.maybe("actor", edge.actor.map(|actor| actor.as_str()));
    if matches!(edge.to, Some(Choice::Pick(_))) {
        all.add("picked", "by the actor");
    }
    if edge.reason {
        all.add("reason", "needed");
    }
    if let Some(schema) = &edge.data {
        all.document("data", &Json::from_stored(schema.source()).value());
    }
    for (key, expr) in &edge.metadata {
        all.add(&format!("metadata.{key}"), expr.source());
    }
    if let Some(error) = &edge.error {
        all.add("error.code", error.code.source());
        all.expression("error.message", error.message.as_ref());
    }
    if let Some(task) = &edge.task {
        all.task(task);
    }
    if edge.approvals > 1 {
        all.add("approvals", edge.approvals.to_string());
    }
    if !edge.self_approval {
        all.add("self_approval", "no");
    }
    if edge.only_submitter {
        all.add("only", "submitter");
    }
    let reviewers: Vec<Name> = edge.reviewers.iter().map(|reviewer| reviewer.to_string().into()).collect();
    all.maybe("reviewers", (!reviewers.is_empty()).then(|| words(&reviewers)));
    all.maybe("notify", (!edge.notify.is_empty()).then(|| words(&edge.notify)));
    all.facts
}

fn cause(by: &By) -> String {
    match by {
        By::Start => "submitted".to_owned(),
        By::Pass => "passed through".to_owned(),
        By::Clock => "the wait is over".to_owned(),
        By::Outcome(name) => format!("outcome {name}"),
        By::Error => "tries used up".to_owned(),
        By::Crashed => "workers crashed".to_owned(),
        By::GuardError => "a guard failed".to_owned(),
        By::Action(name) => format!("action {name}"),
        By::Children(name) => format!("children {name}"),
        By::ParentCancelled => "parent cancelled".to_owned(),
        By::Ttl => "time to live over".to_owned(),
        By::Late => "service level missed".to_owned(),
    }
}

/// Edges that both have but try in another order: the first whose guard holds is taken.
pub(super) fn reordered(old: &Pipeline, new: &Pipeline) -> Vec<Difference> {
    let (before, after) = (orders(old), orders(new));
    let mut differences = Vec::new();
    for (place, now) in after {
        let Some(was) = before.iter().find(|(other, _)| *other == place).map(|(_, was)| was) else {
            continue;
        };
        let kept = |these: &[String], those: &[String]| -> Vec<String> {
            these.iter().filter(|name| those.contains(name)).cloned().collect()
        };
        let (was, now) = (kept(was, &now), kept(&now, was));
        if was != now {
            let (old, new) = (Some(was.join(", ")), Some(now.join(", ")));
            differences.push(Difference { place, what: What::Changed, old, new });
        }
    }
    differences
}

/// Each list of edges under a name, as the names of its moves in order.
fn orders(pipeline: &Pipeline) -> Vec<(String, Vec<String>)> {
    let mut orders = Vec::new();
    let states = pipeline.states.iter().map(|state| ways(state));
    for ways in std::iter::once(outer(pipeline)).chain(states) {
        let mut seen = BTreeMap::new();
        for way in &ways {
            let short =
                |name: String| name.split_once(" -> ").map_or(name.clone(), |(_, short)| short.to_owned());
            let named = way.edges.iter().flat_map(|edge| names(way, edge, &mut seen)).map(short).collect();
            orders.push((format!("order of {} ({})", way.from, cause(&way.by)), named));
        }
    }
    orders
}
