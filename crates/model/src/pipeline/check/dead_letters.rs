//! `dead_letters = false`: no state may leave a way to the dead letter.

use crate::pipeline::problem::{Problem, Problems, quote};
use crate::pipeline::read::Draft;

pub(super) fn check(draft: &Draft, problems: &mut Problems) {
    let pipeline = &draft.pipeline;
    // What could not be read may be the edge that is missed here.
    if !pipeline.forbids_dead_letters || draft.doubtful_pipeline {
        return;
    }
    for (state, causes) in pipeline.dead_letters() {
        if draft.doubtful.contains(&state.name) {
            continue;
        }
        let keys: Vec<String> = causes.iter().map(|cause| format!("`on.{}`", cause.as_str())).collect();
        let message = format!(
            "{} can end as a dead letter: nothing follows its {}",
            quote(&state.name),
            keys.join(", ")
        );
        let problem = Problem::new("dead-letter", state.at.clone(), message);
        problems.push(problem.help(
            "let these lead to a state that is entered without evaluating anything, here or in `[defaults]`",
        ));
    }
}
