//! The answers of the sample worker, task by task.

mod ingest;
mod skills;

use client::{Failure, Outcome};
use serde_json::{Value, json};

pub(super) use skills::RULES;

/// From a submission's payload.
type Answer = fn(&Value) -> Result<Outcome, Failure>;

pub(super) const ANSWERS: &[(&str, Answer)] = &[
    ("delivery.mail", |_| done("sent", json!({ "reply": "250 ok" }))),
    ("ingest.clean", |_| done("cleaned", json!({}))),
    ("ingest.download", ingest::download),
    ("ingest.estimate", |_| done("done", json!({ "space_needed": 4096 }))),
    ("ingest.expand", ingest::expand),
    ("ingest.process", |_| done("done", json!({ "ark": "ark:/99999/sample", "manifest": "manifest.xml" }))),
    ("ingest.provision", |_| done("ready", json!({}))),
    ("ingest.record", |_| done("done", json!({ "version": 1 }))),
    ("ingest.report", |_| done("reported", json!({}))),
    ("signing.publish", |_| done("published", json!({ "transaction": "sample", "block_height": 8 }))),
    ("signing.sign", |_| done("signed", json!({ "big_r": "02aa", "s": "bb", "recovery_id": 0 }))),
    ("site-list.log-inclusion", |_| done("included", json!({ "proof": ["sample"], "tree_head": "sample" }))),
    ("site-list.log-submit", |_| done("accepted", json!({ "leaf": "sample" }))),
    ("site-list.validate", validate_site),
    ("skills.publish", skills::publish),
    ("skills.rescan", |_| done("unchanged", json!({}))),
    ("skills.tier1-scan", skills::tier1_scan),
    ("skills.tier2-scan", skills::tier2_scan),
    ("skills.withdraw", |payload| done("withdrawn", json!({ "skills": [text(payload, "skill")] }))),
];

fn done(outcome: &str, output: Value) -> Result<Outcome, Failure> {
    Ok(Outcome::new(outcome).output(output))
}

fn text<'a>(payload: &'a Value, field: &str) -> &'a str {
    payload[field].as_str().unwrap_or_default()
}

fn validate_site(change: &Value) -> Result<Outcome, Failure> {
    if text(change, "fqdn").starts_with("unready") {
        return done("invalid", json!({ "code": "no-header", "message": "the site names no signers" }));
    }
    let signer = json!({ "identity": "release@shop.example", "issuer": "https://accounts.example" });
    let csp = json!({ "default-src": ["'none'"] });
    let action = text(change, "action");
    done("ok", json!({ "signers": [signer], "threshold": 1, "csp": csp, "action": action, "entry": null }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::pipelines;
    use super::*;

    /// The tasks that the server does itself.
    const BUILT_IN: [&str; 1] = ["delivery.post"];

    #[test]
    fn every_task_that_no_system_does_for_real_has_an_answer() {
        let all = crate::systems::all();
        let is_real = |name: &str| all.iter().any(|system| system.name() == name && system.demo().is_some());
        let pipelines = pipelines::loaded(|name| !is_real(name));
        let asked: BTreeSet<&str> =
            pipelines.iter().flat_map(model::Pipeline::tasks).map(|task| &*task.name).collect();
        let answered: BTreeSet<&str> = ANSWERS.iter().map(|(name, _)| *name).chain(BUILT_IN).collect();
        assert_eq!(answered, asked);
    }
}
