//! The arrows of a drawing: one for all moves between two states.

use std::collections::{BTreeMap, BTreeSet};

use model::pipeline::{By, Edge, Pipeline};
use wire::Name;

use super::number_of;
use crate::layout::Size;
use crate::path::{Path, Step};
use crate::text::{Font, one_line};

pub(crate) const LABEL_FONT: Font = Font { size: 10.5, bold: false };
pub(crate) const BADGE_FONT: Font = Font { size: 9.5, bold: true };
pub(crate) const LABEL_LINE: f64 = 14.0;
const LABEL_WIDTH_MAX: f64 = 190.0;
/// Up to here a guard stands behind its trigger, else below it.
const ONE_LINE_MAX: f64 = 120.0;
/// Labels with more lines are cut; pointing at the arrow shows all.
const LABEL_LINES_MAX: usize = 4;
/// From so many states on, what can happen in every open state is drawn once.
const OPEN_STATES_MIN: usize = 3;

/// The kind of move that an arrow is. Where it stands for several, the first of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tone {
    Flow,
    Action,
    Ttl,
    Error,
    /// Taken by a path, but not declared in this version.
    Astray,
}

impl Tone {
    fn of(by: &By) -> Self {
        match by {
            By::Start | By::Pass | By::Clock | By::Outcome(_) | By::Children(_) => Tone::Flow,
            By::Action(_) => Tone::Action,
            By::Ttl | By::Late | By::ParentCancelled => Tone::Ttl,
            By::Error | By::Crashed | By::GuardError => Tone::Error,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Tone::Flow => "flow",
            Tone::Action => "action",
            Tone::Ttl => "ttl",
            Tone::Error => "error",
            Tone::Astray => "astray",
        }
    }
}

/// A move an arrow stands for.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) from: Option<Name>,
    pub(crate) to: Name,
    pub(crate) trigger: Name,
    pub(crate) tone: Tone,
    pub(crate) when: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Arrow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) tone: Tone,
    pub(crate) moves: Vec<Told>,
    pub(crate) label: Vec<(Tone, String)>,
    /// The numbers of a path's moves along it, as they are written, and when they were made.
    pub(crate) badge: Option<String>,
    pub(crate) steps: Vec<usize>,
    pub(crate) story: Vec<String>,
    pub(crate) size: Size,
}

impl Arrow {
    fn new(from: usize, to: usize) -> Self {
        Arrow {
            from,
            to,
            tone: Tone::Astray,
            moves: Vec::new(),
            label: Vec::new(),
            badge: None,
            steps: Vec::new(),
            story: Vec::new(),
            size: Size::default(),
        }
    }

    fn add(&mut self, told: Told) {
        self.tone = self.tone.min(told.tone);
        self.moves.push(told);
    }

    fn walk(&mut self, number: usize, step: &Step) {
        self.steps.push(number);
        self.story.push(format!("{} taken by {} as step {number}", step.at, step.trigger));
    }

    /// Writes the label, once all moves are known, and measures it. Guards are told where only they tell arrows apart.
    fn measure(&mut self, needs_guard: impl Fn(&Told) -> bool) {
        let mut lines: Vec<(Tone, String)> = Vec::new();
        for told in &self.moves {
            let guard = told.when.as_ref().filter(|_| needs_guard(told)).map(|when| format!("[{when}]"));
            let whole = [Some(told.trigger.to_string()), guard].into_iter().flatten().collect::<Vec<_>>();
            let fits = LABEL_FONT.width(&whole.join(" ")) <= ONE_LINE_MAX;
            for line in if fits { vec![whole.join(" ")] } else { whole } {
                if !lines.iter().any(|(_, known)| *known == line) {
                    lines.push((told.tone, line));
                }
            }
        }
        if lines.len() > LABEL_LINES_MAX {
            let more = lines.split_off(LABEL_LINES_MAX - 1).len();
            lines.push((Tone::Flow, format!("+{more} more")));
        }
        lines.iter_mut().for_each(|(_, line)| *line = LABEL_FONT.cut(line, LABEL_WIDTH_MAX));
        self.badge = badge(&self.steps);
        let widest = lines.iter().map(|(_, line)| LABEL_FONT.width(line)).fold(0.0, f64::max);
        let size = Size {
            width: (widest + 10.0).ceil() + self.badge_width(),
            height: lines.len() as f64 * LABEL_LINE + 4.0,
        };
        (self.label, self.size) = (lines, size);
    }

    pub(crate) fn badge_width(&self) -> f64 {
        self.badge.as_ref().map_or(0.0, |badge| BADGE_FONT.width(badge).ceil() + 12.0)
    }
}

/// Writes all labels.
pub(super) fn measure(arrows: &mut [Arrow]) {
    type Ways = (BTreeSet<Name>, BTreeSet<Option<String>>);
    let mut ways: BTreeMap<(Option<Name>, Name), Ways> = BTreeMap::new();
    for told in arrows.iter().flat_map(|arrow| &arrow.moves) {
        let (targets, guards) = ways.entry((told.from.clone(), told.trigger.clone())).or_default();
        targets.insert(told.to.clone());
        guards.insert(told.when.clone());
    }
    let forks = |told: &Told| {
        let (targets, guards) = &ways[&(told.from.clone(), told.trigger.clone())];
        targets.len() > 1 && guards.len() > 1
    };
    arrows.iter_mut().for_each(|arrow| arrow.measure(forks));
}

/// `1`, or `1, 4`, or of many the first, the last and how many there are.
pub(crate) fn badge(steps: &[usize]) -> Option<String> {
    match steps {
        [] => None,
        [first, .., last] if steps.len() > 3 => Some(format!("{first}…{last} ({}×)", steps.len())),
        _ => Some(steps.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// A declared move and the boxes at its ends.
struct Declared {
    from: usize,
    to: usize,
    by: By,
    told: Told,
}

/// The arrows of all declared moves, and whether some of them lead from the box of every open state.
pub(super) fn declared(pipeline: &Pipeline) -> (Vec<Arrow>, bool) {
    let moves = moves(pipeline);
    let everywhere = everywhere(pipeline, &moves);
    let any = pipeline.states.len() + 1;
    let mut arrows: BTreeMap<(usize, usize), Arrow> = BTreeMap::new();
    for declared in moves {
        let from = if everywhere.contains(&declared.key()) { any } else { declared.from };
        let arrow = arrows.entry((from, declared.to)).or_insert_with(|| Arrow::new(from, declared.to));
        arrow.add(declared.told);
    }
    (arrows.into_values().collect(), !everywhere.is_empty())
}

impl Declared {
    /// Returns what is the same for one move wherever it begins.
    fn key(&self) -> (By, Name, usize) {
        (self.by.clone(), self.told.trigger.clone(), self.to)
    }
}

fn moves(pipeline: &Pipeline) -> Vec<Declared> {
    let mut moves = Vec::new();
    let mut add = |from: usize, name: Option<&Name>, by: &By, edge: &Edge| {
        for name_to in edge.targets() {
            let told = Told {
                from: name.cloned(),
                to: name_to.clone(),
                trigger: edge.trigger.clone(),
                tone: Tone::of(by),
                when: edge.when.as_ref().map(|when| one_line(when.source())),
            };
            let to = number_of(pipeline, name_to).expect("a loaded pipeline's edges lead to its states");
            moves.push(Declared { from, to, by: by.clone(), told });
        }
    };
    pipeline.start.iter().for_each(|edge| add(0, None, &By::Start, edge));
    for (index, state) in pipeline.states.iter().enumerate() {
        for (by, edges) in pipeline.ways(state) {
            edges.iter().for_each(|edge| add(index + 1, Some(&state.name), &by, edge));
        }
    }
    moves
}

/// The moves that can be made in every open state alike: as arrows of their own they would hide the rest.
fn everywhere(pipeline: &Pipeline, moves: &[Declared]) -> Vec<(By, Name, usize)> {
    let open: Vec<usize> =
        (1..).zip(&pipeline.states).filter(|(_, state)| !state.is_final()).map(|(index, _)| index).collect();
    let mut sources: BTreeMap<(By, Name, usize), Vec<usize>> = BTreeMap::new();
    for declared in moves {
        let sources = sources.entry(declared.key()).or_default();
        if !sources.contains(&declared.from) {
            sources.push(declared.from);
        }
    }
    let every = |sources: &[usize], to: usize| {
        sources.len() >= OPEN_STATES_MIN && open.iter().all(|at| *at == to || sources.contains(at))
    };
    let found = sources.into_iter().filter(|((_, _, to), sources)| every(sources, *to));
    found.map(|(key, _)| key).collect()
}

/// Marks the arrows a path went along; those it took from an open state like any other get an arrow of their own.
/// Returns how many of its moves lead to or from states that are not there.
pub(super) fn follow(pipeline: &Pipeline, arrows: &mut Vec<Arrow>, path: &Path) -> usize {
    let mut unknown = 0;
    let mut places: BTreeMap<(usize, usize), usize> =
        arrows.iter().enumerate().map(|(place, arrow)| ((arrow.from, arrow.to), place)).collect();
    for (number, step) in path.moves() {
        let from = step.from.as_ref().map_or(Some(0), |from| number_of(pipeline, from));
        let (Some(from), Some(to)) = (from, number_of(pipeline, &step.to)) else {
            unknown += 1;
            continue;
        };
        let place = *places.entry((from, to)).or_insert_with(|| {
            arrows.push(Arrow::new(from, to));
            arrows.len() - 1
        });
        let is_it =
            |told: &&Told| told.from == step.from && told.to == step.to && told.trigger == step.trigger;
        if !arrows[place].moves.iter().any(|told| is_it(&told)) {
            let elsewhere = arrows.iter().flat_map(|arrow| &arrow.moves).find(is_it).cloned();
            arrows[place].add(elsewhere.unwrap_or_else(|| astray(step)));
        }
        arrows[place].walk(number, step);
    }
    unknown
}

fn astray(step: &Step) -> Told {
    Told {
        from: step.from.clone(),
        to: step.to.clone(),
        trigger: step.trigger.clone(),
        tone: Tone::Astray,
        when: None,
    }
}
