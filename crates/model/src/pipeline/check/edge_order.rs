//! The first edge whose guard holds is taken: nothing after one without a guard is, and a list should end with one.

use crate::pipeline::moves::By;
use crate::pipeline::problem::{Problem, Problems};
use crate::pipeline::read::Draft;
use crate::pipeline::{Edge, Holds, Pipeline, State};

pub(super) fn check(draft: &Draft, problems: &mut Problems) {
    let pipeline = &draft.pipeline;
    never_taken(&pipeline.start, problems);
    for state in &pipeline.states {
        for (by, edges) in state.ways() {
            never_taken(edges, problems);
            if !may_fall_through(pipeline, state, &by, edges) {
                guarded_last(&by, edges, problems);
            }
        }
    }
}

fn never_taken(edges: &[Edge], problems: &mut Problems) {
    let always = edges.iter().position(|edge| edge.when.is_none());
    for edge in edges.iter().skip(always.map_or(edges.len(), |index| index + 1)) {
        let problem =
            Problem::new("edge-never-taken", edge.at.clone(), "the edge before this one is always taken");
        problems
            .push(problem.help("give the edge before it a guard, `when`, or move it to the end of the list"));
    }
}

fn guarded_last(by: &By, edges: &[Edge], problems: &mut Problems) {
    let Some(last) = edges.last().filter(|edge| edge.when.is_some()) else { return };
    let message = "the last edge has a guard: if none holds, nothing leads on";
    let help = match by {
        by if by.may_end_dead() => {
            "end the list with an edge without `when`; one without `to` is the dead letter"
        }
        By::Pass => {
            "end the list with an edge without `when`, or let it rest here: with `amend`, an action or a ttl"
        }
        _ => "end the list with an edge without `when`",
    };
    problems.push(Problem::new("guarded-last-edge", last.at.clone(), message).help(help));
}

/// Tells whether it is fine that no guard holds: an action is refused then, a child without its parent stays where it
/// is, and a pass state rests if something can change.
fn may_fall_through(pipeline: &Pipeline, state: &State, by: &By, edges: &[Edge]) -> bool {
    match by {
        By::Start | By::Action(_) | By::ParentCancelled => true,
        By::Pass => {
            let looks_at_holds =
                || edges.iter().filter_map(|edge| edge.when.as_ref()).any(|when| when.reads("held"));
            pipeline.amend.is_some()
                || !state.actions.is_empty()
                || state.ttl.is_some()
                || pipeline.ttl.is_some()
                || pipeline.holds == Holds::Route && looks_at_holds()
        }
        _ => false,
    }
}
