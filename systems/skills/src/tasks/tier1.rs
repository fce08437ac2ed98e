//! Tier 1: fetch the newest commit, pin it, scan it.

use std::sync::Arc;

use serde_json::json;
use tokio::time::Instant;
use worker::{Failure, Outcome, Task};

use super::{Bench, FINDINGS_KEPT, Scanned, failure};
use crate::scan::{self, Report, Verdict};
use crate::source::Error;

pub(super) async fn scan(bench: Arc<Bench>, task: Task) -> Result<Outcome, Failure> {
    let snapshot = match bench.fetch(&task, None).await {
        Ok(snapshot) => snapshot,
        // The repository is there, the skill is not: that is for whoever submitted it to put right.
        Err(Error::NoSkill(reason)) => {
            let report = Report::without_skill(reason);
            return Ok(Outcome::new("fail").output(json!({ "findings": report.findings })));
        }
        Err(error) => return Err(failure(error)),
    };
    let (snapshot, report, took) = tokio::task::spawn_blocking(move || {
        // The rules' own compiling is no part of any scan.
        scan::prepare();
        let started = Instant::now();
        let report = scan::scan(&snapshot.folder);
        (snapshot, report, started.elapsed())
    })
    .await?;
    let mut findings = report.findings;
    findings.truncate(FINDINGS_KEPT);
    let scanned = Scanned {
        commit: snapshot.commit.clone(),
        content_hash: snapshot.content_hash(),
        findings,
        score: report.score,
        high_privilege: report.high_privilege,
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
    };
    let outcome = match report.verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "fail",
    };
    Ok(Outcome::new(outcome).output(serde_json::to_value(scanned)?))
}
