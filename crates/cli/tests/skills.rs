//! The registry of skills in the real binary: repositories of git, mails by SMTP, a worker that dies in the middle.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use client::{ActOptions, Client};
use serde_json::json;
use tempfile::TempDir;
use wire::SubmissionId;
use wire::api::{ActBody, SubmissionView, SubmitBody};

use crate::common::{Server, milepost, shipped};
use crate::notifications::deliveries::seen;
use crate::notifications::mail_server::MailServer;

/// Repositories in a folder, and settings by which a server finds them.
struct Ground {
    folder: TempDir,
}

impl Ground {
    fn new() -> Ground {
        Ground { folder: TempDir::new().unwrap() }
    }

    fn git(&self, owner: &str, arguments: &[&str]) {
        let repository = self.repository(owner);
        std::fs::create_dir_all(&repository).unwrap();
        let mut git = Command::new("git");
        git.args(["-c", "user.name=n", "-c", "user.email=n@a.example"]).args(arguments);
        assert!(git.current_dir(repository).status().unwrap().success(), "{arguments:?}");
    }

    fn repository(&self, owner: &str) -> PathBuf {
        self.folder.path().join("host").join(owner).join("skills.git")
    }

    /// Writes the skill `pdf` of an owner, and commits it.
    fn skill(&self, owner: &str, body: &str) {
        let folder = self.repository(owner).join("skills/pdf");
        let is_new = !folder.exists();
        std::fs::create_dir_all(&folder).unwrap();
        let text = format!("---\nname: pdf\ndescription: Reads forms and fills them in.\n---\n{body}\n");
        std::fs::write(folder.join("SKILL.md"), text).unwrap();
        if is_new {
            self.git(owner, &["init", "-q", "-b", "main"]);
        }
        self.git(owner, &["add", "-A"]);
        self.git(owner, &["commit", "-q", "-m", "change"]);
    }

    /// Writes the settings, and returns their file.
    fn settings(&self) -> String {
        let file = self.folder.path().join("settings.toml");
        let text = format!(
            "[system.skills]\nmirrors = {{ \"github.com\" = \"file://{}\" }}\n[params.skill-review]\noperator = \"ops@example.com\"\n",
            self.folder.path().join("host").display()
        );
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    }
}

async fn submit(client: &Client, owner: &str, skill: &str) -> SubmissionId {
    let repo_url = format!("https://github.com/{owner}/skills");
    let payload = json!({ "repo_url": repo_url, "skill_name": skill, "email": "ada@example.com" });
    let body = SubmitBody { payload: payload.into(), ..SubmitBody::default() };
    client.submit("skill-review", &body, None).await.unwrap().id
}

async fn in_state(client: &Client, id: SubmissionId, state: &str) -> SubmissionView {
    seen(client, id, |view| &*view.state == state).await
}

#[tokio::test(flavor = "multi_thread")]
async fn mails_tell_the_author_of_each_step_and_the_operator_of_dead_letters() {
    let (mail_server, ground) = (MailServer::start(&[]), Ground::new());
    ground.skill("openai", "Open the form and list its fields.");
    ground.skill("ada", "Open the form and list its fields.");
    let smtp = format!("smtp://127.0.0.1:{}", mail_server.port);
    let settings = ground.settings();
    let args = [
        "--config",
        &settings,
        "--smtp",
        &smtp,
        "--mail-from",
        "skills@milepost.example",
        "--allow-address",
        "127.0.0.0/8",
    ];
    let server = Server::start_with(&[], &args.map(str::to_owned), &[]);
    let client = server.client();

    in_state(&client, submit(&client, "openai", "pdf").await, "PUBLISHED").await;
    ground.skill("openai", "Open the form and list its fields.\n\n## Limits\nOne form at a time.");
    in_state(&client, submit(&client, "openai", "pdf").await, "PUBLISHED").await;
    let reviewed = submit(&client, "ada", "pdf").await;
    in_state(&client, reviewed, "NEEDS_REVIEW").await;
    let why = ActBody { reason: Some("it is out of scope".into()), ..ActBody::default() };
    client.act(reviewed, "reject", &why, &ActOptions::default()).await.unwrap();
    let stuck = submit(&client, "openai", "none").await;
    seen(&client, stuck, |view| view.error.as_ref().is_some_and(|error| &*error.code == "no-skill")).await;

    let mut told: Vec<String> = mail_server
        .until(9)
        .await
        .iter()
        .map(|mail| format!("{} {}", mail["to"][0].as_str().unwrap(), mail["subject"].as_str().unwrap()))
        .collect();
    told.sort();
    assert_eq!(
        told,
        [
            "ada@example.com none was received",
            "ada@example.com pdf has a new version: 1.1.0",
            "ada@example.com pdf is published",
            "ada@example.com pdf needs a review",
            "ada@example.com pdf was not approved",
            "ada@example.com pdf was received",
            "ada@example.com pdf was received",
            "ada@example.com pdf was received",
            "ops@example.com A skill is stuck in VENDOR_APPROVED: no-skill",
        ]
    );
    let of_rejected = mail_server.mails().into_iter().find(|mail| mail["subject"] == "pdf was not approved");
    assert!(of_rejected.unwrap()["body"].as_str().unwrap().contains("it is out of scope"));
}

/// Returns the files of the review, with leases that end soon.
fn review_files() -> Vec<(String, String)> {
    let file = shipped::file("skill-review");
    let folder = file.parent().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("lease = \"30s\""));
    let mut files = vec![("skill-review.toml".to_owned(), text.replace("lease = \"30s\"", "lease = \"2s\""))];
    for part in ["schemas", "templates/skill-review"] {
        for entry in std::fs::read_dir(folder.join(part)).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{part}/{}", path.file_name().unwrap().to_str().unwrap());
            files.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    files
}

/// Makes a git that says that it runs, and then hangs.
fn hanging_git(folder: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let (bin, runs) = (folder.join("bin"), folder.join("runs"));
    std::fs::create_dir_all(&bin).unwrap();
    let script = format!("#!/bin/sh\necho > {}\nexec sleep 60\n", runs.display());
    std::fs::write(bin.join("git"), script).unwrap();
    std::fs::set_permissions(bin.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    runs
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_whose_worker_is_killed_is_done_by_another_one() {
    let ground = Ground::new();
    ground.skill("ada", "Open the form and list its fields.");
    let files = review_files();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let server = Server::start_with(&files, &[], &[]);
    let client = server.client();
    let settings = ground.settings();
    let data = ground.folder.path().join("work");
    let work = |path: Option<&Path>| {
        let mut command =
            milepost(&["work", "skills", "--server", &server.url, "--config", &settings, "--data"]);
        command.arg(&data).stdout(Stdio::null()).stderr(Stdio::null());
        let own = std::env::var("PATH").unwrap();
        command.env("PATH", path.map_or(own.clone(), |path| format!("{}:{own}", path.display())));
        command.spawn().unwrap()
    };
    let runs = hanging_git(ground.folder.path());
    let id = submit(&client, "ada", "pdf").await;
    let mut first = work(Some(&ground.folder.path().join("bin")));
    while !runs.exists() {
        client.submission(id).await.unwrap();
    }
    // SIGKILL: it gives nothing back.
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(&*client.submission(id).await.unwrap().state, "TIER1_SCANNING");
    let mut second = work(None);
    in_state(&client, id, "NEEDS_REVIEW").await;
    let events = client.events(id, 0).await.unwrap().events;
    // A scan that was begun twice is late, by how much depends on the machine.
    let triggers: Vec<&str> =
        events.iter().map(|event| &*event.trigger).filter(|trigger| *trigger != "sla").collect();
    assert_eq!(
        triggers,
        ["api-submission", "non-vendor-submission", "lease-expired", "tier1-pass", "tier2-not-configured"]
    );
    second.kill().unwrap();
    second.wait().unwrap();
}
