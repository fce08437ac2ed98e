//! Every state can be reached, and from every state an end can be.

use std::collections::BTreeSet;

use crate::Name;
use crate::pipeline::moves::By;
use crate::pipeline::problem::{Problem, Problems, quote};
use crate::pipeline::read::Draft;
use crate::pipeline::{Edge, State};

pub(super) fn unreachable(draft: &Draft, problems: &mut Problems) {
    let pipeline = &draft.pipeline;
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    let mut ahead: Vec<&Name> = pipeline.start.iter().flat_map(Edge::targets).collect();
    // Where the way in or a state's edges could not be read, anything may be reached.
    let mut in_doubt = ahead.is_empty() || draft.doubtful_pipeline;
    while let Some(name) = ahead.pop() {
        if !reached.insert(name) {
            continue;
        }
        match pipeline.state(name) {
            Some(state) => {
                in_doubt |= draft.doubtful.contains(name);
                ahead.extend(targets(draft, state, |_| true));
            }
            None => in_doubt = true,
        }
    }
    if in_doubt {
        return;
    }
    for state in pipeline.states.iter().filter(|state| !reached.contains(&*state.name)) {
        let message = format!("no edge leads to {}", quote(&state.name));
        problems.push(Problem::new("unreachable-state", state.at.clone(), message));
    }
}

pub(super) fn no_way_out(draft: &Draft, problems: &mut Problems) {
    let states: Vec<&State> = draft.pipeline.states.iter().map(|state| &**state).collect();
    let dead_ends: Vec<&State> = states.iter().copied().filter(|state| is_dead_end(draft, state)).collect();
    for state in &dead_ends {
        let message = format!("no edge leaves {}", quote(&state.name));
        let problem = Problem::new("dead-end", state.at.clone(), message);
        problems.push(problem.help("give it an edge, or make it final"));
    }
    // A dead end was reported itself; what leads to it need not be.
    let ends = |state: &&State| {
        state.is_final()
            || draft.doubtful.contains(&state.name)
            || dead_ends.iter().any(|dead_end| dead_end.name == state.name)
    };
    let mut saved: BTreeSet<&str> = states.iter().copied().filter(ends).map(|state| &*state.name).collect();
    if saved.is_empty() {
        if let Some(first) = states.first() {
            problems.push(Problem::new("no-way-out", first.at.clone(), "the pipeline has no final state"));
        }
        return;
    }
    loop {
        let before = saved.len();
        for state in &states {
            let leads_out = |name: &&Name| saved.contains(&***name) || draft.pipeline.state(name).is_none();
            if targets(draft, state, by_itself).iter().any(leads_out) {
                saved.insert(&state.name);
            }
        }
        if saved.len() == before {
            break;
        }
    }
    for state in states.iter().filter(|state| !saved.contains(&*state.name)) {
        let message = format!("no path leads from {} to a final state", quote(&state.name));
        problems.push(Problem::new("no-way-out", state.at.clone(), message));
    }
}

fn is_dead_end(draft: &Draft, state: &State) -> bool {
    let doubtful = draft.doubtful.contains(&state.name);
    !state.is_final() && !doubtful && targets(draft, state, by_itself).is_empty()
}

/// Tells whether a way out is one of the submission's own: nothing should have to wait for the end of its parent.
fn by_itself(by: &By) -> bool {
    *by != By::ParentCancelled
}

fn targets<'a>(draft: &'a Draft, state: &'a State, counts: fn(&By) -> bool) -> Vec<&'a Name> {
    let ways = draft.pipeline.ways(state).into_iter().filter(|(by, _)| counts(by));
    ways.flat_map(|(_, edges)| edges).flat_map(Edge::targets).collect()
}
