//! The served log before verifiers nobody here wrote: Go's `golang.org/x/mod/sumdb`, and pymerkle.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tokio::task::spawn_blocking;

use crate::server::Server;

const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../audit/tests/peers");

/// Runs a program; whether it was content, and what it said.
async fn run(mut command: Command) -> (bool, String) {
    let output =
        spawn_blocking(move || command.output().unwrap_or_else(|error| panic!("{command:?}: {error}")));
    let output = output.await.unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), said)
}

/// A server with a few hundred events, two checkpoints of it, and a submission.
async fn scene(folder: &Path) -> (Server, PathBuf, String) {
    let server = Server::logged(folder).await;
    let older = folder.join("older");
    for round in 0..3 {
        let submission = |n| json!({ "payload": { "n": n, "round": round } });
        let body = json!({ "submissions": (0..150).map(submission).collect::<Vec<_>>() });
        let answer = server.post("/v1/pipelines/notes/submissions?wait=proof", body).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        if round == 1 {
            std::fs::write(&older, server.get("/checkpoint").await.text).unwrap();
        }
    }
    let id = server.reviewed("r").await;
    let answer = server.post(&format!("/v1/submissions/{id}/actions/approve?wait=proof"), "{}").await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    (server, older, id)
}

#[tokio::test(flavor = "multi_thread")]
async fn go_accepts_the_served_log() {
    let folder = tempfile::tempdir().unwrap();
    let (server, older, _) = scene(folder.path()).await;
    let verifier = folder.path().join("verify");
    let mut build = Command::new("go");
    build.args(["build", "-o"]).arg(&verifier).arg("verify.go").current_dir(PEERS);
    build.env("GO111MODULE", "off").env("GOPATH", "/usr/share/gocode").env("GOFLAGS", "");
    build.env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go"));
    let (built, said) = run(build).await;
    assert!(built, "Debian packages golang-go and golang-golang-x-mod-dev: {said}");
    let key = server.get("/v1/audit/key").await.text.trim().to_owned();
    let verify = |key: &str, older: &Path| {
        let mut command = Command::new(&verifier);
        command.arg(&server.url).arg(key).arg(older).env("NO_PROXY", "127.0.0.1");
        run(command)
    };
    // Two definitions, 450 notes, and a parcel's three events.
    assert_eq!(verify(&key, &older).await, (true, "455 entries verified\n".to_owned()));
    let mut changed = std::fs::read(&older).unwrap();
    changed[40] ^= 1;
    let other = folder.path().join("other");
    std::fs::write(&other, changed).unwrap();
    assert!(!verify(&key, &other).await.0, "another past");
}

#[tokio::test(flavor = "multi_thread")]
async fn pymerkle_accepts_the_served_log_and_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let (server, older, id) = scene(folder.path()).await;
    let evidence = folder.path().join("evidence.json");
    let text = server.get(&format!("/v1/submissions/{id}/evidence")).await.text;
    std::fs::write(&evidence, &text).unwrap();
    let python = python().await;
    let verify = || {
        let mut command = Command::new(&python);
        command.arg(Path::new(PEERS).join("verify.py")).arg(&server.url).arg(&evidence).arg(&older);
        run(command)
    };
    assert_eq!(verify().await, (true, "3 events verified\n".to_owned()));
    std::fs::write(&evidence, text.replacen("index 45", "index 44", 1)).unwrap();
    assert!(!verify().await.0, "another place");
}

/// A Python with pymerkle, made once for all runs.
async fn python() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pymerkle-7.0.0");
    let python = folder.join("bin/python");
    let mut has_it = Command::new(&python);
    has_it.args(["-c", "import pymerkle"]);
    if python.exists() && run(has_it).await.0 {
        return python;
    }
    let mut make = Command::new("python3");
    make.args(["-m", "venv", "--clear"]).arg(&folder);
    let (made, said) = run(make).await;
    assert!(made, "Debian package python3-venv: {said}");
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pymerkle==7.0.0"]);
    let (installed, said) = run(install).await;
    assert!(installed, "{said}");
    python
}
