//! Commands on pipeline files: check and draw.

use crate::common::{run, shipped};

const MISTAKEN: &str = r#"name = "broken"
version = 1
start = "RECIEVED"

[states.RECEIVED]
next = "DONE"
tiem = "5m"

[states.DONE]
final = "succes"
"#;

fn written(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let path = folder.path().join("broken.toml");
    std::fs::write(&path, text).expect("the folder can be written");
    (folder, path.display().to_string())
}

fn own() -> String {
    shipped::file("skill-review").display().to_string()
}

#[test]
fn every_mistake_is_shown_with_its_line_and_a_caret() {
    let (_folder, path) = written(MISTAKEN);
    let said = run(&["check", &path]).ends(1);
    for (place, caret) in [
        (":3:9", "start = \"RECIEVED\"\n  |         ^^^^^^^^^^"),
        (":7:1", "tiem = \"5m\"\n  | ^^^^"),
        (":10:9", "final = \"succes\"\n   |         ^^^^^^^^"),
    ] {
        assert!(said.stdout.contains(&format!("broken.toml{place}")), "{}", said.stdout);
        assert!(said.stdout.contains(caret), "{}", said.stdout);
    }
    assert!(said.stdout.contains("did you mean `RECEIVED`?"), "{}", said.stdout);
    assert!(said.stdout.ends_with("3 problems\n"), "{}", said.stdout);
}

#[test]
fn mistakes_are_told_as_json() {
    let (_folder, path) = written(MISTAKEN);
    let report = run(&["check", "-o", "json", &path, &own()]).ends(1).json();
    assert_eq!(report[0]["problems"][0]["line"], 3);
    assert_eq!(report[0]["problems"][0]["code"], "unknown-state");
    assert_eq!(report[1]["problems"].as_array().map(Vec::len), Some(0));
    assert_eq!((&report[1]["states"], &report[1]["moves"]), (&10.into(), &18.into()));
}

#[test]
fn check_and_test_count_the_same_moves() {
    let checked = run(&["check", "-o", "json", &own()]).ends(0).json();
    let tested = run(&["test", "-o", "json", &own()]).ends(0).json();
    assert_eq!(checked[0]["moves"], tested["files"][0]["coverage"]["moves"]);
}

#[test]
fn a_service_level_that_would_tell_somebody_is_told_who_can() {
    let text = "name = \"s\"\nversion = 1\nstart = \"A\"\n[states.A]\nreview = \"admin\"\nactions.go = \"B\"\n\
        sla = { target = \"1h\", notify = \"boss\" }\n[states.B]\nfinal = \"success\"\n\
        [sla.leg]\nto = \"B\"\ntarget = \"1h\"\nnotify = \"boss\"\n[notify.boss]\nmail = \"'a@b.example'\"\n";
    let (_folder, path) = written(text);
    let report = run(&["check", "-o", "json", &path]).ends(1).json();
    let problems = report[0]["problems"].as_array().expect("a list");
    let told = |problem: &serde_json::Value| {
        let help = problem["help"].as_str().unwrap_or_default().to_owned();
        problem["message"] == "a service level tells nobody" && help.contains("missed = { notify")
    };
    assert!(problems.len() == 2 && problems.iter().all(told), "{problems:#?}");
}

#[test]
fn good_files_pass() {
    let said = run(&["check", &own()]).ends(0);
    assert!(said.stdout.contains("fine: skill-review, version 1, 10 states, 18 moves"), "{}", said.stdout);
}

#[test]
fn a_schema_that_is_missing_is_a_mistake_of_the_file() {
    let text =
        MISTAKEN.replace("RECIEVED", "RECEIVED").replace("succes", "success").replace("tiem = \"5m\"", "");
    let (_folder, path) =
        written(&text.replace("version = 1", "version = 1\npayload = \"schemas/none.json\""));
    let said = run(&["check", &path]).ends(1);
    assert!(said.stdout.contains("error[missing-file]"), "{}", said.stdout);
}

#[test]
fn files_that_are_not_there_are_a_wrong_usage() {
    let said = run(&["check", "no/such/file.toml"]).ends(2);
    assert!(said.stderr.contains("cannot read no/such/file.toml"), "{}", said.stderr);
    assert_eq!(said.stdout, "");
}

#[test]
fn machines_are_drawn() {
    let said = run(&["draw", &own()]).ends(0);
    assert!(said.stdout.starts_with("stateDiagram-v2\n"), "{}", said.stdout);
    assert!(said.stdout.contains("    NEEDS_REVIEW --> TIER3_REVIEW : escalate\n"), "{}", said.stdout);
    let json = run(&["draw", &own(), "-o", "json"]).ends(0).json();
    assert_eq!(json["mermaid"], said.stdout);
}

#[test]
fn a_machine_with_mistakes_is_not_drawn() {
    let (_folder, path) = written(MISTAKEN);
    let said = run(&["draw", &path]).ends(1);
    assert_eq!(said.stdout, "");
    assert!(said.stderr.contains("error[unknown-state]"), "{}", said.stderr);
}
