//! The card of a pipeline: how much comes and goes, what is there, and what needs somebody.

use wire::Status;
use wire::api::{FiguresView, HoldView, PipelineView, StatsView};

use super::sum;
use crate::ask::Visit;
use crate::fields::address;
use crate::flow::{self, Flow, Spark};
use crate::look::Eye;
use crate::parts::{Id, Link, When, list, number, pipeline_page};

/// The states that a card shows.
const STATES: usize = 3;

/// A pipeline.
pub(super) struct Card {
    pub(super) name: Link,
    /// The system it is of; empty: none that runs here.
    pub(super) system: String,
    pub(super) title: String,
    pub(super) spark: Spark,
    /// The numbers that came and went a minute.
    pub(super) came: String,
    pub(super) went: String,
    pub(super) open: Link,
    pub(super) oldest: Option<Oldest>,
    pub(super) states: Vec<Busy>,
    pub(super) marks: Vec<Mark>,
    pub(super) unpolled: Vec<Unpolled>,
}

/// The oldest submission that is open, and how it stands with its service level.
pub(super) struct Oldest {
    pub(super) made: When,
    pub(super) link: String,
    pub(super) due: Option<When>,
    pub(super) late: bool,
}

/// A state where submissions are.
pub(super) struct Busy {
    pub(super) name: String,
    pub(super) count: String,
    pub(super) to: String,
    pub(super) tone: &'static str,
}

/// A mark of what needs somebody.
pub(super) struct Mark {
    pub(super) text: String,
    pub(super) to: String,
    pub(super) tone: &'static str,
}

/// A task that submissions wait for and no worker asks for.
pub(super) struct Unpolled {
    pub(super) task: String,
    pub(super) wait: Link,
}

/// The figures that cards are made of.
pub(super) struct Cards<'a> {
    pub(super) visit: &'a Visit,
    pub(super) eye: &'a Eye,
    pub(super) stats: &'a StatsView,
    pub(super) figures: &'a FiguresView,
    pub(super) holds: &'a [HoldView],
}

impl Cards<'_> {
    /// Makes a card of each pipeline: those of one system beside each other, and messages last.
    pub(super) async fn all(&self, pipelines: &[PipelineView]) -> Vec<Card> {
        let mut cards = Vec::new();
        for view in pipelines {
            cards.push(self.card(view).await);
        }
        let is_last = |card: &Card| card.name.text == model::owed::DELIVERY;
        cards.sort_by_key(|card| (is_last(card), card.system.is_empty(), card.system.clone()));
        cards
    }

    async fn card(&self, view: &PipelineView) -> Card {
        let name = &*view.name;
        let is_final = |state: &str| {
            view.states.iter().any(|known| *known.name == *state && known.kind.starts_with("final"))
        };
        let moved = Flow::of(self.figures, name, is_final);
        let now = flow::under_way(self.figures, self.eye.now);
        let open = sum(view, |_, status| status == Status::Open);
        Card {
            name: Link::new(name, pipeline_page(name)),
            system: self.system(name),
            title: view.title.clone(),
            spark: moved.spark(),
            came: flow::shown(flow::per_minute(&moved.came, now)),
            went: flow::shown(flow::per_minute(&moved.went, now)),
            open: Link::new(number(open), list(name, &[("status", "open")])),
            oldest: self.oldest(name).await,
            states: busy(view),
            marks: self.marks(view),
            unpolled: self.unpolled(name),
        }
    }

    fn system(&self, pipeline: &str) -> String {
        let mut systems = self.visit.systems.iter();
        let found = systems.find(|(_, pipelines)| pipelines.iter().any(|known| known == pipeline));
        found.map(|(name, _)| crate::actions::title(name)).unwrap_or_default()
    }

    async fn oldest(&self, pipeline: &str) -> Option<Oldest> {
        let mine = self.figures.oldest.iter().filter(|oldest| *oldest.pipeline == *pipeline);
        let oldest = mine.min_by_key(|oldest| oldest.created_at)?;
        let query = app::Query {
            pipeline: Some(pipeline.into()),
            ids: Some((oldest.submission, oldest.submission)),
            limit: 1,
            ..app::Query::default()
        };
        // Without its documents, which nobody reads here.
        let view = self.visit.app.list(query).await.ok()?.submissions.pop()?;
        let level = view.sla.iter().min_by_key(|level| level.due_at);
        Some(Oldest {
            made: self.eye.when(oldest.created_at),
            link: Id::of(oldest.submission).link,
            due: level.map(|level| self.eye.when(level.due_at)),
            late: level.is_some_and(|level| level.late || level.due_at <= self.eye.now),
        })
    }

    fn marks(&self, view: &PipelineView) -> Vec<Mark> {
        let name = &*view.name;
        let at = |page: &str| address(page, [("pipeline", name)]);
        let mark = |count: u64, text: &str, to: String, tone| {
            (count > 0).then(|| Mark { text: format!("{} {text}", number(count)), to, tone })
        };
        let investigate = self.stats.investigations.iter().filter(|count| *count.pipeline == *name);
        let covers = |hold: &&HoldView| hold.pipeline.as_deref().is_none_or(|of| of == name);
        let held = self.holds.iter().filter(covers).count();
        let marks = [
            mark(
                sum(view, |kind, status| kind == "human" && status == Status::Open),
                "to review",
                at("/console/reviews"),
                "person",
            ),
            mark(sum(view, |_, status| status == Status::Dead), "dead", at("/console/dead"), "dead"),
            mark(
                investigate.map(|count| count.open).sum(),
                "to investigate",
                at("/console/investigations"),
                "warn",
            ),
            mark(
                held as u64,
                if held == 1 { "hold" } else { "holds" },
                address(&pipeline_page(name), [("tab", "holds")]),
                "held",
            ),
        ];
        marks.into_iter().flatten().chain(self.missed(name)).collect()
    }

    /// Returns the service levels that were not kept to within the last day.
    fn missed(&self, pipeline: &str) -> impl Iterator<Item = Mark> {
        let mine = self.stats.service_levels.iter().filter(move |level| *level.pipeline == *pipeline);
        mine.filter_map(|level| {
            let day = level.windows.iter().find(|window| window.window == "1d" && window.measured > 0)?;
            let missed = [day.target, day.p95].into_iter().flatten().any(|verdict| !verdict.met);
            missed.then(|| Mark {
                text: format!("{} misses its target", level.name),
                to: address(&pipeline_page(&level.pipeline), [("tab", "levels")]),
                tone: "warn",
            })
        })
    }

    fn unpolled(&self, pipeline: &str) -> Vec<Unpolled> {
        let mine = self.figures.unpolled.iter().filter(|entry| *entry.pipeline == *pipeline);
        mine.map(|entry| Unpolled {
            task: entry.task.to_string(),
            wait: Link::new(
                number(entry.open),
                list(pipeline, &[("state", &entry.state), ("status", "open")]),
            ),
        })
        .collect()
    }
}

/// Returns the states where most of what is open is.
fn busy(view: &PipelineView) -> Vec<Busy> {
    let open = view.states.iter().map(|state| {
        let open = state.counts.iter().filter(|count| count.status == Status::Open);
        (state, open.map(|count| count.count).sum::<u64>())
    });
    let mut busy: Vec<_> = open.filter(|(_, count)| *count > 0).collect();
    busy.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let entry = |(state, count): (&wire::api::StateView, u64)| Busy {
        name: state.name.to_string(),
        count: number(count),
        to: list(&view.name, &[("state", &state.name), ("status", "open")]),
        tone: if state.kind == "human" { "person" } else { "open" },
    };
    busy.into_iter().take(STATES).map(entry).collect()
}
