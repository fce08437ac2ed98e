//! Working: claim, do nothing, finish.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;
use tokio::task::JoinSet;

use super::Rate;
use crate::home::{Caller, Home};
use crate::pipelines::Machine;
use crate::stopwatch::now;

const WAIT: Duration = Duration::from_millis(200);

/// The callers that work, and how they do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crew {
    pub(crate) callers: usize,
    /// Tasks a caller asks for at once.
    pub(crate) claim: usize,
    /// True: what was claimed is finished in one call; false: each task in a call of its own.
    pub(crate) together: bool,
}

/// Works until so many tasks are finished.
pub(crate) async fn work<H: Home>(home: &H, machine: Machine, tasks: usize, crew: Crew) -> Result<Rate> {
    let left = Arc::new(AtomicUsize::new(tasks));
    let mut callers = Vec::new();
    for _ in 0..crew.callers {
        callers.push(home.caller().await?);
    }
    let began = now();
    let mut running: JoinSet<Result<()>> = JoinSet::new();
    for caller in callers {
        running.spawn(one(caller, machine, crew, left.clone()));
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(Rate { count: tasks, took: began.elapsed() })
}

async fn one<C: Caller>(mut caller: C, machine: Machine, crew: Crew, left: Arc<AtomicUsize>) -> Result<()> {
    // What is wanted is taken off before it is claimed, so that no more is claimed than is counted.
    while let Some(share) = super::take(&left, crew.claim) {
        let tasks = caller.claim(machine, share, WAIT).await?;
        left.fetch_add(share - tasks.len(), Ordering::Relaxed);
        if crew.together {
            if !tasks.is_empty() {
                caller.finish(tasks).await?;
            }
            continue;
        }
        for task in tasks {
            caller.finish(vec![task]).await?;
        }
    }
    Ok(())
}
