//! The numbers that the store knows: how much is where, how old it is, and how far readers are behind.

use std::collections::BTreeMap;

use engine::metrics::OTHER;
use engine::{Engine, Standing};
use model::{InvestigationStatus, Name, Status};
use store::Count;

use super::scrape::{Kind, Sheet, labels};
use super::store_queries::Stand;

/// States, and cursors, that are told apart.
const PLACES_MAX: usize = 2_000;
const CURSORS_MAX: usize = 50;

pub(super) fn tell(sheet: &mut Sheet, engine: &Engine, stand: &Stand) {
    counts(sheet, engine, stand);
    investigations(sheet, engine, stand);
    ages(sheet, engine, stand);
    sheet
        .gauge("milepost_feed_newest_position", "The position of the newest event")
        .value(Vec::new(), stand.newest as f64);
    let lag =
        sheet.gauge("milepost_feed_lag_events", "Positions between a named cursor and the newest event");
    let mut lags: BTreeMap<Name, u64> = BTreeMap::new();
    for (index, (name, position)) in stand.cursors.iter().enumerate() {
        let name = if index < CURSORS_MAX { name } else { OTHER };
        let lag = lags.entry(name.into()).or_default();
        *lag = (*lag).max(stand.newest.saturating_sub(*position));
    }
    for (cursor, events) in lags {
        lag.value(labels!(cursor = cursor), events as f64);
    }
    sheet
        .gauge("milepost_store_bytes", "The bytes that the store takes; 0 where it does not know")
        .value(Vec::new(), stand.bytes.unwrap_or(0) as f64);
    // Told where none was made, too: an alert on what is not there never fires.
    sheet
        .gauge("milepost_backup_timestamp_seconds", "The time of the last backup; 0 where none is known")
        .value(Vec::new(), stand.backed_up_at.map_or(0.0, |at| at.millis() as f64 / 1_000.0));
    if let Some((log, unpublished)) = &stand.log {
        let mut gauge = |name, help, value| {
            sheet.gauge(name, help).value(Vec::new(), value);
        };
        gauge("milepost_log_size", "Leaves under the published checkpoint of the audit log", log.size as f64);
        gauge("milepost_log_unpublished", "Leaves that wait for the next checkpoint", *unpublished as f64);
        let running = f64::from(log.standing == Standing::Running);
        gauge("milepost_log_running", "Whether the audit log goes on", running);
    }
}

fn counts(sheet: &mut Sheet, engine: &Engine, stand: &Stand) {
    let mut places: BTreeMap<(Name, Name, Status), u64> = BTreeMap::new();
    for pipeline in engine.pipelines().current().all() {
        for state in &pipeline.states {
            places.insert((pipeline.name.clone(), state.name.clone(), state.status()), 0);
        }
    }
    for count in &stand.counts {
        *places.entry((count.pipeline.clone(), count.state.clone(), count.status)).or_default() +=
            count.count;
    }
    let family = sheet.gauge("milepost_submissions", "How many submissions are in a state");
    let mut others: BTreeMap<Status, u64> = BTreeMap::new();
    for (index, ((pipeline, state, status), count)) in places.into_iter().enumerate() {
        if index < PLACES_MAX {
            let labels = labels!(pipeline = pipeline, state = state, status = status.as_str());
            family.value(labels, count as f64);
        } else {
            *others.entry(status).or_default() += count;
        }
    }
    for (status, count) in others {
        family.value(labels!(pipeline = OTHER, state = OTHER, status = status.as_str()), count as f64);
    }
}

/// Every state that asks for it is told, though nothing ended there: an alert on what is not there never fires.
fn investigations(sheet: &mut Sheet, engine: &Engine, stand: &Stand) {
    let mut open: BTreeMap<(Name, Name), u64> = BTreeMap::new();
    for pipeline in engine.pipelines().current().all() {
        for state in pipeline.states.iter().filter(|state| state.investigate().is_some()) {
            open.insert((pipeline.name.clone(), state.name.clone()), 0);
        }
    }
    let waiting = |count: &&Count| count.investigation == Some(InvestigationStatus::Open);
    for count in stand.counts.iter().filter(waiting) {
        *open.entry((count.pipeline.clone(), count.state.clone())).or_default() += count.count;
    }
    let help = "Ends that somebody should look into and nobody has acknowledged";
    let family = sheet.gauge("milepost_investigations_open", help);
    let mut others = 0;
    for (index, ((pipeline, state), count)) in open.into_iter().enumerate() {
        if index < PLACES_MAX {
            family.value(labels!(pipeline = pipeline, state = state), count as f64);
        } else {
            others += count;
        }
    }
    if others > 0 {
        family.value(labels!(pipeline = OTHER, state = OTHER), others as f64);
    }
}

fn ages(sheet: &mut Sheet, engine: &Engine, stand: &Stand) {
    let now = engine.now();
    let help = "Since when the oldest open submission of a state has been there at all, not only in it";
    let family = sheet.seconds("milepost_oldest_age", help, Kind::Gauge);
    for oldest in stand.oldest.iter().take(PLACES_MAX) {
        let age = now.since(oldest.id.made_at()).millis() as f64 / 1_000.0;
        let (pipeline, state) = (oldest.pipeline.clone(), oldest.state.clone());
        family.value(labels!(pipeline = pipeline, state = state), age);
    }
}
