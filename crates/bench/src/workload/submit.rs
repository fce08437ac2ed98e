//! Submitting: one at a time from many callers, or many in a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use tokio::task::JoinSet;

use super::Rate;
use crate::home::{Home, Submitter};
use crate::pipelines::{Machine, payload};
use crate::stopwatch::now;

/// Has so many callers submit until there are `count`, `each` in a call.
pub(crate) async fn submit<H: Home>(
    home: &H,
    machine: Machine,
    count: usize,
    callers: usize,
    each: usize,
) -> Result<Rate> {
    let mut crew = Vec::new();
    for _ in 0..callers {
        crew.push(home.caller().await?);
    }
    submit_by(crew, machine, count, each).await
}

pub(crate) async fn submit_by<S: Submitter>(
    crew: Vec<S>,
    machine: Machine,
    count: usize,
    each: usize,
) -> Result<Rate> {
    let left = Arc::new(AtomicUsize::new(count));
    let began = now();
    let mut running: JoinSet<Result<()>> = JoinSet::new();
    for mut submitter in crew {
        let left = left.clone();
        running.spawn(async move {
            while let Some(share) = take(&left, each) {
                submitter.submit(machine, (0..share).map(|_| payload()).collect()).await?;
            }
            Ok(())
        });
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(Rate { count, took: began.elapsed() })
}

/// Submits as quickly as possible, for a workload that begins with something there.
pub(crate) async fn fill<H: Home>(home: &H, machine: Machine, count: usize) -> Result<Rate> {
    submit(home, machine, count, 4, 250).await
}

/// Up to `each` of what is left; none: all is taken.
pub(crate) fn take(left: &AtomicUsize, each: usize) -> Option<usize> {
    let before =
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(each)));
    let before = before.unwrap_or(0);
    (before > 0).then(|| before.min(each))
}
