use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::server::Server;
use crate::tasks::waiting_claim;

const SHORT: Duration = Duration::from_millis(100);

/// Sends text over a connection of its own and gives everything that comes back until the server closes it.
async fn raw(server: &Server, text: &'static str) -> String {
    let address = server.url.trim_start_matches("http://").to_owned();
    let talk = move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    tokio::task::spawn_blocking(talk).await.unwrap()
}

#[tokio::test]
async fn what_is_over_the_room_is_refused_and_health_is_not() {
    let server = Server::with(&[], |options| options.requests_max = 0).await;
    server.get("/v1/submissions").await.problem(503, "overloaded");
    assert_eq!(server.get("/readyz").await.status, 200);
    let claim = server.post("/v1/tasks:claim", json!({ "worker": "w", "tasks": ["t"] })).await;
    assert_eq!(claim.status, 200, "long polls have a room of their own");
}

#[tokio::test]
async fn an_answer_that_does_not_come_is_given_up() {
    let server = Server::with(&[], |options| options.answer_within = SHORT).await;
    let body = json!({ "worker": "w", "tasks": ["t"], "wait": "60s" });
    server.post("/v1/tasks:claim", body).await.problem(503, "outcome-unknown");
}

#[tokio::test]
async fn headers_that_do_not_end_are_not_waited_for() {
    let server = Server::with(&[], |options| options.headers_within = SHORT).await;
    assert_eq!(raw(&server, "GET /readyz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").await, "");
}

#[tokio::test]
async fn a_body_that_does_not_end_is_not_waited_for() {
    let server = Server::with(&[], |options| options.body_within = SHORT).await;
    let request = "POST /v1/tasks:claim HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                   Content-Length: 100\r\n\r\n{\"worker\":";
    let answer = raw(&server, request).await;
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("invalid-request"), "{answer}");
}

#[tokio::test]
async fn connections_over_the_bound_wait_for_their_turn() {
    let server = Server::with(&[], |options| {
        options.connections_max = 1;
        // Enough for the good one, on a busy machine, too.
        options.headers_within = Duration::from_secs(2);
    })
    .await;
    let address = server.url.trim_start_matches("http://").to_owned();
    let _idle = TcpStream::connect(address).unwrap();
    assert_eq!(server.get("/readyz").await.status, 200, "served once the idle one is dropped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopping_server_ends_what_it_has_begun() {
    let mut server = Server::with(&[], |options| {
        options.waits_max = 1;
        // Less than the time after which the engine looks for work by itself: the claim is not waited for.
        options.grace = Duration::from_secs(3);
    })
    .await;
    let waiting = waiting_claim(&server, "t").await;
    server.stop();
    let answer = waiting.await.unwrap().unwrap();
    assert_eq!((answer.status, answer.json()), (200, json!({ "tasks": [] })));
    (&mut server.task).await.unwrap().unwrap();
    assert!(server.request("GET", "/readyz").send().await.is_err(), "nobody listens any more");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopping_server_does_not_wait_for_ever() {
    let mut server = Server::with(&[], |options| {
        options.requests_max = 1;
        options.grace = SHORT;
    })
    .await;
    let mut stream = TcpStream::connect(server.url.trim_start_matches("http://")).unwrap();
    let half = "POST /v1/tasks:finish HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Content-Length: 100\r\n\r\n{\"tasks\":";
    stream.write_all(half.as_bytes()).unwrap();
    while server.get("/v1/submissions").await.status != 503 {
        tokio::task::yield_now().await;
    }
    server.stop();
    (&mut server.task).await.unwrap().unwrap();
    let mut answer = String::new();
    assert!(stream.read_to_string(&mut answer).is_err() || answer.is_empty(), "{answer}");
}
