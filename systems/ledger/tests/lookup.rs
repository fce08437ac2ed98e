//! Batches and services as people ask for them: by routes, by commands, on the page of the console.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use system::{Call, Caller, Exit, Reply, Route, System as _};
use wire::{Code, Json, Refusal, Role};

use crate::fake_ledger::{FakeLedger, batch, header};
use crate::world::World;

const SERVICE: &str = "aaaaa-11111::svc1";

/// Asks one of the system's routes or pages.
async fn asked(world: &World, route: Route, parts: &[(&str, &str)], query: &str) -> Result<Reply, Refusal> {
    sent(world, route, parts, (query, "")).await
}

/// Sends a form to one of the system's pages.
async fn sent(
    world: &World,
    route: Route,
    parts: &[(&str, &str)],
    (query, body): (&str, &str),
) -> Result<Reply, Refusal> {
    let call = Call {
        client: world.client.clone(),
        caller: Some(Caller { name: "ada".to_owned(), role: Role::Admin }),
        address: None,
        parts: parts
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect::<BTreeMap<_, _>>(),
        uri: format!("http://inside{}{query}", route.path.split('{').next().unwrap()).parse().unwrap(),
        headers: http::HeaderMap::new(),
        body: bytes::Bytes::copy_from_slice(body.as_bytes()),
        uploaded: None,
        frame: system::Frame::default(),
    };
    (route.handler)(call).await
}

async fn got(world: &World, path: &str, parts: &[(&str, &str)]) -> Value {
    let route = ledger::system().routes().into_iter().find(|route| route.path == path).expect("there is one");
    serde_json::from_slice(&asked(world, route, parts, "").await.unwrap().body).unwrap()
}

/// Runs a command as the program does.
async fn ran(world: &World, line: &[&str]) -> (Value, String, Exit) {
    let commands = ledger::system().commands();
    let command = commands.iter().find(|command| command.clap.get_name() == line[0]).expect("there is one");
    let matches = command.clap.clone().get_matches_from(line);
    let shown = command.run(&matches, command.asks.then(|| world.client.clone())).await.unwrap();
    (serde_json::from_str(&shown.json).unwrap(), shown.text, shown.exit)
}

#[tokio::test]
async fn a_batch_is_found_by_its_header_and_its_data_change_also_after_it_has_ended() {
    let fake = FakeLedger::start().await;
    let world = World::start(&fake.settings("sawtooth", "")).await;
    let mut one = batch(SERVICE, &header("a"));
    one["data_change_id"] = json!("dcid:4711");
    let id = world.submit(&one).await;
    world.state(id, "COMMITTED").await;
    for name in [header("a"), "dcid:4711".to_owned()] {
        let found = got(&world, "/ledger/batches/{name}", &[("name", &name)]).await;
        let batch = &found["batches"][0];
        assert_eq!((&batch["id"], &batch["state"]), (&json!(id), &json!("COMMITTED")));
        assert_eq!((&batch["submitted"], &batch["batch_status"]), (&json!(true), &json!("Committed")));
        assert_eq!((&batch["service_id"], &batch["data_change_id"]), (&json!(SERVICE), &json!("dcid:4711")));
        let (json, text, exit) = ran(&world, &["status", &name]).await;
        assert_eq!((&json, exit), (&found, Exit::Fine));
        assert!(text.contains("COMMITTED"), "{text}");
    }
    assert_eq!(got(&world, "/ledger/batches/{name}", &[("name", "dcid:none")]).await["batches"], json!([]));
    let route = ledger::system().routes().remove(0);
    let refused = asked(&world, route, &[("name", "x")], "?before=1").await.unwrap_err();
    assert_eq!(refused.code, Code::InvalidRequest);
}

#[tokio::test]
async fn services_say_what_is_under_way_how_many_wait_and_what_is_wrong() {
    let fake = FakeLedger::start().await;
    fake.says(&header("a"), &["PENDING"]);
    let settings = fake.settings("sawtooth", "").replace("'*'", "'aaaaa-*'");
    let world = World::start(&settings).await;
    let other = "bbbbb-<script>";
    let ids = world
        .submit_many(&[
            batch(SERVICE, &header("a")),
            batch(SERVICE, &header("b")),
            batch(SERVICE, &header("c")),
            batch("bbbbb-11111::svc1", &header("d")),
        ])
        .await;
    world.state(ids[0], "PENDING").await;
    world.until(ids[3], |view| view.error.is_some()).await;
    let found = got(&world, "/ledger/services", &[]).await;
    let services = found["services"].as_array().unwrap();
    assert_eq!(services.len(), 2);
    assert_eq!(services[0]["service_id"], "bbbbb-11111::svc1", "whoever is in trouble comes first");
    assert!(services[0]["holder"]["error"].as_str().unwrap().starts_with("no-ledger"), "{}", services[0]);
    assert_eq!((&services[1]["holder"]["id"], &services[1]["waiting"]), (&json!(ids[0]), &json!(2)));
    let one = got(&world, "/ledger/services/{service}", &[("service", SERVICE)]).await;
    assert_eq!(one["services"].as_array().unwrap().len(), 1);
    assert_eq!(got(&world, "/ledger/services/{service}", &[("service", other)]).await["services"], json!([]));
    let (json, text, _) = ran(&world, &["services", SERVICE]).await;
    assert_eq!(json["services"][0]["waiting"], 2);
    assert!(text.contains(SERVICE) && text.contains("PENDING"), "{text}");
    let page = ledger::system().pages().remove(0);
    let page = asked(&world, page, &[], "").await.unwrap();
    let page = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(
        page.contains(SERVICE) && page.contains("no-ledger") && page.contains("<!doctype html>"),
        "{page}"
    );
}

#[tokio::test]
async fn batches_are_submitted_from_a_file_and_those_that_are_refused_are_told() {
    let fake = FakeLedger::start().await;
    let world = World::start(&fake.settings("sawtooth", "")).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("batches.json");
    let path = file.to_str().unwrap();
    std::fs::write(&file, json!([batch(SERVICE, &header("b")), batch(SERVICE, &header("a"))]).to_string())
        .unwrap();
    let (json, text, exit) = ran(&world, &["submit", path]).await;
    assert_eq!(exit, Exit::Fine, "{text}");
    for result in json["results"].as_array().unwrap() {
        let id = result["submission"]["id"].as_str().unwrap().parse().unwrap();
        world.state(id, "COMMITTED").await;
    }
    let order: Vec<String> = fake.book().submitted.iter().map(|(header, _)| header.clone()).collect();
    assert_eq!(order, [header("a"), header("b")]);
    std::fs::write(&file, json!({ "batch_header": "x" }).to_string()).unwrap();
    let (_, text, exit) = ran(&world, &["submit", path]).await;
    assert_eq!(exit, Exit::Negative);
    assert!(text.contains("refused"), "{text}");
}

#[tokio::test]
async fn the_queue_of_a_file_is_shown_by_a_command() {
    let world = World::idle("").await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("batches.json");
    let batch = json!({ "batch_header": "a", "service_id": "s", "created_at": 1, "submitted": false });
    std::fs::write(&file, json!({ "now": 2, "batches": [batch] }).to_string()).unwrap();
    let (json, text, _) = ran(&world, &["queue", file.to_str().unwrap()]).await;
    assert_eq!(json, json!({ "queue": ["a"], "later": [], "never": [] }));
    assert!(text.contains("now, 1"), "{text}");
}

#[test]
fn bytes_that_are_no_base64_are_refused_at_the_door() {
    let system = ledger::system();
    let admitted = |batch: &Value| system.admit("ledger-batch", &Json::parse(&batch.to_string()).unwrap());
    let mut one = batch(SERVICE, &header("a"));
    assert_eq!(admitted(&one), Ok(None));
    one["serialized_batch"] = json!("AAAAA");
    let refused = admitted(&one).unwrap_err();
    assert_eq!(refused.code, Code::SchemaViolation);
    assert!(refused.message.contains("`serialized_batch` is not base64"), "{}", refused.message);
}

fn page(path: &str) -> Route {
    ledger::system().pages().into_iter().find(|page| page.path == path).expect("there is one")
}

async fn looked_at(world: &World, service: &str) -> String {
    let parts = [("service", service)];
    let page = asked(world, page("/console/ledger/services/{service}"), &parts, "").await.unwrap();
    String::from_utf8(page.body.to_vec()).unwrap()
}

#[tokio::test]
async fn the_page_of_a_service_has_its_batches_in_the_order_of_the_line_and_what_they_wait_for() {
    let fake = FakeLedger::start().await;
    fake.says(&header("1"), &["PENDING"]);
    let world = World::start(&fake.settings("sawtooth", "")).await;
    let mut batches = vec![batch(SERVICE, &header("1"))];
    for no in [4, 2, 3] {
        let mut batch = batch(SERVICE, &header(&no.to_string()));
        batch["data_change_id"] = json!(format!("dcid:<b>{no}"));
        batches.push(batch);
    }
    let ids = world.submit_many(&batches).await;
    world.state(ids[0], "PENDING").await;
    let shown = looked_at(&world, SERVICE).await;
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text} is not in {shown}"));
    let places =
        [at(&header("1")), at("dcid:&#60;b&#62;2"), at("dcid:&#60;b&#62;3"), at("dcid:&#60;b&#62;4")];
    assert!(places.is_sorted(), "{places:?}");
    assert!(!shown.contains("<b>"), "what others chose is escaped");
    let nobody = looked_at(&world, "nobody-there/&<i>").await;
    assert!(nobody.contains("Nothing waits") && !nobody.contains("<i>"), "{nobody}");
}

#[tokio::test]
async fn a_service_is_paused_with_a_reason_shown_as_such_and_released() {
    let fake = FakeLedger::start().await;
    let world = World::start(&fake.settings("sawtooth", "")).await;
    let parts = [("service", SERVICE)];
    let (pausing, releasing) =
        ("/console/ledger/services/{service}/pause", "/console/ledger/services/{service}/release");
    for (form, expected) in [
        ("reason=+&for=2h", ["say why", "value=\"2h\""]),
        ("reason=long+ago&for=soon", ["`2h`", ">long ago<"]),
    ] {
        let refused = sent(&world, page(pausing), &parts, ("", form)).await.unwrap();
        assert_eq!(refused.status, http::StatusCode::UNPROCESSABLE_ENTITY);
        let text = String::from_utf8(refused.body.to_vec()).unwrap();
        assert!(expected.iter().all(|expected| text.contains(expected)), "{text}");
    }
    let paused = sent(&world, page(pausing), &parts, ("", "reason=keys+%3Crotate%3E")).await.unwrap();
    assert_eq!(paused.status, http::StatusCode::SEE_OTHER);
    assert_eq!(paused.headers["location"], format!("/console/ledger/services/{SERVICE}?done=paused"));
    let ids = world.submit_many(&[batch(SERVICE, &header("a")), batch(SERVICE, &header("b"))]).await;
    let other = world.submit(&batch("bbbbb-11111::svc1", &header("c"))).await;
    world.state(other, "COMMITTED").await;
    for id in &ids {
        assert_eq!(&*world.view(*id).await.state, "QUEUED");
    }
    let found = got(&world, "/ledger/services", &[]).await;
    let service = &found["services"][0];
    assert_eq!((&service["service_id"], &service["holder"]), (&json!(SERVICE), &Value::Null));
    assert_eq!((&service["waiting"], &service["holds"][0]["reason"]), (&json!(2), &json!("keys <rotate>")));
    let (_, text, _) = ran(&world, &["services"]).await;
    assert!(text.contains("held: keys <rotate>"), "{text}");
    let shown = looked_at(&world, SERVICE).await;
    assert!(shown.contains("keys &#60;rotate&#62;") && shown.contains("by <bdi>admin</bdi>"), "{shown}");
    let wide = wire::api::HoldBody {
        pipeline: Some("ledger-batch".to_owned()),
        reason: "all of them".to_owned(),
        ..Default::default()
    };
    let wide = world.client.hold(&wide).await.unwrap().id;
    let refused = sent(&world, page(releasing), &parts, ("", &format!("hold={wide}"))).await.unwrap_err();
    assert_eq!(refused.code, Code::UnknownHold);
    world.client.release(&wide).await.unwrap();
    let hold = service["holds"][0]["id"].as_str().unwrap();
    sent(&world, page(releasing), &parts, ("", &format!("hold={hold}"))).await.unwrap();
    for id in ids {
        world.state(id, "COMMITTED").await;
    }
    assert_eq!(got(&world, "/ledger/services", &[]).await["services"], json!([]));
}

#[tokio::test]
async fn a_batch_that_moves_from_state_to_state_is_still_the_one_under_way() {
    let fake = FakeLedger::start().await;
    fake.book().submits.extend((0..10_000).map(|_| crate::fake_ledger::Instead::Status(429)));
    let world = World::start(&fake.settings("sawtooth", "")).await;
    let ids = world.submit_many(&[batch(SERVICE, &header("a")), batch(SERVICE, &header("b"))]).await;
    world.until(ids[0], |view| view.error.is_some()).await;
    for _ in 0..200 {
        let found = got(&world, "/ledger/services", &[]).await;
        assert_eq!(found["services"][0]["holder"]["id"], json!(ids[0]), "{found}");
    }
}
