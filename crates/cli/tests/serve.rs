//! Starting and stopping a server.

mod common;

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use common::{Server, milepost, run};
use serde_json::Value;
use tempfile::TempDir;

#[cfg(unix)]
#[test]
fn signals_end_a_server_in_good_order() {
    for name in ["TERM", "INT"] {
        let mut server = Server::with_own_pipelines();
        let data = server.folder.path().join("data");
        assert_eq!(server.signal(name).code(), Some(0));
        // What was applied is still there, and the folder is free.
        let files = std::fs::read_dir(data).expect("the data is there").count();
        assert!(files > 0);
    }
}

#[test]
fn a_server_without_tokens_listens_to_this_machine_only() {
    let folder = TempDir::new().expect("a temporary folder");
    let data = folder.path().display().to_string();
    let said = run(&["serve", "--listen", "0.0.0.0:0", "--data", &data]).ends(4);
    assert!(said.stderr.contains("there is no token yet"), "{}", said.stderr);
    assert!(!said.stderr.contains("listening"), "{}", said.stderr);
}

#[test]
fn a_data_folder_has_one_server() {
    let server = Server::with_own_pipelines();
    let data = server.folder.path().join("data").display().to_string();
    let said = run(&["serve", "--listen", "127.0.0.1:0", "--data", &data]).ends(1);
    assert!(said.stderr.contains("in use by another process"), "{}", said.stderr);
}

#[test]
fn a_server_does_not_start_with_a_pipeline_that_has_problems() {
    let folder = TempDir::new().expect("a temporary folder");
    std::fs::write(folder.path().join("a.toml"), "name = \"a\"\nversion = 1\nstart = \"A\"\n")
        .expect("it is written");
    let (data, pipelines) =
        (folder.path().join("data").display().to_string(), folder.path().display().to_string());
    let said = run(&["serve", "--listen", "127.0.0.1:0", "--data", &data, "--pipelines", &pipelines]).ends(1);
    assert!(said.stderr.contains("error[") && said.stderr.contains("a.toml:3:9"), "{}", said.stderr);
}

#[test]
fn every_line_of_the_log_is_json_when_asked() {
    let folder = TempDir::new().expect("a temporary folder");
    let mut server = milepost(&["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--data"])
        .arg(folder.path().join("data"))
        .arg("--pipelines")
        .arg(common::pipelines())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut messages = Vec::new();
    for line in BufReader::new(server.stderr.take().expect("stderr is piped")).lines() {
        let line = line.expect("the log is UTF-8");
        let entry: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        messages.push(entry["message"].as_str().expect("a message").to_owned());
        if messages.last().is_some_and(|message| message.starts_with("listening on http://127.0.0.1:")) {
            break;
        }
    }
    server.kill().and_then(|()| server.wait()).expect("it ends");
    assert!(messages.iter().any(|message| message == "applied"), "{messages:?}");
}

#[test]
fn a_filter_that_cannot_be_read_is_told() {
    let said = milepost(&["serve", "--listen", "127.0.0.1:0"]).env("MILEPOST_LOG", "loud=very").output();
    let said = common::Said::from(said.expect("the binary runs")).ends(1);
    assert!(said.stderr.contains("MILEPOST_LOG"), "{}", said.stderr);
}

#[test]
fn events_are_kept_for_a_span_that_is_one() {
    for (span, says) in [("0s", "leave it out"), ("soon", "keep-events")] {
        let refused = run(&["serve", "--keep-events", span]).ends(2);
        assert!(refused.stderr.contains(says), "{}", refused.stderr);
    }
}
