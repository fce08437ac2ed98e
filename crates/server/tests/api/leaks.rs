//! Tokens for a part learn nothing about the rest from answers that are theirs to have.

use std::sync::Arc;

use engine::SystemClock;
use serde_json::{Value, json};
use store::MemoryStore;

use crate::server::{Answer, Grant, Server, log_options};

/// One lane and one queue of keys that everybody's stand in; late as soon as they are there.
const SHARED: &str = "name = 'shared'\nversion = 1\nkey = 'payload.ref'\non_duplicate = 'queue'\n\
                      labels = { owner = 'payload.owner' }\nlane = { key = \"'one'\" }\nstart = 'WORKING'\n\
                      [states.WORKING]\ntask = 'shared.work'\nlease = '1h'\nsla = { target = '1ms' }\non.done = 'DONE'\n\
                      [states.DONE]\nfinal = 'success'\n";

async fn scene(more: &[&str]) -> Server {
    let grant = |token, scope: Value| {
        let mut rights = json!({ "subject": token, "role": "admin" });
        rights.as_object_mut().unwrap().extend(scope.as_object().unwrap().clone());
        Grant { token, rights }
    };
    let grants = [
        grant("root", json!({})),
        grant("notes", json!({ "pipelines": ["notes", "nothing", "others"] })),
        grant("adas", json!({ "labels": { "owner": "ada" } })),
        grant("bobs", json!({ "labels": { "owner": "bob" } })),
    ];
    let server = Server::with(&grants, |_| {}).await;
    for file in [SHARED].iter().chain(more) {
        server.engine.apply(&model::pipeline::Source::new("p.toml", *file)).await.unwrap();
    }
    server
}

async fn get(server: &Server, token: &str, path: &str) -> Answer {
    Answer::of(server.request("GET", path).bearer_auth(token)).await
}

async fn post(server: &Server, token: &str, path: &str, body: Value) -> Answer {
    Answer::of(server.with_json("POST", path, body).bearer_auth(token)).await
}

async fn submit(server: &Server, owner: &str, reference: &str) -> String {
    let body = json!({ "payload": { "ref": reference, "owner": owner } });
    let answer = post(server, "root", "/v1/pipelines/shared/submissions", body).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    answer.json()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_figures_of_all_are_for_those_who_see_all() {
    let server = scene(&[]).await;
    submit(&server, "ada", "a").await;
    let all = get(&server, "root", "/v1/stats").await.json();
    assert!(all["last_event"].is_u64() && all["received"].is_object(), "{all}");
    assert!(!all["duties"].as_array().unwrap().is_empty());
    for token in ["notes", "bobs"] {
        let part = get(&server, token, "/v1/stats").await.json();
        assert_eq!(
            (&part["last_event"], &part["received"], &part["duties"], &part["counts"]),
            (&Value::Null, &Value::Null, &json!([]), &json!([]))
        );
        assert_eq!(part["condition"], "running");
        get(&server, token, "/v1/servers").await.problem(403, "role-required");
    }
    assert_eq!(get(&server, "root", "/v1/servers").await.status, 200);
}

#[tokio::test]
async fn of_the_log_a_part_is_told_what_the_checkpoint_says() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(MemoryStore::new(Arc::new(SystemClock::new())));
    let server = Server::over(store, &log_options(folder.path()), |_| {}).await;
    let token = async |by: &str, rights: Value| {
        let request = server.with_json("POST", "/v1/tokens", rights).bearer_auth(by);
        Answer::of(request).await.json()["token"].as_str().unwrap().to_owned()
    };
    let root = token("", json!({ "subject": "root", "role": "admin" })).await;
    let notes = json!({ "subject": "n", "role": "viewer", "pipelines": ["notes"] });
    let notes = token(&root, notes).await;
    let all = get(&server, &root, "/v1/audit").await.json();
    assert!(all["unpublished"].is_u64(), "{all}");
    let part = get(&server, &notes, "/v1/audit").await.json();
    assert_eq!((&part["unpublished"], &part["witnesses"]), (&Value::Null, &json!([])));
    assert_eq!((&part["origin"], &part["keys"]), (&all["origin"], &all["keys"]));
}

#[tokio::test]
async fn workers_for_other_pipelines_and_labels_are_not_listed() {
    let server = scene(&[]).await;
    let claim = async |token: &str, worker: &str, more: Value| {
        let mut body = json!({ "worker": worker, "tasks": ["shared.work", "notes.read"] });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(post(&server, token, "/v1/tasks:claim", body).await.status, 200);
    };
    claim("adas", "w", json!({})).await;
    claim("bobs", "w", json!({})).await;
    claim("root", "all", json!({})).await;
    claim("root", "shared", json!({ "pipelines": ["shared"] })).await;
    let listed = async |token: &str| {
        let list = get(&server, token, "/v1/workers").await.json();
        let name = |worker: &Value| worker["worker"].as_str().unwrap().to_owned();
        list["workers"].as_array().unwrap().iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(listed("root").await, ["adas/w", "bobs/w", "root/all", "root/shared"]);
    assert_eq!(listed("adas").await, ["adas/w", "root/all", "root/shared"]);
    assert_eq!(listed("notes").await, ["adas/w", "bobs/w", "root/all"]);
}

#[tokio::test]
async fn a_pipeline_that_is_missing_is_told_without_those_of_others() {
    let server = scene(&[]).await;
    let filter = json!({ "filter": { "pipeline": "nothing" }, "action": "redrive" });
    let answers = [
        get(&server, "notes", "/v1/pipelines/nothing").await,
        get(&server, "notes", "/v1/submissions?pipeline=nothing").await,
        get(&server, "notes", "/v1/feed?pipeline=nothing").await,
        get(&server, "notes", "/v1/overdue?pipeline=nothing").await,
        get(&server, "notes", "/v1/reviews?pipeline=nothing").await,
        post(&server, "notes", "/v1/pipelines/nothing/submissions", json!({ "payload": {} })).await,
        post(&server, "notes", "/v1/pipelines/nothing/retire", json!({ "unused": true })).await,
        post(&server, "notes", "/v1/holds", json!({ "pipeline": "nothing", "reason": "r" })).await,
        post(&server, "notes", "/v1/operations", filter).await,
    ];
    for answer in answers {
        answer.problem(404, "unknown-pipeline");
        assert!(answer.text.contains("notes") && !answer.text.contains("parcels"), "{}", answer.text);
    }
    let all = get(&server, "root", "/v1/pipelines/nothing").await;
    assert!(all.text.contains("parcels"), "{}", all.text);
}

#[tokio::test]
async fn a_metric_that_is_taken_does_not_say_by_whom() {
    let end = "start = 'OPEN'\n[states.OPEN]\nactions.end = 'DONE'\n[states.DONE]\nfinal = 'success'\n";
    let theirs =
        format!("name = 'hidden'\nversion = 1\n{end}[metrics.depth_of_theirs_total]\ncounter = 'received'\n");
    let server = scene(&[&theirs]).await;
    let mine = format!("name = 'others'\nversion = 1\n{end}[metrics.depth_of_theirs]\ngauge = 'depth'\n");
    let put = async |token: &str| {
        let request =
            server.request("PUT", "/v1/pipelines/others").header("content-type", "application/toml");
        Answer::of(request.body(mine.clone()).bearer_auth(token)).await
    };
    let refused = put("notes").await;
    assert_eq!(refused.problem(409, "metric-taken")["metric"], "depth_of_theirs");
    assert!(!refused.text.contains("hidden"), "{}", refused.text);
    assert!(put("root").await.problem(409, "metric-taken")["detail"].as_str().unwrap().contains("hidden"));
}

#[tokio::test]
async fn why_does_not_say_who_of_others_is_in_the_way() {
    let server = scene(&[]).await;
    let first = submit(&server, "ada", "a").await;
    let in_line = submit(&server, "bob", "b").await;
    let for_key = submit(&server, "bob", "a").await;
    for (waits, code) in [(&in_line, "line"), (&for_key, "key")] {
        let path = format!("/v1/submissions/{waits}/why");
        let told = get(&server, "bobs", &path).await;
        assert_eq!(told.json()["reasons"][0]["code"], code, "{}", told.text);
        assert!(told.text.contains("another submission") && !told.text.contains(&first), "{}", told.text);
        assert!(get(&server, "root", &path).await.text.contains(&first));
    }
}

#[tokio::test]
async fn going_on_is_refused_without_saying_who_has_the_key() {
    let file = "name = 'again'\nversion = 1\nkey = 'payload.ref'\nlabels = { owner = 'payload.owner' }\nstart = 'OPEN'\n\
                [states.OPEN]\nactions.end = 'DONE'\n[states.DONE]\nfinal = 'failure'\nactions.resume = 'OPEN'\n";
    let server = scene(&[file]).await;
    let submit = async |owner: &str| {
        let body = json!({ "payload": { "ref": "a", "owner": owner } });
        let made = post(&server, "root", "/v1/pipelines/again/submissions", body).await.json();
        made["id"].as_str().unwrap().to_owned()
    };
    let own = submit("bob").await;
    let act = async |token: &str, action: &str| {
        post(&server, token, &format!("/v1/submissions/{own}/actions/{action}"), json!({})).await
    };
    assert_eq!(act("bobs", "end").await.status, 200);
    let theirs = submit("ada").await;
    let refused = act("bobs", "resume").await;
    refused.problem(409, "duplicate-key");
    assert!(!refused.text.contains(&theirs), "{}", refused.text);
    assert_eq!(act("root", "resume").await.problem(409, "duplicate-key")["submission"], theirs.as_str());
    let wish = json!({ "filter": { "pipeline": "again", "status": "failed" }, "action": "resume" });
    let operation = post(&server, "bobs", "/v1/operations", wish).await.json()["id"].clone();
    let path = format!("/v1/operations/{}", operation.as_str().unwrap());
    while get(&server, "bobs", &path).await.json()["status"] == "running" {}
    let results = get(&server, "bobs", &format!("{path}/results")).await;
    assert!(results.text.contains("duplicate-key") && !results.text.contains(&theirs), "{}", results.text);
}

#[tokio::test]
async fn a_hold_on_another_submission_is_not_listed() {
    let server = scene(&[]).await;
    let theirs = submit(&server, "ada", "a").await;
    let own = submit(&server, "bob", "b").await;
    for id in [&theirs, &own] {
        let hold = json!({ "submission": id, "reason": "r" });
        assert_eq!(post(&server, "root", "/v1/holds", hold).await.status, 201);
    }
    let list = get(&server, "bobs", "/v1/holds").await;
    assert!(list.text.contains(&own) && !list.text.contains(&theirs), "{}", list.text);
    assert_eq!(get(&server, "root", "/v1/holds").await.json()["holds"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn pages_of_what_is_late_go_on_without_saying_what_was_passed_over() {
    let server = scene(&[]).await;
    let theirs = submit(&server, "ada", "first").await;
    let own = submit(&server, "bob", "own").await;
    let many = |from: u32| {
        let one = |n: u32| json!({ "payload": { "ref": format!("r{n}"), "owner": "ada" } });
        json!({ "submissions": (from..from + 1_000).map(one).collect::<Vec<_>>() })
    };
    for round in 0..6 {
        let answer = post(&server, "root", "/v1/pipelines/shared/submissions", many(round * 1_000)).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    let last = submit(&server, "bob", "last").await;
    let page = async |token: &str, after: &str| {
        get(&server, token, &format!("/v1/overdue?limit=2{after}")).await.json()
    };
    let ids = |page: &Value| {
        let rows = page["submissions"].as_array().unwrap();
        rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // All of them are late within a millisecond; the last one is listed once it is.
    loop {
        let path = format!("/v1/submissions/{last}/why");
        if get(&server, "bobs", &path).await.text.contains("\"late\"") {
            break;
        }
    }
    assert_eq!(ids(&page("root", "").await)[0], theirs);
    let first = page("bobs", "").await;
    assert_eq!(ids(&first), [own]);
    let next = first["next"].as_str().unwrap();
    assert!(!next.contains('/') && !next.contains('-'), "{next} tells a time or an id");
    let second = page("bobs", &format!("&after={next}")).await;
    assert_eq!((ids(&second), &second["next"]), (vec![last], &Value::Null));
    let changed = next.replace(&next[..1], if next.starts_with('0') { "1" } else { "0" });
    get(&server, "bobs", &format!("/v1/overdue?after={changed}")).await.problem(400, "invalid-request");
}
