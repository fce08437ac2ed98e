//! The sample submissions: for every pipeline, some that go well and some that do not.

use std::time::Duration;

use client::Client;
use model::{Status, SubmissionId};
use serde_json::{Value, json};
use wire::api::{EventView, SubmissionView, SubmitBody};

use super::pipelines::{BATCHES, DELIVERY, SIGNING, SITES, SKILLS};

/// The pause between two looks for something that is about to be made.
const PAUSE: Duration = Duration::from_millis(20);

/// A sample. The answers of the sample workers depend on its payload: see `answers`.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub(super) pipeline: &'static str,
    pub(super) name: &'static str,
    /// The state where the sample ends, or stays until a person, a clock or an amendment moves it.
    pub(super) rests_in: &'static str,
    pub(super) payload: Value,
}

/// All samples, in the order in which they are submitted.
pub(super) fn all() -> Vec<Sample> {
    vec![
        skill("supabase", "postgres-basics", "PUBLISHED"),
        skill("lena", "commit-notes", "PUBLISHED"),
        skill("northwind", "log-reader", "NEEDS_REVIEW"),
        skill("opsbox", "server-admin", "NEEDS_REVIEW"),
        skill("quickwin", "seo-spam", "REJECTED"),
        skill("nobody", "wallet-drainer", "TIER1_FAILED"),
        site("shop.example", "WAITING_DELAY"),
        site("unready.example", "PRELIMINARY_VALIDATION_ERROR"),
        batch("atlas.checkm", "COMPLETED"),
        batch("torn-atlas.checkm", "FAILED"),
        request("near", '1', true, "PUBLISHED"),
        request("solana", '2', true, "PUBLISHED"),
        request("ethereum", '3', false, "AWAITING_FINALITY"),
    ]
}

fn skill(owner: &str, name: &'static str, rests_in: &'static str) -> Sample {
    let mut payload = json!({ "repo_url": format!("https://github.com/{owner}/skills"), "skill_name": name });
    if owner == "lena" {
        payload["email"] = json!("lena@mail.example");
    }
    Sample { pipeline: SKILLS, name, rests_in, payload }
}

fn site(name: &'static str, rests_in: &'static str) -> Sample {
    Sample { pipeline: SITES, name, rests_in, payload: json!({ "fqdn": name, "action": "ADD" }) }
}

fn batch(name: &'static str, rests_in: &'static str) -> Sample {
    let payload =
        json!({ "profile": "maps", "submitter": "ada", "type": "batch-manifest", "filename": name });
    Sample { pipeline: BATCHES, name, rests_in, payload }
}

fn request(chain: &'static str, digit: char, finalized: bool, rests_in: &'static str) -> Sample {
    let payload = json!({
        "sign_id": hex(digit),
        "chain": chain,
        "sender": format!("sample.{chain}"),
        "payload": hex('0'),
        "path": "sample",
        "key_version": 0,
        "finalized": finalized,
    });
    Sample { pipeline: SIGNING, name: chain, rests_in, payload }
}

/// 32 bytes that nobody takes for real ones.
fn hex(digit: char) -> String {
    digit.to_string().repeat(64)
}

/// A sample that has come to rest, and how it got there.
#[derive(Debug)]
pub(super) struct Walked {
    pub(super) sample: Sample,
    pub(super) submission: SubmissionView,
    pub(super) events: Vec<EventView>,
}

pub(super) async fn submit(client: &Client, sample: &Sample) -> anyhow::Result<SubmissionId> {
    let body = SubmitBody { payload: sample.payload.clone().into(), ..SubmitBody::default() };
    let once = format!("{}-{}", sample.pipeline, sample.name);
    Ok(client.submit(sample.pipeline, &body, Some(&once)).await?.id)
}

/// The mails that the samples have had sent.
pub(super) fn mails(rested: &[Walked]) -> Vec<(Sample, SubmissionId)> {
    let notified = rested.iter().flat_map(|walked| &walked.events).flat_map(|event| &event.notified);
    let mail = || Sample { pipeline: DELIVERY, name: "mail", rests_in: "SENT", payload: Value::Null };
    notified.flat_map(|told| told.deliveries.iter().map(|id| (mail(), *id))).collect()
}

/// Waits until a sample is where it should be, or can no longer get there, or the time is over.
pub(super) async fn follow(
    client: Client,
    sample: Sample,
    id: SubmissionId,
    patience: Duration,
) -> anyhow::Result<Walked> {
    let settled = tokio::time::timeout(patience, async {
        let mut seen = made(&client, id).await?;
        while &*seen.state != sample.rests_in && seen.status == Status::Open {
            seen = client.wait_for_change(id, seen.revision, None).await?;
        }
        anyhow::Ok(seen)
    });
    let submission = match settled.await {
        Ok(submission) => submission?,
        Err(_) => client.submission(id).await?,
    };
    let events = client.events(id, 0).await?.events;
    Ok(Walked { sample, submission, events })
}

/// Looks until it is there: a message is made by the commit after the one that asks for it.
async fn made(client: &Client, id: SubmissionId) -> anyhow::Result<SubmissionView> {
    loop {
        match client.submission(id).await {
            Err(error) if error.code() == Some("unknown-submission") => tokio::time::sleep(PAUSE).await,
            seen => return Ok(seen?),
        }
    }
}
