//! A submission has one brood: its children are counted and sealed once.

use crate::pipeline::Kind;
use crate::pipeline::problem::{Problem, Problems, quote};
use crate::pipeline::read::Draft;

pub(super) fn check(draft: &Draft, problems: &mut Problems) {
    let makes_children = |kind: &Kind| matches!(kind, Kind::Join { task: Some(_), .. });
    let mut makers = draft.pipeline.states.iter().filter(|state| makes_children(&state.kind));
    let Some(first) = makers.next() else { return };
    for state in makers {
        let message = format!("{} makes children already", quote(&first.name));
        let problem = Problem::new("second-join", state.at.clone(), message);
        problems.push(problem.help("a join without `task` waits for the children another state made"));
    }
}
