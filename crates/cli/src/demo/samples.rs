//! The sample submissions: one for every way through the pipeline.

use std::time::Duration;

use client::Client;
use model::SubmissionId;
use model::api::{EventView, SubmissionView, SubmitBody};
use serde_json::json;

use super::pipeline::NAME;

pub(super) struct Sample {
    pub(super) owner: &'static str,
    pub(super) skill: &'static str,
    /// Where it ends, or waits for a person.
    pub(super) rests_in: &'static str,
}

/// What the sample workers make of a skill depends on its name: see `workers`.
pub(super) const SAMPLES: &[Sample] = &[
    Sample { owner: "supabase", skill: "postgres-basics", rests_in: "PUBLISHED" },
    Sample { owner: "lena", skill: "commit-notes", rests_in: "PUBLISHED" },
    Sample { owner: "northwind", skill: "log-reader", rests_in: "NEEDS_REVIEW" },
    Sample { owner: "opsbox", skill: "server-admin", rests_in: "NEEDS_REVIEW" },
    Sample { owner: "quickwin", skill: "seo-spam", rests_in: "REJECTED" },
    Sample { owner: "nobody", skill: "wallet-drainer", rests_in: "TIER1_FAILED" },
];

/// A sample that has come to rest, and how it got there.
pub(super) struct Walked {
    pub(super) sample: &'static Sample,
    pub(super) submission: SubmissionView,
    pub(super) events: Vec<EventView>,
}

pub(super) async fn submit(client: &Client, sample: &Sample) -> anyhow::Result<SubmissionId> {
    let repo_url = format!("https://github.com/{}/skills", sample.owner);
    let payload = json!({ "repo_url": repo_url, "skill_name": sample.skill }).into();
    let answer =
        client.submit(NAME, &SubmitBody { payload, ..SubmitBody::default() }, Some(sample.skill)).await?;
    Ok(answer.id)
}

pub(super) async fn follow(
    client: &Client,
    sample: &'static Sample,
    id: SubmissionId,
    patience: Duration,
) -> anyhow::Result<Walked> {
    let submission = client.wait(id, Some(patience)).await?.submission;
    let events = client.events(id, 0).await?.events;
    Ok(Walked { sample, submission, events })
}
