use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::exposition::Scrape;
use crate::server::{Answer, Grant, Server};

/// One that fails once, is tried again, dies, is redriven and finished; and has missed its service level by then.
const ERRANDS: &str = r#"
name = "errands"
version = 1
title = "Errands"
start = "SORTING"

[states.SORTING]
next = "RUNNING"

[states.RUNNING]
task = "errands.run"
lease = "1h"
retry = { times = 1, delay = "1ms" }
sla = { target = "1ms" }
on.done = "DONE"

[states.DONE]
final = "success"
"#;

pub(crate) async fn scrape(server: &Server) -> Scrape {
    let answer = server.get("/metrics").await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    Scrape::parse(&answer.text)
}

/// Scrapes until what is looked for is there: counters follow the answer, and what the store knows may be a second old.
pub(crate) async fn scrape_until(server: &Server, there: impl Fn(&Scrape) -> bool) -> Scrape {
    let look = async {
        loop {
            let scrape = scrape(server).await;
            if there(&scrape) {
                return scrape;
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), look).await.expect("it comes")
}

async fn claimed(server: &Server, task: &str) -> Value {
    let body = json!({ "worker": "w", "tasks": [task], "wait": "20s" });
    server.post("/v1/tasks:claim", body).await.json()["tasks"][0].clone()
}

async fn fail(server: &Server, task: &Value) {
    let error = json!({ "code": "broken", "message": "no" });
    let answer =
        server.post("/v1/tasks:fail", json!({ "tasks": [{ "token": task["token"], "error": error }] })).await;
    assert_eq!(answer.json()["results"][0]["status"], 200, "{}", answer.text);
}

const RUNNING: [(&str, &str); 2] = [("pipeline", "errands"), ("state", "RUNNING")];

#[tokio::test]
async fn counts_are_right_after_a_walk() {
    let server = Server::with_pipelines(&[ERRANDS]).await;
    let fresh = scrape(&server).await;
    assert_eq!(fresh.value("milepost_state_entered_total", &RUNNING), 0.0, "told before it happens");

    let submitted = server.post("/v1/pipelines/errands/submissions", json!({ "payload": {} })).await.json();
    let id = submitted["id"].as_str().unwrap();
    fail(&server, &claimed(&server, "errands.run").await).await;
    fail(&server, &claimed(&server, "errands.run").await).await;
    let redriven = server.post(&format!("/v1/submissions/{id}/redrive"), json!({})).await;
    assert_eq!(redriven.status, 200, "{}", redriven.text);
    let task = claimed(&server, "errands.run").await;
    let stale = json!({ "tasks": [{ "token": task["token"], "outcome": "nonsense" }] });
    server.post("/v1/tasks:finish", stale).await;
    server.post("/v1/tasks:snooze", json!({ "tasks": [{ "token": task["token"], "for": "1ms" }] })).await;
    let task = claimed(&server, "errands.run").await;
    server.finish(&task["token"], "done", json!({})).await;

    let level = [RUNNING[0], RUNNING[1], ("level", "state")];
    let done = [("pipeline", "errands"), ("state", "DONE"), ("status", "succeeded")];
    let scrape = scrape_until(&server, |scrape| {
        scrape.value("milepost_submissions", &done) == 1.0
            && scrape.value("milepost_state_left_total", &RUNNING) == 1.0
    })
    .await;
    let lease = [("pipeline", "errands"), ("task", "errands.run")];
    let ended = |end| scrape.value("milepost_leases_ended_total", &[lease[0], lease[1], ("end", end)]);
    for (name, labels, expected) in [
        ("milepost_submitted_total", &RUNNING[..1], 1.0),
        ("milepost_state_entered_total", &RUNNING, 1.0),
        ("milepost_state_entered_total", &[RUNNING[0], ("state", "DONE")], 1.0),
        ("milepost_state_left_total", &[RUNNING[0], ("state", "SORTING")], 1.0),
        ("milepost_state_dwell_seconds_count", &RUNNING, 1.0),
        ("milepost_retries_total", &RUNNING, 1.0),
        ("milepost_dead_letters_total", &RUNNING, 1.0),
        ("milepost_redrives_total", &RUNNING, 1.0),
        ("milepost_crashes_total", &RUNNING, 0.0),
        ("milepost_sla_breaches_total", &level, 1.0),
        ("milepost_leases_granted_total", &lease, 4.0),
        ("milepost_leases_held", &lease, 0.0),
        ("milepost_submissions", &[RUNNING[0], RUNNING[1], ("status", "open")], 0.0),
        ("milepost_refusals_total", &[("code", "unknown-outcome")], 1.0),
        ("milepost_workers_polling", &[("task", "errands.run")], 0.0),
        ("milepost_store_up", &[], 1.0),
        ("milepost_queue_depth", &[("queue", "submits")], 0.0),
        ("milepost_shed_total", &[("queue", "submits")], 0.0),
        (
            "milepost_http_requests_total",
            &[("method", "POST"), ("route", "/v1/tasks:fail"), ("status", "2xx")],
            2.0,
        ),
        ("milepost_http_request_seconds_count", &[("method", "POST"), ("route", "/v1/tasks:fail")], 2.0),
    ] {
        assert_eq!(scrape.value(name, labels), expected, "{name} {labels:?}");
    }
    assert_eq!(
        (ended("settled"), ended("snoozed"), ended("expired"), ended("revoked")),
        (3.0, 1.0, 0.0, 0.0)
    );
    let tasks = |end| scrape.value("milepost_tasks_ended_total", &[RUNNING[0], RUNNING[1], ("end", end)]);
    assert_eq!((tasks("finished"), tasks("failed"), tasks("dead")), (1.0, 0.0, 1.0));
    assert_eq!(scrape.value("milepost_attempt_seconds_count", &RUNNING), 1.0);
    let done = [RUNNING[0], ("state", "DONE")];
    assert_eq!(scrape.find("milepost_attempt_seconds_count", &done), None, "nothing is done there");
    let spent = scrape.value("milepost_state_dwell_seconds_sum", &RUNNING);
    assert!((0.002..60.0).contains(&spent), "two delays of a millisecond are in {spent}");
    let commits = scrape.value("milepost_commits_total", &[]);
    let timed = scrape.value("milepost_commit_seconds_count", &[]);
    assert!(commits >= 9.0 && timed <= commits && timed >= 9.0, "{commits} {timed}");
    let (batches, commands) = (
        scrape.value("milepost_batch_commands_count", &[]),
        scrape.value("milepost_batch_commands_sum", &[]),
    );
    assert!(commands >= batches && batches >= 9.0, "{batches} {commands}");
}

#[tokio::test]
async fn what_waits_is_told_with_its_age() {
    let server = Server::with_pipelines(&[ERRANDS]).await;
    server.post("/v1/pipelines/errands/submissions", json!({ "payload": {} })).await;
    server.post("/v1/pipelines/errands/submissions", json!({ "payload": {} })).await;
    let newest = server.get("/v1/stats").await.json()["last_event"].as_u64().unwrap();
    let cursor = server.with_json("PUT", "/v1/feed/cursors/reports", json!({ "position": 2 }));
    assert_eq!(Answer::of(cursor).await.status, 200);
    let running = [RUNNING[0], RUNNING[1], ("status", "open")];
    let scrape = scrape_until(&server, |scrape| {
        scrape.value("milepost_submissions", &running) == 2.0
            && scrape.find("milepost_feed_lag_events", &[("cursor", "reports")]).is_some()
    })
    .await;
    let age = scrape.value("milepost_oldest_age_seconds", &RUNNING);
    assert!((0.0..60.0).contains(&age), "{age}");
    assert_eq!(scrape.find("milepost_oldest_age_seconds", &[RUNNING[0], ("state", "DONE")]), None);
    let position = scrape.value("milepost_feed_newest_position", &[]);
    assert!(position >= newest as f64, "{position} {newest}");
    assert_eq!(scrape.value("milepost_feed_lag_events", &[("cursor", "reports")]), position - 2.0);
    let good = scrape_until(&server, |scrape| {
        scrape.find("milepost_duty_last_good_pass_timestamp_seconds", &[("duty", "steps")]).is_some()
    })
    .await;
    let good = good.value("milepost_duty_last_good_pass_timestamp_seconds", &[("duty", "steps")]);
    let now = engine::clock::wall().millis() as f64 / 1_000.0;
    assert!((now - 60.0..=now + 1.0).contains(&good), "{good} at {now}");
}

#[tokio::test]
async fn a_worker_that_waits_is_counted_while_it_waits() {
    let server = Server::with_pipelines(&[ERRANDS]).await;
    let task = [("task", "errands.run")];
    let waiting = async {
        let body = json!({ "worker": "w", "tasks": ["errands.run", "made.up"], "wait": "60s" });
        server.post("/v1/tasks:claim", body).await
    };
    let watching = async {
        let polling = |scrape: &Scrape| scrape.find("milepost_workers_polling", &task) == Some(1.0);
        scrape_until(&server, polling).await;
        server.post("/v1/pipelines/errands/submissions", json!({ "payload": {} })).await;
    };
    let (claimed, ()) = tokio::join!(waiting, watching);
    assert_eq!(claimed.json()["tasks"].as_array().unwrap().len(), 1);
    let scrape = scrape(&server).await;
    assert_eq!(scrape.value("milepost_workers_polling", &task), 0.0);
    assert_eq!(scrape.find("milepost_workers_polling", &[("task", "made.up")]), None);
}

#[tokio::test]
async fn names_that_callers_make_up_become_no_labels() {
    let server = Server::with_pipelines(&[ERRANDS]).await;
    scrape(&server).await;
    let known: BTreeSet<_> = scrape(&server).await.samples().cloned().collect();
    for n in 0..40 {
        server.get(&format!("/made/up/{n}")).await;
        server.get(&format!("/v1/pipelines/nonsense-{n}")).await;
        Answer::of(server.request(&format!("ODD{n}"), "/metrics")).await;
        let body = json!({ "worker": format!("w{n}"), "tasks": [format!("odd.task{n}")] });
        server.post("/v1/tasks:claim", body).await;
        let lost = server.post(&format!("/v1/pipelines/odd-{n}/submissions"), json!({ "payload": {} })).await;
        assert_eq!(lost.status, 404);
        let cursor = format!("/v1/feed/cursors/{}", if n == 0 { "other".into() } else { format!("c{n}") });
        Answer::of(server.with_json("PUT", &cursor, json!({ "position": 1 }))).await;
    }
    for n in 0..5 {
        server.post("/v1/pipelines/errands/submissions", json!({ "payload": {} })).await;
        let task = claimed(&server, "errands.run").await;
        let error = json!({ "code": format!("odd-{n}"), "message": "\"\\\n" });
        server.post("/v1/tasks:fail", json!({ "tasks": [{ "token": task["token"], "error": error }] })).await;
    }
    let after = scrape(&server).await;
    let is_new = |sample: &&(String, _)| !known.contains(*sample);
    let odd = |text: &str| ["odd", "ODD", "nonsense", "made", "w1"].iter().any(|word| text.contains(word));
    for (name, labels) in after.samples().filter(is_new) {
        assert!(!labels.values().any(|value| odd(value)), "{name} {labels:?}");
    }
    let other = [("method", "other"), ("route", "other"), ("status", "4xx")];
    assert_eq!(after.value("milepost_http_requests_total", &other), 80.0, "addresses and methods");
}

#[tokio::test]
async fn many_cursors_share_a_label() {
    let server = Server::start().await;
    for n in 0..60 {
        let cursor = server.with_json("PUT", &format!("/v1/feed/cursors/c{n:02}"), json!({ "position": 1 }));
        assert_eq!(Answer::of(cursor).await.status, 200);
    }
    let told = |scrape: &Scrape| {
        let cursors = scrape.samples().filter(|(name, _)| name == "milepost_feed_lag_events");
        cursors.count()
    };
    let scrape = scrape_until(&server, |scrape| told(scrape) > 50).await;
    assert_eq!(told(&scrape), 51);
    assert!(scrape.find("milepost_feed_lag_events", &[("cursor", "other")]).is_some());
}

#[tokio::test]
async fn a_scraper_needs_a_token_for_everything() {
    let grants = [
        Grant { token: "root", rights: json!({ "subject": "root", "role": "admin" }) },
        Grant { token: "watch", rights: json!({ "subject": "prometheus", "role": "viewer" }) },
        Grant { token: "part", rights: json!({ "subject": "p", "role": "viewer", "pipelines": ["notes"] }) },
    ];
    let server = Server::with(&grants, |_| {}).await;
    let ask = async |token: &str| Answer::of(server.request("GET", "/metrics").bearer_auth(token)).await;
    server.get("/metrics").await.problem(401, "unauthorized");
    ask("part").await.problem(403, "role-required");
    let answer = ask("watch").await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "application/openmetrics-text; version=1.0.0; charset=utf-8")
    );
    assert!(answer.text.ends_with("\n# EOF\n"), "{}", answer.text);
    let scrape = Scrape::parse(&answer.text);
    assert_eq!(scrape.value("milepost_build_info", &[("version", env!("CARGO_PKG_VERSION"))]), 1.0);
    if cfg!(target_os = "linux") {
        assert!(scrape.value("process_resident_memory_bytes", &[]) > 1e6);
        assert!(scrape.value("process_open_fds", &[]) > 3.0);
        assert!(scrape.value("process_max_fds", &[]) > 3.0);
        assert!(scrape.value("process_cpu_seconds_total", &[]) >= 0.0);
    }
}

#[tokio::test]
async fn requests_over_their_rate_are_counted_and_a_scraper_is_not_among_them() {
    let server = Server::with(&[], |options| options.rate_per_address = Some(1)).await;
    let refused = {
        let mut refused = 0.0;
        for _ in 0..8 {
            refused += f64::from(server.get("/v1/pipelines").await.status == 429);
        }
        refused
    };
    assert!(refused > 0.0);
    let scrape = scrape(&server).await;
    assert_eq!(scrape.value("milepost_http_rate_limited_total", &[("by", "address")]), refused);
    assert_eq!(scrape.value("milepost_http_rate_limited_total", &[("by", "token")]), 0.0);
}

const DECLARED: &str = r#"
[metrics.errands_received_total]
counter = "received"
[metrics.run_duration_ms]
histogram = "dwell_ms"
state = "RUNNING"
[metrics.run_duration_seconds]
histogram = "dwell_seconds"
state = ["SORTING", "RUNNING"]
[metrics.run_attempt_ms]
histogram = "attempt_ms"
state = "RUNNING"
[metrics.failure_rate]
rate = "dead"
[metrics.retry_rate]
rate = "retried"
state = "RUNNING"
[metrics.done_rate]
rate = "entered"
state = "DONE"
[metrics.dead_now]
gauge = "dead"
[[metrics.backlog]]
gauge = "depth"
state = "RUNNING"
labels = { kind = "run" }
[[metrics.backlog]]
gauge = "depth"
state = "SORTING"
labels = { kind = "sort" }
"#;

#[tokio::test]
async fn declared_metrics_have_their_exact_names() {
    let server = Server::with_pipelines(&[&format!("{ERRANDS}{DECLARED}")]).await;
    let errands = [("pipeline", "errands")];
    let fresh = scrape(&server).await;
    assert!(fresh.value("failure_rate", &errands).is_nan(), "of nothing, nothing can be said");
    for _ in 0..4 {
        server.post("/v1/pipelines/errands/submissions", json!({ "payload": {} })).await;
    }
    fail(&server, &claimed(&server, "errands.run").await).await;
    for _ in 0..2 {
        let task = claimed(&server, "errands.run").await;
        server.finish(&task["token"], "done", json!({})).await;
    }
    let task = claimed(&server, "errands.run").await;
    let error = json!({ "code": "broken", "message": "no", "retryable": false });
    server.post("/v1/tasks:fail", json!({ "tasks": [{ "token": task["token"], "error": error }] })).await;
    let scrape = scrape_until(&server, |scrape| scrape.find("dead_now", &errands) == Some(1.0)).await;
    assert_eq!(scrape.value("errands_received_total", &errands), 4.0);
    let near = |name: &str, expected: f64| (scrape.value(name, &errands) - expected).abs() < 0.001;
    assert!(near("failure_rate", 100.0 / 3.0), "one of three tasks that ended, not of four submissions");
    assert!(near("retry_rate", 100.0 / 3.0) && near("done_rate", 50.0));
    assert_eq!(scrape.value("run_attempt_ms_count", &errands), 2.0, "attempts that finished");
    assert_eq!(scrape.value("backlog", &[errands[0], ("kind", "run")]), 1.0);
    assert_eq!(scrape.value("backlog", &[errands[0], ("kind", "sort")]), 0.0);
    assert_eq!(scrape.value("run_duration_ms_count", &errands), 2.0);
    assert_eq!(scrape.value("run_duration_seconds_count", &errands), 6.0);
    let of = |bound| scrape.value("run_duration_ms_bucket", &[errands[0], ("le", bound)]);
    assert_eq!((of("60000.0"), of("+Inf")), (2.0, 2.0), "a second is a thousand");
    let seconds = scrape.value("milepost_state_dwell_seconds_sum", &RUNNING);
    assert!((scrape.value("run_duration_ms_sum", &errands) - 1_000.0 * seconds).abs() < 0.001);
    let kinds = ["errands_received", "failure_rate", "run_duration_ms"]
        .map(|name| scrape.families[name].kind.as_str());
    assert_eq!(kinds, ["counter", "gauge", "histogram"]);
}

#[tokio::test]
async fn pipelines_share_a_metric_but_take_no_name_of_anothers() {
    let server = Server::with_pipelines(&[&format!("{ERRANDS}{DECLARED}")]).await;
    let other =
        |metrics: &str| format!("{}{metrics}", ERRANDS.replace("name = \"errands\"", "name = \"others\""));
    let put = async |toml: String| {
        let request =
            server.request("PUT", "/v1/pipelines/others").header("content-type", "application/toml");
        Answer::of(request.body(toml)).await
    };
    for (name, kind) in
        [("failure_rate", "gauge = 'depth'"), ("run_duration_ms_count_total", "counter = 'received'")]
    {
        let refused = put(other(&format!("[metrics.{name}]\n{kind}\n"))).await;
        assert_eq!(refused.problem(409, "metric-taken")["metric"], name);
    }
    let shared = other("[metrics.errands_received_total]\ncounter = \"received\"\n")
        .replace("version = 1", "version = 2");
    assert_eq!(put(shared).await.status, 201);
    let scrape = scrape(&server).await;
    for pipeline in ["errands", "others"] {
        assert_eq!(scrape.value("errands_received_total", &[("pipeline", pipeline)]), 0.0);
    }
}
