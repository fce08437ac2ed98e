use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use model::Status;
use serde_json::json;

use crate::notifications::deliveries::{failed, in_state, notified, seen, server, tell, webhook};
use crate::notifications::receiver::{Mood, Receiver, taken};

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_in_any_mood_loses_nothing_and_is_seen_for_what_it_is() {
    let mut receiver = Receiver::start(Mood::Hangs).await;
    let server = server(&[receiver.address.port()], &[]);
    let client = server.client();
    let url = receiver.url("/hook");
    let secret = server.run(&["endpoints", "add", &url]).ends(0).stdout;
    let mut ids = Vec::new();
    for n in 0..20 {
        ids.push(tell(&client, webhook(&format!("event-{n}"), &url)).await);
    }
    let first = ids[0];
    failed(&client, first, "timeout").await;
    for (mood, code) in
        [(Mood::Answers(500), "http-500"), (Mood::Babbles, "garbled"), (Mood::Closes, "closed")]
    {
        receiver.turn(mood);
        failed(&client, first, code).await;
    }
    receiver.die().await;
    let down = failed(&client, first, "connect").await;
    assert_eq!(down.status, Status::Open);
    // A look at a moment when it waits for its next try; the moment before it is being tried.
    let waits = async {
        loop {
            let why = client.why(first).await.unwrap();
            if let Some(reason) = why.reasons.iter().find(|reason| reason.code == "retry") {
                return (reason.clone(), client.submission(first).await.unwrap());
            }
        }
    };
    let (reason, view) =
        tokio::time::timeout(crate::notifications::deliveries::PATIENCE, waits).await.unwrap();
    assert!(reason.details["until"].is_string() && reason.sentence.contains("connect"), "{reason:?}");
    assert!(view.attempt > 4, "{view:?}");
    receiver.turn(Mood::Answers(200));
    receiver.come_back().await;
    for id in &ids {
        let sent = in_state(&client, *id, "SENT").await;
        assert_eq!(sent.outputs.unwrap()["POSTING"], json!({ "status": 200 }).into());
    }
    let requests = receiver.requests();
    let taken = taken(&requests);
    assert_eq!(taken.len(), ids.len(), "each arrived: {taken:?}");
    assert!(
        taken.values().all(|times| *times == 1),
        "and what was answered well was not sent again: {taken:?}"
    );
    for request in &requests {
        let verified = request.verified(&[secret.trim_end()]).unwrap();
        assert!(!verified.id.contains('.') && verified.id.starts_with("msg_"), "{}", verified.id);
        assert_eq!(request.header("content-type"), "application/json");
    }
    let of_first: BTreeSet<&str> = requests
        .iter()
        .filter(|request| String::from_utf8_lossy(&request.body).contains(r#""key":"event-0""#))
        .map(|request| request.header("webhook-id"))
        .collect();
    assert_eq!(of_first.len(), 1, "the same id at every try");
    let log = server.log.lock().unwrap().join("\n");
    assert!(!log.contains("whsec_") && !log.contains(secret.trim_end()), "{log}");
    let loud =
        |line: &&str| (line.contains("WARN") || line.contains("ERROR")) && !line.contains("no token yet");
    assert_eq!(log.lines().find(loud), None, "a receiver's troubles are the delivery's to tell");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_killed_between_loses_nothing() {
    let receiver = Receiver::start(Mood::Hangs).await;
    let mut server = server(&[receiver.address.port()], &[]);
    let url = receiver.url("/hook");
    let secret = server.run(&["endpoints", "add", &url]).ends(0).stdout;
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(tell(&server.client(), webhook(&format!("event-{n}"), &url)).await);
    }
    receiver.until(|requests| requests.len() >= 2).await;
    receiver.turn(Mood::Answers(200));
    server.restart();
    for id in &ids {
        in_state(&server.client(), *id, "SENT").await;
    }
    assert_eq!(taken(&receiver.requests()).len(), ids.len());
    assert!(receiver.requests().iter().all(|request| request.verified(&[secret.trim_end()]).is_ok()));
}

#[tokio::test(flavor = "multi_thread")]
async fn both_active_secrets_sign_and_a_replay_has_the_same_id() {
    let receiver = Receiver::start(Mood::Answers(200)).await;
    let server = server(&[receiver.address.port()], &[]);
    let (client, url) = (server.client(), receiver.url("/hook"));
    let add = ["endpoints", "add", &url, "--name", "hooks", "-o", "json"];
    let made = server.run(&add).ends(0).json();
    let (old, id) = (made["secret"].as_str().unwrap(), made["id"].as_str().unwrap());
    let new = server.run(&["endpoints", "rotate", id]).ends(0).stdout;
    let new = new.trim_end();
    let first = tell(&client, webhook("one", &url)).await;
    in_state(&client, first, "SENT").await;
    server.run(&["endpoints", "retire", id]).ends(0);
    let again = client.replay(first, None).await.unwrap().id;
    in_state(&client, again, "SENT").await;
    let requests = receiver.requests();
    let verified = |at: usize, secret: &str| requests[at].verified(&[secret]).is_ok();
    assert!(verified(0, old) && verified(0, new), "both while both are active");
    assert!(!verified(1, old) && verified(1, new), "only the new one after the old is retired");
    assert_eq!(requests[0].header("webhook-id"), requests[1].header("webhook-id"));
    let listed = server.run(&["endpoints", "list"]).ends(0).stdout;
    assert!(listed.contains("hooks") && !listed.contains("whsec_"), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_is_gone_is_left_alone_until_it_is_enabled() {
    let receiver = Receiver::start(Mood::Answers(410)).await;
    let server = server(&[receiver.address.port()], &[]);
    let (client, url) = (server.client(), receiver.url("/hook"));
    let first = in_state(&client, tell(&client, webhook("one", &url)).await, "REFUSED").await;
    assert_eq!(first.outputs.unwrap()["POSTING"], json!({ "status": 410 }).into());
    receiver.turn(Mood::Answers(200));
    in_state(&client, tell(&client, webhook("two", &url)).await, "REFUSED").await;
    assert_eq!(receiver.requests().len(), 1, "nothing more is posted there");
    let listed = server.run(&["endpoints", "list", "-o", "json"]).ends(0).json();
    let gone = listed["endpoints"].as_array().unwrap().iter().find(|one| one["url"] == json!(url)).unwrap();
    assert!(gone["disabled_at"].is_string() && gone["disabled_reason"] == "it answered 410", "{gone}");
    server.run(&["endpoints", "enable", gone["id"].as_str().unwrap()]).ends(0);
    in_state(&client, tell(&client, webhook("three", &url)).await, "SENT").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_receiver_that_hangs_holds_up_no_other() {
    let hangs = Receiver::start(Mood::Hangs).await;
    // Places are told apart by their hosts.
    let answers = Receiver::start_at(Ipv4Addr::new(127, 0, 0, 2), Mood::Answers(200)).await;
    let server = server(&[hangs.address.port(), answers.address.port()], &[]);
    let client = server.client();
    for n in 0..300 {
        tell(&client, webhook(&format!("hung-{n}"), &hangs.url("/hook"))).await;
    }
    hangs.until(|requests| !requests.is_empty()).await;
    for n in 0..20 {
        let id = tell(&client, webhook(&format!("fine-{n}"), &answers.url("/hook"))).await;
        in_state(&client, id, "SENT").await;
    }
    assert!(hangs.requests().len() < 100, "few at a time go to one that hangs: {}", hangs.requests().len());
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_that_are_not_allowed_are_dead_letters_that_say_so() {
    let receiver = Receiver::start(Mood::Answers(200)).await;
    let server = server(&[receiver.address.port()], &[]);
    let client = server.client();
    for (to, code, flag) in [
        ("http://169.254.169.254/latest/meta-data", "refused-address", "--allow-address 169.254.169.254/32"),
        ("http://0x0a.1/", "refused-address", "--allow-address 10.0.0.1/32"),
        ("http://example.com:22/", "refused-port", "--allow-port 22"),
    ] {
        let id = tell(&client, webhook(to, to)).await;
        let dead = seen(&client, id, |view| view.status == Status::Dead).await;
        assert_eq!(dead.error.as_ref().map(|error| &*error.code), Some(code), "{to}: {dead:?}");
        assert_eq!(dead.attempt, 1, "{to} is tried once");
        let message = dead.error.map(|error| error.message).unwrap();
        assert!(message.contains(flag), "{to}: {message}");
    }
    for to in ["ftp://example.com/", "not an address"] {
        let told = notified(&client, webhook(to, to)).await;
        assert!(told.deliveries.is_empty(), "{told:?}");
        assert_eq!(told.problem.as_deref(), Some("not an http or https URL"));
    }
    assert!(receiver.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_told_to_stop_gives_back_what_is_under_way() {
    let receiver = Receiver::start(Mood::Hangs).await;
    let mut server = server(&[receiver.address.port()], &[]);
    let id = tell(&server.client(), webhook("one", &receiver.url("/hook"))).await;
    receiver.until(|requests| !requests.is_empty()).await;
    assert!(server.signal("TERM").success());
    receiver.turn(Mood::Answers(200));
    server.restart();
    in_state(&server.client(), id, "SENT").await;
}
