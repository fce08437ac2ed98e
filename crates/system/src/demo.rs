//! A system's part of `milepost demo`: real counterparts in miniature, samples, and the story that is told of them.

use std::path::Path;

use async_trait::async_trait;
use client::Client;
use wire::SubmissionId;

use crate::command::Failed;

/// A demonstration. It runs in the demo's process and ends with it: what it starts ends when it is dropped.
#[async_trait]
pub trait Demo: Send {
    /// Starts counterparts on loopback, at free ports, and says with which settings the system meets them. `folder` is
    /// empty, and goes when the demo ends.
    async fn start(&mut self, folder: &Path) -> Result<Staged, Failed>;

    /// Submits the samples through the public client, as a user would, and returns when they have come to rest.
    async fn tell(&mut self, client: Client) -> Result<Story, Failed>;

    /// Keeps work moving after that, for as long as the demo runs: a submission now and then, of a bounded number at a time.
    async fn go_on(&mut self, client: Client) {
        let _ = client;
    }
}

/// Counterparts that have started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Staged {
    /// Tables of a settings file: `[system.NAME]`, and `[params.PIPELINE]` of the system's pipelines.
    pub settings: String,
    /// The ports of this machine that the system's guarded way out may connect to.
    pub ports: Vec<u16>,
}

/// The samples of a system, and where to look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Story {
    /// The text that the demo prints: what was done, where to look, what to try.
    pub text: String,
    /// The samples, in the order in which they were submitted.
    pub samples: Vec<SubmissionId>,
}
