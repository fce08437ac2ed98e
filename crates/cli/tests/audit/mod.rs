//! Commands that third parties and operators type about the log: verify, witness, monitor, evidence, audit.

#[path = "../../../audit/tests/common/mod.rs"]
mod deployment;
mod monitor;
mod operate;
mod site;
mod verify;
mod verify_served;
mod witness;

use std::path::{Path, PathBuf};

use crate::common::{Said, milepost, run};
use deployment::Deployment;
use deployment::story::Story;

/// A deployment with one eventful submission, and its evidence in a file.
struct Logged {
    deployment: Deployment,
    story: Story,
}

impl Logged {
    fn new() -> Logged {
        let story = deployment::eventful();
        let mut deployment = Deployment::new();
        deployment.apply(&story.pipeline);
        deployment.publish(&deployment::leaves(&story.events));
        Logged { deployment, story }
    }

    fn folder(&self) -> PathBuf {
        self.deployment.folder.path().join("log")
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.deployment.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn evidence(&self) -> String {
        self.deployment.evidence(&self.story).to_text()
    }

    /// Entries that say nothing new, so that the log spans several tiles.
    fn grow(&mut self, leaves: usize) {
        let again = vec![deployment::applied(&self.story.pipeline); leaves];
        self.deployment.publish(&again);
    }
}

fn log_key() -> String {
    deployment::key(deployment::ORIGIN, 1).verifier().to_string()
}

/// Runs `milepost verify` with the log's key.
fn verify(source: &Path, more: &[&str]) -> Said {
    verify_source(source.to_str().unwrap(), more)
}

fn verify_source(source: &str, more: &[&str]) -> Said {
    let key = log_key();
    run(&[&["verify", source, "--key", &key], more].concat())
}

fn verify_with_input(input: &Path, more: &[&str]) -> Said {
    let input = std::fs::File::open(input).unwrap();
    milepost(&["verify", "-", "--key", &log_key()]).args(more).stdin(input).output().unwrap().into()
}
