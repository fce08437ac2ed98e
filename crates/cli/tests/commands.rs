//! The commands that ask a server, and how they end.

use crate::common;

use std::io::Write as _;
use std::process::Stdio;

use client::{Outcome, Worker};
use common::{Said, Server, milepost, run, shipped};
use serde_json::json;
use tokio::sync::oneshot;

const NOWHERE: &str = "019a8c5e-7f1c-7d3a-9b1e-2f6c8d0e4a57";
const CHECKLIST: &str = r#"{"intent":true,"scope":true,"permissions":true,"security_notes":true,"scripts":true,"dependencies":true,"edge_cases":true}"#;

fn skill(name: &str) -> String {
    json!({ "repo_url": "https://github.com/northwind/skills", "skill_name": name }).to_string()
}

fn submit(server: &Server, name: &str, more: &[&str]) -> Said {
    let data = skill(name);
    let args = [&["submit", "skill-review", "-o", "json", "--data", &data], more].concat();
    server.run(&args)
}

/// An answer that says which commit it is about.
fn pinned(mut answer: serde_json::Value) -> serde_json::Value {
    answer["commit"] = json!("a".repeat(40));
    answer["content_hash"] = json!("b".repeat(64));
    answer
}

/// Does work as long as `run` runs, so that submissions come to where people are asked.
async fn while_working<T>(server: &Server, run: impl FnOnce() -> T + Send + 'static) -> T
where
    T: Send + 'static,
{
    let worker = Worker::new(server.client(), "w")
        .task("skills.tier1-scan", |_| async { Ok(Outcome::new("pass").output(pinned(json!({})))) })
        .task("skills.tier2-scan", |_| async { Ok(Outcome::new("scored").output(json!({ "score": 70 }))) })
        .task("skills.publish", |_| async {
            let skill = json!({ "version": "1.0.0", "skill_id": "sk_1" });
            Ok(Outcome::new("published").output(pinned(skill)))
        });
    let (done, over) = oneshot::channel::<()>();
    let working = worker.run(async {
        let _ = over.await;
    });
    let running = async {
        let result = tokio::task::spawn_blocking(run).await.expect("the test's steps do not panic");
        drop(done);
        result
    };
    let (worked, result) = tokio::join!(working, running);
    worked.expect("the worker is let in");
    result
}

#[tokio::test]
async fn a_person_escalates_and_approves_from_the_command_line() {
    let server = Server::with_own_pipelines();
    let url = server.url.clone();
    let ask = move |args: &[&str]| -> Said {
        milepost(args).args(["--server", &url, "-o", "json"]).output().expect("the binary runs").into()
    };
    let shown = while_working(&server, move || {
        let waiting = ask(&["submit", "skill-review", "--wait", "--data", &skill("a")]).ends(0);
        assert!(waiting.stderr.contains("escalate, reject"), "{}", waiting.stderr);
        let waiting = waiting.json();
        assert_eq!(waiting["state"], "NEEDS_REVIEW");
        let id = waiting["id"].as_str().expect("an id").to_owned();
        // Never straight from here to PUBLISHED.
        let refused = ask(&["act", &id, "approve", "--data", CHECKLIST]).ends(4);
        assert!(refused.stderr.contains("action-not-allowed"), "{}", refused.stderr);
        assert!(refused.stderr.contains("escalate, reject"), "{}", refused.stderr);
        assert_eq!(ask(&["act", &id, "escalate"]).ends(0).json()["state"], "TIER3_REVIEW");
        ask(&["act", &id, "approve"]).ends(4);
        let approved =
            ask(&["act", &id, "approve", "--wait", "--timeout", "1m", "--data", CHECKLIST]).ends(0);
        assert_eq!(approved.json()["state"], "PUBLISHED");
        ask(&["show", &id]).ends(0)
    });
    let shown = shown.await.json();
    let moves = shown["events"].as_array().expect("a list").iter().map(|event| {
        let text = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
        (text(&event["kind"]), text(&event["to"]), text(&event["trigger"]), text(&event["actor"]["type"]))
    });
    let moves: Vec<_> = moves.collect();
    let expected = [
        ("submitted", "RECEIVED", "api-submission", "system"),
        ("moved", "TIER1_SCANNING", "non-vendor-submission", "system"),
        ("moved", "TIER2_SCANNING", "tier1-pass", "worker"),
        ("moved", "NEEDS_REVIEW", "tier2-concerns", "worker"),
        ("moved", "TIER3_REVIEW", "escalate", "admin"),
        ("requested", "TIER3_REVIEW", "approve", "admin"),
        ("moved", "PUBLISHED", "approve", "admin"),
    ];
    let expected = expected.map(|(kind, to, trigger, actor)| {
        (kind.to_owned(), to.to_owned(), trigger.to_owned(), actor.to_owned())
    });
    assert_eq!(moves, expected);
    let last = shown["events"].as_array().and_then(|events| events.last()).expect("events");
    assert_eq!(last["metadata"]["skillId"], "sk_1");
    assert_eq!(last["metadata"]["checklist"]["intent"], true);
}

#[test]
fn refusals_say_why_and_end_with_their_code() {
    let server = Server::with_own_pipelines();
    let unknown = server.run(&["show", NOWHERE]).ends(3);
    assert!(
        unknown.stderr.contains("unknown-submission") && unknown.stderr.contains("next:"),
        "{}",
        unknown.stderr
    );
    server.run(&["act", NOWHERE, "approve"]).ends(3);
    server.run(&["submit", "no-such-pipeline", "--data", "{}"]).ends(3);
    let refused = server.run(&["submit", "skill-review", "--data", r#"{"repo_url":"ftp://x"}"#]).ends(4);
    assert!(refused.stderr.contains("schema-violation"), "{}", refused.stderr);
    assert!(refused.stderr.contains("skill_name"), "{}", refused.stderr);
    assert_eq!(refused.stdout, "");
}

#[test]
fn every_violation_of_a_schema_is_told() {
    let server = Server::with_own_pipelines();
    let data = r#"{"repo_url": 1, "colour": "red"}"#;
    let said = server.run(&["submit", "skill-review", "--data", data]).ends(4).stderr;
    for part in ["skill_name", "colour", "/repo_url"] {
        assert_eq!(said.matches(part).count(), 1, "{part}: {said}");
    }
    let file = "name = \"list\"\nversion = 1\npayload = \"list.json\"\nstart = \"DONE\"\n[states.DONE]\nfinal = \"success\"\n";
    let schema = r#"{"items": {"type": "null"}}"#;
    let server = Server::start_with(&[("list.toml", file), ("list.json", schema)], &[], &[]);
    let many = |count: usize| serde_json::to_string(&vec![1; count]).expect("numbers are JSON");
    let told = |count: usize| server.run(&["submit", "list", "--data", &many(count)]).ends(4).stderr;
    let (few, lots) = (told(3), told(100));
    assert_eq!((few.matches("`/").count(), few.contains("more")), (3, false), "{few}");
    assert!(lots.contains("only the first 20 are told; there may be more"), "{lots}");
}

#[test]
fn documents_that_are_none_are_told_with_what_was_meant() {
    let said = run(&["submit", "skill-review", "{\"repo_url\": \"x\"}"]).ends(2).stderr;
    assert!(said.contains("did you mean --data"), "{said}");
    let said = run(&["submit", "skill-review", "no-such-file.json"]).ends(2).stderr;
    assert!(said.contains("cannot read no-such-file.json") && !said.contains("--data"), "{said}");
    let said = run(&["submit", "skill-review", "--data", "nope"]).ends(2).stderr;
    assert!(said.contains("--data is not JSON: expected a value at line 1 column 1"), "{said}");
}

#[test]
fn the_first_of_two_approvals_says_who_has_agreed_and_who_is_missing() {
    let file = "name = \"gate\"\nversion = 1\nstart = \"GATE\"\n[states.GATE]\nreview = \"admin\"\n\
        actions.open = { to = \"OPEN\", approvals = 2 }\n[states.OPEN]\nfinal = \"success\"\n";
    let server = Server::start(&[("gate.toml", file)]);
    let id = server.run(&["submit", "gate", "--data", "{}", "-o", "json"]).ends(0).json()["id"].clone();
    let first = server.run(&["act", id.as_str().expect("an id"), "open"]).ends(0);
    assert!(first.stdout.contains("GATE"), "{first:?}");
    assert!(first.stderr.contains("1 of 2 have agreed (local); one more is needed"), "{first:?}");
    let listed = server.run(&["act", id.as_str().expect("an id")]).ends(0);
    assert!(listed.stdout.contains("open    no") && listed.stdout.contains("you agreed"), "{listed:?}");
    let again = server.run(&["act", id.as_str().expect("an id"), "open", "--wait"]).ends(0);
    assert!(again.stderr.contains("1 of 2 have agreed (local); one more is needed"), "{again:?}");
}

#[test]
fn a_review_is_taken_on_handed_over_noted_and_listed() {
    let file = "name = \"gate\"\nversion = 1\nstart = \"GATE\"\n[states.GATE]\nreview = \"reviewer\"\n\
        actions.open = \"OPEN\"\n[states.OPEN]\nfinal = \"success\"\n";
    let server = Server::start(&[("gate.toml", file)]);
    let id = server.run(&["submit", "gate", "--data", "{}", "-o", "json"]).ends(0).json()["id"].clone();
    let id = id.as_str().expect("an id");
    assert!(server.run(&["reviews", "--unassigned"]).ends(0).stdout.contains(id));
    let claimed = server.run(&["reviews", "claim", id, "--for", "1h", "-o", "json"]).ends(0).json();
    assert_eq!(claimed["assigned"]["to"], "local");
    assert!(server.run(&["reviews", "--mine"]).ends(0).stdout.contains("local until"));
    assert!(!server.run(&["reviews", "--unassigned"]).ends(0).stdout.contains(id));
    let handed = server.run(&["reviews", "hand-over", id, "--to", "bob", "-o", "json"]).ends(0).json();
    assert_eq!((&handed["assigned"]["to"], &handed["assigned"]["by"]), (&"bob".into(), &"local".into()));
    let noted = server.run(&["reviews", "note", id, "ask the author", "-o", "json"]).ends(0).json();
    assert_eq!(noted["notes"], 1);
    let released = server.run(&["reviews", "release", id, "-o", "json"]).ends(0).json();
    assert!(released["assigned"].is_null());
    server.run(&["act", id, "open"]).ends(0);
    server.run(&["reviews", "claim", id]).ends(4);
    assert!(server.run(&["reviews"]).ends(0).stderr.contains("nothing waits"));
}

#[test]
fn tokens_open_the_door_as_far_as_their_role_goes() {
    let server = Server::with_token("secret", "submitter");
    let unknown = server.run(&["list"]).ends(5);
    assert!(
        unknown.stderr.contains("unauthorized") && unknown.stderr.contains("MILEPOST_TOKEN"),
        "{}",
        unknown.stderr
    );
    server.run(&["list", "--token", "guessed"]).ends(5);
    let id = submit(&server, "a", &["--token", "secret"]).ends(0).json()["id"].clone();
    let from_environment =
        milepost(&["show", id.as_str().expect("an id"), "--server", &server.url, "-o", "json"])
            .env("MILEPOST_TOKEN", "secret")
            .output();
    let shown = Said::from(from_environment.expect("the binary runs")).ends(0).json();
    assert_eq!(shown["submission"]["id"], id);
    let file = shipped::file("skill-review").display().to_string();
    let refused = server.run(&["apply", &file, "--token", "secret"]).ends(5);
    assert!(refused.stderr.contains("role-required"), "{}", refused.stderr);
}

#[test]
fn wrong_usage_is_told_before_a_server_is_asked() {
    for args in [
        &["list", "--parent"][..],
        &["submit", "skill-review"],
        &["submit", "skill-review", "--data", "{"],
        &["submit", "skill-review", "--data", "{}", "file.json"],
        &["submit", "skill-review", "--data", "{}", "--timeout", "5s"],
        &["list", "--status", "lost"],
        &["list", "--server", "localhost:8080"],
        &["frobnicate"],
        &[],
    ] {
        let said = run(args).ends(2);
        assert!(!said.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_server_that_is_not_there_is_unreachable() {
    // A port that was free a moment ago and that nobody was told about.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|bound| bound.local_addr())
        .expect("a port")
        .port();
    let said = run(&["list", "--server", &format!("http://127.0.0.1:{port}")]).ends(6);
    assert!(
        said.stderr.contains("cannot be reached") && said.stderr.contains("milepost serve"),
        "{}",
        said.stderr
    );
}

#[test]
fn submissions_are_listed_by_filter_and_by_page() {
    let server = Server::with_own_pipelines();
    let ids: Vec<_> =
        ["a", "b", "c"].map(|name| submit(&server, name, &[]).ends(0).json()["id"].clone()).to_vec();
    let page =
        server.run(&["list", "-o", "json", "--limit", "2", "--label", "owner=northwind"]).ends(0).json();
    assert_eq!(page["submissions"][0]["id"], ids[2]);
    assert_eq!(page["next"], ids[1]);
    let next = page["next"].as_str().expect("an id");
    let rest = server.run(&["list", "-o", "json", "--after", next]).ends(0).json();
    assert_eq!(rest["submissions"].as_array().map(Vec::len), Some(1));
    assert_eq!(rest["submissions"][0]["id"], ids[0]);
    let none = server.run(&["list", "--status", "dead"]).ends(0);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "there are no such submissions\n"));
    let table =
        server.run(&["list", "--state", "TIER1_SCANNING", "--key", "https://github.com/northwind/skills#b"]);
    assert_eq!(table.stdout.lines().count(), 2, "{}", table.stdout);
    assert!(table.stdout.starts_with("ID  ") && table.stdout.contains(ids[1].as_str().expect("an id")));
}

#[test]
fn ids_alone_are_for_scripts() {
    let server = Server::with_own_pipelines();
    let made = ["a", "b"].map(|name| submit(&server, name, &["--quiet"]).ends(0).stdout);
    let listed = server.run(&["list", "-q"]).ends(0).stdout;
    assert_eq!(listed, format!("{}{}", made[1], made[0]), "newest first, one a line and nothing else");
    for id in made {
        server.run(&["show", id.trim_end()]).ends(0);
    }
    let waited = submit(&server, "c", &["--quiet", "--wait", "--timeout", "1ms"]).ends(1).stdout;
    assert!(server.run(&["list", "-q"]).ends(0).stdout.starts_with(&waited), "{waited}");
}

#[test]
fn a_duplicate_is_the_one_that_is_open() {
    let server = Server::with_own_pipelines();
    let first = submit(&server, "a", &[]).ends(0).json();
    let again = submit(&server, "a", &[]).ends(0);
    assert!(again.stderr.contains("nothing new was made"), "{}", again.stderr);
    assert_eq!((&again.json()["id"], &again.json()["duplicate"]), (&first["id"], &true.into()));
}

#[test]
fn a_repeat_with_its_idempotency_key_is_one_submission() {
    let server = Server::start(&[("plain.toml", PLAIN)]);
    let submit =
        || server.run(&["submit", "plain", "--data", "{}", "-o", "json", "--idempotency-key", "k"]).ends(0);
    assert_eq!(submit().json()["id"], submit().json()["id"]);
    let list = server.run(&["list", "-o", "json"]).ends(0).json();
    assert_eq!(list["submissions"].as_array().map(Vec::len), Some(1));
}

const PLAIN: &str = r#"
name = "plain"
version = 1
start = "OPEN"
[params]
greeting = "hello"
[states.OPEN]
actions.close = "CLOSED"
actions.give_up = { to = "GIVEN_UP", reason = true }
[states.CLOSED]
final = "success"
[states.GIVEN_UP]
final = "failure"
"#;

#[test]
fn a_wait_that_ends_badly_or_not_at_all_is_a_negative_outcome() {
    let server = Server::with_own_pipelines();
    let late = submit(&server, "a", &["--wait", "--timeout", "10ms"]).ends(1);
    assert!(late.stderr.contains("still on its way"), "{}", late.stderr);
    let plain = Server::start(&[("plain.toml", PLAIN)]);
    let id = plain.run(&["submit", "plain", "--data", "{}", "-o", "json"]).ends(0).json()["id"].clone();
    let id = id.as_str().expect("an id");
    let needs = plain.run(&["act", id, "give_up"]).ends(4);
    assert!(
        needs.stderr.contains("reason-required") && needs.stderr.contains("--reason"),
        "{}",
        needs.stderr
    );
    plain.run(&["act", id, "give_up", "--reason", "no use", "--wait"]).ends(1);
}

#[test]
fn payloads_come_from_files_and_from_stdin() {
    let server =
        Server::start(&[("plain.toml", PLAIN), ("payload.json", r#"{"n":12345678901234567890.10}"#)]);
    let file = server.folder.path().join("payload.json").display().to_string();
    let from_file = server.run(&["submit", "plain", &file, "-o", "json"]).ends(0).json();
    let shown = server.run(&["show", from_file["id"].as_str().expect("an id"), "-o", "json"]).ends(0);
    assert!(shown.stdout.contains("12345678901234567890.10"), "{}", shown.stdout);
    let mut piped = milepost(&["submit", "plain", "-", "--server", &server.url, "-o", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    piped.stdin.take().expect("stdin is piped").write_all(b"{}").expect("it is read");
    let said = Said::from(piped.wait_with_output().expect("it ends"));
    assert_eq!(said.ends(0).json()["state"], "OPEN");
}

#[test]
fn files_are_applied_with_parameters_and_versions() {
    let server = Server::start(&[("plain.toml", PLAIN)]);
    let write = |text: String| {
        let path = server.folder.path().join("next.toml").display().to_string();
        std::fs::write(&path, text).expect("the folder can be written");
        path
    };
    let same = write(PLAIN.to_owned());
    assert_eq!(server.run(&["apply", &same, "-o", "json"]).ends(0).json()["changed"], false);
    let set = server.run(&["apply", &same, "--param", "greeting=hi", "-o", "json"]).ends(0).json();
    assert_eq!(
        (&set["version"], &set["revision"], &set["params"]["greeting"]),
        (&1.into(), &2.into(), &"hi".into())
    );
    let altered = write(PLAIN.replace("\"hello\"", "\"hallo\""));
    let refused = server.run(&["apply", &altered]).ends(4);
    assert!(refused.stderr.contains("version-exists"), "{}", refused.stderr);
    let next = write(PLAIN.replace("version = 1", "version = 2"));
    let applied = server.run(&["apply", &next, "-o", "json"]).ends(0).json();
    assert_eq!((&applied["version"], &applied["changed"]), (&2.into(), &true.into()));
    assert_eq!(applied["params"]["greeting"], "hi", "what was set stays set");
    let old = write(PLAIN.to_owned());
    let refused = server.run(&["apply", &old]).ends(4);
    assert!(refused.stderr.contains("version 2 of `plain` is in force"), "{}", refused.stderr);
    let back = server.run(&["apply", &old, "--rollback"]).ends(0);
    assert!(back.stderr.contains("rolled back"), "{}", back.stderr);
    let shown = server.run(&["pipelines", "-o", "json"]).ends(0).json();
    let plain = shown["pipelines"].as_array().unwrap().iter().find(|view| view["name"] == "plain").unwrap();
    assert_eq!((&plain["in_force"], &plain["versions"]), (&1.into(), &serde_json::json!([1, 2])));
    let shown = server.run(&["pipelines", "plain"]).ends(0).stdout;
    assert!(shown.contains("in force") && shown.contains("greeting=\"hi\""), "{shown}");
    for version in ["3", "4"] {
        let next = write(PLAIN.replace("version = 1", &format!("version = {version}")));
        server.run(&["apply", &next]).ends(0);
    }
    let refused = server.run(&["retire", "plain", "--version", "4"]).ends(4);
    assert!(refused.stderr.contains("version-in-use"), "{}", refused.stderr);
    server.run(&["retire", "plain"]).ends(2);
    let tried = server.run(&["retire", "plain", "--unused", "--dry-run"]).ends(0).stdout;
    assert!(tried.contains("would be retired") && tried.contains("is in force"), "{tried}");
    let done = server.run(&["retire", "plain", "--unused", "-o", "json"]).ends(0).json();
    assert_eq!(done["retired"], serde_json::json!([1, 2]));
    let shown = server.run(&["pipelines", "plain"]).ends(0).stdout;
    assert_eq!(shown.matches("retired").count(), 2, "{shown}");
    let bad = write(PLAIN.replace("start = \"OPEN\"", "start = \"OPN\""));
    let refused = server.run(&["apply", &bad]).ends(4);
    assert!(
        refused.stderr.contains("error[unknown-state]") && refused.stderr.contains('^'),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_closed_pipe_is_no_trouble() {
    let server = Server::with_own_pipelines();
    submit(&server, "a", &[]).ends(0);
    let mut list = milepost(&["list", "--server", &server.url])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(list.stdout.take());
    let said = Said::from(list.wait_with_output().expect("it ends")).ends(0);
    assert_eq!(said.stderr, "");
}
