//! Where a workload runs: in this process, or over HTTP against a server of its own.

mod connection;
mod inside;
mod outside;

use std::time::Duration;

use anyhow::Result;

use crate::pipelines::Machine;

pub(crate) use connection::Connection;
pub(crate) use inside::Inside;
pub(crate) use outside::{Outside, Program};

/// A lease, and which submission it is for.
#[derive(Debug, Clone)]
pub(crate) struct Task<T> {
    pub(crate) token: T,
    /// The number in its payload.
    pub(crate) number: u64,
}

/// Somebody who submits and works, one call at a time.
pub(crate) trait Caller: Send + 'static {
    type Token: Send + Sync + Clone + 'static;

    /// One call with these payloads.
    fn submit(&mut self, machine: Machine, payloads: Vec<String>) -> impl Future<Output = Result<()>> + Send;

    fn claim(
        &mut self,
        machine: Machine,
        max: usize,
        wait: Duration,
    ) -> impl Future<Output = Result<Vec<Task<Self::Token>>>> + Send;

    /// One call that finishes all of these.
    fn finish(&mut self, tasks: Vec<Task<Self::Token>>) -> impl Future<Output = Result<()>> + Send;
}

pub(crate) trait Home: Sync {
    /// Whether its callers pay for a request.
    const OVER_HTTP: bool;

    type Caller: Caller;

    /// A caller of its own: over HTTP, with a connection of its own.
    fn caller(&self) -> impl Future<Output = Result<Self::Caller>> + Send;

    /// What figures from here are labelled with.
    fn label(&self) -> &str;
}
