//! Service levels are measured, by all servers together, and outlive a restart.

use std::sync::Arc;
use std::time::Duration;

use crate::support::{WORK, application, claim, done, memory};
use engine::levels::{LevelReport, Window};
use engine::{Engine, Options};
use model::pipeline::Source;
use store::ManualClock;
use store::Store;

async fn started(store: &Arc<dyn Store>) -> Engine {
    let toml = WORK.replace("on.done", "sla = { target = \"1s\", p95 = \"3s\" }\non.done");
    let toml = format!("{toml}\n[sla.whole]\nto = \"DONE\"\np95 = \"1m\"\n");
    let engine = Engine::start(store.clone(), &Options::default()).unwrap();
    engine.apply(&Source::new("work.toml", toml)).await.unwrap();
    engine
}

/// Has one done that takes so long.
async fn work(engine: &Engine, clock: &ManualClock, id: &str, took: i64) {
    engine.submit("work", application(id), None).await.unwrap();
    clock.advance(took);
    let task = engine.claim(claim(1), Duration::from_secs(5)).await.unwrap().remove(0);
    engine.settle(task.token, done(task.token)).await.unwrap();
}

/// Returns the measurements once as many are counted: counting comes after the answer.
async fn measured(engine: &Engine, count: u64) -> Vec<LevelReport> {
    let look = async {
        loop {
            let levels = engine.levels().await.unwrap();
            if levels[0].windows[0].measured >= count {
                return levels;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), look).await.expect("it is counted")
}

#[tokio::test]
async fn a_target_and_a_p95_each_have_a_figure_and_a_verdict() {
    let (store, clock) = memory();
    let engine = started(&store).await;
    for (id, took) in [("a", 500), ("b", 600), ("c", 2_000), ("d", 9_000)] {
        work(&engine, &clock, id, took).await;
    }
    let levels = measured(&engine, 4).await;
    let shown: Vec<_> =
        levels.iter().map(|level| (level.key.level.kind(), &**level.key.level.name())).collect();
    assert_eq!(shown, [("state", "DOING"), ("leg", "whole")]);
    let hour = &levels[0].windows[0];
    let (target, p95) = (hour.target.unwrap(), hour.p95.unwrap());
    assert_eq!((hour.window, hour.measured), (Window::Hour, 4));
    assert_eq!((target.met, target.within), (true, 0.5), "half keep to a second");
    assert!((500..=1_000).contains(&target.figure.millis()), "{target:?}");
    assert_eq!((p95.met, p95.within), (false, 0.75), "one of four takes longer than three");
    assert!((8_000..10_200).contains(&p95.figure.millis()), "{p95:?}");
    let leg = &levels[1].windows[0];
    assert_eq!((leg.measured, leg.target), (4, None), "the leg declares no target");
    assert!(leg.p95.unwrap().met);

    clock.advance(3_600_000);
    work(&engine, &clock, "e", 100).await;
    let levels = measured(&engine, 1).await;
    let counts: Vec<_> = levels[0].windows.iter().map(|window| window.measured).collect();
    assert_eq!(counts, [1, 5, 5], "of the last hour, day and month");
}

#[tokio::test]
async fn what_was_measured_outlives_a_server_that_stops() {
    let (store, clock) = memory();
    let first = started(&store).await;
    work(&first, &clock, "a", 500).await;
    measured(&first, 1).await;
    first.drain().await;
    let second = started(&store).await;
    assert_eq!(measured(&second, 1).await[0].windows[0].measured, 1);
    work(&second, &clock, "b", 500).await;
    assert_eq!(measured(&second, 2).await[0].windows[0].measured, 2, "its own come on top");
}

#[tokio::test]
async fn servers_add_to_what_others_have_measured() {
    let (store, clock) = memory();
    let (one, two) = (started(&store).await, started(&store).await);
    for (engine, id) in [(&one, "a"), (&two, "b"), (&one, "c")] {
        work(engine, &clock, id, 500).await;
    }
    measured(&one, 2).await;
    measured(&two, 1).await;
    one.drain().await;
    two.drain().await;
    assert_eq!(measured(&started(&store).await, 3).await[0].windows[0].measured, 3);
}
