use std::time::Duration;

use serde_json::{Value, json};
use store::{Changes, RegistryChange, RegistryKey, Store as _, Take};

use crate::server::{Answer, Grant, Server};

/// The two definitions the server begins with have the first positions, and are in nobody's feed.
fn seqs(page: &Value) -> Vec<u64> {
    page["events"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn the_feed_is_read_in_pages_and_by_filter() {
    let server = Server::start().await;
    assert_eq!(server.get("/v1/feed").await.json(), json!({ "events": [], "next": 2 }));
    let id = server.reviewed("r1").await;
    server.post("/v1/pipelines/notes/submissions", json!({ "payload": {} })).await;
    let all = server.get("/v1/feed").await.json();
    assert_eq!((seqs(&all), &all["next"]), (vec![3, 4, 5], &json!(5)));
    assert_eq!((&all["events"][1]["to"], &all["events"][1]["submission"]), (&json!("REVIEW"), &json!(id)));
    for (query, expected) in [
        ("after=3&limit=1", vec![4]),
        ("after=end", vec![]),
        ("after=5", vec![]),
        ("pipeline=notes", vec![5]),
        ("state=REVIEW", vec![4]),
        ("label.owner=ada&after=0", vec![3, 4]),
        ("label.owner=bob", vec![]),
    ] {
        let page = server.get(&format!("/v1/feed?{query}")).await.json();
        assert_eq!(seqs(&page), expected, "{query}: {page}");
    }
    assert_eq!(server.get("/v1/feed?after=end").await.json()["next"], 5);
    assert_eq!(
        server.get("/v1/feed?label.owner=bob").await.json()["next"],
        5,
        "what does not fit was read, too"
    );
}

#[tokio::test]
async fn what_cannot_be_meant_of_a_feed_is_refused() {
    let server = Server::start().await;
    server.get("/v1/feed?pipeline=parcel").await.problem(404, "unknown-pipeline");
    for query in
        ["after=x", "after=-1", "wait=61s", "wait=1", "limit=0", "limit=1001", "state=REVUE", "since=1"]
    {
        server.get(&format!("/v1/feed?{query}")).await.problem(400, "invalid-request");
    }
    let odd =
        server.request("GET", "/v1/feed").header("accept", "text/event-stream").header("last-event-id", "x");
    Answer::of(odd).await.problem(400, "invalid-request");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_waits_is_told_at_once() {
    let server = Server::with(&[], |options| options.waits_max = 1).await;
    let request = server.request("GET", "/v1/feed?state=REVIEW&wait=60s");
    // There is room for one: the look below may have it first, and is refused once this one has it.
    let waiting = tokio::spawn(async move {
        loop {
            let answer = Answer::of(request.try_clone().unwrap()).await;
            if answer.status != 503 {
                return answer;
            }
        }
    });
    while server.get("/v1/feed?wait=1ms").await.status != 503 {
        tokio::task::yield_now().await;
    }
    let body = json!({ "payload": { "ref": "r1", "owner": "ada", "weight": 5 } });
    server.post("/v1/pipelines/parcels/submissions", body).await;
    let claim = engine::core::ClaimMany {
        worker: "w".into(),
        tasks: vec!["parcels.check".into()],
        pipelines: Vec::new(),
        labels: Default::default(),
        max: 1,
        arriving: false,
        only: None,
        lease: None,
    };
    let granted = server.engine.claim(claim, Duration::ZERO).await.unwrap();
    server.finish(&json!(granted[0].token.to_string()), "good", json!({ "score": 1 })).await;
    let page = waiting.await.unwrap().json();
    assert_eq!((seqs(&page), &page["next"]), (vec![4], &json!(4)));
}

#[tokio::test]
async fn a_wait_that_is_over_says_where_to_go_on() {
    let server = Server::start().await;
    server.parcel("r1").await;
    let page = server.get("/v1/feed?after=3&wait=20ms").await.json();
    assert_eq!(page, json!({ "events": [], "next": 3 }));
}

/// Reads a stream until it has shown so many events; gives their ids.
async fn streamed(response: &mut reqwest::Response, count: usize) -> Vec<String> {
    let mut text = String::new();
    loop {
        let ids: Vec<_> = text
            .split("\n\n")
            .filter(|block| block.lines().any(|line| line.starts_with("data: {")))
            .filter_map(|block| block.lines().find_map(|line| line.strip_prefix("id: ")))
            .map(str::to_owned)
            .collect();
        if ids.len() >= count {
            return ids;
        }
        let chunk = response.chunk().await.unwrap().expect("the stream goes on");
        text.push_str(std::str::from_utf8(&chunk).unwrap());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_streamed_as_they_happen_and_from_where_one_left() {
    let mut server = Server::with(&[], |options| options.streams_max = 2).await;
    server.parcel("r1").await;
    let stream = |server: &Server, id: Option<&str>| {
        let request =
            server.request("GET", "/v1/feed?pipeline=parcels").header("accept", "text/event-stream");
        match id {
            Some(id) => request.header("last-event-id", id),
            None => request,
        }
    };
    let mut first = stream(&server, None).send().await.unwrap();
    assert_eq!(first.headers()["content-type"], "text/event-stream");
    assert_eq!(streamed(&mut first, 1).await, ["3"]);
    server.post("/v1/pipelines/notes/submissions", json!({ "payload": {} })).await;
    server.parcel("r2").await;
    assert_eq!(streamed(&mut first, 1).await, ["5"]);
    let mut second = stream(&server, Some("3")).send().await.unwrap();
    assert_eq!(streamed(&mut second, 1).await, ["5"]);
    Answer::of(stream(&server, None)).await.problem(503, "overloaded");
    server.stop();
    while let Some(chunk) = first.chunk().await.unwrap() {
        assert!(!chunk.starts_with(b"data"));
    }
    while second.chunk().await.unwrap().is_some() {}
    (&mut server.task).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_quiet_stream_shows_that_it_lives() {
    let server = Server::with(&[], |options| options.heartbeat = Duration::from_millis(10)).await;
    let request = server.request("GET", "/v1/feed").header("accept", "text/event-stream");
    let mut response = request.send().await.unwrap();
    let chunk = response.chunk().await.unwrap().unwrap();
    assert!(chunk.starts_with(b":"), "{chunk:?}");
}

#[tokio::test]
async fn a_past_that_was_retired_is_gone() {
    let server = Server::start().await;
    for reference in ["r1", "r2", "r3"] {
        server.parcel(reference).await;
    }
    let retire = |_| Changes { retired_before: Some(5), ..Changes::default() };
    server.store.transact(&Take::nothing(), &mut |taken| retire(taken)).unwrap();
    let gone = server.get("/v1/feed?after=3").await.problem(410, "feed-retired");
    assert_eq!(gone["oldest"], 5);
    server.get("/v1/feed?after=0").await.problem(410, "feed-retired");
    let streamed = server.request("GET", "/v1/feed?after=3").header("accept", "text/event-stream");
    Answer::of(streamed).await.problem(410, "feed-retired");
    assert_eq!(seqs(&server.get("/v1/feed?after=4").await.json()), [5]);
    assert_eq!(seqs(&server.get("/v1/feed").await.json()), [5], "without a position, from what there is");
    assert_eq!(server.get("/v1/feed?after=end").await.json()["next"], 5);
}

#[tokio::test]
async fn a_token_for_some_pipelines_reads_only_their_feed() {
    let server = Server::with(
        &[
            Grant { token: "root", rights: json!({ "subject": "root", "role": "admin" }) },
            Grant {
                token: "notes",
                rights: json!({ "subject": "n", "role": "viewer", "pipelines": ["notes"] }),
            },
            Grant {
                token: "both",
                rights: json!({ "subject": "b", "role": "viewer", "pipelines": ["notes", "parcels"] }),
            },
        ],
        |_| {},
    )
    .await;
    let submit = async |pipeline: &str, payload: Value| {
        let path = format!("/v1/pipelines/{pipeline}/submissions");
        Answer::of(server.with_json("POST", &path, json!({ "payload": payload })).bearer_auth("root")).await
    };
    submit("parcels", json!({ "ref": "r", "owner": "ada", "weight": 5 })).await;
    submit("notes", json!({})).await;
    let feed = async |token: &str, query: &str| {
        Answer::of(server.request("GET", &format!("/v1/feed{query}")).bearer_auth(token)).await
    };
    assert_eq!(seqs(&feed("notes", "").await.json()), [4]);
    feed("notes", "?pipeline=parcels").await.problem(403, "role-required");
    feed("both", "").await.problem(400, "invalid-request");
    assert_eq!(seqs(&feed("both", "?pipeline=parcels").await.json()), [3]);
}

#[tokio::test]
async fn a_cursor_is_kept_and_goes_forwards() {
    let server = Server::start().await;
    let path = "/v1/feed/cursors/nightly.report";
    let put = async |body: Value| Answer::of(server.with_json("PUT", path, body)).await;
    server.get(path).await.problem(404, "unknown-cursor");
    let placed = put(json!({ "position": 5 })).await;
    assert_eq!(
        (placed.status, &placed.json()["position"], &placed.json()["name"]),
        (200, &json!(5), &json!("nightly.report"))
    );
    assert_eq!(put(json!({ "position": 3 })).await.problem(409, "cursor-ahead")["position"], 5);
    assert_eq!(put(json!({ "position": 5 })).await.status, 200);
    assert_eq!(put(json!({ "position": 3, "rewind": true })).await.json()["position"], 3);
    let shown = server.get(path).await.json();
    assert_eq!(shown["position"], 3);
    assert!(shown["moved_at"].is_string());
    for body in
        [json!({}), json!({ "position": -1 }), json!({ "position": "5" }), json!({ "position": 1, "x": 1 })]
    {
        put(body).await.problem(400, "invalid-request");
    }
    for name in ["a%2Fb", "%20", "ä", &"x".repeat(129)] {
        server.get(&format!("/v1/feed/cursors/{name}")).await.problem(400, "invalid-request");
    }
}

/// Puts entries into the registry as they were kept by somebody.
fn keep(server: &Server, kind: &str, entries: &[(&str, Value)]) {
    let change = |(name, body): &(&str, Value)| RegistryChange {
        key: RegistryKey { kind: kind.to_owned(), name: (*name).to_owned() },
        body: Some(model::Json::from(body.clone())),
    };
    let mut changes = Some(Changes { registry: entries.iter().map(change).collect(), ..Changes::default() });
    server.store.transact(&Take::nothing(), &mut |_| changes.take().unwrap()).unwrap();
}

#[tokio::test]
async fn there_are_so_many_cursors_and_no_more() {
    let server = Server::start().await;
    keep(&server, "cursor-count", &[("all", json!(9_999))]);
    let put = async |name: &str| {
        let path = format!("/v1/feed/cursors/{name}");
        Answer::of(server.with_json("PUT", &path, json!({ "position": 2 }))).await
    };
    assert_eq!(put("one-more").await.status, 200);
    assert_eq!(put("too-many").await.problem(413, "too-large")["max"], 10_000);
    server.get("/v1/feed/cursors/too-many").await.problem(404, "unknown-cursor");
    assert_eq!(put("one-more").await.status, 200, "those that are there still move");
    let gone = Answer::of(server.request("DELETE", "/v1/feed/cursors/one-more")).await;
    assert_eq!((gone.status, &gone.json()["position"]), (200, &json!(2)));
    assert_eq!(put("another").await.status, 200, "there is room again");
}

/// A server with an owner and two readers, and a way to ask it.
async fn readers() -> Server {
    let grant = |token, role: &str, scope: Value| {
        let mut rights = json!({ "subject": token, "role": role });
        rights.as_object_mut().unwrap().extend(scope.as_object().unwrap().clone());
        Grant { token, rights }
    };
    let grants = [
        grant("root", "admin", json!({})),
        grant("ada", "worker", json!({})),
        grant("bob", "admin", json!({ "pipelines": ["notes"] })),
    ];
    Server::with(&grants, |_| {}).await
}

async fn ask(server: &Server, token: &str, method: &str, path: &str) -> Answer {
    Answer::of(server.request(method, &format!("/v1/feed/cursors{path}")).bearer_auth(token)).await
}

async fn move_to(server: &Server, token: &str, name: &str, position: u64) -> Answer {
    let path = format!("/v1/feed/cursors/{name}");
    Answer::of(server.with_json("PUT", &path, json!({ "position": position })).bearer_auth(token)).await
}

#[tokio::test]
async fn a_cursor_is_its_subjects() {
    let server = readers().await;
    let placed = move_to(&server, "ada", "mailer", 7).await.json();
    assert_eq!((&placed["subject"], &placed["position"]), (&json!("ada"), &json!(7)));
    ask(&server, "bob", "GET", "/mailer").await.problem(404, "unknown-cursor");
    ask(&server, "bob", "GET", "/mailer?subject=ada").await.problem(403, "role-required");
    ask(&server, "bob", "DELETE", "/mailer").await.problem(404, "unknown-cursor");
    ask(&server, "bob", "DELETE", "/mailer?subject=ada").await.problem(403, "role-required");
    assert_eq!(move_to(&server, "bob", "mailer", 3).await.json()["position"], 3, "another one");
    assert_eq!(ask(&server, "ada", "GET", "/mailer").await.json(), placed);
    let names = async |token: &str, query: &str| {
        let page = ask(&server, token, "GET", query).await.json();
        let cursors = page["cursors"].as_array().unwrap();
        let name = |cursor: &Value| {
            format!("{}/{}", cursor["subject"].as_str().unwrap_or("-"), cursor["name"].as_str().unwrap())
        };
        (cursors.iter().map(name).collect::<Vec<_>>(), page["next"].as_str().map(str::to_owned))
    };
    move_to(&server, "ada", "audit", 1).await;
    assert_eq!(names("ada", "").await, (vec!["ada/audit".to_owned(), "ada/mailer".to_owned()], None));
    assert_eq!(names("ada", "?limit=1").await.0, ["ada/audit"]);
    let next = names("ada", "?limit=1").await.1.unwrap();
    assert_eq!(names("ada", &format!("?limit=1&after={next}")).await, (vec!["ada/mailer".to_owned()], None));
    assert_eq!(names("bob", "").await.0, ["bob/mailer"]);
    assert_eq!(names("bob", "?after=a").await.0, ["bob/mailer"], "nobody else's, wherever it begins");
    assert_eq!(names("root", "").await.0, ["ada/audit", "ada/mailer", "bob/mailer"]);
    assert_eq!(names("root", "?subject=bob").await.0, ["bob/mailer"]);
    ask(&server, "root", "GET", "/mailer").await.problem(404, "unknown-cursor");
    assert_eq!(ask(&server, "root", "GET", "/mailer?subject=Ada").await.json(), placed);
    assert_eq!(ask(&server, "root", "DELETE", "/mailer?subject=ada").await.json(), placed);
    ask(&server, "ada", "GET", "/mailer").await.problem(404, "unknown-cursor");
    assert_eq!(ask(&server, "bob", "DELETE", "/mailer").await.status, 200);
    assert_eq!(names("root", "").await.0, ["ada/audit"]);
}

#[tokio::test]
async fn a_cursor_from_before_there_were_tokens_is_where_everybody_begins() {
    let server = readers().await;
    let old = json!({ "position": 9, "moved_at": "2026-01-01T00:00:00Z" });
    keep(&server, engine::core::CURSORS, &[("mailer", old)]);
    let shown = ask(&server, "ada", "GET", "/mailer").await.json();
    assert_eq!((&shown["position"], &shown["subject"]), (&json!(9), &Value::Null));
    assert_eq!(move_to(&server, "ada", "mailer", 5).await.problem(409, "cursor-ahead")["position"], 9);
    assert_eq!(move_to(&server, "ada", "mailer", 12).await.json()["subject"], "ada");
    assert_eq!(ask(&server, "ada", "GET", "/mailer").await.json()["position"], 12);
    assert_eq!(ask(&server, "bob", "GET", "/mailer").await.json()["position"], 9, "nobody moved theirs");
    ask(&server, "bob", "DELETE", "/mailer").await.problem(404, "unknown-cursor");
    assert_eq!(ask(&server, "root", "DELETE", "/mailer").await.json()["position"], 9);
    ask(&server, "bob", "GET", "/mailer").await.problem(404, "unknown-cursor");
}

#[tokio::test]
async fn no_subject_keeps_all_cursors_and_owners_have_a_reserve() {
    let server = readers().await;
    let names: Vec<String> = (0..105).map(|n| format!("c{n}")).collect();
    let all = futures_util::future::join_all(names.iter().map(|name| move_to(&server, "ada", name, 1))).await;
    assert_eq!(all.iter().filter(|answer| answer.status == 200).count(), 100);
    assert_eq!(move_to(&server, "ada", "more", 1).await.problem(413, "too-large")["max"], 100);
    assert_eq!(move_to(&server, "bob", "more", 1).await.status, 200);
    assert_eq!(ask(&server, "ada", "DELETE", "/c0").await.status, 200);
    assert_eq!(move_to(&server, "ada", "more", 1).await.status, 200);
    keep(&server, "cursor-count", &[("all", json!(9_900))]);
    assert_eq!(move_to(&server, "bob", "other", 1).await.problem(413, "too-large")["max"], 9_900);
    assert_eq!(move_to(&server, "root", "other", 1).await.status, 200);
}
