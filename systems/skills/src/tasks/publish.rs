//! Publishing: the pinned commit, or the newest one of an organisation that is trusted.

use std::sync::Arc;

use serde_json::{Value, json};
use worker::{Failure, Outcome, Task};

use super::{Bench, PINNED_BY, Scanned, failure, wish};
use crate::registry::{Key, Release};
use crate::scan::FrontMatter;
use crate::source::Snapshot;

pub(super) async fn publish(bench: Arc<Bench>, task: Task) -> Result<Outcome, Failure> {
    let pinned: Option<Scanned> = task.output_of(PINNED_BY)?;
    let snapshot = match &pinned {
        Some(pinned) => bench.fetch_pinned(&task, pinned).await?,
        None => bench.fetch(&task, None).await.map_err(failure)?,
    };
    check_whole(&snapshot)?;
    let release = release(&task, &snapshot, pinned.as_ref())?;
    let published = tokio::task::spawn_blocking(move || {
        let key = Key::open(&bench.name, &bench.key_file)?;
        bench.registry.publish(release, &key)
    })
    .await?
    .map_err(|error| Failure::new("registry", error.to_string()))?;
    Ok(Outcome::new("published").output(json!({
        "version": published.version,
        "skill_id": published.id,
        "commit": published.commit,
        "content_hash": published.content_hash,
    })))
}

/// Refuses what was not read as a whole: its hash would be that of something else. Nobody has scanned what comes by the vendor's way.
fn check_whole(snapshot: &Snapshot) -> Result<(), Failure> {
    let is_read = |file: &crate::scan::File| file.bytes.len() as u64 == file.size;
    match !snapshot.folder.is_cut && snapshot.folder.files.iter().all(is_read) {
        true => Ok(()),
        false => {
            Err(Failure::new("not-whole", "the skill is too large, or has links or submodules").permanent())
        }
    }
}

fn release(task: &Task, snapshot: &Snapshot, pinned: Option<&Scanned>) -> Result<Release, Failure> {
    let (repository, wanted) = wish(task)?;
    let text = snapshot.text();
    let front_matter = FrontMatter::read(&text).unwrap_or_default();
    Ok(Release {
        repository,
        name: wanted.name,
        place: snapshot.place.clone(),
        description: front_matter.description.unwrap_or_default(),
        commit: snapshot.commit.clone(),
        content_hash: snapshot.content_hash(),
        text,
        submission: task.submission,
        // The time of the claim by the server's clock.
        published_at: task.lease_expires_at.minus(task.lease),
        certified_by: certified_by(task, pinned)?,
    })
}

/// Returns what each tier said.
fn certified_by(task: &Task, pinned: Option<&Scanned>) -> Result<Value, Failure> {
    let Some(pinned) = pinned else {
        return Ok(json!({ "vendor": task.labels.get("owner") }));
    };
    let judged: Option<Value> = task.output_of("TIER2_SCANNING")?;
    let of_judge = |field: &str| judged.as_ref().and_then(|judged| judged.get(field)).cloned();
    Ok(json!({
        "tier1": { "score": pinned.score, "findings": pinned.findings.len(), "high_privilege": pinned.high_privilege },
        "tier2": { "score": of_judge("score"), "model": of_judge("model") },
        "tier3": &*task.state == "TIER3_REVIEW",
    }))
}
