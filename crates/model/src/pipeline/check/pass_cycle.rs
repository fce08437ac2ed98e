//! Pass states are left at once, so a circle of them would never come to rest.

use std::collections::BTreeSet;

use crate::Name;
use crate::pipeline::problem::{Problem, Problems};
use crate::pipeline::read::Draft;
use crate::pipeline::{Edge, Kind, Pipeline};

pub(super) fn check(draft: &Draft, problems: &mut Problems) {
    let pipeline = &draft.pipeline;
    let mut reported: BTreeSet<Name> = BTreeSet::new();
    for state in &pipeline.states {
        if reported.contains(&state.name) {
            continue;
        }
        if let Some(cycle) = cycle_from(pipeline, &state.name) {
            let mut path: Vec<String> = cycle.iter().map(|name| format!("`{name}`")).collect();
            path.push(format!("`{}`", state.name));
            let message =
                format!("these states are left at once and lead in a circle: {}", path.join(" -> "));
            let problem = Problem::new("pass-cycle", state.at.clone(), message);
            problems.push(problem.help("let one of them wait for something: a task, a time, a person"));
            reported.extend(cycle);
        }
    }
}

/// The way over pass states from a state back to itself, without the return.
fn cycle_from(pipeline: &Pipeline, start: &Name) -> Option<Vec<Name>> {
    let mut seen: BTreeSet<&Name> = BTreeSet::new();
    let mut ahead: Vec<(&Name, Vec<Name>)> = vec![(start, Vec::new())];
    while let Some((name, mut path)) = ahead.pop() {
        path.push(name.clone());
        for next in passes_to(pipeline, name) {
            if next == start {
                return Some(path);
            }
            if seen.insert(next) {
                ahead.push((next, path.clone()));
            }
        }
    }
    None
}

fn passes_to<'a>(pipeline: &'a Pipeline, name: &str) -> impl Iterator<Item = &'a Name> {
    let edges: &[Edge] = match pipeline.state(name).map(|state| &state.kind) {
        Some(Kind::Pass { next }) => next,
        _ => &[],
    };
    edges.iter().flat_map(Edge::targets)
}
