//! Naming submissions by what people have at hand, and exporting them.

use crate::common;

use common::{Server, milepost};
use serde_json::{Value, json};

const NOTES: &str = r#"
name = "notes"
version = 1
title = "Notes"
key = "payload.ref"
start = "READING"

[states.READING]
review = "reviewer"
actions.close = "CLOSED"

[states.CLOSED]
final = "success"
"#;

fn server() -> Server {
    Server::start(&[("notes.toml", NOTES)])
}

fn note(server: &Server, reference: &str) -> String {
    let data = json!({ "ref": reference }).to_string();
    let said = server.run(&["submit", "notes", "-o", "json", "--data", &data]).ends(0).json();
    said["id"].as_str().unwrap().to_owned()
}

#[test]
fn whatever_takes_an_id_takes_a_key_or_the_beginning_of_an_id() {
    let server = server();
    let first = note(&server, "a/1");
    for name in [&*first, &first[..35], &first.replace('-', ""), "a/1", "notes/a/1"] {
        let shown: Value = server.run(&["show", name, "-o", "json"]).ends(0).json();
        assert_eq!(shown["submission"]["id"], json!(first), "{name}");
    }
    server.run(&["why", "notes/a/1"]).ends(0);
    server.run(&["act", "a/1", "close"]).ends(0);
    let ended = server.run(&["show", "a/1"]).ends(0);
    assert!(ended.stdout.contains("succeeded"), "{}", ended.stdout);
    let second = note(&server, "a/1");
    let shown: Value = server.run(&["show", "a/1", "-o", "json"]).ends(0).json();
    assert_eq!(shown["submission"]["id"], json!(second), "the holder of the key is meant");
    server.run(&["act", "a/1", "close"]).ends(0);
    let ambiguous = server.run(&["show", "a/1"]).ends(2);
    assert!(ambiguous.stderr.contains("may mean several submissions"), "{}", ambiguous.stderr);
    assert!([&first, &second].iter().all(|id| ambiguous.stderr.contains(*id)), "{}", ambiguous.stderr);
    let nothing = server.run(&["show", "b/1"]).ends(3);
    assert!(nothing.stderr.contains("no submission has the id or the key `b/1`"), "{}", nothing.stderr);
}

#[test]
fn all_that_fit_are_exported() {
    let server = server();
    let ids: Vec<String> = (0..5).map(|number| note(&server, &format!("=n{number}"))).collect();
    let lines = server.run(&["export", "--pipeline", "notes"]).ends(0).stdout;
    let newest: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(newest, ids.iter().rev().cloned().collect::<Vec<_>>());
    let csv =
        server.run(&["export", "--pipeline", "notes", "--format", "csv", "--key", "=n3"]).ends(0).stdout;
    assert_eq!(csv.lines().count(), 2, "{csv}");
    assert!(csv.contains(&ids[3]) && csv.contains("\"'=n3\""), "{csv}");
    let old = server.run(&["list", "--in-state-for", "1h", "--quiet"]).ends(0).stdout;
    assert_eq!(old, "");
    let said = milepost(&["export", "--format", "xlsx"]).output().expect("the binary runs");
    assert!(!said.status.success());
}

#[test]
fn figures_of_the_fleet_are_shown() {
    let server = server();
    note(&server, "a");
    let shown = loop {
        let shown = server.run(&["figures"]).ends(0).stdout;
        if shown.contains("LAST MINUTE") {
            break shown;
        }
    };
    assert!(shown.contains("READING") && shown.contains("the store takes"), "{shown}");
    assert!(shown.contains("no backup of it is known"), "{shown}");
    let (data, copy) = (server.folder.path().join("data"), server.folder.path().join("copy"));
    let backup = milepost(&["backup", "--data"]).arg(data).arg(copy).output().expect("the binary runs");
    assert!(backup.status.success(), "{backup:?}");
    let told = server.run(&["figures"]).ends(0).stdout;
    assert!(told.contains("the last backup is from"), "{told}");
    let figures: Value = server.run(&["figures", "-o", "json"]).ends(0).json();
    assert_eq!(figures["oldest"][0]["state"], "READING");
}
