//! The requests there are, area by area.

mod actions;
mod audit;
mod entries;
mod events;
mod feed;
mod figures;
mod fleet;
mod health;
mod holds;
mod messages;
mod operations;
mod pipelines;
mod submission;
mod submissions;
mod tasks;
mod tokens;

use super::call::Call;
use super::shape::{Named, named};
#[cfg(test)]
pub(super) use events::KINDS;

pub(super) struct Area {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) calls: fn() -> Vec<Call>,
    shapes: fn() -> Vec<Named>,
}

pub(super) const AREAS: &[Area] = &[
    Area {
        name: "Pipelines",
        about: "What is in force, and bringing new versions into force.",
        calls: pipelines::calls,
        shapes: pipelines::shapes,
    },
    Area {
        name: "Submissions",
        about: "Submitting, looking, and what people do to submissions.",
        calls: submissions::calls,
        shapes: || {
            [submission::shapes(), events::shapes(), actions::shapes()].into_iter().flatten().collect()
        },
    },
    Area {
        name: "Operations",
        about: "One deed for every submission a filter finds.",
        calls: operations::calls,
        shapes: operations::shapes,
    },
    Area { name: "Holds", about: "Stopping what fits.", calls: holds::calls, shapes: holds::shapes },
    Area {
        name: "Workers",
        about: "Claiming tasks and settling them. Every call about tasks takes many; each has its own result.",
        calls: tasks::calls,
        shapes: tasks::shapes,
    },
    Area {
        name: "Feed",
        about: "Every event there was, in one sequence.",
        calls: feed::calls,
        shapes: feed::shapes,
    },
    Area {
        name: "Systems",
        about: "Small documents that a system keeps beside its submissions.",
        calls: entries::calls,
        shapes: entries::shapes,
    },
    Area {
        name: "Messages",
        about: "Notifications on their way out, and the endpoints webhooks are signed for.",
        calls: messages::calls,
        shapes: messages::shapes,
    },
    Area {
        name: "Tokens",
        about: "Who may ask for what, and until when.",
        calls: tokens::calls,
        shapes: tokens::shapes,
    },
    Area {
        name: "Audit",
        about: "The transparency log: checkpoints, tiles and keys.",
        calls: audit::calls,
        shapes: audit::shapes,
    },
    Area {
        name: "Figures",
        about: "How much is where, and how the servers are doing.",
        calls: || [figures::calls(), fleet::calls()].into_iter().flatten().collect(),
        shapes: || [figures::shapes(), fleet::shapes()].into_iter().flatten().collect(),
    },
    Area {
        name: "Health",
        about: "Whether the server lives and is ready, and what it is.",
        calls: health::calls,
        shapes: Vec::new,
    },
];

/// Every schema with a name.
pub(super) fn shapes() -> impl Iterator<Item = Named> {
    std::iter::once(named::<wire::api::Problem>()).chain(AREAS.iter().flat_map(|area| (area.shapes)()))
}
