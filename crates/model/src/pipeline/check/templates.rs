//! Checks that each name in a template is there in some move the template is sent with: else its place stays empty for
//! ever.

use std::collections::BTreeSet;

use crate::Name;
use crate::pipeline::moves::By;
use crate::pipeline::problem::{Problem, Problems, Span, quote};
use crate::pipeline::read::{Draft, paths_of};
use crate::pipeline::{Edge, Kind, Pipeline};

/// Members of what every message sees.
const MEMBERS: [(&str, &[&str]); 4] = [
    ("event", &["kind", "from", "to", "title", "trigger", "at", "metadata"]),
    ("submission", &["id", "pipeline", "title", "version", "status", "key", "link", "receipt"]),
    ("error", &["code", "message"]),
    ("children", &["total", "open", "succeeded", "failed", "cancelled"]),
];

pub(super) fn check(draft: &Draft, problems: &mut Problems) {
    // Where edges could not be read, a template may be sent with moves that are not known.
    if draft.places.is_empty() || draft.doubtful_pipeline || !draft.doubtful.is_empty() {
        return;
    }
    let tellings = tellings(&draft.pipeline);
    for place in &draft.places {
        let sent: Vec<&Telling<'_>> =
            tellings.iter().filter(|telling| telling.tells(&place.notification)).collect();
        if sent.is_empty() {
            continue;
        }
        for (path, span) in paths_of(&place.text) {
            if let Some((message, help)) = never_there(&path, &sent) {
                let span: Span = place.start + span.start..place.start + span.end;
                let problem = Problem::new("empty-value", span, message).help(help);
                problems.push(problem.within(Some(&place.file)));
            }
        }
    }
}

/// Explains why no move gives the value, and what to do about that.
fn never_there(path: &[&str], sent: &[&Telling<'_>]) -> Option<(String, String)> {
    let nobody = |has: &dyn Fn(&Telling<'_>) -> bool| !sent.iter().any(|telling| has(telling));
    let missing = |name: &str, help: &str| {
        Some((format!("no move that this text is sent with has {}", quote(name)), help.to_owned()))
    };
    match path {
        ["output", ..] if nobody(&|telling| telling.has_output()) => {
            missing("output", "moves by an outcome have one; an earlier one is `outputs.STATE`")
        }
        ["data", ..] if nobody(&|telling| telling.has_data()) => {
            missing("data", "moves by an action that takes `data` have some")
        }
        ["error", ..] if nobody(&|telling| telling.error) => missing(
            "error",
            "moves by `on.error` have one, and those whose edge states one: `error = { code }`",
        ),
        ["event", "metadata", key, ..] if nobody(&|telling| telling.has_metadata(key)) => {
            missing(&format!("metadata.{key}"), "declare it in the `metadata` of an edge")
        }
        [owner, member, ..] => {
            let (_, members) = MEMBERS.iter().find(|(name, _)| name == owner)?;
            let known = members.contains(member);
            let help = format!("it has {}", members.join(", "));
            (!known).then(|| (format!("{} has no {}", quote(owner), quote(member)), help))
        }
        _ => None,
    }
}

/// A move, and what there is to say of it.
struct Telling<'a> {
    by: By,
    edge: &'a Edge,
    /// Notifications of the states it may lead to.
    entered: Vec<&'a Name>,
    error: bool,
}

impl Telling<'_> {
    fn tells(&self, notification: &Name) -> bool {
        self.edge.notify.contains(notification) || self.entered.contains(&notification)
    }

    fn has_output(&self) -> bool {
        matches!(self.by, By::Outcome(_)) || self.edge.task.is_some()
    }

    fn has_data(&self) -> bool {
        self.edge.data.is_some()
    }

    /// A person who makes a move may give a reason.
    fn has_metadata(&self, key: &str) -> bool {
        let by_person = matches!(self.by, By::Start | By::Action(_));
        self.edge.metadata.iter().any(|(name, _)| **name == *key) || by_person && key == "reason"
    }
}

fn tellings(pipeline: &Pipeline) -> Vec<Telling<'_>> {
    let mut all: Vec<(Option<&Name>, By, &Edge)> = Vec::new();
    all.extend(pipeline.start.iter().map(|edge| (None, By::Start, edge)));
    for state in &pipeline.states {
        for (by, edges) in pipeline.ways(state) {
            all.extend(edges.iter().map(|edge| (Some(&state.name), by.clone(), edge)));
        }
    }
    let failing = entered_with_an_error(pipeline, &all);
    let telling = |(from, by, edge): (Option<&Name>, By, _)| Telling {
        error: brings_error(from, &by, edge, &failing),
        entered: entered(pipeline, edge),
        by,
        edge,
    };
    all.into_iter().map(telling).collect()
}

fn entered<'a>(pipeline: &'a Pipeline, edge: &Edge) -> Vec<&'a Name> {
    edge.targets().iter().filter_map(|to| pipeline.state(to)).flat_map(|state| &state.notify).collect()
}

/// The pass states that a submission may enter with an error, which they hand on.
fn entered_with_an_error<'a>(
    pipeline: &'a Pipeline,
    all: &[(Option<&'a Name>, By, &'a Edge)],
) -> BTreeSet<&'a Name> {
    let passes = |to: &&Name| matches!(pipeline.state(to).map(|state| &state.kind), Some(Kind::Pass { .. }));
    let mut failing = BTreeSet::new();
    loop {
        let before = failing.len();
        for (from, by, edge) in all {
            if brings_error(*from, by, edge, &failing) {
                failing.extend(edge.targets().iter().filter(passes));
            }
        }
        if failing.len() == before {
            return failing;
        }
    }
}

fn brings_error(from: Option<&Name>, by: &By, edge: &Edge, failing: &BTreeSet<&Name>) -> bool {
    let carried = *by == By::Pass && from.is_some_and(|from| failing.contains(from));
    edge.error.is_some() || by.may_end_dead() || carried
}
