//! Workers: who asks for which work, who has what in hand, and what nobody asks for.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use wire::Refusal;
use wire::api::SubmissionView;

use crate::answer::Answer;
use crate::ask::Visit;
use crate::layout::Sheet;
use crate::look::Eye;
use crate::parts::{Id, Link, State, When, list, number, pipeline_page};

#[derive(Template)]
#[template(path = "workers.html")]
struct Page {
    workers: Vec<Worker>,
    tasks: Vec<Task>,
    /// The states that were too full to be looked through for what workers have in hand.
    left_out: Vec<Link>,
}

struct Worker {
    name: String,
    tasks: Vec<String>,
    /// None where it has something in hand and did not ask this server.
    seen: Option<When>,
    holds: Vec<Held>,
    more: usize,
}

/// A submission in a worker's hands.
struct Held {
    id: Id,
    state: State,
    task: String,
    until: When,
    line: String,
    done: u64,
    total: u64,
}

/// A task that pipelines have.
struct Task {
    name: String,
    pipelines: Vec<Link>,
    workers: usize,
}

/// The submissions that are shown with each worker.
const HELD_MAX: usize = 5;

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let eye = visit.eye();
    let known = visit.app.workers().workers;
    let mut wanted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in visit.app.names() {
        let machine = visit.app.machine(&name, None)?;
        for task in machine.tasks() {
            wanted.entry(task.name.to_string()).or_default().insert(name.to_string());
        }
    }
    let asks =
        |task: &str| known.iter().filter(|worker| worker.tasks.iter().any(|known| **known == *task)).count();
    let tasks = wanted.into_iter().map(|(name, pipelines)| Task {
        workers: asks(&name),
        pipelines: pipelines.iter().map(|pipeline| Link::new(pipeline, pipeline_page(pipeline))).collect(),
        name,
    });
    let mut tasks: Vec<Task> = tasks.collect();
    tasks.sort_by_key(|task| task.workers > 0);
    let under_way = visit.app.under_way().await?;
    let mut held: BTreeMap<String, Vec<&SubmissionView>> = BTreeMap::new();
    for view in &under_way.leased {
        let worker = view.lease.as_ref().map(|lease| lease.worker.to_string());
        held.entry(worker.unwrap_or_default()).or_default().push(view);
    }
    let mut workers: Vec<Worker> = known
        .iter()
        .map(|worker| {
            let tasks = worker.tasks.iter().map(|task| task.to_string()).collect();
            let mine = held.remove(&*worker.worker).unwrap_or_default();
            one(&eye, (&worker.worker, tasks), Some(eye.when(worker.last_seen_at)), &mine)
        })
        .collect();
    // They asked another server, or have not asked since this one began.
    workers.extend(held.iter().map(|(name, views)| one(&eye, (name, Vec::new()), None, views)));
    let left_out = under_way.left_out.iter().map(|(pipeline, state, count)| {
        let to = list(pipeline, &[("state", state), ("status", "open")]);
        Link::new(format!("{state} of {pipeline} ({})", number(*count)), to)
    });
    let page = Page { tasks, workers, left_out: left_out.collect() };
    visit.show(Sheet::new("Workers").live().typed(&visit.ask, "status", "/v1/workers"), &page)
}

fn one(
    eye: &Eye,
    (name, tasks): (&str, Vec<String>),
    seen: Option<When>,
    held: &[&SubmissionView],
) -> Worker {
    let in_hand = |view: &&SubmissionView| {
        let lease = view.lease.as_ref()?;
        let told = lease.progress.as_ref();
        Some(Held {
            id: Id::of(view.id),
            state: State::of(view),
            task: lease.task.to_string(),
            until: eye.when(lease.expires_at),
            line: told.and_then(|told| told.line.clone()).unwrap_or_default(),
            done: told.map_or(0, |told| told.done),
            total: told.and_then(|told| told.total).unwrap_or(0),
        })
    };
    Worker {
        name: name.to_owned(),
        tasks,
        seen,
        holds: held.iter().filter_map(in_hand).take(HELD_MAX).collect(),
        more: held.len().saturating_sub(HELD_MAX),
    }
}

impl Worker {
    /// Returns the list of all that a worker has in hand.
    fn list(&self) -> String {
        list("", &[("status", "open"), ("worker", &self.name)])
    }
}
