//! A submission has one brood: its children are counted and sealed once. Where it is cancelled, so are they: they end.

use crate::pipeline::Kind;
use crate::pipeline::problem::{Problem, Problems, quote};
use crate::pipeline::read::Draft;

pub(super) fn check(draft: &Draft, problems: &mut Problems) {
    orphans_end(draft, problems);
    let makes_children = |kind: &Kind| matches!(kind, Kind::Join { task: Some(_), .. });
    let mut makers = draft.pipeline.states.iter().filter(|state| makes_children(&state.kind));
    let Some(first) = makers.next() else { return };
    for state in makers {
        let message = format!("{} makes children already", quote(&first.name));
        let problem = Problem::new("second-join", state.at.clone(), message);
        problems.push(problem.help("a join without `task` waits for the children another state made"));
    }
}

/// Checks that the edges which leave a state when the parent is cancelled lead to an end: a submission needs no key and
/// no lane there, and nobody to wait for it.
fn orphans_end(draft: &Draft, problems: &mut Problems) {
    for edge in draft.pipeline.states.iter().flat_map(|state| &state.on_parent_cancelled) {
        let open = edge.targets().iter().filter_map(|name| draft.pipeline.state(name));
        for state in open.filter(|state| !state.is_final() && !draft.doubtful.contains(&state.name)) {
            let message =
                format!("`on.parent_cancelled` leads to {}, which is not final", quote(&state.name));
            let problem = Problem::new("bad-value", edge.at.clone(), message);
            problems
                .push(problem.help("a child whose parent was cancelled can only end; name a final state"));
        }
    }
}
