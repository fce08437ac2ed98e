//! Commands that operators type: why, tail, holds, dead letters, amendments.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::common::{Said, Server, milepost, run};
use serde_json::{Value, json};
use wire::api::{ClaimBody, CursorBody, ErrorBody, FailBody, FinishBody};

const LOTS: &str = r#"
name = "lots"
version = 1
key = "payload.ref"
labels = { site = "payload.site" }
lane = { key = "payload.site" }
amend = { fields = ["ready"] }
start = "GATE"
[states.GATE]
next = [{ to = "WORKING", when = "payload.ready" }]
[states.WORKING]
task = "lots.work"
lease = "1h"
on.done = "DONE"
on.lost = "LOST"
[states.DONE]
final = "success"
[states.LOST]
final = "failure"
actions.resume = { to = ["GATE", "WORKING"] }
"#;

fn lot(server: &Server, reference: &str, ready: bool) -> String {
    let data = json!({ "ref": reference, "site": "north", "ready": ready }).to_string();
    let made = server.run(&["submit", "lots", "--data", &data, "-o", "json"]).ends(0).json();
    made["id"].as_str().expect("an id").to_owned()
}

/// Claims the one task there is and gives its token.
async fn claim(server: &Server) -> String {
    let body =
        ClaimBody { worker: "w".to_owned(), tasks: vec!["lots.work".to_owned()], ..ClaimBody::default() };
    let mut claimed = server.client().claim(&body).await.expect("the server answers");
    claimed.tasks.remove(0).token
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

#[test]
fn a_guard_is_explained_and_an_amendment_opens_it() {
    let server = Server::start(&[("lots.toml", LOTS)]);
    let id = lot(&server, "a", false);
    let why = server.run(&["why", &id]).ends(0);
    assert!(why.stdout.contains("payload.ready is false"), "{}", why.stdout);
    let why = server.run(&["why", &id, "-o", "json"]).ends(0).json();
    assert_eq!(why["reasons"][0]["code"], "guard");
    let amended = server.run(&["amend", &id, "--data", r#"{"ready":true}"#, "-o", "json"]).ends(0).json();
    assert_eq!(amended["state"], "WORKING");
    let refused = server.run(&["amend", &id, "--data", r#"{"site":"south"}"#]).ends(4);
    assert!(
        refused.stderr.contains("not-amendable") && refused.stderr.contains("ready"),
        "{}",
        refused.stderr
    );
    server.run(&["amend", &id, "--data", "{}", "--revision", "1"]).ends(4);
    server.run(&["amend", &id]).ends(2);
    server.run(&["why", "019a8c5e-7f1c-7d3a-9b1e-2f6c8d0e4a57"]).ends(3);
}

#[test]
fn holds_are_placed_listed_and_released() {
    let server = Server::start(&[("lots.toml", LOTS)]);
    let id = lot(&server, "a", true);
    let none = server.run(&["holds"]).ends(0);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "nothing is held\n"));
    run(&["hold", "--reason", "r"]).ends(2);
    run(&["hold", "--pipeline", "lots"]).ends(2);
    server.run(&["hold", "--pipeline", "lost", "--reason", "r"]).ends(3);
    let args =
        ["hold", "--pipeline", "lots", "--label", "site=north", "--lane", "north", "--submission", &id];
    let args =
        [&args[..], &["--reason", "snow", "--expires-at", "9999-01-01T00:00:00Z", "-o", "json"]].concat();
    let placed = server.run(&args).ends(0);
    assert!(placed.stderr.contains("milepost release"), "{}", placed.stderr);
    let hold = text(&placed.json()["id"]).to_owned();
    let listed = server.run(&["holds"]).ends(0).stdout;
    assert!(listed.contains("pipeline=lots site=north lane=north") && listed.contains("snow"), "{listed}");
    let shown = server.run(&["show", &id]).ends(0).stdout;
    assert!(shown.contains("snow") && shown.contains("lane"), "{shown}");
    assert!(server.run(&["why", &id]).ends(0).stdout.contains("local holds it"));
    server.run(&["release", &hold]).ends(0);
    let gone = server.run(&["release", &hold]).ends(3);
    assert!(
        gone.stderr.contains("unknown-hold") && gone.stderr.contains("milepost holds"),
        "{}",
        gone.stderr
    );
}

#[tokio::test]
async fn cursors_are_listed_and_deleted() {
    let server = Server::start(&[("lots.toml", LOTS)]);
    let none = server.run(&["cursors", "list"]).ends(0);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "there is no cursor yet\n"));
    server.client().move_cursor("mailer", CursorBody { position: 7, rewind: false }).await.expect("it moves");
    let listed = server.run(&["cursors", "list"]).ends(0).stdout;
    assert!(listed.contains("mailer") && listed.contains('7'), "{listed}");
    assert_eq!(server.run(&["cursors", "list", "-o", "json"]).ends(0).json()["cursors"][0]["position"], 7);
    let gone = server.run(&["cursors", "delete", "mailer"]).ends(0).stdout;
    assert!(gone.contains("mailer"), "{gone}");
    let again = server.run(&["cursors", "delete", "mailer"]).ends(3);
    assert!(again.stderr.contains("unknown-cursor"), "{}", again.stderr);
}

#[tokio::test]
async fn dead_letters_are_listed_and_redriven() {
    let server = Server::start(&[("lots.toml", LOTS)]);
    let none = server.run(&["dead"]).ends(0);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "there are no dead letters\n"));
    let id = lot(&server, "a", true);
    let error = ErrorBody {
        code: "jam".to_owned(),
        message: "the belt stopped".to_owned(),
        retryable: false,
        retry_after: None,
    };
    let failed = server.client().fail(vec![FailBody { token: claim(&server).await, error }]).await;
    assert_eq!(failed.expect("the server answers").results[0].status, 200);
    for args in [&["dead"][..], &["dead", "list", "--pipeline", "lots", "--label", "site=north"]] {
        let listed = server.run(args).ends(0).stdout;
        assert!(listed.contains(&id) && listed.contains("the belt stopped"), "{listed}");
    }
    for args in [&["show", &id][..], &["tail"]] {
        let said = server.run(args).ends(0).stdout;
        let event = said.lines().find(|line| line.contains("died")).unwrap_or_default();
        assert!(event.contains("the belt stopped (jam)"), "{said}");
    }
    let redriven = server.run(&["dead", "redrive", &id, "--reason", "it runs", "-o", "json"]).ends(0).json();
    assert_eq!(redriven["status"], "open");
    let again = server.run(&["dead", "redrive", &id]).ends(4);
    assert!(again.stderr.contains("not-dead"), "{}", again.stderr);
}

#[tokio::test]
async fn what_failed_is_resumed_where_one_says() {
    let server = Server::start(&[("lots.toml", LOTS)]);
    let id = lot(&server, "a", true);
    let finish = wire::api::FinishBody {
        token: claim(&server).await,
        outcome: "lost".to_owned(),
        output: None,
        result: None,
        children: Vec::new(),
        entries: Vec::new(),
    };
    server.client().finish(vec![finish]).await.expect("the server answers");
    let resumed =
        server.run(&["resume", &id, "--to", "WORKING", "--reason", "found", "-o", "json"]).ends(0).json();
    assert_eq!((&resumed["state"], &resumed["status"]), (&json!("WORKING"), &json!("open")));
    server.run(&["resume", &id]).ends(4);
}

#[test]
fn the_feed_is_shown_and_followed() {
    let server = Server::start(&[("lots.toml", LOTS)]);
    let first = lot(&server, "a", true);
    let second = lot(&server, "b", false);
    let lines = |said: Said| said.stdout.lines().map(str::to_owned).collect::<Vec<_>>();
    // The first positions are the definition's and that of the built-in one.
    let all = lines(server.run(&["tail"]).ends(0));
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(all[0].contains(&first) && all[2].contains(&second), "{all:?}");
    assert_eq!(lines(server.run(&["tail", "--last", "1"]).ends(0)), all[2..]);
    assert_eq!(lines(server.run(&["tail", "--after", "3"]).ends(0)), all[1..]);
    assert_eq!(
        lines(server.run(&["tail", "--state", "WORKING", "--label", "site=north"]).ends(0)),
        all[1..2]
    );
    server.run(&["tail", "--pipeline", "lost"]).ends(3);

    let follow = ["tail", "--follow", "--after", "5", "-o", "json", "--server", &server.url];
    let mut following = milepost(&follow).stdout(Stdio::piped()).spawn().expect("the binary runs");
    let mut events = BufReader::new(following.stdout.take().expect("it is piped")).lines();
    let third = lot(&server, "c", false);
    let event: Value = serde_json::from_str(&events.next().expect("a line").expect("text")).expect("JSON");
    assert_eq!((&event["seq"], &event["submission"]), (&json!(6), &json!(third)));
    following.kill().and_then(|()| following.wait()).expect("it ends");
}

#[test]
fn a_feed_that_is_followed_goes_on_after_a_restart() {
    let mut server = Server::start(&[("lots.toml", LOTS)]);
    let follow = ["tail", "--follow", "--last", "0", "-o", "json", "--server", &server.url];
    let mut command = milepost(&follow);
    let mut following =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    let mut events = BufReader::new(following.stdout.take().expect("it is piped")).lines();
    let mut said = BufReader::new(following.stderr.take().expect("it is piped")).lines();
    let mut next = || {
        let line = events.next().expect("it goes on").expect("text");
        serde_json::from_str::<Value>(&line).expect("JSON")
    };
    // It may begin after the first; one of them it sees.
    let (first, second) = (lot(&server, "a", false), lot(&server, "b", false));
    let seen = next()["submission"].clone();
    assert!([&first, &second].contains(&&text(&seen).to_owned()), "{seen}");
    server.child.kill().and_then(|()| server.child.wait()).expect("it ends");
    let away = said.next().expect("it says so").expect("text");
    assert!(away.contains("cannot be reached") && away.contains("goes on after position"), "{away}");
    server.restart();
    let third = lot(&server, "c", false);
    let last = std::iter::repeat_with(next).find(|event| text(&event["submission"]) != second);
    assert_eq!(last.expect("it goes on")["submission"], json!(third), "nothing twice, nothing left out");
    let back = said.next().expect("it says so").expect("text");
    assert!(back.contains("is back"), "{back}");
    following.kill().and_then(|()| following.wait()).expect("it ends");
}

const LOUD: &str = r#"
name = "loud"
version = 1
start = { to = "DONE", notify = "author" }
[notify.author]
mail = "payload.mail"
[states.DONE]
final = "success"
"#;

#[tokio::test]
async fn messages_are_listed_and_sent_again() {
    // Its own senders would take the message first.
    let server = Server::start_with(&[("loud.toml", LOUD)], &["--no-send".to_owned()], &[]);
    let data = r#"{"mail":"ada@example.com"}"#;
    let id =
        text(&server.run(&["submit", "loud", "--data", data, "-o", "json"]).ends(0).json()["id"]).to_owned();
    let body =
        ClaimBody { worker: "w".to_owned(), tasks: vec!["delivery.mail".to_owned()], ..ClaimBody::default() };
    // A long poll: the message comes a commit after its submission.
    let body = ClaimBody { wait: Some("20s".parse().expect("a span")), ..body };
    let token = server.client().claim(&body).await.expect("the server answers").tasks.remove(0).token;
    let listed = server.run(&["deliveries", "list", "--submission", &id, "--channel", "mail"]).ends(0);
    assert!(
        listed.stdout.contains("ada@example.com") && listed.stdout.contains("MAILING"),
        "{}",
        listed.stdout
    );
    let told = server.run(&["show", &id]).ends(0);
    assert!(told.stdout.contains("TOLD") && told.stdout.contains("author"), "{}", told.stdout);
    let first = server.run(&["deliveries", "-o", "json"]).ends(0).json()["deliveries"][0].clone();
    server.run(&["deliveries", "replay", text(&first["id"])]).ends(4);
    let error = ErrorBody {
        code: "smtp-550".to_owned(),
        message: "no such mailbox".to_owned(),
        retryable: false,
        retry_after: None,
    };
    server.client().fail(vec![FailBody { token, error }]).await.expect("the server answers");
    assert!(server.run(&["why", &id]).ends(0).stdout.contains("smtp-550"));
    let dead = server.run(&["deliveries", "list", "--status", "dead", "-o", "json"]).ends(0).json();
    assert_eq!(dead["deliveries"].as_array().expect("a list").len(), 1);
    let again = server.run(&["deliveries", "replay", text(&first["id"]), "--reason", "it is back"]).ends(0);
    assert!(again.stdout.contains("MAILING"), "{}", again.stdout);
}

#[tokio::test]
async fn ends_are_listed_and_acknowledged() {
    let lots = LOTS.replace(
        "[states.LOST]\nfinal = \"failure\"",
        "[states.LOST]\nfinal = \"failure\"\ninvestigate = true",
    );
    let server = Server::start(&[("lots.toml", &lots)]);
    let none = server.run(&["investigations"]).ends(0);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "there is nothing to look into\n"));
    let mut ids = Vec::new();
    for reference in ["a", "b", "c"] {
        ids.push(lot(&server, reference, true));
        let token = claim(&server).await;
        let body = FinishBody {
            token,
            outcome: "lost".to_owned(),
            output: None,
            children: Vec::new(),
            result: None,
            entries: Vec::new(),
        };
        server.client().finish(vec![body]).await.expect("the server answers");
    }
    let list = server.run(&["investigations", "list", "--pipeline", "lots"]).ends(0);
    assert!(ids.iter().all(|id| list.stdout.contains(id)), "{}", list.stdout);
    let status = server.run(&["status"]).ends(0);
    assert!(status.stdout.contains("TO INVESTIGATE"), "{}", status.stdout);
    let doctor = server.run(&["doctor", "-o", "json"]).json();
    assert!(doctor.to_string().contains("somebody should look into how 3 ended"), "{doctor}");

    let acknowledge = ["investigations", "acknowledge", &ids[0], "--note", "a flood"];
    server.run(&acknowledge).ends(0);
    let again = server.run(&acknowledge).ends(4);
    assert!(again.stderr.contains("nothing-to-acknowledge"), "{}", again.stderr);
    let shown = server.run(&["show", &ids[0]]).ends(0);
    assert!(shown.stdout.contains("acknowledged by local at ") && shown.stdout.contains(": a flood"));
    let done = server.run(&["investigations", "list", "--acknowledged"]).ends(0);
    assert!(done.stdout.contains("local: a flood") && !done.stdout.contains(&ids[1]), "{}", done.stdout);
    let rest = [
        "investigations",
        "acknowledge",
        "--pipeline",
        "lots",
        "--note",
        "the same flood",
        "--yes",
        "-o",
        "json",
    ];
    let rest = server.run(&rest).ends(0).json();
    assert_eq!((&rest["found"], &rest["done"]), (&json!(2), &json!(2)), "those that are open");
    server.run(&["investigations"]).ends(0);
    let list = server.run(&["list", "--investigation", "acknowledged", "-o", "json"]).ends(0).json();
    assert_eq!(list["submissions"].as_array().expect("a list").len(), 3);
}

#[tokio::test]
async fn status_tells_how_service_levels_are_kept() {
    let lots = LOTS
        .replace("task = \"lots.work\"", "task = \"lots.work\"\nsla = { target = \"1h\", p95 = \"1ms\" }");
    let server = Server::start(&[("lots.toml", &lots)]);
    let before = server.run(&["status"]).ends(0);
    assert!(!before.stdout.contains("SERVICE LEVEL"), "{}", before.stdout);
    lot(&server, "a", true);
    let token = claim(&server).await;
    let body = FinishBody {
        token,
        outcome: "done".to_owned(),
        output: None,
        children: Vec::new(),
        result: None,
        entries: Vec::new(),
    };
    server.client().finish(vec![body]).await.expect("the server answers");
    let status = loop {
        let status = server.run(&["status"]).ends(0);
        if status.stdout.contains("SERVICE LEVEL") {
            break status.stdout;
        }
    };
    assert!(status.contains("(1h: met)") && status.contains("(1ms: missed)"), "{status}");
}
