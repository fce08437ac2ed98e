//! The contents of a drawing, before anything has a place: boxes with their texts, arrows with their labels.

mod arrows;
mod boxes;

use model::pipeline::{Kind, Pipeline};
use wire::Name;

use super::layout::{Graph, Link};
use super::path::Path;

pub(super) use arrows::{Arrow, BADGE_FONT, LABEL_LINE, Told, Tone};
pub(super) use boxes::{Look, NAME_LINE, NOTE_LINE, PADDING, Shown, TITLE_LINE};

/// The first box is where submissions come in, then come the states in their order, then perhaps [`Look::Open`].
#[derive(Debug)]
pub(super) struct Chart {
    pub(super) boxes: Vec<Shown>,
    pub(super) arrows: Vec<Arrow>,
    /// Moves of the path to or from states that this version does not have.
    pub(super) unknown_steps: usize,
    pub(super) has_path: bool,
}

impl Chart {
    pub(super) fn new(pipeline: &Pipeline, path: Option<&Path>) -> Self {
        let mut boxes = vec![Shown::plain(Look::Start)];
        boxes.extend(pipeline.states.iter().map(|state| Shown::state(state)));
        let (mut arrows, any) = arrows::declared(pipeline);
        if any {
            boxes.push(Shown::plain(Look::Open));
        }
        let mut chart = Chart { boxes, arrows: Vec::new(), unknown_steps: 0, has_path: path.is_some() };
        if let Some(path) = path {
            chart.unknown_steps = arrows::follow(pipeline, &mut arrows, path);
            chart.visit(pipeline, path);
        }
        arrows::measure(&mut arrows);
        chart.arrows = arrows;
        chart
    }

    /// Marks the states a path went through.
    fn visit(&mut self, pipeline: &Pipeline, path: &Path) {
        let index = |name: &Name| number_of(pipeline, name);
        for (number, step) in path.moves() {
            if let Some(at) = index(&step.to) {
                self.boxes[at].visits.push(number);
            }
        }
        for step in &path.steps {
            if let Some(at) = index(&step.to) {
                let (at, time, kind) = (&mut self.boxes[at], step.at, step.kind.as_str());
                at.story.push(match step.is_move() {
                    true => format!("{time} entered by {}", step.trigger),
                    false => format!("{time} {kind}"),
                });
            }
        }
        if let Some(at) = path.present().and_then(index) {
            self.boxes[at].present = Some(if path.is_dead() { "dead" } else { "now" });
        }
    }

    pub(super) fn graph(&self) -> Graph {
        let links = self.arrows.iter().map(|arrow| {
            let to = self.boxes[arrow.to].look;
            let astray = matches!(to, Look::Failure | Look::Cancelled) || arrow.tone != Tone::Flow;
            Link {
                from: arrow.from,
                to: arrow.to,
                label: arrow.size,
                main: !astray,
                returns: self.boxes[arrow.from].look.is_final() || arrow.tone == Tone::Astray,
            }
        });
        Graph { boxes: self.boxes.iter().map(|shown| shown.size).collect(), links: links.collect() }
    }
}

/// The end of a story: a submission that goes round for weeks would fill the drawing with it.
pub(super) fn recent(story: &[String]) -> Vec<String> {
    const LINES_MAX: usize = 20;
    let before = story.len().saturating_sub(LINES_MAX);
    let told = (before > 0).then(|| format!("{before} times before"));
    told.into_iter().chain(story[before..].iter().cloned()).collect()
}

/// The number of a state's box.
fn number_of(pipeline: &Pipeline, name: &str) -> Option<usize> {
    pipeline.position(name).map(|index| index + 1)
}

/// Describes what a state waits for, in a few words.
pub(super) fn kind_line(kind: &Kind) -> String {
    use model::pipeline::{Clock, FinalKind};
    match kind {
        Kind::Pass { .. } => "pass".to_owned(),
        Kind::Task { task, .. } => format!("task {}", task.name),
        Kind::Wait { clock: Clock::For(span), .. } => format!("wait {span}"),
        Kind::Wait { clock: Clock::Until(time), .. } => format!("wait until {time}"),
        Kind::Wait { clock: Clock::Computed(expr), .. } => {
            format!("wait {}", super::text::one_line(expr.source()))
        }
        Kind::Human { review: Some(role) } => format!("human · {role}"),
        Kind::Human { review: None } => "human".to_owned(),
        Kind::Join { child, task: Some(task), .. } => format!("join {child} · task {}", task.name),
        Kind::Join { child, task: None, .. } => format!("join {child}"),
        Kind::Final { outcome, investigate, .. } => {
            let outcome = match outcome {
                FinalKind::Success => "success",
                FinalKind::Failure => "failure",
                FinalKind::Cancelled => "cancelled",
            };
            format!("final · {outcome}{}", if investigate.is_some() { " · investigate" } else { "" })
        }
    }
}
