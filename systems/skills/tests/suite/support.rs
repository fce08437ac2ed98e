//! Repositories that tests make, served by git itself.

#[path = "../../../../crates/fetch/tests/suite/smart_http.rs"]
mod smart_http;

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tempfile::TempDir;
use tokio::net::TcpListener;

/// A folder of repositories, each at `OWNER/NAME.git` beneath it.
pub(crate) struct Host {
    folder: TempDir,
}

impl Host {
    pub(crate) fn new() -> Host {
        Host { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn file_url(&self) -> String {
        format!("file://{}", self.folder.path().display())
    }

    /// Serves all of it over HTTP, and returns the port.
    pub(crate) async fn serve(&self) -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let root = Arc::new(self.folder.path().to_owned());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(smart_http::serve(stream, root.clone()));
            }
        });
        port
    }

    pub(crate) fn repository(&self, name: &str) -> Repository {
        let folder = self.folder.path().join(format!("{name}.git"));
        std::fs::create_dir_all(&folder).unwrap();
        let repository = Repository { folder };
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }
}

pub(crate) struct Repository {
    folder: PathBuf,
}

impl Repository {
    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> &Repository {
        let file = self.folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
        self
    }

    /// Commits all there is, and returns the commit.
    pub(crate) fn commit(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "change"]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(arguments)
            .current_dir(&self.folder)
            .env("HOME", &self.folder)
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "n").env(format!("GIT_{who}_EMAIL"), "n@a.example");
        }
        let output = git.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

/// Returns the text of a skill that nobody has to fear.
pub(crate) fn skill(body: &str) -> String {
    format!("---\nname: pdf\ndescription: Reads forms and fills them in.\n---\n{body}\n")
}
