//! A server that is killed with much waiting, and begins again.

use std::time::Duration;

use anyhow::Result;

use super::{Crew, fill, work};
use crate::home::{Connection, Outside, Program};
use crate::pipelines::ONE;
use crate::stopwatch::now;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Restart {
    /// The time until the server said it was ready.
    pub(crate) ready: Duration,
    /// The time until the server had done 500 tasks in a row at four fifths of its old pace, or a minute had passed.
    pub(crate) full_speed: Duration,
}

const TASKS: usize = 2_000;

/// Kills the server while somebody submits, and starts it over the same data.
pub(crate) async fn restart(server: Outside, program: &Program, crew: Crew) -> Result<(Restart, Outside)> {
    let before = work(&server, ONE, TASKS, crew).await?;
    let victim = async {
        // Cut off by the kill: that it fails is the point.
        let _ = fill(&server, ONE, 100_000).await;
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), victim).await;
    server.kill().await?;
    let began = now();
    let server = Outside::start(program, 1).await?;
    loop {
        let mut connection = Connection::open(server.address()).await?;
        if connection.get("/readyz").await?.status == 200 {
            break;
        }
    }
    let ready = began.elapsed();
    // In small portions, until one is done at four fifths of the old pace.
    loop {
        let after = work(&server, ONE, TASKS / 4, crew).await?;
        if after.per_second() >= 0.8 * before.per_second() || began.elapsed() > Duration::from_secs(60) {
            return Ok((Restart { ready, full_speed: began.elapsed() }, server));
        }
    }
}
