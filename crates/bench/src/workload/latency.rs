//! From the moment somebody begins to submit to the moment a worker has the task, at a steady pace.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::sync::mpsc;

use crate::home::{Caller, Home, Submitter as _};
use crate::pipelines::{ONE, numbered};
use crate::spread::Spread;
use crate::stopwatch::{now, wait_until};

/// Between one submission and the next.
pub(crate) const PACE: Duration = Duration::from_millis(10);
const WORKERS: usize = 4;
/// Beyond what other workloads number.
const FIRST: u64 = 1 << 40;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Latency {
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

pub(crate) async fn latency<H: Home>(home: &H, samples: usize) -> Result<Latency> {
    let (started, mut starts) = mpsc::unbounded_channel();
    let mut workers = Vec::new();
    for _ in 0..WORKERS {
        workers.push(tokio::spawn(worker(home.caller().await?, started.clone())));
    }
    drop(started);
    let mut submitter = home.caller().await?;
    let mut ticks = ticks(samples);
    let mut begun: HashMap<u64, Instant> = HashMap::new();
    for number in (FIRST..).take(samples) {
        // The moment it was to begin: what a slow answer delays counts, too.
        let Some(at) = ticks.recv().await else { break };
        begun.insert(number, at);
        submitter.submit(ONE, vec![numbered(number)]).await?;
    }
    let mut spread = Spread::default();
    while spread.len() < samples {
        let Some((number, at)) = starts.recv().await else { break };
        if let Some(begun) = begun.get(&number) {
            spread.add(at.duration_since(*begun));
        }
    }
    workers.iter().for_each(|worker| worker.abort());
    Ok(Latency { p50: spread.at(0.5), p99: spread.at(0.99) })
}

/// Moments at a steady pace, whoever is late. A thread of its own, because timers of the runtime are a millisecond late,
/// which would be most of what is measured.
fn ticks(count: usize) -> mpsc::UnboundedReceiver<Instant> {
    let (tick, ticks) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let begin = now();
        for number in (1..).take(count) {
            wait_until(begin + PACE * number);
            if tick.send(now()).is_err() {
                break;
            }
        }
    });
    ticks
}

async fn worker<C: Caller>(mut caller: C, started: mpsc::UnboundedSender<(u64, Instant)>) -> Result<()> {
    loop {
        let tasks = caller.claim(ONE, 1, Duration::from_secs(5)).await?;
        let now = now();
        for task in &tasks {
            // Nobody listens any more once everything was measured.
            let _ = started.send((task.number, now));
        }
        if !tasks.is_empty() {
            caller.finish(tasks).await?;
        }
    }
}
