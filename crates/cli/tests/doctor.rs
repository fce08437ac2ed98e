//! The findings of `doctor`, and the small commands for beginners.

use crate::common::{Said, Server, milepost, run};
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

fn verdicts(said: &Said) -> Vec<(String, String)> {
    let told = said.json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let checks = told["checks"].as_array().unwrap().iter();
    checks.map(|check| (text(&check["check"]), text(&check["verdict"]))).collect()
}

fn verdict(said: &Said, check: &str) -> String {
    let found = verdicts(said).into_iter().find(|(name, _)| name == check);
    found.unwrap_or_else(|| panic!("no check {check}: {said:?}")).1
}

#[test]
fn a_server_in_good_order_is_fine_and_work_without_workers_is_not() {
    let server = Server::start(&[("press.toml", PRESS)]);
    let data = server.folder.path().join("data").display().to_string();
    let said = server.run(&["doctor", "-o", "json", "--data", &data]).ends(0);
    for check in
        ["server", "duties", "dead letters", "service levels", "audit log", "database", "clock", "workers"]
    {
        assert_eq!(verdict(&said, check), "fine", "{check}: {}", said.stdout);
    }
    assert_eq!(verdict(&said, "tokens"), "warning", "the door is open");
    server.run(&["submit", "press", "--data", "{}"]).ends(0);
    let said = server.run(&["doctor", "-o", "json"]).ends(1);
    assert_eq!(verdict(&said, "workers"), "wrong");
    assert!(said.stdout.contains("press.print"), "{}", said.stdout);
    assert_eq!(said.json()["ok"], false);
}

#[test]
fn a_folder_without_a_server_is_looked_at_alone() {
    let mut server = Server::start(&[("press.toml", PRESS)]);
    let data = server.folder.path().join("data");
    server.child.kill().and_then(|()| server.child.wait()).unwrap();
    let look = |data: &std::path::Path| -> Said {
        let mut command = milepost(&["doctor", "-o", "json", "--offline", "--thorough", "--data"]);
        command.arg(data).output().unwrap().into()
    };
    let said = look(&data).ends(0);
    assert_eq!(verdict(&said, "pipelines"), "fine");
    assert_eq!(verdict(&said, "fsync"), "fine");
    assert!(server.run(&["doctor"]).code == 1, "nobody answers");
    let elsewhere = TempDir::new().unwrap();
    assert_eq!(verdict(&look(elsewhere.path()).ends(1), "data folder"), "wrong");
    let database = data.join("milepost.db");
    let mut bytes = std::fs::read(&database).unwrap();
    let half = bytes.len() / 2;
    bytes.truncate(half);
    std::fs::write(&database, bytes).unwrap();
    assert_eq!(verdict(&look(&data).ends(1), "database"), "wrong");
}

#[test]
fn a_new_pipeline_file_passes_the_check_and_replaces_nothing() {
    let folder = TempDir::new().unwrap();
    let new = |name: &str| -> Said { milepost(&["new", name]).current_dir(&folder).output().unwrap().into() };
    new("invoices").ends(0);
    let file = folder.path().join("invoices.toml").display().to_string();
    run(&["check", &file]).ends(0);
    new("invoices").ends(2);
    new("two words").ends(2);
}

#[test]
fn shells_can_complete_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let said = run(&["completions", shell]).ends(0);
        assert!(said.stdout.contains("milepost") && said.stdout.contains("doctor"), "{shell}");
    }
}
