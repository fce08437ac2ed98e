//! Workers: who asks for which work, and what nobody asks for.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use wire::Refusal;

use crate::answer::Answer;
use crate::ask::Visit;
use crate::layout::Sheet;
use crate::parts::{Link, When, pipeline_page};

#[derive(Template)]
#[template(path = "workers.html")]
struct Page {
    workers: Vec<Worker>,
    tasks: Vec<Task>,
}

struct Worker {
    name: String,
    tasks: Vec<String>,
    seen: When,
}

/// A task that pipelines have.
struct Task {
    name: String,
    pipelines: Vec<Link>,
    workers: usize,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let eye = visit.eye();
    let list = visit.app.workers().workers;
    let mut wanted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in visit.app.names() {
        let machine = visit.app.machine(&name, None)?;
        for task in machine.tasks() {
            wanted.entry(task.name.to_string()).or_default().insert(name.to_string());
        }
    }
    let asks =
        |task: &str| list.iter().filter(|worker| worker.tasks.iter().any(|known| **known == *task)).count();
    let tasks = wanted.into_iter().map(|(name, pipelines)| Task {
        workers: asks(&name),
        pipelines: pipelines.iter().map(|pipeline| Link::new(pipeline, pipeline_page(pipeline))).collect(),
        name,
    });
    let mut tasks: Vec<Task> = tasks.collect();
    tasks.sort_by_key(|task| task.workers > 0);
    let page = Page {
        tasks,
        workers: list
            .iter()
            .map(|worker| Worker {
                name: worker.worker.to_string(),
                tasks: worker.tasks.iter().map(|task| task.to_string()).collect(),
                seen: eye.when(worker.last_seen_at),
            })
            .collect(),
    };
    visit.show(Sheet::new("Workers").live().typed(&visit.ask, "status", "/v1/workers"), &page)
}
