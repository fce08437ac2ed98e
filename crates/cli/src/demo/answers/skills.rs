//! Skills are judged by their names.

use client::{Failure, Outcome};
use serde_json::{Value, json};

use super::{done, text};

/// The rules, for people.
pub(in crate::demo) const RULES: &str = "\
The sample workers go by a skill's name: `drainer` fails the first scan, `spam` is rejected by the second, `reader`
raises concerns, `admin` asks for high privileges; everything else is fine.";

pub(super) fn tier1_scan(skill: &Value) -> Result<Outcome, Failure> {
    if text(skill, "skill_name").contains("drainer") {
        let finding =
            json!({ "rule": "credential-theft", "file": "SKILL.md", "line": 12, "text": "~/.wallet/key" });
        return done("fail", json!({ "findings": [finding] }));
    }
    let (commit, hash) = pin(skill);
    done("pass", json!({ "commit": commit, "content_hash": hash, "findings": [], "duration_ms": 12 }))
}

/// Commit and hash of a sample, which has neither: made from its name.
fn pin(skill: &Value) -> (String, String) {
    let hash = model::Digest::of(text(skill, "skill_name").as_bytes());
    let hash: String = hash.0.iter().map(|byte| format!("{byte:02x}")).collect();
    (hash[..40].to_owned(), hash)
}

pub(super) fn tier2_scan(skill: &Value) -> Result<Outcome, Failure> {
    let named = |word: &str| text(skill, "skill_name").contains(word);
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
    done("scored", judged)
}

pub(super) fn publish(skill: &Value) -> Result<Outcome, Failure> {
    let id = format!("sk_{}", text(skill, "skill_name"));
    let result = json!({ "skill_id": id, "repo_url": skill["repo_url"] });
    let (commit, hash) = pin(skill);
    let published = json!({ "skill_id": id, "version": "1.0.0", "commit": commit, "content_hash": hash });
    Ok(done("published", published)?.result(result))
}
