//! The home of a workload: in this process, or over HTTP against a server of its own.

mod connection;
mod inside;
mod outside;
mod rust_client;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;

use crate::pipelines::Machine;

pub(crate) use connection::Connection;
pub(crate) use inside::Inside;
pub(crate) use outside::{Outside, Program};
pub(crate) use rust_client::RustClient;

/// A lease, and which submission it is for.
#[derive(Debug, Clone)]
pub(crate) struct Task<T> {
    pub(crate) token: T,
    /// The number in its payload.
    pub(crate) number: u64,
}

/// Somebody who submits, one call at a time.
pub(crate) trait Submitter: Send + 'static {
    /// One call with these payloads.
    fn submit(&mut self, machine: Machine, payloads: Vec<String>) -> impl Future<Output = Result<()>> + Send;
}

/// A way to submit to any server that takes submissions.
pub(crate) trait Reach: Submitter + Sized {
    /// With a connection of its own.
    fn reach(server: SocketAddr) -> impl Future<Output = Result<Self>> + Send;
}

/// Somebody who submits and works.
pub(crate) trait Caller: Submitter {
    type Token: Send + Sync + Clone + 'static;

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
    type Caller: Caller;

    /// Returns the addresses of the servers; none in this process.
    fn servers(&self) -> &[SocketAddr];

    /// A caller of its own: over HTTP, with a connection of its own.
    fn caller(&self) -> impl Future<Output = Result<Self::Caller>> + Send;

    /// Returns the label of figures from here.
    fn label(&self) -> &str;
}
