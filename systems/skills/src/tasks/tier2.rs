//! Tier 2: have the pinned commit judged.

use std::sync::Arc;

use serde_json::json;
use sha2::{Digest as _, Sha256};
use worker::{Failure, Outcome, Task};

use super::{Bench, PINNED_BY, Scanned};
use crate::judge::Case;

pub(super) async fn judge(bench: Arc<Bench>, task: Task) -> Result<Outcome, Failure> {
    let pinned: Scanned = task
        .output_of(PINNED_BY)?
        .ok_or_else(|| Failure::new("unexpected-input", "no scan has pinned a commit").permanent())?;
    let Some(judge) = &bench.judge else {
        return Ok(Outcome::new("unjudged").output(json!({ "high_privilege": pinned.high_privilege })));
    };
    let snapshot = bench.fetch_pinned(&task, &pinned).await?;
    let text = snapshot.text();
    let canary = canary(&task);
    let case = Case { text: &text, findings: &pinned.findings, canary: &canary };
    let judged = judge.judge(case).await.map_err(|error| Failure::new("judge", error.to_string()))?;
    Ok(Outcome::new("scored").output(json!({
        "score": judged.score,
        "high_privilege": pinned.high_privilege,
        "concerns": judged.concerns,
        "rationale": judged.rationale,
        "model": judge.model(),
    })))
}

/// Returns a text that only this attempt has: the lease's token has random bits, and nobody who writes a skill sees it.
fn canary(task: &Task) -> String {
    let hash = Sha256::digest(format!("canary of {}", task.token));
    hash.iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}
