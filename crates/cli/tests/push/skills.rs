//! The queue of skills, as its page declares it: every job of a review is a message.

use serde_json::{Value, json};
use tempfile::TempDir;
use wire::api::SubmitBody;

use crate::common::Server;
use crate::notifications::deliveries::seen;
use crate::push::consumer::{Consumer, Mood};

/// The tables of the page, with a place and a pace that suit a test.
fn settings(consumer: &Consumer, secret: &std::path::Path) -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/push.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, block) = page.split_once("```toml\n[queue.submission-pipeline]").unwrap();
    let block = block.split("```").next().unwrap();
    let changed = block
        .replace("https://scanner.example", &format!("http://{}", consumer.address))
        .replace("/etc/milepost/scanner.secret", secret.to_str().unwrap())
        .replace("max_batch_timeout = \"30s\"", "max_batch_timeout = \"10ms\"");
    format!("[queue.submission-pipeline]{changed}")
}

/// Does every job well.
fn worked(message: &Value) -> (&'static str, Value) {
    let (commit, content_hash) = ("a".repeat(40), "b".repeat(64));
    let pinned = json!({ "commit": commit, "content_hash": content_hash, "findings": [] });
    let published =
        json!({ "version": "1.0.0", "skill_id": "sk_1", "commit": commit, "content_hash": content_hash });
    let (outcome, output) = match message["body"]["jobType"].as_str().unwrap() {
        "tier1-scan" => ("pass", pinned),
        "tier2-scan" => ("scored", json!({ "score": 92, "model": "judge-1" })),
        _ => ("published", published),
    };
    ("acks", json!({ "outcome": outcome, "output": output }))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_of_skills_pushes_jobs_as_its_document_has_them() {
    let consumer = Consumer::start(Mood::Says(worked)).await;
    let folder = TempDir::new().unwrap();
    let (secret, file) = (folder.path().join("secret"), folder.path().join("milepost.toml"));
    std::fs::write(&secret, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=\n").unwrap();
    std::fs::write(&file, settings(&consumer, &secret)).unwrap();
    let port = consumer.address.port().to_string();
    let args = ["--config", file.to_str().unwrap(), "--allow-address", "127.0.0.0/8", "--allow-port", &port];
    let server = Server::with_own_and(&args.map(str::to_owned));
    let client = server.client();
    let payload = json!({ "repo_url": "https://github.com/somebody/tools", "skill_name": "pdf" });
    let body = SubmitBody { payload: payload.clone().into(), ..SubmitBody::default() };
    let id = client.submit("skill-review", &body, None).await.unwrap().id;
    seen(&client, id, |view| &*view.state == "PUBLISHED").await;
    let batches = consumer.batches();
    let bodies: Vec<&Value> =
        batches.iter().flat_map(|batch| batch.messages()).map(|message| &message["body"]).collect();
    let job = |kind: &str| json!({ "submissionId": id, "jobType": kind, "payload": payload });
    assert_eq!(bodies, [&job("tier1-scan"), &job("tier2-scan"), &job("publish")]);
    let second = &batches[1].messages()[0];
    assert_eq!(second["outputs"]["TIER1_SCANNING"]["commit"], json!("a".repeat(40)), "it is pinned");
}
