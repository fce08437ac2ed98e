//! Sample workers. They look at nothing but a skill's name: real ones would clone, scan and publish.

use std::time::Duration;

use client::{Client, Error, Failure, Outcome, Task, Worker};
use serde::Deserialize;
use serde_json::json;

const GRACE: Duration = Duration::from_secs(5);

/// The rules, for people.
pub(super) const RULES: &str = "\
The sample workers go by a skill's name: `drainer` fails the first scan, `spam` is rejected by the second, `reader`
raises concerns, `admin` asks for high privileges; everything else is fine.";

#[derive(Deserialize)]
struct Skill {
    repo_url: String,
    skill_name: String,
}

pub(super) async fn run(client: Client, stop: impl Future<Output = ()>) -> Result<(), Error> {
    Worker::new(client, "sample-worker")
        .task("skills.tier1-scan", tier1_scan)
        .task("skills.tier2-scan", tier2_scan)
        .task("skills.publish", publish)
        .concurrency(4)
        .grace(GRACE)
        .run(stop)
        .await
}

async fn tier1_scan(task: Task) -> Result<Outcome, Failure> {
    let skill: Skill = task.payload()?;
    if skill.skill_name.contains("drainer") {
        let finding =
            json!({ "rule": "credential-theft", "file": "SKILL.md", "line": 12, "text": "~/.wallet/key" });
        return Ok(Outcome::new("fail").output(json!({ "findings": [finding] })));
    }
    Ok(Outcome::new("pass").output(json!({ "findings": [], "duration_ms": 12 })))
}

async fn tier2_scan(task: Task) -> Result<Outcome, Failure> {
    let skill: Skill = task.payload()?;
    let named = |word: &str| skill.skill_name.contains(word);
    let (score, concerns): (u32, &[&str]) = match () {
        () if named("spam") => (35, &["serves nobody but its author"]),
        () if named("reader") => (71, &["reads files outside its folder"]),
        () if named("admin") => (91, &["runs commands as root"]),
        () => (92, &[]),
    };
    let judged = json!({
        "score": score,
        "high_privilege": named("admin"),
        "concerns": concerns,
        "model": "sample rules",
    });
    Ok(Outcome::new("scored").output(judged))
}

async fn publish(task: Task) -> Result<Outcome, Failure> {
    let skill: Skill = task.payload()?;
    let published = json!({ "skill_id": format!("sk_{}", skill.skill_name), "version": "1.0.0" });
    let result = json!({ "skill_id": published["skill_id"], "repo_url": skill.repo_url });
    Ok(Outcome::new("published").output(published).result(result))
}
