use serde_json::{Value, json};

use crate::server::{Answer, Grant, Server};

async fn place(server: &Server, hold: Value) -> String {
    let answer = server.post("/v1/holds", hold).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    answer.json()["id"].as_str().unwrap().to_owned()
}

async fn delete(server: &Server, hold: &str) -> Answer {
    Answer::of(server.request("DELETE", &format!("/v1/holds/{hold}"))).await
}

/// Claims one task, waiting for it; not so long that the engine would look without having been told to.
async fn claim(server: &Server, task: &str) -> Value {
    let body = json!({ "worker": "w", "tasks": [task], "wait": "3s" });
    server.post("/v1/tasks:claim", body).await.json()["tasks"][0].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hold_stops_claims_until_it_is_released() {
    let server = Server::start().await;
    let id = server.parcel("r1").await;
    let body = json!({ "pipeline": "parcels", "reason": "the scales are broken", "expires_at": "9999-01-01T00:00:00Z" });
    let answer = server.post("/v1/holds", body).await;
    let placed = answer.json();
    let hold = placed["id"].as_str().unwrap();
    assert_eq!((answer.status, answer.header("location")), (201, &*format!("/v1/holds/{hold}")));
    assert_eq!(placed["owner"], json!({ "type": "admin", "name": "local" }));
    assert_eq!(
        (&placed["pipeline"], &placed["labels"], &placed["lane"]),
        (&json!("parcels"), &json!({}), &Value::Null)
    );

    assert_eq!(server.claim("parcels.check").await, Value::Null);
    let shown = server.get(&format!("/v1/submissions/{id}")).await.json();
    let short = json!({
        "id": hold, "reason": "the scales are broken", "owner": placed["owner"], "expires_at": placed["expires_at"],
    });
    assert_eq!((&shown["holds"], &shown["parked"]), (&json!([short]), &json!(hold)));
    assert_eq!(server.get("/v1/holds").await.json(), json!({ "holds": [placed] }));

    let released = delete(&server, hold).await;
    assert_eq!((released.status, released.json()), (200, placed.clone()));
    assert_eq!(claim(&server, "parcels.check").await["submission"], json!(id));
    assert_eq!(server.get("/v1/holds").await.json(), json!({ "holds": [] }));
    delete(&server, hold).await.problem(404, "unknown-hold");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hold_stops_what_it_names_and_nothing_else() {
    let server = Server::start().await;
    let held = server.parcel("r1").await;
    let free = server.parcel("r2").await;
    place(&server, json!({ "submission": held, "reason": "look at this one" })).await;
    place(&server, json!({ "labels": { "owner": "bob" }, "reason": "bob is away" })).await;
    assert_eq!(claim(&server, "parcels.check").await["submission"], json!(free));
    let list = server.get("/v1/holds").await.json();
    let mut holds = list["holds"].as_array().unwrap().iter();
    let of_one = holds.find(|hold| hold["labels"] == json!({})).unwrap();
    assert_eq!(
        (&of_one["pipeline"], &of_one["submission"]),
        (&json!("parcels"), &json!(held)),
        "its pipeline is known"
    );
    let shown = server.get(&format!("/v1/submissions/{free}")).await.json();
    assert_eq!(shown["holds"], json!([]));
}

#[tokio::test]
async fn holds_that_cannot_be_meant_are_refused() {
    let server = Server::start().await;
    let id = server.parcel("r1").await;
    let nobody = "00000000-0000-7000-8000-000000000000";
    for (body, status, code, says) in [
        (json!({ "reason": "r" }), 400, "invalid-request", "names nothing"),
        (json!({ "labels": {}, "reason": "r" }), 400, "invalid-request", "name a `pipeline`"),
        (json!({ "pipeline": "parcels" }), 400, "invalid-request", "`reason`"),
        (json!({ "pipeline": "parcels", "reason": " " }), 422, "reason-required", "reason"),
        (json!({ "pipeline": "parcels", "reason": "r".repeat(4_001) }), 413, "too-large", "4000"),
        (json!({ "pipeline": "parcel", "reason": "r" }), 404, "unknown-pipeline", "parcels"),
        (json!({ "labels": { "ownr": "ada" }, "reason": "r" }), 400, "invalid-request", "`ownr`"),
        (
            json!({ "pipeline": "notes", "labels": { "owner": "ada" }, "reason": "r" }),
            400,
            "invalid-request",
            "`owner`",
        ),
        (json!({ "labels": { "owner": "" }, "reason": "r" }), 400, "invalid-request", "empty"),
        (json!({ "labels": { "owner": "x".repeat(513) }, "reason": "r" }), 413, "too-large", "512"),
        (json!({ "pipeline": "parcels", "lane": "l", "reason": "r" }), 400, "invalid-request", "lane"),
        (json!({ "submission": nobody, "reason": "r" }), 404, "unknown-submission", nobody),
        (json!({ "submission": "x", "reason": "r" }), 400, "invalid-request", "shape"),
        (
            json!({ "submission": id, "pipeline": "notes", "reason": "r" }),
            400,
            "invalid-request",
            "`parcels`",
        ),
        (
            json!({ "pipeline": "notes", "reason": "r", "expires_at": "soon" }),
            400,
            "invalid-request",
            "RFC 3339",
        ),
        (
            json!({ "pipeline": "notes", "reason": "r", "expires_at": "2020-01-01T00:00:00Z" }),
            400,
            "invalid-request",
            "over already",
        ),
        (json!({ "pipeline": "notes", "reason": "r", "until": 1 }), 400, "invalid-request", "`until`"),
    ] {
        let problem = server.post("/v1/holds", &body).await.problem(status, code);
        assert!(problem["detail"].as_str().unwrap().contains(says), "{body}: {problem}");
    }
    assert_eq!(server.get("/v1/holds").await.json(), json!({ "holds": [] }));
    delete(&server, "nonsense").await.problem(404, "unknown-hold");
    server.get("/v1/holds?pipeline=notes").await.problem(400, "invalid-request");
}

#[tokio::test]
async fn a_hold_whose_time_is_over_is_gone() {
    let server = Server::start().await;
    let id = server.parcel("r1").await;
    let soon = server.engine.now().plus(model::Millis::new(300)).to_string();
    place(&server, json!({ "pipeline": "parcels", "reason": "r", "expires_at": soon })).await;
    while server.get("/v1/holds").await.json() != json!({ "holds": [] }) {}
    assert_eq!(claim(&server, "parcels.check").await["submission"], json!(id));
    assert_eq!(server.get("/v1/holds").await.json(), json!({ "holds": [] }));
}

#[tokio::test]
async fn a_token_for_some_pipelines_holds_only_those() {
    let grant = |token, rights| Grant { token, rights };
    let server = Server::with(
        &[
            grant("root", json!({ "subject": "root", "role": "admin" })),
            grant("both", json!({ "subject": "b", "role": "admin", "pipelines": ["notes", "parcels"] })),
            grant("notes", json!({ "subject": "n", "role": "admin", "pipelines": ["notes"] })),
        ],
        |_| {},
    )
    .await;
    let hold = async |token: &str, body: Value| {
        Answer::of(server.with_json("POST", "/v1/holds", body).bearer_auth(token)).await
    };
    hold("notes", json!({ "pipeline": "parcels", "reason": "r" })).await.problem(403, "role-required");
    hold("both", json!({ "labels": { "owner": "ada" }, "reason": "r" }))
        .await
        .problem(400, "invalid-request");
    let parcels = hold("root", json!({ "pipeline": "parcels", "reason": "r" })).await.json();
    let everywhere = hold("root", json!({ "labels": { "owner": "ada" }, "reason": "r" })).await.json();
    let own = hold("notes", json!({ "pipeline": "notes", "reason": "r" })).await.json();
    let list = Answer::of(server.request("GET", "/v1/holds").bearer_auth("notes")).await.json();
    let list = list["holds"].as_array().unwrap();
    assert!(list.len() == 2 && list.contains(&everywhere) && list.contains(&own), "{list:?}");
    let release = async |hold: &Value| {
        let path = format!("/v1/holds/{}", hold["id"].as_str().unwrap());
        Answer::of(server.request("DELETE", &path).bearer_auth("notes")).await
    };
    release(&parcels).await.problem(404, "unknown-hold");
    release(&everywhere).await.problem(404, "unknown-hold");
    assert_eq!(release(&own).await.status, 200);
}

#[tokio::test]
async fn there_are_so_many_holds_and_no_more() {
    let server = Server::start().await;
    let body = json!({ "pipeline": "parcels", "reason": "r" });
    let mut last = String::new();
    for _ in 0..1_000 {
        last = place(&server, body.clone()).await;
    }
    let problem = server.post("/v1/holds", &body).await.problem(413, "too-large");
    assert_eq!(problem["max"], 1_000);
    delete(&server, &last).await;
    place(&server, body).await;
}

#[tokio::test]
async fn no_subject_places_all_holds_and_owners_have_a_reserve() {
    let scoped = |subject: &str| json!({ "subject": subject, "role": "admin", "pipelines": ["notes"] });
    let names = ["a", "b", "c", "d", "e"];
    let mut grants: Vec<_> = names.map(|name| Grant { token: name, rights: scoped(name) }).into();
    grants.push(Grant { token: "root", rights: json!({ "subject": "root", "role": "admin" }) });
    let server = Server::with(&grants, |_| {}).await;
    let body = json!({ "pipeline": "notes", "reason": "r" });
    let hold =
        async |token: &str| Answer::of(server.with_json("POST", "/v1/holds", &body).bearer_auth(token)).await;
    // Together, so that none of them could see what the others are about to do.
    let at_once = async |token: &str, count: usize| {
        let all = futures_util::future::join_all((0..count).map(|_| hold(token))).await;
        all.iter().filter(|answer| answer.status == 201).count()
    };
    assert_eq!(at_once("a", 210).await, 200);
    let problem = hold("a").await.problem(413, "too-large");
    assert_eq!(problem["max"], 200);
    for name in ["b", "c", "d"] {
        assert_eq!(at_once(name, 200).await, 200);
    }
    assert_eq!(at_once("e", 110).await, 100, "the rest is kept for owners");
    assert_eq!(hold("e").await.problem(413, "too-large")["max"], 900);
    assert_eq!(at_once("root", 110).await, 100);
}

#[tokio::test]
async fn a_hold_that_only_another_server_knows_is_released_within_the_scope() {
    let grants = [
        Grant { token: "root", rights: json!({ "subject": "root", "role": "admin" }) },
        Grant { token: "notes", rights: json!({ "subject": "n", "role": "admin", "pipelines": ["notes"] }) },
    ];
    let server = Server::with(&grants, |_| {}).await;
    let get = async |token: &str| Answer::of(server.request("GET", "/v1/holds").bearer_auth(token)).await;
    for token in ["root", "notes"] {
        assert_eq!(get(token).await.json(), json!({ "holds": [] }));
    }
    let other = engine::Engine::start(server.store.clone(), &engine::Options::default()).unwrap();
    let placed = async |pipeline: &str| {
        let hold = engine::Hold {
            id: other.fresh_id().to_string().into(),
            pipeline: Some(pipeline.into()),
            labels: Default::default(),
            lane: None,
            submission: None,
            reason: "r".to_owned(),
            owner: model::Actor::new(model::ActorKind::Admin, "root"),
            created_at: other.now(),
            expires_at: None,
        };
        other.hold(hold).await.unwrap().id
    };
    let release = async |token: &str, hold: &str| {
        Answer::of(server.request("DELETE", &format!("/v1/holds/{hold}")).bearer_auth(token)).await
    };
    let (parcels, notes) = (placed("parcels").await, placed("notes").await);
    release("notes", &parcels).await.problem(404, "unknown-hold");
    assert_eq!(release("notes", &notes).await.status, 200);
    assert_eq!(release("root", &parcels).await.status, 200);
}
