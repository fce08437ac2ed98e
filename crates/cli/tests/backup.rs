//! A backup of a server under load, the server killed, and another one over what was restored.

use crate::common;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use common::{Said, Server, milepost, run};
use serde_json::{Value, json};
use tempfile::TempDir;

const NOTES: &str = r#"
name = "notes"
version = 1
start = "NEW"

[states.NEW]
review = "reviewer"
actions.file = "FILED"

[states.FILED]
final = "success"
"#;

/// Submits until it is told to stop, and keeps what was acknowledged.
struct Load {
    acknowledged: Arc<Mutex<Vec<String>>>,
    count: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Load {
    fn start(url: &str) -> Load {
        let (acknowledged, count, over) = (Arc::default(), Arc::default(), Arc::default());
        let mut load = Load { acknowledged, count, over, threads: Vec::new() };
        for worker in 0..4 {
            let (acknowledged, count, over) =
                (load.acknowledged.clone(), load.count.clone(), load.over.clone());
            let url = url.to_owned();
            load.threads.push(std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(submit(&url, worker, (&acknowledged, &count, &over)));
            }));
        }
        load
    }

    fn wait_for(&self, more: usize) {
        let wanted = self.count.load(Ordering::SeqCst) + more;
        while self.count.load(Ordering::SeqCst) < wanted {
            std::thread::yield_now();
        }
    }

    fn stop(self) {
        self.over.store(true, Ordering::SeqCst);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

async fn submit(
    url: &str,
    worker: u32,
    (acknowledged, count, over): (&Mutex<Vec<String>>, &AtomicUsize, &AtomicBool),
) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::new();
    for n in 0.. {
        if over.load(Ordering::SeqCst) {
            return;
        }
        let each: Vec<_> =
            (0..20).map(|i| json!({ "payload": { "from": worker, "n": n, "i": i } })).collect();
        let asked = client.post(format!("{url}/v1/pipelines/notes/submissions"));
        let body = json!({ "submissions": each }).to_string();
        let asked = asked.header("content-type", "application/json").body(body).send().await;
        // The server is killed under it in the end.
        let Ok(answer) = asked else { return };
        let Ok(bytes) = answer.bytes().await else { return };
        let answer: Value = serde_json::from_slice(&bytes).unwrap();
        let ids = answer["results"].as_array().unwrap().iter();
        let ids = ids.map(|result| result["submission"]["id"].as_str().unwrap().to_owned());
        acknowledged.lock().unwrap().extend(ids);
        count.fetch_add(20, Ordering::SeqCst);
    }
}

fn said(command: &mut std::process::Command) -> Said {
    command.output().unwrap().into()
}

fn serve(data: &Path, pipelines: &Path) -> (std::process::Child, String) {
    let mut command = milepost(&["serve", "--listen", "127.0.0.1:0", "--data"]);
    command.arg(data).arg("--pipelines").arg(pipelines);
    common::listening(command, &Arc::default())
}

/// Everything below `ids` is there, the log goes on and verifies, and says how it came about.
fn check(data: &Path, pipelines: &Path, ids: &[String], forks: usize) {
    let (mut child, url) = serve(data, pipelines);
    for id in ids.iter().step_by(37).chain(ids.last()) {
        run(&["show", id, "--server", &url]).ends(0);
    }
    let submitted = run(&["submit", "notes", "--data", "{}", "-o", "json", "--server", &url]).ends(0).json();
    let id = submitted["id"].as_str().unwrap();
    let evidence = loop {
        // Its proof is there with the next checkpoint.
        let said = run(&["evidence", id, "--server", &url]);
        if said.code == 0 {
            break said.stdout;
        }
        assert_eq!(said.code, 4, "{said:?}");
    };
    let key = run(&["audit", "key", "--server", &url]).ends(0).stdout;
    let (file, vkey) = (data.with_extension("json"), data.with_extension("vkey"));
    std::fs::write(&file, evidence).unwrap();
    std::fs::write(&vkey, key).unwrap();
    let key = format!("@{}", vkey.display());
    run(&["verify", &file.display().to_string(), "--key", &key]).ends(0);
    let whole = run(&["verify", &url, "--key", &key, "-o", "json"]).ends(0).json();
    assert_eq!(whole["acts"].as_array().unwrap().len(), forks, "{whole}");
    assert_eq!(
        run(&["audit", "status", "-o", "json", "--server", &url]).ends(0).json()["standing"],
        "running"
    );
    child.kill().and_then(|()| child.wait()).unwrap();
}

/// The acts of a log, as people are told of them.
fn acts(data: &Path, pipelines: &Path) -> Vec<String> {
    let (mut child, url) = serve(data, pipelines);
    let key = format!("@{}", data.with_extension("vkey").display());
    let told = run(&["verify", &url, "--key", &key]).ends(0).stdout;
    child.kill().and_then(|()| child.wait()).unwrap();
    told.lines().filter(|line| line.trim_start().starts_with("act ")).map(str::to_owned).collect()
}

#[test]
fn what_was_acknowledged_before_a_backup_is_there_after_a_restore() {
    let mut server = Server::start(&[("notes.toml", NOTES)]);
    let data = server.folder.path().join("data");
    let elsewhere = TempDir::new().unwrap();
    let at = |name: &str| elsewhere.path().join(name);
    let load = Load::start(&server.url);
    load.wait_for(600);
    while server.run(&["audit", "status", "-o", "json"]).json()["size"].as_u64().unwrap() == 0 {
        load.wait_for(20);
    }
    let before = load.acknowledged.lock().unwrap().clone();
    let made =
        said(milepost(&["backup", "-o", "json", "--data"]).arg(&data).arg(at("backup"))).ends(0).json();
    assert!(made["submissions"].as_u64().unwrap() >= before.len() as u64, "{made}");
    assert_eq!(made["with_key"], true);
    load.wait_for(200);
    // More is signed than the backup has.
    let backed_up = made["last"].as_u64().unwrap();
    while server.run(&["audit", "status", "-o", "json"]).json()["size"].as_u64().unwrap() <= backed_up {
        load.wait_for(20);
    }
    server.child.kill().and_then(|()| server.child.wait()).unwrap();
    load.stop();

    let guard = data.join("log.guard");
    let with_guard = said(
        milepost(&["restore", "-o", "json", "--data"])
            .arg(at("one"))
            .arg("--guard")
            .arg(&guard)
            .arg(at("backup")),
    );
    let told = with_guard.ends(0).json();
    assert!(told["given_up"].as_u64().unwrap() > backed_up, "{told}");
    check(&at("one"), server.folder.path(), &before, 1);

    let told =
        said(milepost(&["restore", "-o", "json", "--data"]).arg(at("two")).arg(at("backup"))).ends(0).json();
    assert!(told["given_up"].as_u64().unwrap() <= backed_up, "{told}");
    check(&at("two"), server.folder.path(), &before, 1);
    assert!(acts(&at("one"), server.folder.path())[0].contains("gave up a signed state of"));
    let kept = acts(&at("two"), server.folder.path());
    assert!(kept[0].contains("which it still has") && !kept[0].contains("gave up"), "{kept:?}");
    said(milepost(&["restore", "--data"]).arg(at("two")).arg(at("backup"))).ends(4);
    said(milepost(&["backup", "--data"]).arg(&data).arg(at("backup"))).ends(4);
}

#[test]
fn a_server_that_was_stopped_goes_on_elsewhere_without_a_fork() {
    let mut server = Server::start(&[("notes.toml", NOTES)]);
    let data = server.folder.path().join("data");
    let elsewhere = TempDir::new().unwrap();
    let at = |name: &str| elsewhere.path().join(name);
    let id = server.run(&["submit", "notes", "--data", "{}", "-o", "json"]).ends(0).json()["id"].clone();
    let id = id.as_str().unwrap().to_owned();
    while server.run(&["evidence", &id]).code != 0 {}
    server.signal("TERM");
    said(milepost(&["backup", "--data"]).arg(&data).arg(at("backup"))).ends(0);
    let guard = data.join("log.guard");
    let told = said(
        milepost(&["restore", "-o", "json", "--thorough", "--data"])
            .arg(at("new"))
            .arg("--guard")
            .arg(&guard)
            .arg(at("backup")),
    );
    assert_eq!(told.ends(0).json()["given_up"], Value::Null);
    check(&at("new"), server.folder.path(), &[id], 0);
}

#[test]
fn a_damaged_backup_and_a_database_elsewhere_are_refused() {
    let server = Server::start(&[("notes.toml", NOTES)]);
    let elsewhere = TempDir::new().unwrap();
    let at = |name: &str| elsewhere.path().join(name);
    let data = server.folder.path().join("data");
    said(milepost(&["backup", "--without-key", "--data"]).arg(&data).arg(at("backup"))).ends(0);
    assert!(!at("backup").join("log.key").exists());
    let database = at("backup").join("milepost.db");
    let mut bytes = std::fs::read(&database).unwrap();
    let half = bytes.len() / 2;
    bytes.truncate(half);
    std::fs::write(&database, bytes).unwrap();
    said(milepost(&["restore", "--data"]).arg(at("new")).arg(at("backup"))).ends(1);
    assert!(!at("new").exists(), "nothing is left behind");
    let left = std::fs::read_dir(elsewhere.path()).unwrap().count();
    assert_eq!(left, 1, "nor beside it");
    let told = said(milepost(&["backup", "--store", "postgres://ada:hunter2@db/m"]).arg(at("x"))).ends(4);
    assert!(told.stderr.contains("pg_dump") && !told.stderr.contains("hunter2"), "{told:?}");
}
