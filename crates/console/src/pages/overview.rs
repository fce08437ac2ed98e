//! The overview: what there is, how it fares, and what needs somebody.

use std::collections::BTreeMap;

use askama::Template;
use wire::api::{PipelineView, StatsView};
use wire::{Refusal, Status};

use crate::answer::Answer;
use crate::ask::Visit;
use crate::layout::Sheet;
use crate::look::Eye;
use crate::parts::{Link, list, number, of_status, pipeline_page};

#[derive(Template)]
#[template(path = "overview.html")]
struct Page {
    figures: Vec<Figure>,
    cards: Vec<Card>,
    health: Vec<Health>,
    /// Set if the reader's token is for some labels, of which nothing is counted.
    uncounted: bool,
}

/// A number that matters, and where it leads.
struct Figure {
    name: &'static str,
    count: String,
    to: String,
    tone: &'static str,
}

/// A pipeline.
struct Card {
    name: Link,
    title: String,
    open: String,
    open_list: String,
    marks: Vec<Mark>,
    /// How much of everything is where, as parts of a bar.
    bar: Vec<Part>,
    states: Vec<Busy>,
    levels: Vec<Level>,
    unpolled: Vec<String>,
}

struct Mark {
    text: String,
    to: String,
    tone: &'static str,
}

struct Part {
    tone: &'static str,
    /// Where it begins and how wide it is, in a hundred.
    x: f64,
    width: f64,
    text: String,
}

/// A state where submissions are.
struct Busy {
    name: String,
    count: String,
    to: String,
    tone: &'static str,
}

struct Level {
    text: String,
    met: bool,
}

struct Health {
    name: &'static str,
    text: String,
    tone: &'static str,
    to: &'static str,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let eye = visit.eye();
    let stats = visit.app.stats().await?;
    let pipelines = visit.app.pipelines().await?.pipelines;
    let holds = visit.app.holds().await?.holds;
    let polled: Vec<String> = visit
        .app
        .workers()
        .workers
        .into_iter()
        .flat_map(|worker| worker.tasks)
        .map(|task| task.to_string())
        .collect();
    let held =
        |name: &str| holds.iter().filter(|hold| hold.pipeline.as_deref().is_none_or(|of| of == name)).count();
    let cards: Vec<Card> =
        pipelines.iter().map(|view| card(&visit, view, &stats, &polled, held(&view.name))).collect();
    let page = Page {
        figures: figures(&pipelines, &stats, holds.len()),
        cards,
        health: health(&visit, &eye, &stats).await,
        uncounted: !visit.app.visitor().labels.is_empty(),
    };
    visit.show(Sheet::new("Overview").live().typed(&visit.ask, "status", "/v1/stats"), &page)
}

fn sum(view: &PipelineView, wanted: impl Fn(&str, Status) -> bool) -> u64 {
    let counts = view.states.iter().flat_map(|state| state.counts.iter().map(move |count| (state, count)));
    counts.filter(|(state, count)| wanted(&state.kind, count.status)).map(|(_, count)| count.count).sum()
}

fn figures(pipelines: &[PipelineView], stats: &StatsView, holds: usize) -> Vec<Figure> {
    let all =
        |wanted: &dyn Fn(&str, Status) -> bool| pipelines.iter().map(|view| sum(view, wanted)).sum::<u64>();
    let figure = |name, count: u64, to: &str, tone| Figure {
        name,
        count: number(count),
        to: to.to_owned(),
        tone: if count == 0 { "" } else { tone },
    };
    let investigate = stats.investigations.iter().map(|count| count.open).sum();
    vec![
        figure("Open", all(&|_, status| status == Status::Open), &list("", &[("status", "open")]), "open"),
        figure(
            "Wait for a person",
            all(&|kind, status| kind == "human" && status == Status::Open),
            "/console/reviews",
            "person",
        ),
        figure("Dead letters", all(&|_, status| status == Status::Dead), "/console/dead", "dead"),
        figure("To investigate", investigate, "/console/investigations", "warn"),
        figure("Holds", holds as u64, "/console/holds", "held"),
    ]
}

fn card(visit: &Visit, view: &PipelineView, stats: &StatsView, polled: &[String], held: usize) -> Card {
    let name = &*view.name;
    let open = sum(view, |_, status| status == Status::Open);
    let dead = sum(view, |_, status| status == Status::Dead);
    let people = sum(view, |kind, status| kind == "human" && status == Status::Open);
    let investigate: u64 =
        stats.investigations.iter().filter(|count| *count.pipeline == *name).map(|count| count.open).sum();
    let mark = |count: u64, text: &str, to: String, tone| {
        (count > 0).then(|| Mark { text: format!("{} {text}", number(count)), to, tone })
    };
    let marks = [
        mark(
            people,
            "for a person",
            crate::fields::address("/console/reviews", [("pipeline", name)]),
            "person",
        ),
        mark(dead, "dead", crate::fields::address("/console/dead", [("pipeline", name)]), "dead"),
        mark(
            investigate,
            "to investigate",
            crate::fields::address("/console/investigations", [("pipeline", name)]),
            "warn",
        ),
        mark(held as u64, if held == 1 { "hold" } else { "holds" }, "/console/holds".to_owned(), "held"),
    ];
    Card {
        name: Link::new(name, pipeline_page(name)),
        title: view.title.clone(),
        open: number(open),
        open_list: list(name, &[("status", "open")]),
        marks: marks.into_iter().flatten().collect(),
        bar: bar(view),
        states: busy(view),
        levels: levels(name, stats),
        unpolled: unpolled(visit, view, polled),
    }
}

/// Lays the statuses of everything there is side by side. What is there at all is wide enough to be seen.
fn bar(view: &PipelineView) -> Vec<Part> {
    const LEAST: f64 = 1.2;
    let order = [Status::Open, Status::Dead, Status::Succeeded, Status::Failed, Status::Cancelled];
    let counts = order.map(|status| (status, sum(view, |_, known| known == status)));
    let shown: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    let total = shown.iter().map(|(_, count)| *count as f64).sum::<f64>().max(1.0);
    let widths = shown.iter().map(|(_, count)| (*count as f64 / total * 100.0).max(LEAST));
    let scale = 100.0 / widths.clone().sum::<f64>().max(1.0);
    let mut x = 0.0;
    let part = |((status, count), width): (&(Status, u64), f64)| {
        let part = Part {
            tone: of_status(*status),
            x,
            width: width * scale,
            text: format!("{} {}", number(*count), status.as_str()),
        };
        x += part.width;
        part
    };
    shown.iter().zip(widths).map(part).collect()
}

/// Returns the states where most of what is open is.
fn busy(view: &PipelineView) -> Vec<Busy> {
    let mut states: BTreeMap<&str, (u64, &str)> = BTreeMap::new();
    for state in &view.states {
        let open =
            state.counts.iter().filter(|count| count.status == Status::Open).map(|count| count.count).sum();
        states.insert(&state.name, (open, &state.kind));
    }
    let mut busy: Vec<_> = states.into_iter().filter(|(_, (count, _))| *count > 0).collect();
    busy.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    let entry = |(name, (count, kind)): (&str, (u64, &str))| Busy {
        name: name.to_owned(),
        count: number(count),
        to: list(&view.name, &[("state", name), ("status", "open")]),
        tone: if kind == "human" { "person" } else { "open" },
    };
    busy.into_iter().take(4).map(entry).collect()
}

/// Returns the service levels that were not kept to within the last day.
fn levels(name: &str, stats: &StatsView) -> Vec<Level> {
    let mine = stats.service_levels.iter().filter(|level| *level.pipeline == *name);
    let day = mine.filter_map(|level| {
        let window = level.windows.iter().find(|window| window.window == "1d" && window.measured > 0)?;
        let met = [window.target, window.p95].into_iter().flatten().all(|verdict| verdict.met);
        Some(Level { text: level.name.to_string(), met })
    });
    day.collect()
}

/// Returns the tasks that submissions wait for and no worker asks for.
fn unpolled(visit: &Visit, view: &PipelineView, polled: &[String]) -> Vec<String> {
    let Ok(machine) = visit.app.machine(&view.name, None) else { return Vec::new() };
    let waits = |state: &str| {
        let counts = view.states.iter().filter(|known| *known.name == *state).flat_map(|state| &state.counts);
        counts.filter(|count| count.status == Status::Open).map(|count| count.count).sum::<u64>() > 0
    };
    let tasks = machine.states.iter().filter(|state| waits(&state.name)).filter_map(|state| state.task());
    let mut tasks: Vec<String> =
        tasks.map(|task| task.name.to_string()).filter(|task| !polled.contains(task)).collect();
    tasks.dedup();
    tasks
}

async fn health(visit: &Visit, eye: &Eye, stats: &StatsView) -> Vec<Health> {
    let mut health = Vec::new();
    let tone = if stats.condition == "running" { "good" } else { "dead" };
    health.push(Health { name: "Engine", text: stats.condition.clone(), tone, to: "/console/servers" });
    let late: Vec<String> =
        stats.duties.iter().filter(|duty| duty.overdue).map(|duty| duty.name.to_string()).collect();
    if !stats.duties.is_empty() {
        let (text, tone) = match late.is_empty() {
            true => (format!("{} run", stats.duties.len()), "good"),
            false => (format!("late: {}", late.join(", ")), "warn"),
        };
        health.push(Health { name: "Chores", text, tone, to: "/console/servers" });
    }
    if let Some(doubt) = visit.app.clock().doubt {
        health.push(Health { name: "Clock", text: doubt, tone: "dead", to: "/console/servers" });
    }
    if let Some(last) = stats.last_event {
        health.push(Health { name: "Events", text: number(last), tone: "", to: "/console/tail" });
    }
    if let Ok(log) = visit.app.log_standing().await {
        let at = log.checkpoint_at.map_or_else(|| "none yet".to_owned(), |at| eye.when(at).relative);
        let tone = if log.standing == "running" { "good" } else { "dead" };
        health.push(Health {
            name: "Audit log",
            text: format!("{} leaves, signed {at}", number(log.size)),
            tone,
            to: "/console/audit",
        });
    }
    health
}
