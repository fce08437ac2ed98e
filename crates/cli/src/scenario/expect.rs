//! The facts that a submission shows, under the names expectations use.

use model::event::Kind;
use model::json::Value;
use model::{Json, Submission};
use store::{LaneKey, Recorded, Store as _};

use super::stage::Stage;

#[derive(Debug)]
pub(super) struct Expectation {
    pub(super) key: &'static str,
    pub(super) value: Value,
}

impl Expectation {
    pub(super) fn text(&self) -> String {
        Json::from_value(&self.value).as_str().to_owned()
    }
}

impl Stage<'_> {
    /// Returns what is there instead, if it is not what was expected.
    pub(super) fn differs(&self, wanted: &Expectation) -> Option<String> {
        let actual = match wanted.key {
            "duplicate" => Value::from(self.heard.duplicate),
            "repeated" => Value::from(self.heard.repeated),
            "gets" => self.heard.gets.iter().map(String::as_str).collect(),
            key => match self.row() {
                Ok(row) => self.shows(key, &row),
                Err(fault) => return Some(fault.to_string()),
            },
        };
        let fits = match wanted.key {
            "events" | "path" => ends_with(&actual, &wanted.value),
            "metadata" | "payload" | "outputs" | "labels" | "counts" => holds(&actual, &wanted.value),
            _ => actual == wanted.value,
        };
        (!fits).then(|| Json::from_value(&actual).as_str().to_owned())
    }

    fn shows(&self, key: &str, row: &Submission) -> Value {
        let text = |text: Option<&str>| Value::from(text.unwrap_or_default());
        match key {
            "state" => Value::from(&*row.state),
            "status" => Value::from(row.status.as_str()),
            "phase" => text(self.phase(row).as_deref()),
            "events" | "history" => {
                self.history(row).iter().map(|recorded| &*recorded.event.leaf.trigger).collect()
            }
            "path" => self.path(row),
            "actor" => text(self.history(row).last().map(|last| last.event.leaf.actor.kind.as_str())),
            "metadata" => self.metadata(row),
            "notified" => self.notified(row),
            "payload" => self.document(row, "payload"),
            "outputs" => self.document(row, "outputs"),
            "labels" => {
                row.labels.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
            }
            "counts" => counts(row),
            "attempt" => Value::from(row.attempt),
            "requeues" => Value::from(row.requeues),
            "priority" => Value::from(row.priority),
            "position" => Value::from(self.position(row)),
            "waits_for" => Value::from(self.waits_for(row)),
            "due" => {
                Value::from(row.timer.map_or_else(String::new, |at| at.since(self.world.now()).to_string()))
            }
            "error" => text(row.error.as_ref().map(|error| &*error.code)),
            "failed_from" => text(row.failed_from.as_deref()),
            "last_good" => text(row.last_good.as_deref()),
            "investigation" => text(row.investigation().map(|investigation| investigation.status().as_str())),
            other => unreachable!("`{other}` is no expectation"),
        }
    }

    /// Returns what took the submission out of its queue, or else what the submission waits for.
    fn waits_for(&self, row: &Submission) -> &'static str {
        if row.parked.is_none() {
            return row.wait.as_str();
        }
        let limit =
            self.pipeline(Some(&row.pipeline)).ok().and_then(|pipeline| pipeline.limit_that_parks(row));
        if limit.is_some() { "limit" } else { "hold" }
    }

    fn phase(&self, row: &Submission) -> Option<String> {
        let state = self.pipeline(Some(&row.pipeline)).ok()?.state(&row.state)?;
        state.phase.as_deref().map(str::to_owned)
    }

    fn history(&self, row: &Submission) -> Vec<Recorded> {
        store::history_all(&*self.world.store, row.id).unwrap_or_default()
    }

    /// The states it entered, one after the other.
    fn path(&self, row: &Submission) -> Value {
        let history = self.history(row);
        let entered = history
            .iter()
            .filter(|recorded| matches!(recorded.event.leaf.kind, Kind::Submitted | Kind::Moved));
        entered.map(|recorded| &*recorded.event.leaf.to).collect()
    }

    /// Lists whom the step told, in the order of the events and their files. Whoever has no address was not told.
    fn notified(&self, row: &Submission) -> Value {
        let history = self.history(row);
        let of_the_step = history.iter().filter(|recorded| recorded.seq > self.since);
        let mut names: Vec<&str> = Vec::new();
        for Recorded { event, .. } in of_the_step {
            let told = event.detail.notified.iter().filter(|told| !told.deliveries.is_empty());
            // One name may be told in two ways.
            let mut once: Vec<&str> = told.map(|told| &*told.name).collect();
            once.dedup();
            names.extend(once);
        }
        names.into_iter().collect()
    }

    fn metadata(&self, row: &Submission) -> Value {
        // Erasing follows at once where nothing is retained; what was said before it is what is asked for.
        let said = self.history(row).into_iter().filter(|recorded| recorded.event.leaf.kind != Kind::Erased);
        let last = said.last().and_then(|last| last.event.detail.metadata);
        last.map_or_else(|| Value::Object([].into()), |metadata| metadata.value())
    }

    fn document(&self, row: &Submission, which: &str) -> Value {
        let Ok(Some((_, documents))) = self.world.store.submission(row.id) else { return Value::Null };
        if which == "payload" {
            return documents.payload.value();
        }
        documents.outputs.iter().map(|(state, output)| (state.to_string(), output.value())).collect()
    }

    /// 0: it has its lane; 1: it is first in line; -1: neither.
    fn position(&self, row: &Submission) -> i64 {
        let Some(seat) = &row.seat else { return -1 };
        let lane = LaneKey { pipeline: row.pipeline.clone(), lane: seat.lane.clone() };
        let Ok(line) = self.world.store.line(&lane, usize::MAX) else { return -1 };
        if line.holder == Some(row.id) {
            return 0;
        }
        let place = line.waiting.iter().position(|id| *id == row.id);
        place.and_then(|place| i64::try_from(place + 1).ok()).unwrap_or(-1)
    }
}

fn counts(row: &Submission) -> Value {
    let children = row.children;
    let counts = [
        ("total", children.total),
        ("open", children.open),
        ("succeeded", children.succeeded),
        ("failed", children.failed),
        ("cancelled", children.cancelled),
    ];
    counts.into_iter().collect()
}

fn ends_with(actual: &Value, wanted: &Value) -> bool {
    match (actual.as_array(), wanted.as_array()) {
        (Some(actual), Some(wanted)) => actual.ends_with(wanted),
        _ => false,
    }
}

/// Tells whether everything that is wanted is there; what is not mentioned may be as it likes.
fn holds(actual: &Value, wanted: &Value) -> bool {
    match wanted {
        Value::Object(members) => {
            members.iter().all(|(name, wanted)| actual.get(name).is_some_and(|actual| holds(actual, wanted)))
        }
        _ => actual == wanted,
    }
}
