//! Commands that ask a server about its log: what is sent, and what is printed.

use serde_json::json;

use crate::audit::site::Site;
use crate::audit::{Logged, verify};
use crate::common::{Said, run};

const ID: &str = "0197a8c5-7f1c-7d3a-9b1e-2f6c8d0e4a57";

fn ask(site: &Site, args: &[&str]) -> Said {
    run(&[args, &["--server", &site.url, "--token", "secret"]].concat())
}

fn last(site: &Site) -> (String, String, String) {
    let asked = site.asked().pop().unwrap();
    assert_eq!(asked.token.as_deref(), Some("Bearer secret"));
    (asked.method, asked.path, asked.body)
}

#[test]
fn evidence_is_printed_to_the_byte_and_verifies() {
    let mut logged = Logged::new();
    let seen = logged.file("seen", logged.deployment.checkpoint());
    logged.grow(20);
    let id = logged.story.row().id.to_string();
    let text = logged.deployment.evidence_from(&logged.story, Some(6)).to_text();
    let site = Site::start(logged.folder());
    site.answer(&format!("/v1/submissions/{id}/evidence"), 200, text.clone());
    let said = ask(&site, &["evidence", &id, "--since", seen.to_str().unwrap()]).ends(0);
    assert_eq!(said.stdout, text);
    let expected = format!("/v1/submissions/{id}/evidence?known=6");
    assert_eq!(last(&site), ("GET".to_owned(), expected, String::new()));
    let file = logged.file("evidence.json", said.stdout);
    ask(&site, &["evidence", &id, "--no-documents"]).ends(0);
    assert!(last(&site).1.ends_with("/evidence?documents=none"));
    verify(&file, &["--since", seen.to_str().unwrap()]).ends(0);
}

#[test]
fn evidence_about_nothing_is_not_found() {
    let logged = Logged::new();
    let site = Site::start(logged.folder());
    let problem = json!({
        "type": "about:blank", "title": "Not found", "status": 404,
        "code": "unknown-submission", "detail": "there is no submission with this id"
    });
    site.answer(&format!("/v1/submissions/{ID}/evidence"), 404, problem.to_string());
    assert!(ask(&site, &["evidence", ID]).ends(3).stdout.is_empty());
}

#[test]
fn the_key_is_printed_as_verifiers_take_it() {
    let logged = Logged::new();
    let site = Site::start(logged.folder());
    let lines = format!("{}\n", crate::audit::log_key());
    site.answer("/v1/audit/key", 200, lines.clone());
    let said = ask(&site, &["audit", "key"]).ends(0);
    assert_eq!(said.stdout, lines);
    let key = format!("@{}", logged.file("log.vkey", said.stdout).display());
    run(&["verify", logged.folder().to_str().unwrap(), "--key", &key]).ends(0);
}

#[test]
fn the_status_is_told_for_people_and_as_it_came() {
    let logged = Logged::new();
    let site = Site::start(logged.folder());
    let status = r#"{"origin":"milepost.example/log","size":12345678901234567890,"standing":"running","witnesses":[]}"#;
    site.answer("/v1/audit", 200, status);
    let said = ask(&site, &["audit", "status"]).ends(0);
    assert!(said.stdout.contains("milepost.example/log"), "{}", said.stdout);
    let said = ask(&site, &["audit", "status", "-o", "json"]).ends(0);
    assert!(said.stdout.contains("12345678901234567890"), "{}", said.stdout);
    site.answer("/v1/audit", 200, status.replace("running", "refused"));
    ask(&site, &["audit", "status"]).ends(1);
}

#[test]
fn forks_and_keys_are_asked_for_once_with_what_was_said() {
    let logged = Logged::new();
    let site = Site::start(logged.folder());
    site.answer("/v1/audit/fork", 200, r#"{"size":7}"#);
    site.answer("/v1/audit/keys", 200, r#"{"keys":["a","b"]}"#);
    ask(&site, &["audit", "fork"]).ends(2);
    assert!(site.asked().is_empty());
    ask(&site, &["audit", "fork", "--reason", "the disk died"]).ends(0);
    let body = json!({ "reason": "the disk died" }).to_string();
    assert_eq!(last(&site), ("POST".to_owned(), "/v1/audit/fork".to_owned(), body));
    ask(&site, &["audit", "keys", "add"]).ends(0);
    let body = json!({}).to_string();
    assert_eq!(last(&site), ("POST".to_owned(), "/v1/audit/keys".to_owned(), body));
    ask(&site, &["audit", "keys", "retire", &crate::audit::log_key()]).ends(0);
    let body = json!({ "retire": crate::audit::log_key() }).to_string();
    assert_eq!(last(&site), ("POST".to_owned(), "/v1/audit/keys".to_owned(), body));
    site.answer("/v1/audit/fork", 503, "");
    let before = site.asked().len();
    ask(&site, &["audit", "fork", "--reason", "again"]).ends(6);
    assert_eq!(site.asked().len(), before + 1, "a fork is not repeated by itself");
}
