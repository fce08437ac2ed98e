//! The audit log as it is served: whole, and by the evidence of each submission.

use std::collections::BTreeSet;

use audit::note::Trust;
use audit::tiles::{SourceError, TilePath, TileSource};
use audit::verify::{
    Definitions, EvidenceOptions, EvidenceReport, LogOptions, LogReport, verify_evidence, verify_log,
};
use model::Digest;
use model::pipeline::Source;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use crate::server::Server;

/// A log behind HTTP.
pub(crate) struct Served<'a>(pub(crate) &'a Server);

impl Served<'_> {
    fn get(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        let fetched = block_in_place(|| {
            Handle::current().block_on(async {
                let response = self.0.request("GET", path).send().await?;
                let status = response.status().as_u16();
                response.bytes().await.map(|bytes| (status, bytes.to_vec()))
            })
        });
        match fetched {
            Ok((200, bytes)) => Ok(Some(bytes)),
            Ok((404, _)) => Ok(None),
            Ok((status, bytes)) => Err(format!("{status}: {}", String::from_utf8_lossy(&bytes))),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl TileSource for Served<'_> {
    fn tile(&self, path: &TilePath) -> Result<Vec<u8>, SourceError> {
        let found = self.get(&format!("/{path}"));
        let failed = |reason| SourceError::Failed { path: *path, reason };
        found.map_err(failed)?.ok_or(SourceError::Missing(*path))
    }
}

impl Definitions for Served<'_> {
    fn definition(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String> {
        self.get(&format!("/definition/{digest}"))
    }
}

async fn trust(server: &Server) -> Trust {
    let keys = server.get("/v1/audit/key").await;
    assert_eq!((keys.status, keys.header("content-type")), (200, "text/plain; charset=utf-8"));
    Trust { keys: keys.text.lines().map(|line| line.parse().unwrap()).collect(), policy: None }
}

/// Verifies everything that is published.
pub(crate) async fn verified(server: &Server) -> LogReport {
    let checkpoint = server.get("/checkpoint").await;
    assert_eq!(checkpoint.status, 200, "{}", checkpoint.text);
    verify_log(&Served(server), &checkpoint.text, &trust(server).await, &LogOptions::default())
        .unwrap_or_else(|finding| panic!("{finding}"))
}

pub(crate) async fn evidence(server: &Server, id: &str) -> EvidenceReport {
    let answer = server.get(&format!("/v1/submissions/{id}/evidence")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"), "{}", answer.text);
    let trust = trust(server).await;
    let options = EvidenceOptions { trust: Some(&trust), known: None };
    verify_evidence(answer.text.as_bytes(), &options).unwrap_or_else(|finding| panic!("{finding}"))
}

/// Submits and is answered once it is proven.
async fn proven(server: &Server, reference: &str) -> Value {
    let body = json!({ "payload": { "ref": reference, "owner": "ada", "weight": 5 } });
    let answer = server.post("/v1/pipelines/parcels/submissions?wait=proof", body).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    answer.json()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_served_log_verifies_whole_and_by_the_evidence_of_each_submission() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::logged(folder.path()).await;
    let mut ids = BTreeSet::new();
    for n in 0..20 {
        ids.insert(server.reviewed(&format!("r-{n}")).await);
    }
    for id in ids.iter().take(7) {
        let answer = server.post(&format!("/v1/submissions/{id}/actions/approve?wait=proof"), "{}").await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    let last = proven(&server, "last").await;
    ids.insert(last["id"].as_str().unwrap().to_owned());
    let report = verified(&server).await;
    assert_eq!((report.events, report.submissions, report.definitions), (20 * 2 + 7 + 1, 21, 2));
    for id in &ids {
        let report = evidence(&server, id).await;
        assert!(report.events >= 1 && report.documents >= 1, "{report:?}");
        assert_eq!(report.guards_unknown, 0, "what may be seen is shown");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_answered_with_a_proof_is_under_the_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::logged(folder.path()).await;
    for n in 0..5 {
        let submitted = proven(&server, &format!("p-{n}")).await;
        let status = server.get("/v1/audit").await.json();
        assert_eq!(status["size"], 2 + n * 2 + 1, "two definitions and what came before: {status}");
        let task = server.claim("parcels.check").await;
        assert_eq!(task["submission"], submitted["id"]);
        let body = json!({ "tasks": [{ "token": task["token"], "outcome": "bad", "output": {} }] });
        let finished = server.post("/v1/tasks:finish?wait=proof", body).await.json();
        assert_eq!(finished["results"][0]["state"], "REFUSED", "{finished}");
        assert_eq!(server.get("/v1/audit").await.json()["size"], 2 + n * 2 + 2);
    }
    let answer = server.post("/v1/pipelines/parcels/submissions?wait=luck", "{}").await;
    answer.problem(400, "invalid-request");
}

#[tokio::test(flavor = "multi_thread")]
async fn tiles_fill_up_and_are_served_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::logged(folder.path()).await;
    for round in 0..7 {
        let submission = |n| json!({ "payload": { "ref": format!("{round}/{n}"), "owner": "ada" } });
        let many: Vec<_> = (0..100).map(submission).collect();
        let body = json!({ "submissions": many });
        let answer = server.post("/v1/pipelines/notes/submissions?wait=proof", body).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert!(answer.json()["results"].as_array().unwrap().iter().all(|one| one["status"] == 201));
    }
    let report = verified(&server).await;
    assert_eq!(report.events, 700);
    let tile = server.get("/tile/0/001").await;
    assert_eq!((tile.status, tile.header("content-type")), (200, "application/octet-stream"));
    assert!(tile.header("cache-control").contains("immutable"));
    assert_eq!(server.get("/tile/0/002.p/190").await.status, 200, "of 702 leaves");
    assert_eq!(server.get("/tile/1/000.p/2").await.status, 200);
    for missing in
        ["/tile/0/002", "/tile/0/002.p/191", "/tile/entries/003", "/tile/1/001", "/tile/0/1", "/tile/x"]
    {
        server.get(missing).await.problem(404, "unknown-tile");
    }
    server.get("/definition/nobody").await.problem(404, "unknown-tile");
    let checkpoint = server.get("/checkpoint").await;
    assert_eq!(checkpoint.header("cache-control"), "no-cache");
    assert!(checkpoint.text.starts_with("milepost.example/log\n702\n"), "{}", checkpoint.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn erasing_keeps_every_proof_and_leaves_nothing_to_guess_by() {
    const BRIEF: &str = "name = \"brief\"\nversion = 1\nstart = [{ to = \"OPEN\", when = \"payload.n > 0\" }, \"DONE\"]\n\
                         [states.OPEN]\nactions.close = \"DONE\"\n[states.DONE]\nfinal = \"success\"\nretention = \"10ms\"\n";
    let folder = tempfile::tempdir().unwrap();
    let server = Server::logged(folder.path()).await;
    server.engine.apply(&model::pipeline::Source::new("brief.toml", BRIEF)).await.unwrap();
    let body = json!({ "payload": { "n": 1, "secret": "Grüße" } });
    let answer = server.post("/v1/pipelines/brief/submissions?wait=proof", body).await;
    let id = answer.json()["id"].as_str().unwrap().to_owned();
    let before = server.get(&format!("/v1/submissions/{id}/evidence")).await.text;
    assert!(before.contains("Grüße") && before.contains("salt"));
    assert_eq!(evidence(&server, &id).await.guards_checked, 1);
    server.post(&format!("/v1/submissions/{id}/actions/close"), "{}").await;
    let events = format!("/v1/submissions/{id}/events");
    while !server.get(&events).await.text.contains("\"erased\"") {
        tokio::task::yield_now().await;
    }
    let report = evidence(&server, &id).await;
    assert_eq!((report.events, report.documents, report.guards_checked), (3, 0, 0));
    let after = server.get(&format!("/v1/submissions/{id}/evidence")).await.text;
    assert!(!after.contains("Grüße") && !after.contains("salt"), "{after}");
    verified(&server).await;
    let trust = trust(&server).await;
    let options = EvidenceOptions { trust: Some(&trust), known: None };
    assert_eq!(verify_evidence(before.as_bytes(), &options).unwrap().documents, 1, "old evidence stays good");
}

#[tokio::test(flavor = "multi_thread")]
async fn evidence_can_be_asked_for_without_documents_and_from_a_known_size() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::logged(folder.path()).await;
    let known = server.get("/checkpoint").await;
    let id = proven(&server, "quiet").await["id"].as_str().unwrap().to_owned();
    let known = if known.status == 200 { known } else { server.get("/checkpoint").await };
    proven(&server, "loud").await;
    let size: u64 = known.text.lines().nth(1).unwrap().parse().unwrap();
    let path = format!("/v1/submissions/{id}/evidence?documents=none&known={size}");
    let text = server.get(&path).await.text;
    assert!(!text.contains("salt"), "{text}");
    let trust = trust(&server).await;
    let options = EvidenceOptions { trust: Some(&trust), known: Some(&known.text) };
    verify_evidence(text.as_bytes(), &options).unwrap_or_else(|finding| panic!("{finding}"));
    server.get(&format!("/v1/submissions/{id}/evidence?documents=all")).await.problem(400, "invalid-request");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_overlap_and_the_log_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::logged(folder.path()).await;
    proven(&server, "one").await;
    let old = trust(&server).await;
    let added = server.post("/v1/audit/keys", "{}").await.json();
    assert_eq!(added["keys"].as_array().unwrap().len(), 2, "{added}");
    proven(&server, "two").await;
    let new = Trust::key(added["key"].as_str().unwrap().parse().unwrap());
    let checkpoint = server.get("/checkpoint").await.text;
    for trust in [&old, &new] {
        let report = verify_log(&Served(&server), &checkpoint, trust, &LogOptions::default());
        let acts = report.unwrap_or_else(|finding| panic!("{finding}")).acts;
        assert!(matches!(&acts[..], [(_, audit::leaf::Record::KeyAdded(_))]), "{acts:?}");
    }
    let retired = json!({ "retire": old.keys[0].to_string() });
    let left = server.post("/v1/audit/keys", &retired).await.json();
    assert_eq!(left["keys"], json!([added["key"]]));
    proven(&server, "three").await;
    let checkpoint = server.get("/checkpoint").await.text;
    assert!(old.open(checkpoint.as_bytes()).is_err(), "the old key signs no more");
    let report = verify_log(&Served(&server), &checkpoint, &new, &LogOptions::default()).unwrap();
    assert!(matches!(&report.acts[..], [_, (_, audit::leaf::Record::KeyRetired(_))]), "{:?}", report.acts);
    server.post("/v1/audit/keys", &retired).await.problem(404, "unknown-key");
    let last = json!({ "retire": added["key"] });
    server.post("/v1/audit/keys", last).await.problem(409, "last-key");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_added_before_the_log_knows_the_first_is_the_only_one_added() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::logged(folder.path()).await;
        let added = server.post("/v1/audit/keys", "{}").await.json();
        proven(&server, "one").await;
        let acts = server.get("/v1/audit/acts").await.json();
        let keys: Vec<_> =
            acts["acts"].as_array().unwrap().iter().filter(|act| act["kind"] == "key_added").collect();
        assert!(keys.len() == 1 && keys[0].to_string().contains(added["key"].as_str().unwrap()), "{acts}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_a_log_says_so() {
    let server = Server::start().await;
    for path in ["/checkpoint", "/tile/0/000.p/1", "/v1/audit", "/v1/audit/key"] {
        server.get(path).await.problem(404, "no-log");
    }
    let body = json!({ "payload": { "ref": "r", "owner": "ada", "weight": 5 } });
    server.post("/v1/pipelines/parcels/submissions?wait=proof", body).await.problem(404, "no-log");
    let found = server.get("/v1/submissions?pipeline=parcels").await.json();
    assert_eq!(found["submissions"], json!([]), "refused before anything was done");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_runs_is_not_forked() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::logged(folder.path()).await;
    proven(&server, "one").await;
    server.post("/v1/audit/fork", json!({ "reason": "for fun" })).await.problem(409, "log-running");
    let status = server.get("/v1/audit").await.json();
    assert_eq!((&status["standing"], &status["origin"]), (&json!("running"), &json!("milepost.example/log")));
    assert_eq!(status["unpublished"], 0, "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn evidence_counts_the_definitions_it_shows() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::logged(folder.path()).await;
    let schema = json!({ "description": "d".repeat(250_000) }).to_string();
    let definition = |version: usize| {
        let data = |n: usize| format!("actions.a{n} = {{ to = \"DONE\", data = \"s.json\" }}\n");
        let actions: String = (0..8).map(data).collect();
        let toml = format!(
            "name = \"wide\"\nversion = {version}\nstart = \"OPEN\"\n[states.OPEN]\n{actions}\n\
             [states.DONE]\nfinal = \"success\"\n"
        );
        Source { files: [("s.json".to_owned(), schema.clone())].into(), ..Source::new("wide.toml", toml) }
    };
    server.engine.apply(&definition(1)).await.unwrap();
    let made = server.post("/v1/pipelines/wide/submissions", json!({ "payload": {} })).await.json();
    let path = format!("/v1/submissions/{}/evidence", made["id"].as_str().unwrap());
    assert_eq!(server.get(&path).await.status, 200);
    let size = server.engine.pipelines().current().in_force("wide").unwrap().definition.as_str().len();
    for version in 2..2 + (16 << 20) / size {
        server.engine.apply(&definition(version)).await.unwrap();
        let filter = json!({ "pipeline": "wide" });
        let body = json!({ "filter": filter, "action": "migrate", "version": version });
        let started = server.post("/v1/operations", body).await.json();
        let operation = format!("/v1/operations/{}", started["id"].as_str().unwrap());
        while server.get(&operation).await.json()["status"] == "running" {}
    }
    let refused = server.get(&path).await.problem(413, "too-large");
    assert!(refused["detail"].as_str().unwrap().contains("16 MB"), "{refused}");
}
