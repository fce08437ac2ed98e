//! The limits of a token's scope: every route of the table has its line here, and one that has none fails.

use serde_json::{Value, json};
use server::{Need, Route, TABLE};

use crate::server::{Answer, Grant, Server};

/// The answer for somebody who asks for what is outside.
#[derive(Debug, Clone, Copy)]
enum Out {
    /// The route has nothing to do with submissions.
    Free,
    Is(u16, &'static str),
    /// An answer in which this list has nothing of it.
    Without(&'static str),
    /// An answer of lines in which none has anything of it.
    NoLine,
    /// An answer of many in which each is refused.
    Each(u16),
}

use Out::{Each, Free, Is, NoLine, Without};

const FORBIDDEN: Out = Is(403, "role-required");
const NO_SUBMISSION: Out = Is(404, "unknown-submission");
const NO_OPERATION: Out = Is(404, "unknown-operation");

/// Returns what a route answers a token of another pipeline, and one of another label.
fn line(route: &Route) -> Option<(Out, Out)> {
    Some(match (route.method.as_str(), route.path) {
        ("GET", "/" | "/livez" | "/readyz" | "/openapi.json" | "/checkpoint" | "/v1/audit/key") => {
            (Free, Free)
        }
        ("GET", "/v1/audit" | "/v1/clock") => (Free, Free),
        // Cursors are of subjects, whatever these may see.
        (_, "/v1/feed/cursors" | "/v1/feed/cursors/{cursor}") => (Free, Free),
        ("GET", "/metrics" | "/tile/{*path}" | "/v1/servers") => (FORBIDDEN, FORBIDDEN),
        // Definitions are of pipelines, whatever the labels of their submissions.
        ("GET", "/definition/{digest}") => (Is(404, "unknown-tile"), Free),
        ("GET", "/v1/pipelines/{pipeline}") => (FORBIDDEN, Free),
        ("GET", "/v1/pipelines") => (Without("pipelines"), Free),
        ("POST", "/v1/audit/keys" | "/v1/audit/fork" | "/v1/clock/confirm") | ("GET", "/v1/audit/acts") => {
            (FORBIDDEN, FORBIDDEN)
        }
        ("PUT", "/v1/pipelines/{pipeline}") => (FORBIDDEN, FORBIDDEN),
        ("POST", "/v1/pipelines/{pipeline}/submissions" | "/v1/pipelines/{pipeline}/retire") => {
            (FORBIDDEN, FORBIDDEN)
        }
        ("GET", "/v1/submissions" | "/v1/dead" | "/v1/investigations" | "/v1/overdue" | "/v1/reviews") => {
            (Without("submissions"), Without("submissions"))
        }
        ("GET", "/v1/find") => (Without("submissions"), Without("submissions")),
        ("GET", "/v1/export/submissions") => (NoLine, NoLine),
        (_, path) if path.starts_with("/v1/submissions/{id}") => (NO_SUBMISSION, NO_SUBMISSION),
        ("GET", "/v1/deliveries") => (FORBIDDEN, Without("deliveries")),
        ("POST", "/v1/deliveries/{id}/replay") => (NO_SUBMISSION, NO_SUBMISSION),
        ("GET", "/v1/operations") => (Without("operations"), Without("operations")),
        ("POST", "/v1/operations") => (FORBIDDEN, FORBIDDEN),
        (_, path) if path.starts_with("/v1/operations/{operation}") => (NO_OPERATION, NO_OPERATION),
        // Workers are of tasks, and tasks of pipelines, whatever the labels of their submissions.
        ("GET", "/v1/workers") => (Without("workers"), Free),
        ("GET", "/v1/figures") => (Without("oldest"), Without("oldest")),
        ("GET", "/v1/pipelines/{pipeline}/lanes") => (FORBIDDEN, FORBIDDEN),
        ("GET", "/v1/stats") => (Without("counts"), Without("counts")),
        ("GET", "/v1/feed") => (Without("events"), Without("events")),
        ("GET", "/v1/holds") => (Without("holds"), Without("holds")),
        ("POST", "/v1/holds") => (FORBIDDEN, FORBIDDEN),
        ("DELETE", "/v1/holds/{hold}") => (Is(404, "unknown-hold"), Is(404, "unknown-hold")),
        (_, path) if path.starts_with("/v1/endpoints") => (FORBIDDEN, FORBIDDEN),
        (_, path) if path.starts_with("/v1/systems/") => (FORBIDDEN, FORBIDDEN),
        (_, path) if path.starts_with("/v1/tokens") => (FORBIDDEN, FORBIDDEN),
        ("POST", "/v1/tasks:claim") => (Without("tasks"), Without("tasks")),
        (
            "POST",
            "/v1/tasks:finish"
            | "/v1/tasks:fail"
            | "/v1/tasks:snooze"
            | "/v1/tasks:give-back"
            | "/v1/tasks:spawn"
            | "/v1/tasks:renew",
        ) => (Each(404), Each(404)),
        _ => return None,
    })
}

/// Something of everything, of the pipeline `parcels` and the owner `ada`.
struct Theirs {
    server: Server,
    submission: String,
    lease: Value,
    operation: String,
    hold: String,
    digest: String,
}

impl Theirs {
    async fn start() -> Theirs {
        let rights = |scope: Value| {
            let mut rights = json!({ "subject": "x", "role": "admin" });
            rights.as_object_mut().unwrap().extend(scope.as_object().unwrap().clone());
            rights
        };
        let grants = [
            Grant { token: "root", rights: rights(json!({})) },
            Grant { token: "notes", rights: rights(json!({ "pipelines": ["notes"] })) },
            Grant { token: "bobs", rights: rights(json!({ "labels": { "owner": "bob" } })) },
            Grant { token: "adas", rights: rights(json!({ "labels": { "owner": "ada" } })) },
        ];
        let server = Server::with(&grants, |_| {}).await;
        let post = async |path: &str, body: Value| {
            let answer = Answer::of(server.with_json("POST", path, body).bearer_auth("root")).await;
            assert!(answer.status < 300, "{}", answer.text);
            answer.json()
        };
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let parcel =
            |reference: &str| json!({ "payload": { "ref": reference, "owner": "ada", "weight": 5 } });
        let submission = text(&post("/v1/pipelines/parcels/submissions", parcel("a")).await["id"]);
        let claim = json!({ "worker": "w", "tasks": ["parcels.check"] });
        let lease = post("/v1/tasks:claim", claim).await["tasks"][0]["token"].clone();
        post("/v1/pipelines/parcels/submissions", parcel("b")).await;
        let wish = json!({ "filter": { "pipeline": "parcels" }, "action": "approve", "dry_run": true });
        let operation = text(&post("/v1/operations", wish).await["id"]);
        let wish = json!({ "submission": submission, "labels": { "owner": "ada" }, "reason": "r" });
        let hold = text(&post("/v1/holds", wish).await["id"]);
        let pipeline = server.engine.pipelines().current().in_force("parcels").unwrap().clone();
        let digest = text(&serde_json::to_value(pipeline.digest).unwrap());
        Theirs { server, submission, lease, operation, hold, digest }
    }

    fn address(&self, path: &str) -> String {
        path.replace("{pipeline}", "parcels")
            .replace("{id}", &self.submission)
            .replace("{action}", "approve")
            .replace("{hold}", &self.hold)
            .replace("{operation}", &self.operation)
            .replace("{digest}", &self.digest)
            .replace("{cursor}", "reports")
            .replace("{system}", "greetings")
            .replace("{entry}", "head")
            .replace("{token}", &self.submission)
            .replace("{endpoint}", &self.submission)
            .replace("{*path}", "0/000")
    }

    fn body(&self, path: &str) -> Value {
        match path {
            "/v1/pipelines/{pipeline}/submissions" => {
                json!({ "payload": { "ref": "c", "owner": "ada", "weight": 5 } })
            }
            "/v1/pipelines/{pipeline}/retire" => json!({ "unused": true, "dry_run": true }),
            "/v1/operations" => {
                json!({ "filter": { "pipeline": "parcels", "labels": { "owner": "ada" } }, "action": "approve" })
            }
            "/v1/holds" => {
                json!({ "pipeline": "parcels", "labels": { "owner": "ada" }, "reason": "not yours" })
            }
            "/v1/tasks:claim" => json!({ "worker": "w", "tasks": ["parcels.check"] }),
            "/v1/tasks:finish" => json!({ "tasks": [{ "token": self.lease, "outcome": "good" }] }),
            "/v1/tasks:fail" => {
                json!({ "tasks": [{ "token": self.lease, "error": { "code": "x", "message": "x" } }] })
            }
            "/v1/submissions/{id}/review/hand-over" => json!({ "to": "ada" }),
            "/v1/submissions/{id}/notes" => json!({ "text": "not yours" }),
            "/v1/tasks:give-back" => json!({ "tasks": [{ "token": self.lease }] }),
            "/v1/tasks:snooze" => json!({ "tasks": [{ "token": self.lease, "for": "1s" }] }),
            "/v1/tasks:spawn" => json!({ "tasks": [{ "token": self.lease, "children": [] }] }),
            path if path.starts_with("/v1/tasks:") => json!({ "tasks": [{ "token": self.lease }] }),
            _ => json!({}),
        }
    }

    /// Events do not name their pipeline, everything else does.
    fn is_in(&self, list: &[Value]) -> bool {
        let text = serde_json::to_string(list).unwrap();
        text.contains("\"parcels\"") || text.contains(&self.submission)
    }

    async fn ask(&self, route: &Route, token: &str) -> Answer {
        let (method, mut path) = (route.method.as_str(), self.address(route.path));
        if path == "/v1/find" {
            path = format!("{path}?text={}", self.submission);
        }
        let request = match method {
            "GET" | "DELETE" => self.server.request(method, &path),
            _ => self.server.with_json(method, &path, self.body(route.path)),
        };
        Answer::of(request.bearer_auth(token)).await
    }
}

fn check(theirs: &Theirs, answer: &Answer, out: Out, what: &str) {
    match out {
        Free => assert!(![401, 403].contains(&answer.status), "{what}: {}", answer.text),
        Is(status, code) => {
            assert_eq!(
                (answer.status, &answer.json()["code"]),
                (status, &json!(code)),
                "{what}: {}",
                answer.text
            );
        }
        Without(list) => {
            assert_eq!(answer.status, 200, "{what}: {}", answer.text);
            let answered = answer.json();
            let list = answered[list].as_array().unwrap_or_else(|| panic!("{what}: {}", answer.text));
            assert!(!theirs.is_in(list), "{what}: {list:?}");
        }
        NoLine => {
            assert_eq!(answer.status, 200, "{what}: {}", answer.text);
            let lines = answer.text.lines().map(|line| serde_json::from_str(line).unwrap());
            assert!(!theirs.is_in(&lines.collect::<Vec<_>>()), "{what}: {}", answer.text);
        }
        Each(status) => {
            let results = answer.json()["results"].clone();
            assert_eq!(
                (answer.status, &results[0]["status"]),
                (200, &json!(status)),
                "{what}: {}",
                answer.text
            );
        }
    }
}

#[tokio::test]
async fn every_route_keeps_a_token_to_its_scope() {
    let theirs = Theirs::start().await;
    for route in TABLE {
        let what = format!("{} {}", route.method, route.path);
        let (pipeline, label) =
            line(route).unwrap_or_else(|| panic!("{what} has no line: say what it shows"));
        if route.need == Need::Nothing {
            continue;
        }
        check(&theirs, &theirs.ask(route, "notes").await, pipeline, &format!("{what} for another pipeline"));
        check(&theirs, &theirs.ask(route, "bobs").await, label, &format!("{what} for another label"));
        // Where whoever may see all sees nothing either, the lines above would say nothing.
        if let (Without(list), false) = (
            label,
            ["/v1/dead", "/v1/investigations", "/v1/overdue", "/v1/reviews", "/v1/deliveries"]
                .contains(&route.path),
        ) {
            let answered = theirs.ask(route, "root").await.json();
            assert!(theirs.is_in(answered[list].as_array().unwrap()), "{what} for all: {answered}");
        }
    }
}

#[tokio::test]
async fn a_label_is_a_filter_that_is_always_on() {
    let theirs = Theirs::start().await;
    let server = &theirs.server;
    let get =
        async |token: &str, path: &str| Answer::of(server.request("GET", path).bearer_auth(token)).await;
    let listed = get("adas", "/v1/submissions").await.json();
    assert_eq!(listed["submissions"].as_array().map(Vec::len), Some(2), "{listed}");
    get("adas", "/v1/submissions?label.owner=bob").await.problem(403, "role-required");
    assert_eq!(get("adas", &format!("/v1/submissions/{}", theirs.submission)).await.status, 200);
    assert!(!get("adas", "/v1/feed").await.json()["events"].as_array().unwrap().is_empty());
    assert_eq!(get("adas", "/v1/holds").await.json()["holds"].as_array().unwrap().len(), 1);
    let submit = async |token: &str, reference: &str| {
        let body = json!({ "payload": { "ref": reference, "owner": "bob", "weight": 5 } });
        let request = server.with_json("POST", "/v1/pipelines/parcels/submissions", body);
        Answer::of(request.bearer_auth(token)).await
    };
    assert_eq!(submit("bobs", "z").await.status, 201);
    submit("adas", "y").await.problem(403, "role-required");
    // An open one of somebody else has the key: that it has is all they learn, not even that the payloads differ.
    let taken = submit("bobs", "a").await;
    assert!(!taken.problem(409, "duplicate-key")["detail"].as_str().unwrap().contains(&theirs.submission));
    assert!(!taken.text.contains(&theirs.submission), "{}", taken.text);
    let conflict = submit("root", "a").await.problem(409, "key-conflict");
    assert_eq!(conflict["submission"], theirs.submission.as_str());
    let heavier = json!({ "payload": { "ref": "a", "owner": "ada", "weight": 6 } });
    let request = server.with_json("POST", "/v1/pipelines/parcels/submissions", heavier);
    let conflict = Answer::of(request.bearer_auth("adas")).await.problem(409, "key-conflict");
    assert_eq!(conflict["submission"], theirs.submission.as_str(), "it is theirs");
    let pipelines = get("bobs", "/v1/pipelines/parcels").await.json();
    assert!(pipelines["states"].as_array().unwrap().iter().all(|state| state["counts"] == json!([])));
}

#[tokio::test]
async fn of_a_key_that_somebody_else_has_a_token_learns_that_it_is_taken() {
    let theirs = Theirs::start().await;
    let server = &theirs.server;
    let strict = "name = 'strict'\nversion = 1\nkey = 'payload.ref'\non_duplicate = 'reject'\nlabels = { owner = 'payload.owner' }\n\
                  start = 'OPEN'\n[states.OPEN]\nactions.end = 'DONE'\n[states.DONE]\nfinal = 'success'\n";
    let request = server.request("PUT", "/v1/pipelines/strict").header("content-type", "application/toml");
    assert_eq!(Answer::of(request.body(strict).bearer_auth("root")).await.status, 201);
    let submit = async |token: &str, owner: &str| {
        let body = json!({ "payload": { "ref": "a", "owner": owner } });
        let request = server.with_json("POST", "/v1/pipelines/strict/submissions", body);
        Answer::of(request.bearer_auth(token)).await
    };
    let first = submit("adas", "ada").await.json()["id"].clone();
    assert_eq!(submit("adas", "ada").await.problem(409, "duplicate-key")["submission"], first);
    let taken = submit("bobs", "bob").await;
    taken.problem(409, "duplicate-key");
    assert!(!taken.text.contains(first.as_str().unwrap()), "{}", taken.text);
}
