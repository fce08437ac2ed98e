//! Measures the cost of many lanes and holds: `cargo run --release -p milepost-engine --example scale [SIZE]`.
//!
//! Fills an embedded store with queues of SIZE submissions each (a million unless told) and prints what claims cost in
//! each of them, what placing a hold over a whole queue costs, and what the hold costs those it does not cover. The
//! figures are this machine's; what to look at is how the lines compare.

mod queue;

use std::time::Duration;

use engine::core::{Ask, Output};
use engine::{Hold, clock};
use model::{Actor, Time};
use queue::{Claims, Queues};

const SIZE: usize = 1_000_000;
/// Tasks of one claim.
const CLAIM: usize = 100;
/// Claims of one measurement, in turns with those it is compared to.
const CLAIMS: usize = 100;
/// Rounds of claiming one task and finishing it.
const ROUNDS: usize = 1_000;
/// More than what is claimed before the hold is placed.
const SIZE_MIN: usize = 2 * CLAIM * CLAIMS + ROUNDS;

const FREE: &str = r#"
name = "free"
version = 1
title = "No lanes"
labels = { zone = "payload.zone" }
start = "WORK"
[states.WORK]
task = "free.work"
lease = "1h"
on.done = "DONE"
[states.DONE]
final = "success"
"#;

fn main() {
    let size = std::env::args().nth(1).map_or(SIZE, |text| text.parse().expect("SIZE is a number"));
    assert!(size >= SIZE_MIN, "SIZE is at least {SIZE_MIN}, or claims find nothing left");
    let many = laned("many");
    let one = laned("one");
    let mut queues = Queues::open(&[FREE, &many, &one]);
    fill(&mut queues, "free", size, |_| r#"{"zone":"a"}"#.to_owned());
    fill(&mut queues, "free", 3 * CLAIM * CLAIMS, |_| r#"{"zone":"b"}"#.to_owned());
    fill(&mut queues, "many", size, |n| format!(r#"{{"lane":"{n}"}}"#));
    fill(&mut queues, "one", size, |_| r#"{"lane":"only"}"#.to_owned());
    lanes(&mut queues, size);
    holds(&mut queues, size);
}

/// A queue of which only holders of a lane are leased.
fn laned(name: &str) -> String {
    FREE.replace("free", name)
        .replace("labels = { zone = \"payload.zone\" }", "lane = { key = \"payload.lane\" }")
}

fn fill(queues: &mut Queues, pipeline: &str, size: usize, payload: impl Fn(usize) -> String) {
    let began = clock::instant();
    queues.fill(pipeline, size, payload);
    let took = began.elapsed();
    eprintln!("{size} submissions to `{pipeline}` in {took:.1?}: {:.0}/s", rate(size, took));
}

/// The same claims in turns, so that whatever else the machine does is shared by all.
fn lanes(queues: &mut Queues, size: usize) {
    let mut tasks = [(0, Duration::ZERO); 2];
    for _ in 0..CLAIMS {
        for ((granted, took), task) in tasks.iter_mut().zip(["free.work", "many.work"]) {
            let claims = Claims { task, zone: None, max: CLAIM };
            let (tokens, time) = queues.claim(&claims);
            *granted += tokens.len();
            *took += time;
        }
    }
    let mut rounds = [Duration::ZERO; 3];
    for _ in 0..ROUNDS {
        for (took, task) in rounds.iter_mut().zip(["free.work", "many.work", "one.work"]) {
            *took += queues.round(task);
        }
    }
    println!("{:<44}{:>16}{:>16}", "", "claimed/s", "claim+finish/s");
    let claimed: Vec<f64> = tasks.iter().map(|(granted, took)| rate(*granted, *took)).collect();
    let names = [format!("{size} waiting, no lanes"), format!("{size} waiting, a lane each")];
    for ((name, claimed), took) in names.iter().zip(&claimed).zip(&rounds) {
        println!("{name:<44}{claimed:>16.0}{:>16.0}", rate(ROUNDS, *took));
    }
    let one = format!("{size} waiting, one lane for all");
    println!("{one:<44}{:>16}{:>16.0}", "one at a time", rate(ROUNDS, rounds[2]));
    let [free, many, one] = rounds.map(|took| rate(ROUNDS, took));
    println!("lanes to no lanes: {:.2} claimed, {:.2} in rounds", claimed[1] / claimed[0], many / free);
    println!("a lane each to one lane: {:.2} in rounds\n", many / one);
}

fn holds(queues: &mut Queues, size: usize) {
    let others = Claims { task: "free.work", zone: Some("b"), max: CLAIM };
    let before = queues.claim_often(&others, CLAIMS);
    let hold = Hold {
        id: clock::fresh_id().to_string().into(),
        pipeline: Some("free".into()),
        labels: [("zone".into(), "a".into())].into(),
        lane: None,
        submission: None,
        reason: "to see what it costs".to_owned(),
        owner: Actor::system(),
        created_at: Time::EPOCH,
        expires_at: None,
    };
    let placed = queues.timed(Ask::Hold(Box::new(hold.clone())));
    assert!(matches!(placed.0, Output::Hold(_)), "a hold was placed");
    let after = queues.claim_often(&others, CLAIMS);
    let all = Claims { zone: None, ..others };
    let longest = queues.claim_nothing(&all, CLAIMS);
    let again = queues.claim_often(&others, CLAIMS);
    let released = queues.timed(Ask::Release(hold.id));
    println!("a hold over {size} waiting: placed in {:.1?}, released in {:.1?}", placed.1, released.1);
    println!("claims that meet what is held and get nothing: {longest:.1?} the longest of {CLAIMS}");
    println!(
        "claimed/s of another label: {before:.0} before the hold, {after:.0} under it, {again:.0} later"
    );
    println!("under the hold to before it: {:.2}", after / before);
}

#[allow(
    clippy::cast_precision_loss,
    reason = "counts of a measurement are far below where a double loses one"
)]
fn rate(count: usize, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64()
}
