//! Operations on many submissions at once: resume, act, redrive, migrate; and what operators look at then.

use crate::common;

use std::collections::BTreeSet;

use client::{Client, ResultFilter};
use common::{Server, milepost};
use model::{Json, SubmissionId};
use serde_json::{Value, json};
use wire::api::{ApplyBody, ClaimBody, ErrorBody, FailBody, OperationBody, SubmitBody, SubmitMany};
use wire::operation::{Filter, Operation, OperationStatus};

const CARDS: &str = r#"
name = "cards"
version = 1
key = "string(payload.n)"
labels = { box = "payload.box" }
start = "NEW"

[states.NEW]
review = "reviewer"
actions.file = { to = "FILED", reason = true }
actions.drop = "DROPPED"
actions.print = "PRINTING"

[states.PRINTING]
task = "cards.print"
lease = "1h"
on.done = "FILED"

[states.FILED]
final = "success"

[states.DROPPED]
final = "failure"
actions.resume = "NEW"
"#;

fn second() -> String {
    CARDS.replace("version = 1", "version = 2").replace("NEW", "FRESH").replace("\"1h\"", "\"2h\"")
}

fn start() -> Server {
    Server::start(&[("cards.toml", CARDS)])
}

async fn cards(client: &Client, numbers: std::ops::Range<u32>, label: &str) -> Vec<SubmissionId> {
    let mut ids = Vec::new();
    let numbers: Vec<u32> = numbers.collect();
    for chunk in numbers.chunks(1_000) {
        let body = |n: &u32| SubmitBody {
            payload: Json::from(json!({ "n": n, "box": label })),
            ..SubmitBody::default()
        };
        let many = SubmitMany { submissions: chunk.iter().map(body).collect() };
        let answer = client.submit_many("cards", &many, None).await.expect("the server answers");
        ids.extend(answer.results.iter().map(|result| result.submission.as_ref().expect("it is taken").id));
    }
    ids
}

async fn die(client: &Client, id: SubmissionId) {
    client.act(id, "print", &Default::default(), &Default::default()).await.expect("it prints");
    let claim =
        ClaimBody { worker: "w".to_owned(), tasks: vec!["cards.print".to_owned()], ..ClaimBody::default() };
    let token = client.claim(&claim).await.expect("the server answers").tasks.remove(0).token;
    let error = ErrorBody {
        code: "jam".to_owned(),
        message: "no paper".to_owned(),
        retryable: false,
        retry_after: None,
    };
    client.fail(vec![FailBody { token, error }]).await.expect("the server answers");
}

async fn apply_second(client: &Client) {
    let body = ApplyBody { toml: second(), ..ApplyBody::default() };
    client.apply("cards", &body).await.expect("the second version is good");
}

#[tokio::test]
async fn an_action_is_done_to_all_that_fit() {
    let server = start();
    let client = server.client();
    cards(&client, 0..7, "red").await;
    cards(&client, 10..12, "blue").await;
    let act = ["act", "--pipeline", "cards", "--label", "box=red", "file"];
    let asked = server.run(&act).ends(2);
    assert!(asked.stderr.contains("--dry-run") && asked.stderr.contains("--yes"), "{}", asked.stderr);

    let dry = server.run(&[&act[..], &["--dry-run"]].concat()).ends(1);
    assert!(dry.stdout.contains("file (dry run)"), "{}", dry.stdout);
    assert!(dry.stdout.contains("reason-required  7"), "{}", dry.stdout);
    assert_eq!(dry.stdout.matches("needs a reason").count(), 5, "the first refusals: {}", dry.stdout);

    let done = server.run(&[&act[..], &["--reason", "full", "--yes", "-o", "json"]].concat()).ends(0).json();
    assert_eq!((&done["status"], &done["done"], &done["found"]), (&json!("done"), &json!(7), &json!(7)));
    let listed = server.run(&["list", "--state", "FILED", "-o", "json"]).ends(0).json();
    assert_eq!(listed["submissions"].as_array().expect("a list").len(), 7);

    let again = server.run(&[&act[..], &["--reason", "full", "--yes"]].concat()).ends(1);
    assert!(again.stdout.contains("action-not-allowed"), "{}", again.stdout);
    server.run(&["act", "--pipeline", "cards", "fill", "--yes"]).ends(4);
    server.run(&["act", "--pipeline", "card", "file", "--yes"]).ends(3);
    server.run(&["act", "--pipeline", "cards", "file", "drop"]).ends(2);
    server.run(&["act", "file"]).ends(3);
    server.run(&["act", "nonsense", "file"]).ends(3);
}

#[tokio::test]
async fn what_failed_and_what_died_goes_on_together() {
    let server = start();
    let client = server.client();
    let ids = cards(&client, 0..4, "red").await;
    client.act(ids[0], "drop", &Default::default(), &Default::default()).await.expect("it drops");
    die(&client, ids[1]).await;
    let dry = ["dead", "redrive", "--pipeline", "cards", "--error", "jam", "--dry-run", "-o", "json"];
    assert_eq!(server.run(&dry).ends(0).json()["done"], 1);
    assert_eq!(server.run(&["dead", "-o", "json"]).ends(0).json()["submissions"][0]["status"], "dead");
    let other = server.run(&["dead", "redrive", "--pipeline", "cards", "--error", "fire", "--yes"]).ends(0);
    assert!(other.stdout.contains("redrive"), "{}", other.stdout);
    server.run(&["dead", "redrive", "--pipeline", "cards", "--status", "open", "--yes"]).ends(2);

    let failed = ["resume", "--pipeline", "cards", "--status", "failed", "--dry-run", "-o", "json"];
    assert_eq!(server.run(&failed).ends(0).json()["done"], 1);
    let odd = server.run(&["resume", "--pipeline", "cards", "--status", "open", "--yes"]).ends(2);
    assert!(odd.stderr.contains("this is for those that are failed or dead, not open"), "{}", odd.stderr);
    let asked = server.run(&["resume", "--pipeline", "cards"]).ends(2);
    assert!(asked.stderr.contains("--dry-run") && asked.stderr.contains("--yes"), "{}", asked.stderr);
    // The open ones are none of its business, so it ends well.
    let resumed = server.run(&["resume", "--pipeline", "cards", "--yes", "-o", "json"]).ends(0).json();
    let done = |number: usize| (&resumed[number]["filter"]["status"], &resumed[number]["done"]);
    assert_eq!(done(0), (&json!("failed"), &json!(1)), "{resumed}");
    assert_eq!(done(1), (&json!("dead"), &json!(1)), "a dead letter is redriven: {resumed}");
    let states: BTreeSet<String> = {
        let list = server.run(&["list", "-o", "json"]).ends(0).json();
        let list = list["submissions"].as_array().expect("a list").clone();
        list.iter().map(|row| format!("{} {}", row["state"], row["status"]).replace('"', "")).collect()
    };
    assert_eq!(states, ["NEW open", "PRINTING open"].map(str::to_owned).into());
    server.run(&["resume"]).ends(2);
    server.run(&["resume", &ids[0].to_string(), "--pipeline", "cards"]).ends(2);
}

#[tokio::test]
async fn submissions_are_migrated_to_another_version() {
    let server = start();
    let client = server.client();
    let ids = cards(&client, 0..4, "red").await;
    die(&client, ids[0]).await;
    client.act(ids[1], "drop", &Default::default(), &Default::default()).await.expect("it drops");
    let none = server.run(&["migrate", "cards", "--to", "1"]).ends(3);
    assert!(none.stderr.contains("no version of cards but 1"), "{}", none.stderr);
    apply_second(&client).await;

    let dry = server.run(&["migrate", "cards", "--to", "2", "--dry-run"]).ends(1);
    assert!(dry.stdout.contains("not-migratable  2"), "{}", dry.stdout);
    assert!(dry.stdout.contains("has no state `NEW`"), "the first refusals: {}", dry.stdout);
    assert!(dry.stderr.contains("1 could follow version 2"), "{}", dry.stderr);
    let args = ["migrate", "cards", "--to", "2", "--map", "NEW=FRESH", "--reason", "it is new", "-o", "json"];
    let asked = server.run(&args).ends(2);
    assert!(asked.stderr.contains("--dry-run") && asked.stderr.contains("--yes"), "{}", asked.stderr);
    let args = [&args[..], &["--yes"]].concat();
    let done = server.run(&args).ends(0).json();
    assert_eq!(
        (&done[0]["done"], &done[1]["done"]),
        (&json!(2), &json!(1)),
        "the open ones, then the dead: {done}"
    );
    let moved = server.run(&["show", &ids[2].to_string(), "-o", "json"]).ends(0).json();
    assert_eq!(
        (&moved["submission"]["version"], &moved["submission"]["state"]),
        (&json!(2), &json!("FRESH"))
    );
    assert_eq!(moved["events"][1]["kind"], "migrated");
    let ended = server.run(&["show", &ids[1].to_string(), "-o", "json"]).ends(0).json();
    assert_eq!(ended["submission"]["version"], 1, "what has ended stays");

    server.run(&["migrate", "cards", "--to", "3", "--from", "2", "--yes"]).ends(3);
    server.run(&["migrate", "cards", "--to", "2", "--map", "NEW"]).ends(2);
    server.run(&["migrate", "card", "--to", "2"]).ends(3);
}

#[tokio::test]
async fn operations_are_looked_at_and_stopped() {
    let server = start();
    let client = server.client();
    let none = server.run(&["operations"]).ends(0);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "there are no operations\n"));
    cards(&client, 0..3, "red").await;
    let filed = server.run(&["act", "--pipeline", "cards", "file", "--yes", "-o", "json"]).ends(1).json();
    let id = filed["id"].as_str().expect("an id");
    for args in [&["operations"][..], &["operations", "list", "--limit", "1"]] {
        let listed = server.run(args).ends(0).stdout;
        assert!(listed.contains(id) && listed.contains("cards"), "{listed}");
    }
    let shown = server.run(&["operations", "show", id]).ends(0).stdout;
    assert!(shown.contains("3 with reason-required") && shown.contains("pipeline=cards"), "{shown}");
    server.run(&["operations", "show", id, "--wait"]).ends(1);
    let results =
        server.run(&["operations", "results", id, "--code", "reason-required", "--limit", "2"]).ends(0);
    assert_eq!(results.stdout.lines().count(), 3, "{}", results.stdout);
    assert!(results.stderr.contains("--code reason-required --after"), "{}", results.stderr);
    let over = server.run(&["operations", "stop", id]).ends(4);
    assert!(over.stderr.contains("operation-over"), "{}", over.stderr);
    server.run(&["operations", "show", "00000000-0000-7000-8000-000000000000"]).ends(3);
    server.run(&["operations", "show", "nonsense"]).ends(2);
}

#[tokio::test]
async fn what_is_overdue_and_how_the_server_does_is_shown() {
    let quick = CARDS.replace("review =", "sla = { target = \"1ms\" }\nreview =");
    let server = Server::start(&[("cards.toml", &quick)]);
    let client = server.client();
    let id = cards(&client, 0..1, "red").await.remove(0).to_string();
    let overdue = loop {
        let said = server.run(&["overdue", "--pipeline", "cards"]).ends(0);
        if !said.stdout.is_empty() {
            break said.stdout;
        }
        assert_eq!(said.stderr, "nothing is overdue\n");
    };
    assert!(overdue.contains(&id) && overdue.contains("NEW"), "{overdue}");
    assert!(server.run(&["show", &id]).ends(0).stdout.contains("NEW at "), "its service level is shown");
    let status = server.run(&["status"]).ends(0).stdout;
    assert!(status.contains("is running") && status.contains("housekeeping"), "{status}");
    let row = ["cards", "NEW", "open", "1"];
    assert!(status.lines().any(|line| line.split_whitespace().eq(row)), "{status}");
    let stats = server.run(&["status", "-o", "json"]).ends(0).json();
    assert!(stats["last_event"].as_u64().expect("a number") >= 1, "{stats}");
}

#[tokio::test]
async fn applying_says_what_changes_and_a_dry_run_changes_nothing() {
    let server = start();
    let file = server.folder.path().join("second");
    std::fs::write(&file, second()).expect("the folder can be written");
    let file = file.to_str().expect("a plain path");
    let dry = server.run(&["apply", file, "--dry-run"]).ends(0);
    assert!(dry.stdout.contains("~ PRINTING.lease 1h -> 2h"), "{}", dry.stdout);
    assert!(
        dry.stderr.contains("nothing was") && dry.stderr.contains("where those in NEW go"),
        "{}",
        dry.stderr
    );
    assert_eq!(server.client().pipeline("cards").await.expect("it is there").versions, [1]);
    let applied = server.run(&["apply", file]).ends(0);
    assert_eq!(applied.stdout, dry.stdout);
    let again = server.run(&["apply", file, "--dry-run", "-o", "json"]).ends(0).json();
    assert_eq!((&again["changed"], &again["diff"]), (&json!(false), &json!([])));
    std::fs::write(file, second().replace("2h", "3h")).expect("the folder can be written");
    server.run(&["apply", file, "--dry-run"]).ends(4);
}

#[tokio::test]
async fn machines_and_ways_are_drawn() {
    let server = start();
    let id = cards(&server.client(), 0..1, "red").await.remove(0).to_string();
    let file = server.folder.path().join("cards.toml");
    let file = file.to_str().expect("a plain path");
    let machine = server.run(&["draw", file, "--format", "svg"]).ends(0).stdout;
    assert!(machine.starts_with("<svg ") && machine.contains("PRINTING"), "{machine}");
    assert!(server.run(&["draw", file]).ends(0).stdout.starts_with("stateDiagram-v2"));
    let way = server.run(&["draw", "--submission", &id]).ends(0).stdout;
    assert!(way.starts_with("<svg ") && way != machine, "{way}");
    assert!(server.run(&["draw", file, "--format", "svg", "-o", "json"]).ends(0).json()["svg"].is_string());
    server.run(&["draw", "--submission", &id, "--format", "mermaid"]).ends(2);
    server.run(&["draw", "--submission", "00000000-0000-7000-8000-000000000000"]).ends(3);
    server.run(&["draw"]).ends(2);
}

/// Every result of an operation.
async fn results(client: &Client, operation: &str) -> Vec<(SubmissionId, Value)> {
    let mut filter = ResultFilter { limit: Some(1_000), ..ResultFilter::default() };
    let mut all = Vec::new();
    loop {
        let page = client.operation_results(operation, &filter).await.expect("the server answers");
        all.extend(page.results.into_iter().map(|view| (view.submission, json!(view.result))));
        filter.after = page.next;
        if filter.after.is_none() {
            return all;
        }
    }
}

#[tokio::test]
async fn an_operation_goes_on_after_a_crash_and_nobody_is_left_out_or_done_twice() {
    const COUNT: u32 = 2_000;
    let mut server = start();
    let client = server.client();
    let mut ids = cards(&client, 0..COUNT, "red").await;
    let body = OperationBody {
        filter: Filter::of("cards".into()),
        action: "file".into(),
        reason: Some("full".to_owned()),
        data: None,
        to: None,
        version: None,
        map: Default::default(),
        dry_run: false,
    };
    let started = client.start_operation(&body).await.expect("it starts");
    let mut crashes = 0;
    let mut goal = 1;
    let ended: Operation = loop {
        let operation = client.operation(&started.id).await.expect("the server answers");
        if operation.status != OperationStatus::Running {
            break operation;
        }
        if operation.done >= goal {
            crashes += 1;
            goal = operation.done + 400;
            server.restart();
        }
    };
    assert!(crashes > 0, "it was over before anything could be killed");
    assert_eq!(
        (ended.status, ended.found, ended.done),
        (OperationStatus::Done, u64::from(COUNT), u64::from(COUNT))
    );
    let results = results(&client, &started.id).await;
    ids.sort();
    assert_eq!(results.iter().map(|(id, _)| *id).collect::<Vec<_>>(), ids, "each has one result");
    assert!(results.iter().all(|(_, result)| result["state"] == "FILED"));
    for id in ids.iter().step_by(97) {
        let events = client.events(*id, 0).await.expect("the server answers").events;
        assert_eq!(events.iter().filter(|event| &*event.trigger == "file").count(), 1, "{id}");
    }
    let counts = client.stats().await.expect("the server answers").counts;
    let counted: Vec<_> = counts.iter().map(|place| (&*place.state, place.count)).collect();
    assert_eq!(counted, [("FILED", u64::from(COUNT))]);
    assert_eq!(
        client.stats().await.expect("the server answers").last_event,
        Some(u64::from(2 * COUNT) + 3),
        "no event twice; one position for each definition, its own and that of deliveries, and one for the start of it"
    );
}

/// The newest operation, once it has found somebody.
#[cfg(unix)]
async fn under_way(client: &Client, before: Option<&Operation>) -> Operation {
    loop {
        let list = client.operations(Some(1), None).await.expect("the server answers");
        let newest = list.operations.into_iter().next();
        let is_new = |operation: &Operation| before.is_none_or(|before| before.id != operation.id);
        if let Some(operation) = newest.filter(|operation| operation.found > 0 && is_new(operation)) {
            return operation;
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn whoever_stops_watching_leaves_the_server_at_it() {
    let server = start();
    let client = server.client();
    cards(&client, 0..2_000, "red").await;
    let mut last = None;
    // It may be done before the signal arrives; then once more.
    for _ in 0..10 {
        let act = ["act", "--pipeline", "cards", "drop", "--dry-run", "--server", &server.url];
        let mut acting = milepost(&act);
        acting.stderr(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let acting = acting.spawn().expect("the binary runs");
        let operation = under_way(&client, last.as_ref()).await;
        let pid = acting.id().to_string();
        let sent = std::process::Command::new("kill").args(["-INT", &pid]).status().expect("kill runs");
        let said: common::Said = acting.wait_with_output().expect("it ends").into();
        let ended = client.wait_for_operation(&operation.id, |_| {}).await.expect("the server answers");
        assert_eq!((ended.status, ended.done), (OperationStatus::Done, 2_000));
        if sent.success() && said.code == 1 {
            assert!(said.stderr.contains(&format!("operations stop {}", operation.id)), "{}", said.stderr);
            return;
        }
        last = Some(operation);
    }
    panic!("the signal always came too late");
}
