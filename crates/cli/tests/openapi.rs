//! The running server against its own description, by a program that tries everything the description allows, and much
//! that it does not.

use std::process::Command;

use crate::common::Server;
use crate::common::python::python_with;
use serde_json::{Value, json};

const SCHEMATHESIS: &str = "schemathesis==4.32.5";
/// Seconds.
const AT_MOST: &str = "110";
const TOKEN: &str = "a-token-that-nobody-can-rotate";
const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schemathesis");

/// Takes any payload, and has something of every kind.
const NOTE: &str = r#"
name = "note"
version = 1
labels = { owner = "has(payload.owner) ? payload.owner : 'nobody'" }
amend = { fields = ["text"], role = "admin" }
start = [
  { to = "REVIEW", when = "has(payload.review)" },
  { to = "READING" },
]

[defaults]
lease = "60s"
timeout = "5m"

[states.READING]
task = "note.read"
sla = { target = "1s" }
retry = { times = 0 }
on.done = "DONE"
actions.close = "DONE"

[states.REVIEW]
review = "reviewer"
actions.approve = { to = "DONE", reason = true }
actions.pick = { to = ["READING", "DONE"] }

[states.DONE]
final = "success"
"#;

struct Seeded<'s> {
    server: &'s Server,
    http: reqwest::Client,
}

impl Seeded<'_> {
    async fn send(&self, method: &str, path: &str, kind: &str, body: String) -> Value {
        let url = format!("{}{path}", self.server.url);
        let request = self.http.request(method.parse().unwrap(), url).bearer_auth(TOKEN);
        let answer = request.header("content-type", kind).body(body).send().await.unwrap();
        assert!(answer.status().is_success(), "{method} {path}: {}", answer.text().await.unwrap());
        answer.json().await.unwrap()
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.send("POST", path, "application/json", body.to_string()).await
    }

    /// Submissions in every condition, and the names of all that can be asked for.
    async fn names(&self) -> Names {
        let applied = self.send("PUT", "/v1/pipelines/note", "application/toml", NOTE.to_owned()).await;
        let mut ids = Vec::new();
        let payloads = [json!({}), json!({}), json!({ "review": 1 }), json!({ "review": 2, "owner": "ada" })];
        for payload in payloads.into_iter().chain((0..6).map(|_| json!({ "text": "hello" }))) {
            let made = self.post("/v1/pipelines/note/submissions", json!({ "payload": payload })).await;
            ids.push(made["id"].clone());
        }
        let worker = json!({ "worker": "w", "tasks": ["note.read"], "max": 5 });
        let claimed = self.post("/v1/tasks:claim", worker).await;
        let tokens: Vec<Value> =
            claimed["tasks"].as_array().unwrap().iter().map(|task| task["token"].clone()).collect();
        assert_eq!(tokens.len(), 5);
        let dead = json!({ "tasks": [{ "token": tokens[0], "error": { "code": "torn", "message": "x" } }] });
        self.post("/v1/tasks:fail", dead).await;
        self.post("/v1/tasks:finish", json!({ "tasks": [{ "token": tokens[1], "outcome": "done" }] })).await;
        let hold = self.post("/v1/holds", json!({ "pipeline": "site-list", "reason": "seed" })).await;
        let wanted = json!({ "filter": { "pipeline": "note" }, "action": "close", "dry_run": true });
        let operation = self.post("/v1/operations", wanted).await;
        self.post("/v1/tokens", json!({ "subject": "root", "role": "admin" })).await;
        let token = self.post("/v1/tokens", json!({ "subject": "ada", "role": "viewer" })).await;
        self.send("PUT", "/v1/feed/cursors/mailer", "application/json", json!({ "position": 1 }).to_string())
            .await;
        Names {
            ids,
            words: vec![json!("note"), json!("READING"), json!("REVIEW"), json!("note.read"), json!("done")],
            leases: tokens,
            others: vec![
                ("hold", hold["id"].clone()),
                ("operation", operation["id"].clone()),
                ("token", token["id"].clone()),
                ("cursor", json!("mailer")),
                ("digest", applied["digest"].clone()),
                ("pipeline", json!("note")),
                ("action", json!("close")),
                ("path", json!("entries/000.p/1")),
            ],
        }
    }
}

struct Names {
    ids: Vec<Value>,
    words: Vec<Value>,
    leases: Vec<Value>,
    /// The values that stand in addresses, by the names they have there.
    others: Vec<(&'static str, Value)>,
}

impl Names {
    /// Dictionaries that values are drawn from now and then, so that more is found than what is not there.
    fn config(&self) -> String {
        let known = [&self.ids[..], &self.words, &self.leases].concat();
        let mut dictionaries = vec![("known", json!(known)), ("id", json!(self.ids))];
        dictionaries.extend(self.others.iter().map(|(name, value)| (*name, json!([value]))));
        let mut text = std::fs::read_to_string(format!("{FILES}/schemathesis.toml")).unwrap();
        text.push_str(
            "\n[generation.dictionaries]\nstring = { dictionary = \"known\", probability = 0.2 }\n",
        );
        text.push_str(&format!("\n[auth.openapi.token]\nbearer = \"{TOKEN}\"\n\n[dictionaries]\n"));
        for (name, values) in &dictionaries {
            text.push_str(&format!("{name} = {{ values = {values} }}\n"));
        }
        text.push_str("\n[parameters]\n");
        for (name, _) in dictionaries.iter().skip(1) {
            text.push_str(&format!("\"path.{name}\" = {{ dictionary = \"{name}\", probability = 0.5 }}\n"));
        }
        text
    }
}

#[tokio::test]
async fn the_server_keeps_to_its_description() {
    let python = python_with(&[SCHEMATHESIS]);
    let server = Server::with_token(TOKEN, "admin");
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let seeded = Seeded { server: &server, http };
    let config = seeded.names().await.config();
    let folder = server.folder.path();
    std::fs::write(folder.join("schemathesis.toml"), config).unwrap();
    std::fs::copy(format!("{FILES}/hooks.py"), folder.join("hooks.py")).unwrap();
    let mut command = Command::new(python);
    command.args(["-m", "schemathesis.cli", "--no-color"]).current_dir(folder);
    command.args(["run", &format!("{}/openapi.json", server.url), "--max-time", AT_MOST]);
    // The same requests in every run, so that one change is judged as the next; others with another seed.
    let seed = std::env::var("MILEPOST_API_SEED").unwrap_or_else(|_| "1".to_owned());
    command.args(["--seed", &seed]);
    command.env("SCHEMATHESIS_HOOKS", "hooks").env("PYTHONPATH", folder).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.output().unwrap();
    // It ends with what it found, each with a line that does it again.
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the server and its description differ:\n{said}");
    let tested = said.lines().find_map(|line| line.trim().strip_prefix("Tested: ")?.parse::<usize>().ok());
    // It has asked for the description already, and leaves that one out.
    assert_eq!(tested, Some(server::TABLE.len() - 1), "not every call was tried:\n{said}");
    let still = seeded.send("GET", "/v1/stats", "application/json", String::new()).await;
    assert_eq!(still["condition"], "running", "{still}");
    let log = server.log.lock().unwrap().join("\n");
    assert!(!log.contains(" ERROR "), "{log}");
}
