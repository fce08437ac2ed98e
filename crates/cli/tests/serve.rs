//! Starting and stopping a server.

use crate::common;

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use common::{Server, milepost, run, shipped};
use serde_json::Value;
use tempfile::TempDir;

const PRESS: &str = r#"
name = "press"
version = 1
start = "PRINTING"

[states.PRINTING]
task = "press.print"
on.done = "DONE"

[states.DONE]
final = "success"
"#;

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
    let pipelines = folder.path().join("pipelines");
    shipped::gather(&pipelines);
    let mut server = milepost(&["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--data"])
        .arg(folder.path().join("data"))
        .arg("--pipelines")
        .arg(pipelines)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut messages = Vec::new();
    for line in BufReader::new(server.stderr.take().expect("stderr is piped")).lines() {
        let entry = entries(&line.expect("the log is UTF-8")).remove(0);
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

#[test]
fn a_port_in_use_is_noticed_before_anything_is_made() {
    let folder = TempDir::new().expect("a temporary folder");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let listen = taken.local_addr().expect("it listens").to_string();
    let (data, token) = (folder.path().join("data"), folder.path().join("token"));
    let mut command = milepost(&["serve", "--listen", &listen, "--data"]);
    command.arg(&data).arg("--first-token").arg(&token);
    let said = common::Said::from(command.output().expect("the binary runs")).ends(1);
    assert!(said.stderr.contains(&format!("cannot listen on {listen}")), "{}", said.stderr);
    assert!(said.stderr.contains("next: stop the server that has this port"), "{}", said.stderr);
    let made: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder is there").collect();
    assert!(made.is_empty(), "{made:?}");
}

/// Lines of a log in JSON, each with the members that every line has.
fn entries(log: &str) -> Vec<Value> {
    log.lines()
        .map(|line| {
            let entry: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            for member in ["timestamp", "level", "message", "target"] {
                assert!(entry[member].is_string(), "{member} of {line}");
            }
            entry
        })
        .collect()
}

#[test]
fn a_server_that_does_not_start_says_why_in_json_when_asked() {
    let folder = TempDir::new().expect("a temporary folder");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let listen = taken.local_addr().expect("it listens").to_string();
    let data = folder.path().display().to_string();
    for filter in ["info", "off"] {
        let mut command = milepost(&["serve", "--log-format", "json", "--listen", &listen, "--data", &data]);
        let said = common::Said::from(command.env("MILEPOST_LOG", filter).output().expect("it runs")).ends(1);
        let entries = entries(&said.stderr);
        let last = entries.last().expect("it says why");
        assert_eq!(last["level"], "ERROR");
        assert!(last["message"].as_str().is_some_and(|why| why.contains("cannot listen on")), "{last}");
        assert!(last["next"].as_str().is_some_and(|next| next.contains("--listen")), "{last}");
    }
}

#[cfg(unix)]
#[test]
fn a_server_whose_data_folder_is_deleted_acknowledges_nothing_more_and_stops() {
    let mut server = Server::start(&[("press.toml", PRESS)]);
    let (data, submit) = (server.folder.path().join("data"), ["submit", "press", "--data", "{}"]);
    server.run(&submit).ends(0);
    std::fs::remove_dir_all(&data).expect("the folder is there");
    for _ in 0..25 {
        assert_ne!(server.run(&submit).code, 0, "it would be acknowledged and gone");
    }
    let status = server.child.wait().expect("it stops by itself");
    assert_eq!(status.code(), Some(1));
    let log = server.log.lock().expect("nobody panics with it").join("\n");
    let path = data.join("milepost.db").display().to_string();
    assert!(log.contains(&path) && log.contains("was deleted or moved away"), "{log}");
    assert!(log.contains("restore a backup"), "{log}");
    assert!(!data.exists(), "nothing is made in its place");
}
