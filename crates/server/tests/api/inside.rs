//! Workers over HTTP and workers inside of the server's process: the same loop, the same checks, the same results.

use app::{App, Visitor};
use client::Client;
use model::{Caller, Role};
use serde_json::{Value, json};
use worker::{Failure, Outcome, Task, TaskSource, Worker};

use crate::server::{Answer, Grant, Server};

const WORKER: &str = "ada";

async fn server() -> Server {
    let worker = Grant { token: "worker", rights: json!({ "subject": WORKER, "role": "worker" }) };
    let admin = Grant { token: "admin", rights: json!({ "subject": "root", "role": "admin" }) };
    let rights = json!({ "subject": WORKER, "role": "worker", "pipelines": ["notes"] });
    Server::with(&[worker, admin, Grant { token: "notes-only", rights }], |_| {}).await
}

/// Returns the application as a part of the program has it that may see these pipelines.
fn inside(server: &Server, pipelines: Option<&[&str]>) -> App {
    let pipelines = pipelines.map(|names| names.iter().map(|name| (*name).into()).collect());
    App::new(server.engine.clone(), Visitor::inside(Caller::new(WORKER, Role::Worker), pipelines))
}

fn over_http(server: &Server, token: &str) -> Client {
    Client::new(&server.url, Some(token.to_owned())).unwrap()
}

async fn get(server: &Server, path: &str) -> Value {
    Answer::of(server.request("GET", path).bearer_auth("admin")).await.json()
}

async fn submitted(server: &Server, pipeline: &str, payload: Value) -> String {
    let path = format!("/v1/pipelines/{pipeline}/submissions");
    let body = json!({ "payload": payload });
    let answer = Answer::of(server.with_json("POST", &path, body).bearer_auth("admin")).await.json();
    answer["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Works until so many tasks have run. The loop ends what it has begun before it returns.
async fn work(source: impl TaskSource + 'static, tasks: usize) {
    let (ran, mut has_run) = tokio::sync::mpsc::unbounded_channel();
    let torn = ran.clone();
    let worker = Worker::new(source, "w")
        .concurrency(2)
        .task("parcels.check", move |task: Task| {
            let ran = ran.clone();
            async move {
                ran.send(()).unwrap();
                let payload: Value = task.payload()?;
                Ok(Outcome::new("good").output(json!({ "score": 7, "owner": payload["owner"] })))
            }
        })
        .task("notes.read", move |_| {
            let torn = torn.clone();
            async move {
                torn.send(()).unwrap();
                Err(Failure::new("torn", "a page is missing").permanent())
            }
        });
    let enough = async move {
        for _ in 0..tasks {
            has_run.recv().await.unwrap();
        }
    };
    worker.run(enough).await.unwrap();
}

/// Returns what became of a submission, without times and ids.
async fn became(server: &Server, id: &str) -> Value {
    let view = get(server, &format!("/v1/submissions/{id}")).await;
    let events = get(server, &format!("/v1/submissions/{id}/events")).await;
    let last = events["events"].as_array().unwrap().last().unwrap().clone();
    json!({
        "state": view["state"], "outputs": view["outputs"], "error": view["error"],
        "trigger": last["trigger"], "metadata": last["metadata"], "actor": last["actor"],
    })
}

#[tokio::test]
async fn a_worker_inside_does_what_one_over_http_does() {
    let server = server().await;
    let mut results = Vec::new();
    for way in ["http", "inside"] {
        let parcel = submitted(&server, "parcels", json!({ "ref": way, "owner": "ada", "weight": 10 })).await;
        let note = submitted(&server, "notes", json!({})).await;
        match way {
            "http" => work(over_http(&server, "worker"), 2).await,
            _ => work(inside(&server, None), 2).await,
        }
        results.push([became(&server, &parcel).await, became(&server, &note).await]);
    }
    assert_eq!(results[0], results[1]);
    let [parcel, note] = &results[0];
    assert_eq!((&parcel["state"], &parcel["metadata"]["score"]), (&json!("REVIEW"), &json!(7)));
    assert_eq!(parcel["actor"]["name"], "ada/w");
    assert_eq!((&note["state"], &note["error"]["code"]), (&json!("LOST"), &json!("torn")));
}

#[tokio::test]
async fn a_worker_inside_gets_no_more_than_its_scope() {
    let server = server().await;
    for scoped in ["http", "inside"] {
        let parcel =
            submitted(&server, "parcels", json!({ "ref": scoped, "owner": "ada", "weight": 10 })).await;
        let note = submitted(&server, "notes", json!({})).await;
        match scoped {
            "http" => work(over_http(&server, "notes-only"), 1).await,
            _ => work(inside(&server, Some(&["notes"])), 1).await,
        }
        assert_eq!(became(&server, &note).await["state"], "LOST", "{scoped}");
        assert_eq!(became(&server, &parcel).await["state"], "CHECKING", "{scoped}");
    }
}
