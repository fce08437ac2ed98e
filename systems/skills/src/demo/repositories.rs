//! The demo's repositories: real ones, made by git in a folder.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

/// Repositories beneath a folder, each at `OWNER/skills.git`.
#[derive(Debug, Clone)]
pub(super) struct Repositories {
    folder: PathBuf,
}

impl Repositories {
    pub(super) fn new(folder: PathBuf) -> Repositories {
        Repositories { folder }
    }

    /// Returns the address at which git finds the repositories of a host.
    pub(super) fn address(&self) -> String {
        format!("file://{}", self.folder.display())
    }

    /// Returns the folder of a skill.
    pub(super) fn place(&self, owner: &str, skill: &str) -> PathBuf {
        self.repository(owner).join("skills").join(skill)
    }

    /// Writes a file of a skill and commits it: the repository is made where there is none.
    pub(super) async fn commit(
        &self,
        (owner, skill): (&str, &str),
        path: &str,
        text: &str,
    ) -> io::Result<()> {
        let repository = self.repository(owner);
        if !repository.exists() {
            std::fs::create_dir_all(&repository)?;
            git(&repository, &["init", "--quiet", "--initial-branch=main", "--template="]).await?;
        }
        let file = self.place(owner, skill).join(path);
        std::fs::create_dir_all(file.parent().unwrap_or(&repository))?;
        std::fs::write(&file, text)?;
        git(&repository, &["add", "--all"]).await?;
        git(&repository, &["commit", "--quiet", "--allow-empty", "--message", "Change a skill"]).await
    }

    fn repository(&self, owner: &str) -> PathBuf {
        self.folder.join(owner).join("skills.git")
    }
}

/// Runs a git that has no settings but its own.
async fn git(repository: &Path, arguments: &[&str]) -> io::Result<()> {
    let mut git = Command::new("git");
    git.args(["-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "gc.auto=0"]);
    git.args(arguments).current_dir(repository).env_clear().kill_on_drop(true);
    git.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    git.env("HOME", repository).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for who in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{who}_NAME"), "Demo").env(format!("GIT_{who}_EMAIL"), "demo@milepost.example");
    }
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let output = git.output().await?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(io::Error::other(format!("git {} failed: {said}", arguments.join(" "))))
        }
    }
}
