//! The daily look at the enrolled sites, and what keeps strangers in bounds on a fleet.

use serde_json::{Value, json};
use wire::api::{SubmissionView, SubmitBody};

use crate::machine::{ada, site};
use crate::support::dns::Says;
use crate::support::running::{Running, Setup};
use crate::support::web::{Answers, Shows};
use crate::support::{World, good, host};

async fn looked(running: &Running) -> (SubmissionView, Value) {
    let made =
        running.admin.submit("site-list-check", &SubmitBody::default(), None).await.expect("it is taken");
    let view = running.end(made.id).await;
    let output = view.outputs.as_ref().and_then(|outputs| outputs.get("CHECKING"));
    let output = output.and_then(|output| serde_json::from_str(output.as_str()).ok());
    (view, output.unwrap_or_default())
}

async fn with(world: &World, settings: &str) -> Running {
    let setup = Setup { settings: settings.to_owned(), ..Setup::default() };
    Running::with(world, setup, tempfile::tempdir().expect("there is room")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn sites_that_say_something_else_are_found_and_stay_on_the_list() {
    let world = World::start().await;
    let running = with(&world, "").await;
    for name in ["good.com", "other.com", "plain.com", "down.com"] {
        world.site(name, Shows::Good, ada("ADD"));
        assert_eq!(&*running.change(name, "ADD").await.state, "COMPLETED");
    }
    let (view, _) = looked(&running).await;
    assert_eq!(&*view.state, "FINE", "{:?}", view.error);
    // An enrolled site may ask for another change, or for none.
    world.site("good.com", Shows::Good, Answers::Bytes(good("MODIFY", &["ada@example.com"], 1)));
    world.site("other.com", Shows::Good, Answers::Bytes(good("ADD", &["eve@example.com"], 1)));
    world.site(
        "plain.com",
        Shows::Good,
        Answers::Bytes("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned()),
    );
    world.site("down.com", Shows::Expired, ada("ADD"));
    let (view, output) = looked(&running).await;
    assert_eq!((&*view.state, &output["checked"], &output["found"]), ("FOUND", &json!(4), &json!(3)));
    let findings: Vec<(&str, &str)> = output["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (finding["host"].as_str().unwrap(), finding["code"].as_str().unwrap()))
        .collect();
    let expected =
        [("down.com", "certificate"), ("other.com", "list-differs"), ("plain.com", "signers-missing")];
    assert_eq!(findings, expected);
    let events = running.admin.events(view.id, 0).await.unwrap().events;
    let told: Vec<&str> = events.iter().flat_map(|event| &event.notified).map(|told| &*told.name).collect();
    assert_eq!(told, ["operator"]);
    assert_eq!(running.list().await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_that_is_gone_is_reported_at_the_second_look_and_leaves_the_list() {
    let world = World::start().await;
    let running = with(&world, "gone-for = '1ms'\n").await;
    for name in ["gone.com", "there.com"] {
        world.site(name, Shows::Good, ada("ADD"));
        assert_eq!(&*running.change(name, "ADD").await.state, "COMPLETED");
    }
    world.dns.say("gone.com", Says::NoSuchName("com"));
    let (view, output) = looked(&running).await;
    assert_eq!((&*view.state, &output["findings"][0]["code"]), ("FOUND", &json!("domain-gone")));
    assert_eq!(running.list().await.submissions(), 2, "once is not enough");
    let (_, output) = looked(&running).await;
    assert!(output["gone"]["gone.com"].is_string(), "{output}");
    let report = running.list().await.submission(3).expect("it is reported");
    let ended = running.end(report).await;
    assert_eq!(&*ended.state, "COMPLETED", "{:?}", ended.error);
    let list = running.list().await;
    assert!(list.entry(&host("gone.com")).is_none() && list.entry(&host("there.com")).is_some());
    let first = running.admin.events(report, 0).await.unwrap().events.remove(0);
    assert_eq!(&*first.trigger, "system-action");
    assert!(first.metadata.unwrap().as_str().contains("DOMAIN_DELETED"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_server_that_fails_makes_no_domain_be_gone() {
    let world = World::start().await;
    let running = with(&world, "gone-for = '1ms'\n").await;
    world.site("there.com", Shows::Good, ada("ADD"));
    assert_eq!(&*running.change("there.com", "ADD").await.state, "COMPLETED");
    world.dns.say("there.com", Says::Failure);
    for _ in 0..2 {
        let (view, output) = looked(&running).await;
        assert_eq!((&*view.state, &output["findings"][0]["code"]), ("FOUND", &json!("dns")));
        assert_eq!(output["gone"], json!({}));
    }
    assert_eq!(running.list().await.submissions(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_contact_gets_as_many_mails_a_day_whichever_server_counts() {
    let world = World::start().await;
    let mut running = with(&world, "mails-a-day = 2\n").await;
    let mut told = Vec::new();
    for (number, name) in ["a.example", "b.example", "c.example", "d.example"].into_iter().enumerate() {
        world.site(name, Shows::Good, Answers::Bytes(good("ADD", &["ada@example.com"], 9)));
        if number == 1 {
            running.hand_over(running.admin.clone()).await;
        }
        let refused = running.change(name, "ADD").await;
        assert_eq!(&*refused.error.unwrap().code, "threshold-range");
        let last = running.admin.events(refused.id, 0).await.unwrap().events.pop().unwrap();
        told.push(last.notified.iter().any(|told| told.problem.is_none()));
    }
    assert_eq!(told, [true, true, false, false]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_is_visited_once_in_its_time_whichever_server_goes() {
    let world = World::start().await;
    let mut running = with(&world, "host-pause = '1h'\n").await;
    site(&world, Answers::Bytes(good("ADD", &["ada@example.com"], 9)));
    assert_eq!(&*running.change("site.example", "ADD").await.state, "PRELIMINARY_VALIDATION_ERROR");
    running.hand_over(running.admin.clone()).await;
    let again = running.submit("site.example", "ADD").await;
    // The task is put off, which leaves no event: whoever looks sees when it will be tried.
    let waits = loop {
        let view = running.admin.submission(again).await.unwrap();
        if view.wake_at.is_some() {
            break view;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(&*waits.state, "PRELIMINARY_VALIDATION_IN_PROGRESS");
    assert_eq!(world.web.visits("site.example"), 1);
}
