//! A server whose clock is wrong when it starts: what cannot be taken back waits until somebody confirms the clock.
#![cfg(target_os = "linux")]

use crate::common;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

use common::{Said, milepost};
use serde_json::Value;
use tempfile::TempDir;

const PAPERS: &str = r#"
name = "papers"
version = 1
title = "Papers"
start = "OPEN"

[states.OPEN]
actions.end = "DONE"

[states.DONE]
final = "success"
retention = "30d"
"#;

/// A server over a folder, by a clock of its own.
struct Server {
    child: Child,
    url: String,
    log: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// `off`: how far its clock is from ours, such as `+60d`.
    fn start(folder: &Path, off: &str) -> Server {
        // What `faketime` would set, without a process in between that gets our signals.
        let library =
            Command::new("faketime").args(["-f", "+1h", "printenv", "LD_PRELOAD"]).output().unwrap();
        let library = String::from_utf8(library.stdout).unwrap();
        let mut command = milepost(&["serve", "--listen", "127.0.0.1:0", "--data"]);
        command.arg(folder.join("data")).arg("--pipelines").arg(folder);
        if !off.is_empty() {
            command.env("LD_PRELOAD", library.trim());
            command.env("FAKETIME", off).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        let log = Arc::default();
        let (child, url) = common::listening(command, &log);
        Server { child, url, log }
    }

    fn run(&self, args: &[&str], token: Option<&str>) -> Said {
        let mut command = milepost(args);
        command.args(["--server", &self.url]).envs(token.map(|token| ("MILEPOST_TOKEN", token)));
        command.output().unwrap().into()
    }

    fn stop(mut self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").arg(id).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
    }

    fn text(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.url.trim_start_matches("http://")).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
        body.to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("papers.toml"), PAPERS).unwrap();
    folder
}

fn payload(server: &Server, id: &str) -> Value {
    server.run(&["show", id, "-o", "json"], None).ends(0).json()["submission"]["payload"].clone()
}

#[test]
fn a_document_outlives_a_server_that_starts_sixty_days_ahead() {
    let folder = folder();
    let server = Server::start(folder.path(), "");
    let made = server.run(&["submit", "papers", "--data", r#"{"text":"dear"}"#, "-o", "json"], None).ends(0);
    let id = made.json()["id"].as_str().unwrap().to_owned();
    server.run(&["act", &id, "end"], None).ends(0);
    server.run(&["clock", "show"], None).ends(0);
    server.stop();

    let server = Server::start(folder.path(), "+60d");
    let shown = server.run(&["clock", "show"], None).ends(1);
    assert!(shown.stderr.contains("59 days after") || shown.stderr.contains("60 days after"), "{shown:?}");
    assert!(server.text("/readyz").contains("the clock is in doubt: the clock says"));
    assert!(server.log.lock().unwrap().iter().any(|line| line.contains("milepost clock confirm")));
    let doctor = server.run(&["doctor", "-o", "json"], None).ends(1).json();
    let checks = doctor["checks"].as_array().unwrap();
    assert!(checks.iter().any(|check| check["check"] == "server clock" && check["verdict"] == "wrong"));
    // Everything else goes on, and what is committed meanwhile changes nothing about it.
    server.run(&["submit", "papers", "--data", "{}"], None).ends(0);
    assert_eq!(payload(&server, &id)["text"], "dear");

    server.run(&["clock", "confirm"], None).ends(0);
    server.run(&["clock", "show"], None).ends(0);
    while payload(&server, &id) != Value::Null {
        std::thread::yield_now();
    }
    assert_eq!(server.text("/readyz"), "ok\n");
    let acts = server.run(&["audit", "acts", "-o", "json"], None).ends(0).stdout;
    assert!(acts.contains("clock-confirmed"), "{acts}");
}

#[test]
fn a_token_that_has_ended_stays_so_by_a_clock_that_is_behind() {
    let folder = folder();
    let server = Server::start(folder.path(), "");
    let made = |said: Said| said.ends(0).json()["token"].as_str().unwrap().to_owned();
    let admin = made(server.run(&["tokens", "create", "root", "--role", "admin", "-o", "json"], None));
    let soon = engine::clock::wall().plus(model::Millis::from_secs(3)).to_string();
    let brief =
        ["tokens", "create", "guest", "--role", "viewer", "--expires-at", soon.as_str(), "-o", "json"];
    let brief = made(server.run(&brief, Some(&admin)));
    let is_good = |server: &Server, token: &str| match server.run(&["list"], Some(token)).code {
        0 => true,
        5 => false,
        other => panic!("{other}"),
    };
    while is_good(&server, &brief) {
        std::thread::yield_now();
    }
    server.stop();

    let server = Server::start(folder.path(), "-10d");
    server.run(&["clock", "show"], Some(&admin)).ends(1);
    assert!(!is_good(&server, &brief));
}
