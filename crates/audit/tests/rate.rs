//! The speed at which a whole log is audited, on one core. Prints the rate of five passes; the promise is 500,000
//! events a second in release.

use crate::common;

use std::time::Instant;

use audit::verify::{LogOptions, verify_log};
use common::story::{Story, pipeline};
use common::{Deployment, REPORT, leaves, trust};
use model::Time;
use model::event::Leaf;

const SUBMISSIONS: u32 = 100_000;
const EVENTS_PER_SECOND_MIN: f64 = 500_000.0;

/// The leaves of one real story, again under other ids.
fn again(pattern: &[Leaf], number: u32) -> Vec<Vec<u8>> {
    let mut previous = None;
    let mut written = Vec::new();
    for leaf in pattern {
        let mut leaf = leaf.clone();
        leaf.submission =
            model::SubmissionId::new(pattern[0].at, std::array::from_fn(|at| number.to_be_bytes()[at % 4]));
        leaf.previous = previous;
        let bytes = leaf.bytes();
        previous = Some(Leaf::hash(&bytes));
        written.push(bytes);
    }
    written
}

#[test]
#[ignore = "a measurement, meant for release builds: cargo test -p milepost-audit --release rate:: -- --ignored --nocapture"]
fn a_whole_log_is_audited_at_half_a_million_events_a_second() {
    let mut story = Story::of(pipeline(REPORT));
    story.now = Time::from_millis(1_200_000_000_000);
    story.submit(common::story::admin(), r#"{"id":"r","pages":120}"#).unwrap();
    story.act("approve").unwrap();
    let token = story.claim_any();
    story.fail(token, "smtp").unwrap();
    story.pass("1m");
    story.wake();
    let token = story.claim_any();
    story.finish(token, "sent", r#"{"copies":3}"#).unwrap();
    story.pass("2h");
    story.wake();
    let pattern: Vec<Leaf> = story.events.iter().map(|event| event.leaf.clone()).collect();

    // Submissions are interleaved a thousand at a time, as workers would have them.
    let mut deployment = Deployment::new();
    deployment.apply(&story.pipeline);
    for thousand in 0..SUBMISSIONS / 1_000 {
        let stories: Vec<Vec<Vec<u8>>> =
            (0..1_000).map(|number| again(&pattern, thousand * 1_000 + number)).collect();
        let batch: Vec<Vec<u8>> = (0..pattern.len())
            .flat_map(|revision| stories.iter().map(move |story| story[revision].clone()))
            .collect();
        deployment.publish(&batch);
    }
    let bytes: usize = leaves(&story.events).iter().map(Vec::len).sum();
    let checkpoint = deployment.checkpoint();
    let audit = || verify_log(&deployment.store, &checkpoint, &trust(), &LogOptions::default()).unwrap();
    let rates: Vec<f64> = (0..5)
        .map(|_| {
            let started = Started::now();
            let report = audit();
            let (on_core, elapsed) = started.seconds();
            let rate = report.events as f64 / on_core;
            println!(
                "{} events of {} bytes: {on_core:.2} s on one core, {rate:.0} events/s ({elapsed:.2} s in all)",
                report.events,
                bytes / pattern.len(),
            );
            rate
        })
        .collect();
    let best = rates.into_iter().fold(0.0, f64::max);
    assert!(best >= EVENTS_PER_SECOND_MIN, "{best:.0} events/s");
}

/// Counts the time this thread was on a core, as far as the machine tells it: others may be using the cores too.
struct Started {
    at: Instant,
    on_core: Option<f64>,
}

impl Started {
    #[allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]
    fn now() -> Self {
        Started { at: Instant::now(), on_core: on_core() }
    }

    /// Returns the seconds on a core, and in all.
    fn seconds(&self) -> (f64, f64) {
        let elapsed = self.at.elapsed().as_secs_f64();
        let on_core = self.on_core.zip(on_core()).map(|(before, now)| now - before);
        (on_core.unwrap_or(elapsed), elapsed)
    }
}

fn on_core() -> Option<f64> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = told.split(' ').next()?.parse().ok()?;
    (nanoseconds > 0.0).then_some(nanoseconds / 1e9)
}
