//! Acts of admins that are no event of a submission are on record, and verify.

use serde_json::{Value, json};

use crate::log::verified;
use crate::server::{Answer, Server};
use crate::tokens;

async fn ask(server: &Server, token: &str, method: &str, path: &str, body: Value) -> Answer {
    let request =
        if body.is_null() { server.request(method, path) } else { server.with_json(method, path, body) };
    let answer = Answer::of(request.bearer_auth(token)).await;
    assert!(answer.status < 300, "{path}: {}", answer.text);
    answer
}

async fn acts(server: &Server, token: &str, query: &str) -> Value {
    ask(server, token, "GET", &format!("/v1/audit/acts{query}"), Value::Null).await.json()
}

fn column(acts: &Value, name: &str) -> Vec<String> {
    let acts = acts["acts"].as_array().unwrap().iter();
    acts.map(|act| act[name].as_str().unwrap_or("-").to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_admins_do_is_on_record_without_names_or_secrets() {
    let server = Server::start().await;
    let (root, root_id) = tokens::create(&server, "", json!({ "subject": "ada", "role": "admin" })).await;
    let worker = json!({ "subject": "press", "role": "worker", "pipelines": ["parcels"], "labels": { "owner": "bob" } });
    let (first, worker_id) = tokens::create(&server, &root, worker).await;
    let path = format!("/v1/tokens/{worker_id}/rotate");
    let rotated = ask(&server, &root, "POST", &path, json!({ "grace": "1m" })).await.json();
    let rotated_id = rotated["id"].as_str().unwrap();
    ask(&server, &root, "DELETE", &format!("/v1/tokens/{rotated_id}"), Value::Null).await;
    let hold = json!({ "pipeline": "parcels", "labels": { "owner": "bob" }, "reason": "bob is ill" });
    let hold = ask(&server, &root, "POST", "/v1/holds", hold).await.json();
    let hold_id = hold["id"].as_str().unwrap();
    ask(&server, &root, "DELETE", &format!("/v1/holds/{hold_id}"), Value::Null).await;
    let body = json!({ "filter": { "pipeline": "parcels" }, "action": "redrive", "dry_run": true });
    let operation = ask(&server, &root, "POST", "/v1/operations", body).await.json();

    let all = acts(&server, &root, "").await;
    assert_eq!(all["next"], Value::Null);
    let deeds = [
        "operation-started",
        "hold-released",
        "hold-placed",
        "token-revoked",
        "token-rotated",
        "token-created",
        "token-created",
    ];
    assert_eq!(&column(&all, "deed")[..7], deeds);
    let of =
        [operation["id"].as_str().unwrap(), hold_id, hold_id, rotated_id, rotated_id, &worker_id, &root_id];
    assert_eq!(&column(&all, "of")[..7], of);
    assert!(column(&all, "kind")[7..].iter().all(|kind| kind == "applied"), "{all}");

    let listed = all["acts"].as_array().unwrap();
    let by = |act: &Value| (act["actor"]["name"].clone(), act["role"].clone());
    assert!(listed[..6].iter().all(|act| by(act) == (json!("ada"), json!("admin"))), "{all}");
    assert_eq!(by(&listed[6]), (json!("local"), json!("admin")), "the door was open");
    let created = &listed[5]["detail"];
    assert_eq!(
        (&created["role"], &created["pipelines"], &created["labels"], &created["subject_name"]),
        (&json!("worker"), &json!("parcels"), &json!("owner"), &json!("press"))
    );
    assert_eq!(listed[4]["detail"]["replaces"], json!(worker_id));
    assert_eq!(listed[4]["detail"]["subject"], created["subject"], "a pseudonym is the same every time");
    assert_eq!(listed[2]["detail"], json!({ "pipeline": "parcels", "labels": "owner" }));
    let numbers: Vec<_> = listed[..7].iter().map(|act| act["no"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [7, 6, 5, 4, 3, 2, 1]);
    for secret in [&root, &first, rotated["token"].as_str().unwrap(), "bob", "is ill"] {
        assert!(!all.to_string().contains(secret), "{secret}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn acts_are_paged_verified_and_in_no_history() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::logged(folder.path()).await;
    // Proven: the log has added its own key by then, and adds nothing more by itself.
    let body = json!({ "payload": { "ref": "one", "owner": "ada", "weight": 5 } });
    let one = server.post("/v1/pipelines/parcels/submissions?wait=proof", body).await.json();
    let id = one["id"].as_str().unwrap().to_owned();
    for _ in 0..5 {
        let hold = server.post("/v1/holds", json!({ "submission": id, "reason": "look" })).await.json();
        let path = format!("/v1/holds/{}", hold["id"].as_str().unwrap());
        assert_eq!(Answer::of(server.request("DELETE", &path)).await.status, 200);
    }
    server.post("/v1/audit/keys", "{}").await;
    let whole = acts(&server, "", "?limit=1000").await["acts"].clone();
    let whole = whole.as_array().unwrap();
    let indexes: Vec<_> = whole.iter().map(|act| act["index"].as_u64().unwrap()).collect();
    assert!(indexes.is_sorted_by(|a, b| a > b), "{indexes:?}");
    assert_eq!(whole[0]["deed"], "log-key-added");
    assert_eq!(whole[1]["kind"], "key_added");
    let (mut paged, mut after) = (Vec::new(), String::new());
    loop {
        let page = acts(&server, "", &format!("?limit=3{after}")).await;
        paged.extend(page["acts"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_u64() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(&paged, whole);

    let body = json!({ "payload": { "ref": "two", "owner": "ada", "weight": 5 } });
    assert_eq!(server.post("/v1/pipelines/parcels/submissions?wait=proof", body).await.status, 201);
    assert_eq!(verified(&server).await.administered, 11);
    let history = server.get(&format!("/v1/submissions/{id}/events")).await.json();
    assert_eq!(history["events"].as_array().unwrap().len(), 1, "{history}");
    let feed = server.get("/v1/feed?limit=1000").await.json();
    assert_eq!(feed["events"].as_array().unwrap().len(), 2, "{feed}");
    server.get("/v1/audit/acts?after=x").await.problem(400, "invalid-request");
}
