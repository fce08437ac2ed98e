//! The interface of Cloudflare Queues: their own client for node, with nothing but its address changed.

use std::process::Command;

use client::Client;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use wire::api::TokenBody;

use crate::common::{Server, node};

const FILES: &[(&str, &str)] = &[
    ("package.json", include_str!("files/package.json")),
    ("package-lock.json", include_str!("files/package-lock.json")),
    ("queues.mjs", include_str!("files/queues.mjs")),
];

const PARCELS: &str = r#"
name = "parcels"
version = 1
start = "PACKING"
[states.PACKING]
task = "parcels.pack"
lease = "1h"
retry = { times = 10, delay = "1h" }
on.packed = "PACKED"
on.lost = "LOST"
actions.cancel = { to = "CANCELLED", role = "admin" }
[states.PACKED]
final = "success"
[states.LOST]
final = "failure"
[states.CANCELLED]
final = "cancelled"
"#;

const SETTINGS: &str = "[queue.parcel-queue]\npipeline = 'parcels'\ntasks = ['parcels.pack']\n\
    outcomes = { 'parcels.pack' = 'packed' }\nmax-retries = 3\nretry-delay = '1h'\n\
    dead-letter-queue = 'parcel-dlq'\npurge = 'cancel'\n\
    [queue.bare]\npipeline = 'parcels'\ntasks = ['parcels.pack']\n";

/// A server whose door opens to tokens, with a queue.
struct Queues {
    server: Server,
    token: String,
    _folder: TempDir,
}

impl Queues {
    fn start() -> Queues {
        let folder = TempDir::new().unwrap();
        let (settings, token) = (folder.path().join("milepost.toml"), folder.path().join("first.token"));
        std::fs::write(&settings, SETTINGS).unwrap();
        let args = ["--config", settings.to_str().unwrap(), "--first-token", token.to_str().unwrap()];
        let server = Server::start_with(&[("parcels.toml", PARCELS)], &args.map(str::to_owned), &[]);
        let token = std::fs::read_to_string(&token).unwrap().trim().to_owned();
        Queues { server, token, _folder: folder }
    }

    fn client(&self) -> Client {
        Client::new(&self.server.url, Some(self.token.clone())).unwrap()
    }

    async fn token(&self, role: &str) -> String {
        let body = json!({ "subject": format!("a-{role}"), "role": role });
        let body: TokenBody = serde_json::from_value(body).unwrap();
        self.client().create_token(&body).await.unwrap().token.0
    }

    /// Asks as this token, and gives status and envelope.
    async fn ask(&self, token: &str, call: (Method, &str), body: Value) -> (u16, Value) {
        let (method, path) = call;
        let url = format!("{}/compat/cloudflare/client/v4/accounts/any/queues{path}", self.server.url);
        let request = reqwest::Client::new().request(method, url).bearer_auth(token).json(&body);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_sends_pulls_acknowledges_retries_peeks_and_purges() {
    let queues = Queues::start();
    let mut script = Command::new("node");
    script.args(["queues.mjs", &queues.server.url, &queues.token]);
    let folder = node::folder("cloudflare", FILES);
    let output = script.current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("node: {error}; install the Debian package nodejs"));
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{wrong}");
    // The client's word for it is one thing; what became of the submissions is another.
    let told: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    let client = queues.client();
    for (name, state) in
        [("acknowledged", "PACKED"), ("odd", "LOST"), ("purged", "CANCELLED"), ("all_purged", "CANCELLED")]
    {
        let id = told[name].as_str().unwrap().split('.').next().unwrap().parse().unwrap();
        let view = client.submission(id).await.unwrap();
        assert_eq!(&*view.state, state, "{name}: {view:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_may_do_through_it_what_it_may_do_elsewhere_and_answers_keep_their_shape() {
    let queues = Queues::start();
    let [submitter, worker, viewer] =
        [queues.token("submitter").await, queues.token("worker").await, queues.token("viewer").await];
    let post = |path| (Method::POST, path);
    let body = json!({ "body": { "n": 1 } });
    for (token, path, body, wanted) in [
        (&submitter, "/parcel-queue/messages", &body, 200),
        (&worker, "/parcel-queue/messages", &body, 403),
        (&viewer, "/parcel-queue/messages/peek", &json!({}), 200),
        (&submitter, "/parcel-queue/messages/pull", &json!({}), 403),
        (&viewer, "/parcel-queue/messages/pull", &json!({}), 403),
        (&worker, "/parcel-queue/purge", &json!({ "delete_messages_permanently": true }), 403),
        (&worker, "/parcel-queue/messages/pull", &json!({ "batch_size": 101 }), 400),
        (&worker, "/parcel-queue/messages/pull", &json!({ "visibility_timeout_ms": 43_200_001 }), 400),
        (&worker, "/parcel-queue/messages/ack", &json!({ "acks": [{}] }), 400),
        (&submitter, "/parcel-queue/messages", &json!({}), 400),
        (&submitter, "/parcel-queue/messages", &json!({ "body": 1, "content_type": "text" }), 400),
        (&submitter, "/parcel-queue/messages/batch", &json!({ "messages": [] }), 400),
        (&submitter, "/parcel-queue/messages", &json!({ "body": 1, "delay_seconds": 50_000 }), 400),
        (&submitter, "/nothing/messages", &body, 404),
        (&worker, "/parcel-dlq/messages/pull", &json!({}), 400),
        (&queues.token, "/bare/messages/purge", &json!({ "refs": [{ "ref": "x" }] }), 400),
    ] {
        let (status, envelope) = queues.ask(token, post(path), body.clone()).await;
        assert_eq!(status, wanted, "{path} {body}: {envelope}");
        assert_eq!(envelope["success"], json!(wanted == 200), "{envelope}");
        assert!(envelope["messages"].is_array() && envelope["errors"].is_array(), "{envelope}");
        if wanted != 200 {
            assert_eq!(envelope["errors"][0]["code"], json!(10_000 + wanted), "{envelope}");
            assert!(envelope["errors"][0]["message"].as_str().unwrap().len() > 10, "{envelope}");
        }
    }
    let url = format!("{}/compat/cloudflare/client/v4/accounts/any/queues", queues.server.url);
    let nobody = reqwest::Client::new().get(&url).send().await.unwrap();
    assert_eq!(nobody.status(), 401);
    // Without a declared outcome an acknowledgement has to say one, and otherwise nothing is lost.
    let (_, pulled) = queues.ask(&worker, post("/bare/messages/pull"), json!({})).await;
    let lease = &pulled["result"]["messages"][0]["lease_id"];
    let (status, told) =
        queues.ask(&worker, post("/bare/messages/ack"), json!({ "acks": [{ "lease_id": lease }] })).await;
    assert_eq!((status, &told["result"]["ackCount"]), (200, &json!(0)), "{told}");
    assert!(
        told["result"]["warnings"][lease.as_str().unwrap()].as_str().unwrap().contains("says no outcome")
    );
    let said = json!({ "acks": [{ "lease_id": lease, "outcome": "packed" }] });
    let (_, told) = queues.ask(&worker, post("/bare/messages/ack"), said.clone()).await;
    assert_eq!(told["result"]["ackCount"], 1, "{told}");
    let (_, again) = queues.ask(&worker, post("/bare/messages/ack"), said).await;
    assert_eq!(again["result"]["ackCount"], 1, "a repeat gets the same answer: {again}");
}
