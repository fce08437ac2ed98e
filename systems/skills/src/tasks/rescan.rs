//! Published skills, scanned by the rules of today at the commit that is out; and taking them down.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use worker::{Failure, Outcome, Task};

use super::Bench;
use crate::registry::{IndexEntry, Key, SkillEntry};
use crate::scan::{self, Finding, RULES, Verdict};
use crate::source::{Error, Wanted};

/// The most skills that one round tells of; the next round tells of the rest.
const FOUND_MAX: usize = 100;
/// The most findings that are kept of each.
const FINDINGS_KEPT: usize = 5;
const FOUND_BY: &str = "RESCANNING";

/// A skill that does not pass any more.
#[derive(Debug, Serialize, Deserialize)]
struct Found {
    id: String,
    name: String,
    version: String,
    findings: Vec<Finding>,
}

#[derive(Deserialize)]
struct Payload {
    skill: Option<String>,
    reason: Option<String>,
}

/// The output of a round, as the action that withdraws reads it.
#[derive(Deserialize)]
struct Round {
    skills: Vec<Found>,
}

pub(super) async fn rescan(bench: Arc<Bench>, task: Task) -> Result<Outcome, Failure> {
    let rules: String = Sha256::digest(RULES).iter().map(|byte| format!("{byte:02x}")).collect();
    if bench.registry.scanned_by().map_err(registry)?.as_deref() == Some(rules.as_str()) {
        return Ok(Outcome::new("unchanged"));
    }
    let index = bench.registry.index().map_err(registry)?;
    let (mut found, mut unreachable) = (Vec::new(), 0u32);
    let out = index.skills.iter().filter(|skill| skill.withdrawn.is_none());
    for (done, skill) in (0u64..).zip(out) {
        task.report(wire::submission::Progress { done, total: Some(index.skills.len() as u64), line: None });
        match scanned(&bench, skill).await {
            Ok(None) => {}
            Ok(Some(fails)) if found.len() < FOUND_MAX => found.push(fails),
            Ok(Some(_)) => unreachable += 1,
            Err(Error::Machine(error)) => return Err(Failure::new("git", error.to_string())),
            Err(error) => {
                tracing::info!(skill = skill.id, %error, "a published skill cannot be scanned again");
                unreachable += 1;
            }
        }
    }
    // Whoever could not be looked at is looked at in the next round.
    if unreachable == 0 {
        bench.registry.set_scanned_by(&rules).map_err(registry)?;
    }
    Ok(match found.is_empty() {
        true => Outcome::new("clean").output(json!({ "unreachable": unreachable })),
        false => Outcome::new("found").output(json!({ "skills": found, "unreachable": unreachable })),
    })
}

/// Scans the newest version of a skill at its commit. One that passes is none.
async fn scanned(bench: &Bench, skill: &IndexEntry) -> Result<Option<Found>, Error> {
    let unreadable = |error: crate::registry::Error| Error::Machine(std::io::Error::other(error));
    let Some(entry) = bench.registry.skill(&skill.id).map_err(unreadable)? else { return Ok(None) };
    let Some(latest) = entry.latest() else { return Ok(None) };
    let wanted = Wanted { name: entry.name.clone(), path: Some(place(&entry)) };
    let snapshot = bench.git.snapshot(&entry.repository, Some(&latest.commit), &wanted).await?;
    let scanning = tokio::task::spawn_blocking(move || scan::scan(&snapshot.folder));
    let report = scanning.await.map_err(|error| Error::Machine(std::io::Error::other(error)))?;
    if report.verdict == Verdict::Pass {
        return Ok(None);
    }
    let findings = report.findings.into_iter().take(FINDINGS_KEPT).collect();
    Ok(Some(Found {
        id: entry.id.clone(),
        name: entry.name.clone(),
        version: latest.version.clone(),
        findings,
    }))
}

fn place(entry: &SkillEntry) -> String {
    match entry.place.as_str() {
        "" => scan::SKILL_FILE.to_owned(),
        place => format!("{place}/{}", scan::SKILL_FILE),
    }
}

pub(super) async fn withdraw(bench: Arc<Bench>, task: Task) -> Result<Outcome, Failure> {
    let payload: Payload = task.payload()?;
    let round: Option<Round> = task.output_of(FOUND_BY)?;
    let (skills, reason) = match (payload.skill, round) {
        (Some(skill), _) => (vec![skill], payload.reason.unwrap_or_default()),
        (None, Some(round)) => {
            let skills = round.skills.into_iter().map(|found| found.id).collect();
            (skills, "it does not pass the rules of today".to_owned())
        }
        (None, None) => {
            return Err(Failure::new("unexpected-input", "there is no skill to withdraw").permanent());
        }
    };
    let withdrawn = tokio::task::spawn_blocking(move || {
        let key = Key::open(&bench.name, &bench.key_file)?;
        let mut withdrawn = Vec::new();
        for skill in skills {
            if bench.registry.withdraw(&skill, &reason, &key)? {
                withdrawn.push(skill);
            }
        }
        Ok(withdrawn)
    });
    let withdrawn: Vec<String> = withdrawn.await?.map_err(registry)?;
    Ok(match withdrawn.is_empty() {
        true => Outcome::new("unknown"),
        false => Outcome::new("withdrawn").output(json!({ "skills": withdrawn })),
    })
}

fn registry(error: crate::registry::Error) -> Failure {
    Failure::new("registry", error.to_string())
}
