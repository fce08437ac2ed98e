//! Answers that ledgers should not give, or not at this time: what becomes of the batches.

use serde_json::{Value, json};

use crate::fake_ledger::{FakeLedger, Instead, batch, header};
use crate::rest::{KINDS, OTHER, SERVICE};
use crate::world::World;

/// Returns an answer about batches, as a ledger of this kind words it.
fn answer(kind: &str, found: &[(String, &str)]) -> Value {
    let scabbard = |(id, status): &(String, &str)| {
        let kind: String = status[..1].chars().chain(status[1..].to_lowercase().chars()).collect();
        json!({ "id": id, "status": { "statusType": kind, "message": [] } })
    };
    match kind {
        "scabbard" => found.iter().map(scabbard).collect(),
        _ => {
            let one = |(id, status): &(String, &str)| json!({ "id": id, "status": status });
            json!({ "data": found.iter().map(one).collect::<Value>() })
        }
    }
}

#[tokio::test]
async fn any_other_answer_delays_the_batch_at_once_with_the_ledgers_words() {
    for kind in KINDS {
        let ledger = FakeLedger::start().await;
        let world = World::start(&ledger.settings(kind, "")).await;
        for (no, status) in [429, 404, 500, 400, 302, 204].into_iter().enumerate() {
            ledger.book().submits.push_back(Instead::Status(status));
            let header = header(&format!("{no}a"));
            let id = world.submit(&batch(SERVICE, &header)).await;
            world.state(id, "COMMITTED").await;
            assert_eq!(ledger.times_submitted(&header), 2, "{kind} {status}");
            assert_eq!(world.errors(id, "DELAYED").await, [format!("http-{status}")]);
        }
    }
}

#[tokio::test]
async fn ids_that_an_answer_leaves_out_or_adds_change_nothing() {
    let ledger = FakeLedger::start().await;
    let foreign = json!({ "data": [
        { "id": header("b"), "status": "INVALID", "invalid_transactions": [] },
        { "id": "never asked for", "status": "COMMITTED" },
    ] });
    let world = World::start(&ledger.settings("sawtooth", "")).await;
    ledger.says(&header("b"), &["PENDING"]);
    let other = world.submit(&batch(OTHER, &header("b"))).await;
    world.state(other, "PENDING").await;
    ledger.holds.send_replace(true);
    ledger.says(&header("a"), &["PENDING"]);
    let id = world.submit(&batch(SERVICE, &header("a"))).await;
    world.state(id, "PENDING").await;
    // Of two that are asked about, these answers leave out at least one; of one, they may name the other.
    for _ in 0..5 {
        ledger.book().questions.push_back(Instead::Says(json!({ "data": [] })));
    }
    ledger.says(&header("b"), &["COMMITTED"]);
    ledger.holds.send_replace(false);
    world.state(other, "COMMITTED").await;
    ledger.book().questions.push_back(Instead::Says(foreign));
    ledger.says(&header("a"), &["PENDING", "COMMITTED"]);
    world.state(id, "COMMITTED").await;
    assert_eq!(&*world.view(other).await.state, "COMMITTED", "whoever has ended stays so");
    assert_eq!(world.path(id).await, ["QUEUED", "SUBMITTING", "PENDING", "COMMITTED"]);
    assert_eq!(ledger.book().questions.len(), 0);
}

#[tokio::test]
async fn ids_that_scabbard_leaves_out_or_adds_change_nothing() {
    let ledger = FakeLedger::start().await;
    let world = World::start(&ledger.settings("scabbard", "")).await;
    let foreign =
        answer("scabbard", &[(header("b"), "INVALID"), ("never asked for".to_owned(), "COMMITTED")]);
    for says in [json!([]), foreign, json!([])] {
        ledger.book().questions.push_back(Instead::Says(says));
    }
    let ids = world.submit_many(&[batch(SERVICE, &header("a")), batch(SERVICE, &header("b"))]).await;
    for id in ids {
        world.state(id, "COMMITTED").await;
        assert_eq!(world.path(id).await, ["QUEUED", "SUBMITTING", "PENDING", "COMMITTED"]);
    }
    assert_eq!(ledger.book().questions.len(), 0);
}

#[tokio::test]
async fn an_answer_that_contradicts_itself_or_is_none_leaves_the_batch_pending_with_an_error() {
    for kind in KINDS {
        leaves_it_pending(kind).await;
    }
}

async fn leaves_it_pending(kind: &str) {
    let ledger = FakeLedger::start().await;
    let twice = answer(kind, &[(header("a"), "INVALID"), (header("a"), "COMMITTED")]);
    let strange = answer(kind, &[(header("a"), "MAYBE")]);
    let answers = [
        (Instead::Says(twice), None),
        (Instead::Garbage, Some("garbled")),
        (Instead::Says(strange), Some("garbled")),
        (Instead::Says(json!({ "data": 7 })), Some("garbled")),
        (Instead::Status(500), Some("http-500")),
        (Instead::Status(404), Some("http-404")),
        (Instead::Silence, Some("timeout")),
    ];
    let world = World::start(&ledger.settings(kind, "timeout = '80ms'")).await;
    ledger.says(&header("a"), &["PENDING"]);
    let id = world.submit(&batch(SERVICE, &header("a"))).await;
    world.state(id, "PENDING").await;
    for (answer, code) in answers {
        ledger.book().questions.push_back(answer);
        if let Some(code) = code {
            let is = |view: &wire::api::SubmissionView| {
                view.error.as_ref().is_some_and(|error| &*error.code == code) && &*view.state == "PENDING"
            };
            world.until(id, is).await;
        }
    }
    ledger.says(&header("a"), &["COMMITTED"]);
    world.state(id, "COMMITTED").await;
    assert_eq!(ledger.times_submitted(&header("a")), 1);
}
