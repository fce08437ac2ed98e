//! The tasks of the review: each reads, asks the pure part, and answers. Doing one twice is safe.

mod publish;
mod rescan;
mod tier1;
mod tier2;

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use system::Desk;
use worker::{Failure, Task, Worker};

use crate::judge::Judge;
use crate::registry::Registry;
use crate::scan::{self, Finding};
use crate::settings::Settings;
use crate::source::{Error, Git, Snapshot, Wanted};

/// The state whose output pins the commit.
const PINNED_BY: &str = "TIER1_SCANNING";
/// The most findings that the submission keeps: the gravest.
const FINDINGS_KEPT: usize = 100;

/// The things that tasks work with.
pub(crate) struct Bench {
    git: Git,
    judge: Option<Judge>,
    registry: Registry,
    key_file: PathBuf,
    name: String,
}

/// The output of the first scan, as later states read it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Scanned {
    commit: String,
    content_hash: String,
    #[serde(default)]
    findings: Vec<Finding>,
    #[serde(default)]
    score: u32,
    #[serde(default)]
    high_privilege: bool,
    #[serde(default)]
    duration_ms: u64,
}

#[derive(Deserialize)]
struct Payload {
    skill_name: String,
    #[serde(default)]
    skill_path: Option<String>,
}

impl Bench {
    pub(crate) fn new(desk: &Desk, settings: &Settings) -> Bench {
        let judge = settings.judge.as_ref().map(|judge| {
            let made = Judge::new(desk.fetch.clone(), &judge.url, judge.model.clone(), judge.within());
            match judge.key() {
                Ok(Some(key)) => made.clone().with_key(&key).unwrap_or(made),
                _ => made,
            }
        });
        let git = Git::new(desk.fetch.clone(), desk.folder.clone());
        Bench {
            git: git.mirrored(settings.mirrors.clone(), settings.ca_file.clone()),
            judge,
            registry: Registry::new(registry_folder(desk, settings)),
            key_file: key_file(desk, settings),
            name: settings.name().to_owned(),
        }
    }

    /// Adds the tasks to a worker.
    pub(crate) fn tasks(self, worker: Worker) -> Worker {
        // The rules are compiled before the first skill comes: its scan should take no longer than the next.
        drop(std::thread::Builder::new().name("skills-rules".to_owned()).spawn(scan::prepare));
        let bench = Arc::new(self);
        let of = || bench.clone();
        let (first, second, third, fourth, fifth) = (of(), of(), of(), of(), of());
        worker
            .task("skills.tier1-scan", move |task| tier1::scan(first.clone(), task))
            .task("skills.tier2-scan", move |task| tier2::judge(second.clone(), task))
            .task("skills.publish", move |task| publish::publish(third.clone(), task))
            .task("skills.rescan", move |task| rescan::rescan(fourth.clone(), task))
            .task("skills.withdraw", move |task| rescan::withdraw(fifth.clone(), task))
    }

    /// Fetches the skill of a task: at the pinned commit, or at the newest.
    async fn fetch(&self, task: &Task, pinned: Option<&Scanned>) -> Result<Snapshot, Error> {
        let (repository, wanted) = wish(task).map_err(|failure| Error::NoSkill(failure.message))?;
        self.git.snapshot(&repository, pinned.map(|pinned| pinned.commit.as_str()), &wanted).await
    }

    /// Fetches what the first scan has seen, and refuses anything else.
    async fn fetch_pinned(&self, task: &Task, pinned: &Scanned) -> Result<Snapshot, Failure> {
        let snapshot = self.fetch(task, Some(pinned)).await.map_err(failure)?;
        match snapshot.content_hash() == pinned.content_hash {
            true => Ok(snapshot),
            false => Err(Failure::new(
                "content-changed",
                format!("the skill at commit {} is not the one that was scanned", pinned.commit),
            )
            .permanent()),
        }
    }
}

pub(crate) fn registry_folder(desk: &Desk, settings: &Settings) -> PathBuf {
    settings.registry.clone().unwrap_or_else(|| desk.folder.join("registry"))
}

pub(crate) fn key_file(desk: &Desk, settings: &Settings) -> PathBuf {
    settings.key_file.clone().unwrap_or_else(|| desk.folder.join("registry.key"))
}

/// Returns the repository's address in its normal form, which is in the submission's key, and the skill in it.
fn wish(task: &Task) -> Result<(String, Wanted), Failure> {
    let payload: Payload = task.payload()?;
    let key = task.key.as_deref().and_then(|key| key.strip_suffix(&payload.skill_name)?.strip_suffix('#'));
    let repository = key.ok_or_else(|| {
        Failure::new("unexpected-input", "the submission's key is not made of repository and skill")
            .permanent()
    })?;
    Ok((repository.to_owned(), Wanted { name: payload.skill_name, path: payload.skill_path }))
}

fn failure(error: Error) -> Failure {
    let message = error.to_string();
    match error {
        Error::Clone { .. } => Failure::new("git-clone", message),
        Error::NoSkill(_) => Failure::new("no-skill", message).permanent(),
        Error::Machine(_) => Failure::new("git", message),
    }
}
