//! The overview: what there is, how it moves, and what needs somebody.

mod card;
mod health;

use askama::Template;
use wire::api::{FiguresView, PipelineView, StatsView};
use wire::{Refusal, Status};

use super::tail::{self, Row};
use crate::answer::Answer;
use crate::ask::Visit;
use crate::layout::Sheet;
use crate::parts::{list, number};
use card::{Card, Cards};
use health::{Fact, health};

/// The newest events that the page shows.
const EVENTS: usize = 9;

#[derive(Template)]
#[template(path = "overview.html")]
struct Page {
    figures: Vec<Figure>,
    notices: Vec<String>,
    cards: Vec<Card>,
    /// Set if some of the pipelines are of systems that run here.
    has_systems: bool,
    health: Vec<Fact>,
    events: Vec<Row>,
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

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let eye = visit.eye();
    let (stats, figures) = (visit.app.stats().await?, visit.app.figures().await?);
    let pipelines = visit.app.pipelines().await?.pipelines;
    let holds = visit.app.holds().await?.holds;
    let makes = Cards { visit: &visit, eye: &eye, stats: &stats, figures: &figures, holds: &holds };
    let cards = makes.all(&pipelines).await;
    let page = Page {
        has_systems: cards.iter().any(|card| !card.system.is_empty()),
        figures: numbers(&pipelines, &stats, holds.len()),
        notices: notices(&figures),
        cards,
        health: health(&visit, &eye, &stats, &figures).await,
        events: tail::newest(&visit, EVENTS).await?,
        uncounted: !visit.app.visitor().labels.is_empty(),
    };
    visit.show(Sheet::new("Overview").live().typed(&visit.ask, "figures", "/v1/figures"), &page)
}

/// Sums up what a pipeline has in some states.
fn sum(view: &PipelineView, wanted: impl Fn(&str, Status) -> bool) -> u64 {
    let counts = view.states.iter().flat_map(|state| state.counts.iter().map(move |count| (state, count)));
    counts.filter(|(state, count)| wanted(&state.kind, count.status)).map(|(_, count)| count.count).sum()
}

fn numbers(pipelines: &[PipelineView], stats: &StatsView, holds: usize) -> Vec<Figure> {
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
            "Need a review",
            all(&|kind, status| kind == "human" && status == Status::Open),
            "/console/reviews",
            "person",
        ),
        figure("Dead letters", all(&|_, status| status == Status::Dead), "/console/dead", "dead"),
        figure("To investigate", investigate, "/console/investigations", "warn"),
        figure("Holds", holds as u64, "/console/holds", "held"),
    ]
}

/// Returns what is wrong and belongs to no pipeline.
fn notices(figures: &FiguresView) -> Vec<String> {
    let unknown = figures.unknown_tasks.iter().map(|asked| {
        format!("{} asks for the task {}, which no pipeline has: is it misspelt?", asked.worker, asked.task)
    });
    unknown.take(5).collect()
}
