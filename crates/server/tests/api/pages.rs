//! The console's pages: the doors before them, sessions, and what a token's scope leaves of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use console::{Handler, Route};
use model::Role;
use reqwest::Method;
use serde_json::json;
use server::{PublicPages, PublicPipeline};
use system::Need;

use crate::server::{Answer, Grant, Server};

const NIL: &str = "00000000-0000-7000-8000-000000000000";

/// A form that every page finds its fields in.
const FORM: &str = "reason=r&action=approve&q=pipeline:parcels&deed=approve&pipeline=parcels&subject=x&token_role=viewer&\
    patch={}&step=claim&next=/console/sign-in";

/// Tells whether a page is a stream, which does not end.
fn is_stream(route: &Route) -> bool {
    ["/console/live", "/console/tail/stream"].contains(&route.path)
}

fn address(path: &str, id: &str) -> String {
    ["{id}", "{hold}", "{operation}", "{token}", "{receipt}"]
        .iter()
        .fold(path.replace("{pipeline}", "parcels").replace("{name}", "console.css"), |path, part| {
            path.replace(part, id)
        })
}

async fn ask(server: &Server, route: &Route, id: &str, token: Option<&str>) -> Answer {
    let request = server.request(route.method.as_str(), &address(route.path, id));
    let request = match route.method {
        Method::POST => request
            .header("content-type", "application/x-www-form-urlencoded")
            .body(format!("{FORM}&selected={id}")),
        _ => request,
    };
    let request = request.header("origin", &server.url);
    Answer::of(match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    })
    .await
}

#[tokio::test]
async fn every_page_asks_for_what_its_line_says() {
    let server = Server::with_roles().await;
    for route in console::TABLE {
        let what = format!("{} {}", route.method, route.path);
        if matches!(route.handler, Handler::Public(_)) {
            // Of no pipeline that is public here.
            assert_eq!(ask(&server, route, NIL, None).await.status, 404, "{what}");
            continue;
        }
        if matches!(route.need, Need::Public(_)) {
            assert!(ask(&server, route, NIL, None).await.status < 400, "{what}");
            continue;
        }
        for token in [None, Some("nonsense")] {
            ask(&server, route, NIL, token).await.problem(401, "unauthorized");
        }
        for role in Role::ALL {
            let may = match route.need {
                Need::Role(wanted) => role == wanted || role == Role::Admin,
                Need::Owner => role == Role::Admin,
                _ => true,
            };
            if may && is_stream(route) {
                continue;
            }
            let answer = ask(&server, route, NIL, Some(role.as_str())).await;
            if may {
                assert!(![401, 403].contains(&answer.status), "{role} at {what}: {}", answer.text);
            } else {
                answer.problem(403, "role-required");
            }
        }
    }
}

#[tokio::test]
async fn the_pages_that_anybody_may_open_are_the_way_in_and_its_files() {
    let public = console::TABLE.iter().filter(|route| matches!(route.need, Need::Public(_)));
    let public: Vec<_> = public.map(|route| route.path).collect();
    let known = [
        "/console/sign-in",
        "/console/sign-in",
        "/console/sign-out",
        "/console/look",
        "/console/assets/{name}",
        "/public/{pipeline}",
        "/public/{pipeline}",
        "/public/{pipeline}/receipts/{receipt}",
    ];
    assert_eq!(public, known);
    for route in console::TABLE {
        assert_eq!(
            route.path.starts_with("/public/"),
            matches!(route.handler, Handler::Public(_)),
            "{route:?}"
        );
    }
    let changing = console::TABLE.iter().filter(|route| route.method == Method::POST);
    let any_role: Vec<_> =
        changing.filter(|route| route.need == Need::AnyRole).map(|route| route.path).collect();
    let known = [
        "/console/submissions/{id}/act",
        "/console/submissions/{id}/amend",
        "/console/submissions/{id}/acknowledge",
        "/console/submissions/{id}/review",
        "/console/submissions/{id}/note",
    ];
    assert_eq!(any_role, known, "there the pipeline says which role");
}

/// The answer of a page to a token of another pipeline or label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Out {
    /// The page, with nothing of theirs.
    Nothing,
    /// The page, which is about no submission.
    Free,
    Is(u16),
    /// The same as everybody else is told.
    Same,
}

use Out::{Free, Is, Nothing, Same};

/// Returns what a page answers a token of another pipeline, and one of another label.
fn line(route: &Route) -> Option<(Out, Out)> {
    Some(match (route.method.as_str(), route.path) {
        (_, "/console/sign-in" | "/console/sign-out" | "/console/look" | "/console/assets/{name}") => {
            (Same, Same)
        }
        (_, "/public/{pipeline}" | "/public/{pipeline}/receipts/{receipt}") => (Same, Same),
        ("GET", "/console/live" | "/console/tail/stream") => (Free, Free),
        ("GET", "/console/settings") => (Free, Free),
        ("GET", "/console/servers") => (Is(403), Is(403)),
        (_, path) if path.starts_with("/console/tokens") => (Is(403), Is(403)),
        ("POST", "/console/submissions/many") => (Free, Free),
        ("GET", "/console/submissions/export") => (Nothing, Nothing),
        (_, path) if path.starts_with("/console/submissions/{id}") => (Is(404), Is(404)),
        ("GET", "/console/pipelines/{pipeline}") => (Is(403), Nothing),
        ("POST", "/console/holds") => (Is(403), Is(403)),
        ("POST", "/console/holds/{hold}/release") => (Is(404), Is(404)),
        ("POST", "/console/deliveries/{id}/replay") => (Is(404), Is(404)),
        ("GET", "/console/deliveries") => (Is(403), Nothing),
        ("POST", "/console/operations") => (Is(403), Nothing),
        (_, path) if path.starts_with("/console/operations/{operation}") => (Is(404), Is(404)),
        (
            "GET",
            "/console"
            | "/console/submissions"
            | "/console/pipelines"
            | "/console/reviews"
            | "/console/dead"
            | "/console/investigations"
            | "/console/overdue"
            | "/console/holds"
            | "/console/workers"
            | "/console/operations"
            | "/console/tail"
            | "/console/audit",
        ) => (Nothing, Nothing),
        _ => return None,
    })
}

/// Something of everything, of the pipeline `parcels` and the owner `ada`.
struct Theirs {
    server: Server,
    submission: String,
    operation: String,
    hold: String,
    /// The receipt of a submission at the public page.
    receipt: String,
}

impl Theirs {
    async fn start() -> Theirs {
        let rights = |scope: serde_json::Value| {
            let mut rights = json!({ "subject": "x", "role": "admin" });
            rights.as_object_mut().unwrap().extend(scope.as_object().unwrap().clone());
            rights
        };
        let grants = [
            Grant { token: "root", rights: rights(json!({})) },
            Grant { token: "notes", rights: rights(json!({ "pipelines": ["notes"] })) },
            Grant { token: "bobs", rights: rights(json!({ "labels": { "owner": "bob" } })) },
        ];
        let parcels =
            PublicPipeline { name: "parcels".into(), rate: 100, rate_all: 100, ..Default::default() };
        let public = |options: &mut server::Options| options.public = Arc::new(PublicPages::new([parcels]));
        let server = Server::with(&grants, public).await;
        let post = async |path: &str, body: serde_json::Value| {
            let answer = Answer::of(server.with_json("POST", path, body).bearer_auth("root")).await;
            assert!(answer.status < 300, "{}", answer.text);
            answer.json()
        };
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let parcel = |name: &str| json!({ "payload": { "ref": name, "owner": "ada", "weight": 5 } });
        let submission = text(&post("/v1/pipelines/parcels/submissions", parcel("a")).await["id"]);
        let wish = json!({ "filter": { "pipeline": "parcels" }, "action": "approve", "dry_run": true });
        let operation = text(&post("/v1/operations", wish).await["id"]);
        let wish = json!({ "pipeline": "parcels", "labels": { "owner": "ada" }, "reason": "r" });
        let hold = text(&post("/v1/holds", wish).await["id"]);
        let receipt = text(&post("/public/parcels", parcel("public")).await["receipt"]);
        Theirs { server, submission, operation, hold, receipt }
    }

    async fn ask(&self, route: &Route, token: Option<&str>) -> Answer {
        let id = match route.path {
            path if path.contains("{operation}") => &self.operation,
            path if path.contains("{hold}") => &self.hold,
            path if path.contains("{receipt}") => &self.receipt,
            _ => &self.submission,
        };
        ask(&self.server, route, id, token).await
    }

    fn check(&self, out: Out, answer: &Answer, what: &str) {
        match out {
            Is(status) => assert_eq!(answer.status, status, "{what}: {}", answer.text),
            Free | Nothing | Same => {
                assert!(![401, 403].contains(&answer.status), "{what}: {} {}", answer.status, answer.text);
            }
        }
        if out == Nothing {
            for theirs in [&self.submission, &self.operation, &self.hold, &self.receipt] {
                assert!(!answer.text.contains(theirs.as_str()), "{what}: {}", answer.text);
            }
        }
    }
}

#[tokio::test]
async fn every_page_keeps_a_token_to_its_scope() {
    let theirs = Theirs::start().await;
    let mut wrong = BTreeMap::new();
    for route in console::TABLE {
        let what = format!("{} {}", route.method, route.path);
        let Some((pipeline, label)) = line(route) else {
            wrong.insert(what, "it has no line: say what it shows");
            continue;
        };
        if is_stream(route) {
            continue;
        }
        if pipeline == Same {
            let status = theirs.ask(route, None).await.status;
            for token in ["root", "notes", "bobs"] {
                assert_eq!(
                    theirs.ask(route, Some(token)).await.status,
                    status,
                    "{what} with the token {token}"
                );
            }
            continue;
        }
        theirs.check(
            pipeline,
            &theirs.ask(route, Some("notes")).await,
            &format!("{what} for another pipeline"),
        );
        theirs.check(label, &theirs.ask(route, Some("bobs")).await, &format!("{what} for another label"));
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    let shown =
        theirs.server.request("GET", &format!("/v1/submissions/{}", theirs.submission)).bearer_auth("root");
    let shown = Answer::of(shown).await.json();
    assert_eq!(
        (&shown["revision"], &shown["notes"]),
        (&json!(1), &json!(null)),
        "no form has done anything to it"
    );
    let seen = Answer::of(theirs.server.request("GET", "/console/submissions").bearer_auth("root")).await;
    assert!(
        seen.text.contains(&theirs.submission),
        "where whoever may see all sees nothing, the lines above say nothing"
    );
}

#[tokio::test]
async fn a_session_opens_pages_and_not_the_api() {
    let server = Server::with_roles().await;
    let with =
        |method: &str, path: &str| server.request(method, path).header("cookie", "milepost_session=admin");
    let page = Answer::of(with("GET", "/console").header("accept", "text/html")).await;
    assert_eq!(page.status, 200);
    assert!(page.header("content-security-policy").contains("script-src 'self'"));
    assert!(!page.header("content-security-policy").contains("unsafe"));
    Answer::of(with("GET", "/v1/submissions")).await.problem(401, "unauthorized");
    let foreign = |origin: &str| {
        with("POST", "/console/holds").header("origin", origin).body("pipeline=parcels&reason=r")
    };
    Answer::of(foreign("http://evil.example")).await.problem(403, "forbidden-host");
    Answer::of(with("POST", "/console/holds").body("pipeline=parcels&reason=r"))
        .await
        .problem(403, "forbidden-host");
    let here = foreign(&server.url).header("sec-fetch-site", "same-origin");
    assert_eq!(Answer::of(here).await.status, 200);
    assert_eq!(server.engine.holds().current().all().count(), 1);
}

#[tokio::test]
async fn browsers_are_sent_to_the_console_and_programs_are_told_what_is_here() {
    let server = Server::with_roles().await;
    let browser = server.request("GET", "/").header("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    let page = Answer::of(browser).await;
    assert!(page.text.contains("Sign in") && page.text.contains("name=\"token\""), "{}", page.text);
    assert!(server.get("/").await.text.contains("/v1/pipelines"));
    let refused =
        server.request("GET", "/console/tokens").header("accept", "text/html").bearer_auth("viewer");
    let refused = Answer::of(refused).await;
    assert_eq!(refused.status, 403);
    assert!(
        refused.text.contains("<h1>") && refused.text.contains("needs the role admin"),
        "{}",
        refused.text
    );
}

#[tokio::test]
async fn files_of_pages_are_kept_until_another_version_is_there() {
    let server = Server::start().await;
    for name in ["console.css", "console.js", "evidence.js", "htmx.js", "hx-sse.js", "icon.svg"] {
        let path = format!("/console/assets/{name}");
        let first = server.get(&path).await;
        assert_eq!(first.status, 200, "{name}");
        let etag = first.header("etag").to_owned();
        let again = Answer::of(server.request("GET", &path).header("if-none-match", etag)).await;
        assert_eq!((again.status, again.text.len()), (304, 0), "{name}");
    }
    assert_eq!(server.get("/console/assets/none.js").await.status, 404);
}
