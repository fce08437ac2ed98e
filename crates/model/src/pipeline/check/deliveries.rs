//! The pipeline that carries messages may not send any about itself: each would make the next. Its tasks are its own:
//! whoever does them may speak in the server's name.

use crate::owed::{DELIVERY, is_delivery_task};
use crate::pipeline::problem::{Problem, Problems, quote};
use crate::pipeline::read::{Draft, Place};

pub(super) fn check(draft: &Draft, problems: &mut Problems) {
    tasks(draft, problems);
    if &*draft.pipeline.name != DELIVERY {
        return;
    }
    let declared = draft.taken.iter().find(|taken| taken.place == Place::Pipeline && taken.key == "notify");
    if let Some(taken) = declared {
        let message = format!("`{DELIVERY}` carries notifications and cannot have any of its own");
        problems.push(Problem::new("key-not-here", taken.at.clone(), message));
    }
}

fn tasks(draft: &Draft, problems: &mut Problems) {
    let carries = &*draft.pipeline.name == DELIVERY;
    for state in &draft.pipeline.states {
        let edges = state.actions.iter().flat_map(|action| &action.edges);
        let of_actions = edges.filter_map(|edge| Some((edge.task.as_ref()?, &edge.at)));
        let tasks = state.task().map(|task| (task, &state.at)).into_iter().chain(of_actions);
        for (task, at) in tasks.filter(|(task, _)| is_delivery_task(&task.name) != carries) {
            let name = quote(&task.name);
            let message = match carries {
                true => format!("{name} is no task of `{DELIVERY}`"),
                false => format!("{name} is a task of the pipeline `{DELIVERY}` alone"),
            };
            let problem = Problem::new("reserved", at.clone(), message);
            problems
                .push(problem.help(format!("tasks called `{DELIVERY}.` send its messages, and others none")));
        }
    }
}
