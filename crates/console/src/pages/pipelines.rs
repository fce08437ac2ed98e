//! All pipelines, and where to look at one.

use askama::Template;
use wire::{Refusal, Status};

use crate::answer::Answer;
use crate::ask::Visit;
use crate::layout::Sheet;
use crate::parts::{Link, number, pipeline_page};

#[derive(Template)]
#[template(path = "pipelines.html")]
struct Page {
    lines: Vec<Line>,
}

struct Line {
    name: Link,
    title: String,
    version: u32,
    versions: usize,
    states: usize,
    open: String,
    dead: String,
    ended: String,
    schedules: usize,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let list = visit.app.pipelines().await?;
    let line = |view: &wire::api::PipelineView| {
        let counts = view.states.iter().flat_map(|state| &state.counts);
        let sum = |wanted: &dyn Fn(Status) -> bool| {
            number(counts.clone().filter(|count| wanted(count.status)).map(|count| count.count).sum())
        };
        Line {
            name: Link::new(&*view.name, pipeline_page(&view.name)),
            title: view.title.clone(),
            version: view.in_force,
            versions: view.versions.len(),
            states: view.states.len(),
            open: sum(&|status| status == Status::Open),
            dead: sum(&|status| status == Status::Dead),
            ended: sum(&|status| !matches!(status, Status::Open | Status::Dead)),
            schedules: view.schedules.len(),
        }
    };
    let page = Page { lines: list.pipelines.iter().map(line).collect() };
    visit.show(Sheet::new("Pipelines").live().typed(&visit.ask, "pipelines", "/v1/pipelines"), &page)
}
