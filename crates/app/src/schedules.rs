//! Shows the schedules by which a pipeline submits.

use std::collections::BTreeMap;

use engine::core::{SCHEDULES, Scheduled};
use model::{Json, Pipeline, Time};
use store::Store;
use wire::api::ScheduleView;

const PAGE: usize = 1_000;

/// The last deeds of schedules, by the names they are registered under.
pub(crate) type Served = BTreeMap<String, Json>;

/// Reads what the schedules of one pipeline have done.
pub(crate) fn served(store: &dyn Store, pipeline: &str) -> Result<Served, store::Error> {
    let prefix = format!("{pipeline}/");
    let mut served = Served::new();
    let mut after = prefix.clone();
    loop {
        let page = store.registry(SCHEDULES, &after, PAGE)?;
        let whole = page.len() == PAGE && page.iter().all(|(name, _)| name.starts_with(&prefix));
        after = page.last().map_or(after, |(name, _)| name.clone());
        served.extend(page.into_iter().filter(|(name, _)| name.starts_with(&prefix)));
        if !whole {
            return Ok(served);
        }
    }
}

/// Returns the schedules of a version. One that is not the newest submits nothing any more.
pub(crate) fn views(pipeline: &Pipeline, newest: bool, served: &Served, now: Time) -> Vec<ScheduleView> {
    let view = |schedule: &model::pipeline::Schedule| {
        let body = served.get(&format!("{}/{}", pipeline.name, schedule.id));
        let last = body.and_then(|body| serde_json::from_str::<Scheduled>(body.as_str()).ok());
        ScheduleView {
            id: schedule.id.clone(),
            next_at: schedule.cron.after(now).filter(|_| newest),
            last_at: last.as_ref().map(|last| last.at),
            submission: last.as_ref().and_then(|last| last.submission),
            refused: last.and_then(|last| last.refused),
        }
    };
    pipeline.schedules.iter().map(view).collect()
}
