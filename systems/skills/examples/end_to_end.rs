//! Measures the way from the submission to the registry, with real repositories and a judge that answers at once.
//!
//! `cargo run --release -p milepost-skills --example end_to_end`
#![allow(clippy::unwrap_used, reason = "a measurement that cannot be made has failed")]
#![allow(dead_code, reason = "the tests use more of what stands around them")]

#[path = "../tests/suite/ground.rs"]
mod ground;
#[path = "../tests/suite/judge_server.rs"]
mod judge_server;
#[path = "../tests/suite/support.rs"]
mod support;

use ground::Ground;
use judge_server::{Behaviour, JudgeServer};
use serde_json::Value;

/// The skills that are submitted one after the other.
const SKILLS: usize = 60;
/// The most that p95 may be, besides the judge's own time.
const TARGET_MS: i64 = 1_000;

fn at(step: &Value) -> i64 {
    let time: wire::Time = step["createdAt"].as_str().unwrap().parse().unwrap();
    time.millis()
}

#[tokio::main]
async fn main() {
    let judge = JudgeServer::new(&[Behaviour::Score(92)]).await;
    let ground = Ground::new(Some(&judge)).await;
    let names = ["received to scanned", "scanned to judged", "judged to published", "end to end"];
    let mut took: [Vec<i64>; 4] = Default::default();
    for no in 0..SKILLS {
        let text = support::skill(&format!("Open form {no}, list its fields, and write the values."));
        let repository = ground.host.repository(&format!("owner{no}/skills"));
        repository.write("skills/pdf/SKILL.md", &text).commit();
        let waited = ground.review(&format!("https://github.com/owner{no}/skills")).await;
        assert_eq!(&*waited.submission.state, "PUBLISHED", "{:?}", waited.submission);
        let steps: Vec<i64> = ground.audit(waited.submission.id).await.iter().map(at).collect();
        for (took, (from, to)) in took.iter_mut().zip([(0, 2), (2, 3), (3, 4), (0, 4)]) {
            took.push(steps[to] - steps[from]);
        }
    }
    println!("{SKILLS} skills, one after the other\n{:<22} {:>8} {:>8} {:>8}", "", "median", "p95", "most");
    for (name, took) in names.iter().zip(&mut took) {
        took.sort_unstable();
        let (median, p95) = (took[SKILLS / 2], took[SKILLS * 95 / 100]);
        println!("{name:<22} {median:>5} ms {p95:>5} ms {:>5} ms", took[SKILLS - 1]);
    }
    let p95 = took[3][SKILLS * 95 / 100];
    println!("target: p95 below {TARGET_MS} ms, {}", if p95 < TARGET_MS { "met" } else { "MISSED" });
}
