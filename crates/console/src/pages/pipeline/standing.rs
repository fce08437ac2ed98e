//! The standing of a pipeline besides its machine: its lanes, its limits, its schedules.

use wire::api::{LaneLine, LimitView, PipelineView, ScheduleView};
use wire::{Name, Refusal};

use crate::ask::Visit;
use crate::fields::address;
use crate::look::Eye;
use crate::pages::PAGE;
use crate::parts::{Id, Link, State, When, list, pipeline_page};

/// The lanes that somebody is in line for.
pub(super) struct Lanes {
    pub(super) lanes: Vec<Lane>,
    pub(super) next: String,
    /// The reason why none are shown.
    pub(super) problem: String,
}

pub(super) struct Lane {
    pub(super) name: Link,
    pub(super) blocker: Option<Blocker>,
    pub(super) first: Option<Id>,
    pub(super) waits: Option<When>,
}

/// The submission that holds a lane.
pub(super) struct Blocker {
    pub(super) id: Id,
    pub(super) state: State,
    pub(super) entered: When,
}

pub(super) struct Limit {
    pub(super) name: Link,
    pub(super) in_use: u32,
    pub(super) most: Option<u32>,
}

pub(super) struct Schedule {
    pub(super) id: String,
    pub(super) next: Option<When>,
    pub(super) last: Option<When>,
    pub(super) made: Option<Id>,
    pub(super) refused: String,
}

pub(super) async fn lanes(visit: &Visit, eye: &Eye, name: &str) -> Result<Lanes, Refusal> {
    let after: Option<Name> = visit.ask.query().get("after").map(Into::into);
    // A token for labels sees no lanes: whose they are is not known.
    let found = match visit.app.lanes(name.into(), after, PAGE).await {
        Ok(found) => found,
        Err(refusal) => {
            return Ok(Lanes { lanes: Vec::new(), next: String::new(), problem: refusal.message });
        }
    };
    let next = found.next.as_deref().unwrap_or_default();
    let next = match next {
        "" => String::new(),
        next => address(&pipeline_page(name), [("tab", "lanes"), ("after", next)]),
    };
    let lanes = found.lanes.iter().map(|line| lane(eye, name, line)).collect();
    Ok(Lanes { lanes, next, problem: String::new() })
}

fn lane(eye: &Eye, pipeline: &str, line: &LaneLine) -> Lane {
    Lane {
        name: Link::new(&*line.lane, list(pipeline, &[("lane", &line.lane)])),
        blocker: line.blocker.as_ref().map(|blocker| Blocker {
            id: Id::of(blocker.submission),
            state: State::at(pipeline, &blocker.state, blocker.status),
            entered: eye.when(blocker.entered_at),
        }),
        first: line.first.map(Id::of),
        waits: eye.when_if(line.first_created_at),
    }
}

pub(super) async fn limits(visit: &Visit, name: &str) -> Result<Vec<Limit>, Refusal> {
    let figures = visit.app.figures().await?;
    let limit = |known: &LimitView| {
        let to = list(name, &[(&format!("label.{}", known.label), &known.value), ("status", "open")]);
        Limit {
            name: Link::new(format!("{}: {}", known.label, known.value), to),
            in_use: known.in_use,
            most: known.most,
        }
    };
    let mut limits: Vec<Limit> =
        figures.limits.iter().filter(|known| *known.pipeline == *name).map(limit).collect();
    limits.sort_by_key(|limit| std::cmp::Reverse(limit.in_use));
    limits.truncate(PAGE);
    Ok(limits)
}

pub(super) fn schedules(eye: &Eye, view: &PipelineView) -> Vec<Schedule> {
    let schedule = |known: &ScheduleView| Schedule {
        id: known.id.to_string(),
        next: eye.when_if(known.next_at),
        last: eye.when_if(known.last_at),
        made: known.submission.map(Id::of),
        refused: known.refused.clone().unwrap_or_default(),
    };
    view.schedules.iter().map(schedule).collect()
}
