//! The counts of the engine, under their names.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::core::Tally;
use engine::metrics::{Counter, Leases, StateMetrics, Tasks};
use engine::{Condition, Engine, clock};
use model::Name;

use super::scrape::{Kind, Sheet, Value, labels};

type Places = [((Name, Name), Arc<StateMetrics>)];

/// The level of a state's own clock; those of legs are called by their names.
const STATE: &str = "state";

pub(super) fn tell(sheet: &mut Sheet, engine: &Engine) {
    declare(engine);
    let places = engine.metrics().places.all();
    states(sheet, &places);
    tasks(sheet, engine, &places);
    breaches(sheet, &places);
    leases(sheet, &engine.metrics().leases.all());
    let polling = sheet.gauge("milepost_workers_polling", "Long polls that wait for a task now");
    for (task, count) in engine.metrics().polling() {
        polling.value(labels!(task = task), count as f64);
    }
    commits(sheet, engine);
    queues(sheet, engine);
    refusals(sheet, engine);
    duties(sheet, engine);
    sheet
        .gauge("milepost_clock_in_doubt", "1 while the clock is far from what is known, and erasing waits")
        .value(Vec::new(), f64::from(u8::from(engine.clock().doubt.is_some())));
}

/// Declares every state and task. What has not happened yet is told as zero, so that its first time is seen as a rise.
fn declare(engine: &Engine) {
    for pipeline in engine.pipelines().current().all() {
        pipeline.states.iter().for_each(|state| engine.metrics().places.declare(&pipeline.name, &state.name));
        pipeline.tasks().for_each(|task| engine.metrics().leases.declare(&pipeline.name, &task.name));
    }
}

fn states(sheet: &mut Sheet, places: &Places) {
    let mut received: BTreeMap<&Name, u64> = BTreeMap::new();
    for ((pipeline, _), place) in places {
        *received.entry(pipeline).or_default() += place.submitted.get();
    }
    let family = sheet.counter("milepost_submitted", "Submissions taken in");
    for (pipeline, count) in received {
        family.count(labels!(pipeline = pipeline.clone()), count);
    }
    let mut each = |name: &str, help: &str, counter: fn(&StateMetrics) -> &Counter| {
        let family = sheet.counter(name, help);
        for ((pipeline, state), place) in places {
            family.count(labels!(pipeline = pipeline.clone(), state = state.clone()), counter(place).get());
        }
    };
    each("milepost_state_entered", "Submissions that came into a state", |place| &place.entered);
    each("milepost_state_left", "Submissions that left a state", |place| &place.left);
    each("milepost_retries", "Attempts that failed and are made again", |place| &place.retried);
    each("milepost_crashes", "Leases that ended without a word from their worker", |place| &place.crashed);
    each("milepost_dead_letters", "Submissions that became dead letters", |place| &place.died);
    each("milepost_redrives", "Dead letters that were set going again", |place| &place.redriven);
    let help = "How long submissions stayed in a state that they left";
    let dwell = sheet.seconds("milepost_state_dwell", help, Kind::Histogram);
    for ((pipeline, state), place) in places {
        let labels = labels!(pipeline = pipeline.clone(), state = state.clone());
        dwell.add(labels, Value::Histogram(place.dwell.read()));
    }
}

/// Adds the metrics of the states that have something done: a task of their own, or that of an action.
fn tasks(sheet: &mut Sheet, engine: &Engine, places: &Places) {
    let versions = engine.pipelines().current();
    let works = |pipeline: &Name, state: &Name| {
        let states = versions.versions(pipeline).filter_map(|version| version.state(state));
        states.into_iter().any(|state| {
            let mut edges = state.actions.iter().flat_map(|action| &action.edges);
            state.task().is_some() || edges.any(|edge| edge.task.is_some())
        })
    };
    let working: Vec<_> = places
        .iter()
        .filter(|((pipeline, state), place)| place.tasks.ended() > 0 || works(pipeline, state))
        .collect();
    let ended = sheet.counter("milepost_tasks_ended", "Tasks that ended, by how");
    for ((pipeline, state), place) in &working {
        let Tasks { finished, failed, dead } = &place.tasks;
        for (end, counter) in [("finished", finished), ("failed", failed), ("dead", dead)] {
            let labels = labels!(pipeline = pipeline.clone(), state = state.clone(), end = end);
            ended.count(labels, counter.get());
        }
    }
    let help = "How long the attempts took that finished their task";
    let attempt = sheet.seconds("milepost_attempt", help, Kind::Histogram);
    for ((pipeline, state), place) in &working {
        let labels = labels!(pipeline = pipeline.clone(), state = state.clone());
        attempt.add(labels, Value::Histogram(place.attempt.read()));
    }
}

fn breaches(sheet: &mut Sheet, places: &Places) {
    let family = sheet.counter("milepost_sla_breaches", "Service levels that were missed");
    for ((pipeline, state), place) in places {
        let mut missed: BTreeMap<Name, u64> = BTreeMap::from([(STATE.into(), 0)]);
        for (level, count) in place.late() {
            *missed.entry(level.unwrap_or_else(|| STATE.into())).or_default() += count;
        }
        for (level, count) in missed {
            family.count(labels!(pipeline = pipeline.clone(), state = state.clone(), level = level), count);
        }
    }
}

fn leases(sheet: &mut Sheet, leases: &[((Name, Name), Arc<Leases>)]) {
    let named = |(pipeline, task): &(Name, Name)| labels!(pipeline = pipeline.clone(), task = task.clone());
    let granted = sheet.counter("milepost_leases_granted", "Tasks given to workers");
    for (name, leases) in leases {
        granted.count(named(name), leases.granted.get());
    }
    let ended = sheet.counter("milepost_leases_ended", "Leases that are over, by how they ended");
    for ((pipeline, task), leases) in leases {
        let ends = [
            ("settled", &leases.settled),
            ("snoozed", &leases.snoozed),
            ("given_back", &leases.given_back),
            ("expired", &leases.expired),
            ("revoked", &leases.revoked),
        ];
        for (end, counter) in ends {
            let labels = labels!(pipeline = pipeline.clone(), task = task.clone(), end = end);
            ended.count(labels, counter.get());
        }
    }
    let held = sheet.gauge("milepost_leases_held", "Leases granted since the start that are not over");
    for (name, leases) in leases {
        held.value(named(name), leases.held.get() as f64);
    }
}

fn commits(sheet: &mut Sheet, engine: &Engine) {
    let metrics = engine.metrics();
    let help = "Transactions that wrote something; over SQLite one fsync each";
    sheet.counter("milepost_commits", help).count(Vec::new(), metrics.commits.get());
    let help = "From taking what a batch needs to having it on disk";
    let seconds = sheet.seconds("milepost_commit", help, Kind::Histogram);
    seconds.add(Vec::new(), Value::Histogram(metrics.commit_seconds.read()));
    let help = "Commands decided together; what the engine does by itself is not counted";
    let batch = sheet.family("milepost_batch_commands", help, Kind::Histogram, None);
    batch.add(Vec::new(), Value::Histogram(metrics.batch.read()));
    let help = "Times the store could not be reached or written";
    sheet.counter("milepost_store_failures", help).count(Vec::new(), metrics.store_failures.get());
    let up = *engine.condition().borrow() == Condition::Running;
    sheet.gauge("milepost_store_up", "Whether the store can be written").value(Vec::new(), f64::from(up));
    let help = "How long the first of what is due by itself (timers, effects) has been due";
    let behind = metrics.due_behind_ms.get() as f64 / 1_000.0;
    sheet.seconds("milepost_due_behind", help, Kind::Gauge).value(Vec::new(), behind);
}

fn queues(sheet: &mut Sheet, engine: &Engine) {
    let queues = engine.queues();
    let depth = sheet.gauge("milepost_queue_depth", "Commands that wait to be decided");
    for queue in &queues {
        depth.value(labels!(queue = queue.name), queue.waiting as f64);
    }
    let capacity = sheet.gauge("milepost_queue_capacity", "Commands that may wait to be decided");
    for queue in &queues {
        capacity.value(labels!(queue = queue.name), queue.capacity as f64);
    }
    let shed = sheet.counter("milepost_shed", "Commands sent away because their queue was full");
    for queue in &queues {
        shed.count(labels!(queue = queue.name), queue.shed);
    }
}

fn refusals(sheet: &mut Sheet, engine: &Engine) {
    let family = sheet.counter("milepost_refusals", "Commands the engine refused, by code");
    for (code, count) in engine.metrics().refusals() {
        family.count(labels!(code = code.as_str()), count);
    }
    let Tally { submitted, merged, refused } = engine.received();
    sheet
        .counter("milepost_inbox", "What was taken out of the inbox, by what became of it")
        .count(labels!(outcome = "submitted"), submitted)
        .count(labels!(outcome = "merged"), merged)
        .count(labels!(outcome = "refused"), refused.values().sum());
    let family =
        sheet.counter("milepost_inbox_refusals", "What was taken out of the inbox and refused, by code");
    for (code, count) in refused {
        family.count(labels!(code = code), count);
    }
}

fn duties(sheet: &mut Sheet, engine: &Engine) {
    let (duties, now) = (engine.duties(), clock::wall());
    let help = "When a duty's pass last ended well";
    let good = sheet.seconds("milepost_duty_last_good_pass_timestamp", help, Kind::Gauge);
    for duty in &duties {
        if let Some(ago) = duty.last_good_ago {
            let at = now.millis() as f64 / 1_000.0 - ago.as_secs_f64();
            good.value(labels!(duty = duty.name), at);
        }
    }
    let passes = sheet.counter("milepost_duty_passes", "Passes of a duty that ended well");
    for duty in &duties {
        passes.count(labels!(duty = duty.name), duty.passes);
    }
    let failures = sheet.counter("milepost_duty_failures", "Passes of a duty that failed");
    for duty in &duties {
        failures.count(labels!(duty = duty.name), duty.failures);
    }
    let ours = sheet.gauge("milepost_duty_here", "Whether this server does a duty, and not another");
    for duty in &duties {
        ours.value(labels!(duty = duty.name), f64::from(duty.elsewhere.is_none()));
    }
}
