//! The tasks against ledgers that speak Sawtooth's REST API, and Scabbard's.

use std::time::Duration;

use serde_json::json;
use tokio::net::TcpListener;
use wire::Status;

use crate::fake_ledger::{FakeLedger, Instead, batch, header, settings};
use crate::world::{World, output};

pub(crate) const SERVICE: &str = "aaaaa-11111::svc1";
pub(crate) const OTHER: &str = "aaaaa-11111::svc2";
pub(crate) const KINDS: [&str; 2] = ["sawtooth", "scabbard"];

#[tokio::test]
async fn a_batch_that_is_accepted_is_watched_until_it_is_committed() {
    for kind in KINDS {
        let ledger = FakeLedger::start().await;
        ledger.says(&header("a"), &["PENDING", "PENDING", "VALID", "VALID", "COMMITTED"]);
        ledger.book().submits.push_back(Instead::Status(200));
        let world = World::start(&ledger.settings(kind, "")).await;
        let (one, two) = (
            world.submit(&batch(SERVICE, &header("a"))).await,
            world.submit(&batch(OTHER, &header("b"))).await,
        );
        let view = world.state(one, "COMMITTED").await;
        assert_eq!(view.status, Status::Succeeded);
        assert_eq!(world.path(one).await, ["QUEUED", "SUBMITTING", "PENDING", "VALID", "COMMITTED"]);
        assert_eq!(output(&view, "VALID")["ledger"], "test");
        world.state(two, "COMMITTED").await;
        let to = if kind == "scabbard" { [SERVICE, OTHER] } else { ["", ""] };
        let submitted = ledger.book().submitted.clone();
        assert_eq!(submitted, [(header("a"), to[0].to_owned()), (header("b"), to[1].to_owned())]);
    }
}

#[tokio::test]
async fn a_busy_ledger_is_tried_again_quickly_and_only_then_is_the_batch_delayed() {
    let ledger = FakeLedger::start().await;
    let world = World::start(&ledger.settings("sawtooth", "attempts = 3")).await;
    ledger.book().submits.extend([Instead::Status(503), Instead::Status(503)]);
    let view = world.state(world.submit(&batch(SERVICE, &header("a"))).await, "COMMITTED").await;
    assert_eq!(output(&view, "SUBMITTING")["attempts"], 3);
    assert_eq!(output(&view, "SUBMITTING")["link"], format!("/batch_statuses?id={}", header("a")));
    ledger.book().submits.extend([Instead::Status(503), Instead::Status(503), Instead::Status(503)]);
    let id = world.submit(&batch(SERVICE, &header("b"))).await;
    world.state(id, "COMMITTED").await;
    assert_eq!(
        world.path(id).await,
        ["QUEUED", "SUBMITTING", "DELAYED", "SUBMITTING", "PENDING", "COMMITTED"]
    );
    assert_eq!(ledger.times_submitted(&header("b")), 4);
}

#[tokio::test]
async fn a_ledger_that_does_not_answer_is_tried_again_and_keeps_its_lane() {
    let ledger = FakeLedger::start().await;
    ledger.book().submits.extend([Instead::Silence, Instead::Silence]);
    let world = World::start(&ledger.settings("scabbard", "timeout = '60ms'\nattempts = 2")).await;
    let ids = world.submit_many(&[batch(SERVICE, &header("a")), batch(SERVICE, &header("b"))]).await;
    world.state(ids[0], "COMMITTED").await;
    assert_eq!(world.errors(ids[0], "DELAYED").await, ["timeout"]);
    world.state(ids[1], "COMMITTED").await;
    let order: Vec<String> = ledger.book().submitted.iter().map(|(header, _)| header.clone()).collect();
    assert_eq!(order, [header("a"), header("a"), header("a"), header("b")]);
}

#[tokio::test]
async fn a_ledger_that_refuses_connections_delays_its_batches_and_nobody_elses() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let (there, gone) = (FakeLedger::start().await, format!("http://127.0.0.1:{port}"));
    let gone =
        settings(&gone, "sawtooth", "").replace("'test'", "'gone'").replace("'*'", &format!("'{SERVICE}'"));
    let world = World::start(&format!("{gone}{}", there.settings("scabbard", ""))).await;
    let refused = world.submit(&batch(SERVICE, &header("a"))).await;
    let behind = world.submit(&batch(SERVICE, &header("b"))).await;
    let other = world.submit(&batch(OTHER, &header("c"))).await;
    world.state(other, "COMMITTED").await;
    let view = world.state(refused, "DELAYED").await;
    assert_eq!(view.error.map(|error| error.code.to_string()).as_deref(), Some("connect"));
    assert_eq!(&*world.view(behind).await.state, "QUEUED");
    assert_eq!(there.book().submitted.len(), 1, "nothing goes to a ledger that it is not for");
}

#[tokio::test]
async fn a_batch_that_the_ledger_forgot_is_sent_again_once_it_has_said_so_often_enough() {
    for kind in KINDS {
        let ledger = FakeLedger::start().await;
        let forgets =
            ["PENDING", "UNKNOWN", "UNKNOWN", "PENDING", "UNKNOWN", "UNKNOWN", "UNKNOWN", "COMMITTED"];
        ledger.says(&header("a"), &forgets);
        let world = World::start(&ledger.settings(kind, "unknown-after = 3")).await;
        let ids = world.submit_many(&[batch(SERVICE, &header("a")), batch(SERVICE, &header("b"))]).await;
        world.state(ids[1], "COMMITTED").await;
        let expected = ["QUEUED", "SUBMITTING", "PENDING", "UNKNOWN", "SUBMITTING", "PENDING", "COMMITTED"];
        assert_eq!(world.path(ids[0]).await, expected);
        let order: Vec<String> = ledger.book().submitted.iter().map(|(header, _)| header.clone()).collect();
        assert_eq!(order, [header("a"), header("a"), header("b")], "nothing overtakes it");
    }
}

#[tokio::test]
async fn an_invalid_batch_keeps_its_details_is_never_sent_again_and_lets_the_next_one_go() {
    for kind in KINDS {
        let ledger = FakeLedger::start().await;
        ledger.says(&header("a"), &["PENDING", "INVALID"]);
        let world = World::start(&ledger.settings(kind, "")).await;
        let ids = world.submit_many(&[batch(SERVICE, &header("a")), batch(SERVICE, &header("b"))]).await;
        let view = world.state(ids[0], "INVALID").await;
        assert_eq!(view.status, Status::Failed);
        assert_eq!(output(&view, "PENDING")["invalid_transactions"][0]["message"], "not enough");
        world.state(ids[1], "COMMITTED").await;
        assert_eq!(ledger.times_submitted(&header("a")), 1);
    }
}

#[tokio::test]
async fn one_request_asks_about_many_batches_those_first_that_were_asked_about_longest_ago() {
    let ledger = FakeLedger::start().await;
    ledger.holds.send_replace(true);
    let world = World::start(&ledger.settings("sawtooth", "")).await;
    let service = |no: usize| format!("aaaaa-11111::s{no:03}");
    let payloads: Vec<_> = (0..60).map(|no| batch(&service(no), &header(&no.to_string()))).collect();
    let ids = world.submit_many(&payloads).await;
    for id in &ids {
        world.state(*id, "PENDING").await;
    }
    assert!(ledger.book().asked.len() <= 1, "one request at a time");
    ledger.holds.send_replace(false);
    for id in &ids {
        world.state(*id, "COMMITTED").await;
    }
    let asked = ledger.book().asked.clone();
    let most = asked.iter().map(|asked| asked.ids.len()).max();
    assert!(most >= Some(40), "{:?}", asked.iter().map(|asked| asked.ids.len()).collect::<Vec<_>>());
    assert!(asked.iter().all(|asked| (asked.method == "POST") == (asked.ids.len() > 15)));
    assert!(asked.iter().all(|asked| asked.query.is_empty() || asked.method == "GET"));
}

#[tokio::test]
async fn a_service_has_one_undecided_batch_at_a_time_in_the_order_of_their_headers() {
    let ledger = FakeLedger::start().await;
    let headers: Vec<String> = ["f", "b", "d", "a", "e", "c"].map(header).into();
    for header in &headers {
        ledger.says(header, &["PENDING", "PENDING", "COMMITTED"]);
    }
    let world = World::start(&ledger.settings("scabbard", "")).await;
    let payloads: Vec<_> = headers.iter().map(|header| batch(SERVICE, header)).collect();
    for id in world.submit_many(&payloads).await {
        world.state(id, "COMMITTED").await;
    }
    let order: Vec<String> = ledger.book().submitted.iter().map(|(header, _)| header.clone()).collect();
    assert_eq!(order, ["a", "b", "c", "d", "e", "f"].map(header));
    assert_eq!(ledger.book().undecided_max, 1);
}

#[tokio::test]
async fn a_crash_between_sending_and_answering_sends_the_batch_again() {
    let ledger = FakeLedger::start().await;
    ledger.book().submits.push_back(Instead::Silence);
    let mut world = World::start(&ledger.settings("sawtooth", "")).await;
    let id = world.submit(&batch(SERVICE, &header("a"))).await;
    ledger.submissions(1).await;
    world.crash().await;
    world.work();
    world.state(id, "COMMITTED").await;
    assert_eq!(ledger.times_submitted(&header("a")), 2);
    assert_eq!(ledger.book().undecided_max, 1);
}

#[tokio::test]
async fn a_dead_batch_blocks_its_service_and_says_so_until_an_admin_gives_it_up() {
    let ledger = FakeLedger::start().await;
    let world = World::start(&ledger.settings("sawtooth", "")).await;
    let mut broken = batch(SERVICE, &header("a"));
    broken["serialized_batch"] = json!("AAAAA");
    let ids = world.submit_many(&[broken, batch(SERVICE, &header("b")), batch(OTHER, &header("c"))]).await;
    let dead = world.until(ids[0], |view| view.status == Status::Dead).await;
    assert_eq!(dead.error.map(|error| error.code.to_string()).as_deref(), Some("not-base64"));
    world.state(ids[2], "COMMITTED").await;
    let why = world.client.why(ids[1]).await.unwrap();
    assert!(
        why.reasons.iter().any(|reason| reason.sentence.contains(&ids[0].to_string())),
        "{:?}",
        why.reasons
    );
    assert_eq!(&*world.act(ids[0], "give_up", "its bytes are lost").await.state, "INVALID");
    world.state(ids[1], "COMMITTED").await;
}

#[tokio::test]
async fn a_batch_that_is_pending_for_too_long_is_late_and_waited_for_all_the_same() {
    let ledger = FakeLedger::start().await;
    ledger.says(&header("a"), &["PENDING"]);
    let world = World::start(&ledger.settings("sawtooth", "")).await;
    let id = world.submit(&batch(SERVICE, &header("a"))).await;
    world.until(id, |view| view.sla.iter().any(|level| level.late)).await;
    assert_eq!(&*world.view(id).await.state, "PENDING");
    ledger.says(&header("a"), &["VALID"]);
    world.until(id, |view| &*view.state == "VALID" && view.sla.iter().any(|level| level.late)).await;
    ledger.says(&header("a"), &["COMMITTED"]);
    world.state(id, "COMMITTED").await;
}

#[tokio::test]
async fn a_service_that_no_ledger_has_is_told_of_and_its_batches_wait() {
    let ledger = FakeLedger::start().await;
    let settings = ledger.settings("sawtooth", "").replace("'*'", "'aaaaa-*', '----'");
    let world = World::start(&settings).await;
    let id = world.submit(&batch("bbbbb-11111::svc1", &header("a"))).await;
    let view = world.until(id, |view| view.error.is_some()).await;
    let error = view.error.expect("it was waited for");
    assert_eq!(&*error.code, "no-ledger");
    assert!(error.message.contains("bbbbb-11111::svc1"), "{}", error.message);
    assert_eq!(view.status, Status::Open);
    let mut plain = batch("", &header("b"));
    plain.as_object_mut().unwrap().remove("service_id");
    world.state(world.submit(&plain).await, "COMMITTED").await;
}

#[tokio::test]
async fn a_ledger_that_hangs_takes_no_more_than_half_of_the_places() {
    let (slow, quick) = (FakeLedger::start().await, FakeLedger::start().await);
    slow.book().submits.extend((0..20).map(|_| Instead::Silence));
    let slow_settings =
        slow.settings("sawtooth", "timeout = '30s'").replace("'test'", "'slow'").replace("'*'", "'aaaaa-*'");
    let world =
        World::start(&format!("at-once = 4\n{slow_settings}{}", quick.settings("sawtooth", ""))).await;
    let hanging: Vec<_> =
        (0..20).map(|no| batch(&format!("aaaaa-11111::s{no:03}"), &header(&no.to_string()))).collect();
    world.submit_many(&hanging).await;
    let id = world.submit(&batch("bbbbb-11111::svc1", &header("b"))).await;
    let done = tokio::time::timeout(Duration::from_secs(25), world.state(id, "COMMITTED")).await;
    assert!(done.is_ok(), "the quick ledger waits for the slow one");
    assert!(slow.book().submitted.len() <= 2, "{}", slow.book().submitted.len());
}
