use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::json;
use tokio::io::AsyncReadExt as _;

use crate::raw::connect;
use crate::server::{Answer, Grant, Server};
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
async fn connections_over_the_bound_take_the_place_of_an_idle_one() {
    let server = Server::with(&[], |options| options.connections_max = 1).await;
    let mut idle = connect(&server).await;
    assert_eq!(server.get("/readyz").await.status, 200, "served at once");
    assert!(idle.read_u8().await.is_err(), "the idle one has gone");
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
    assert_eq!((answer.status, &answer.json()["tasks"]), (200, &json!([])));
    (&mut server.task).await.unwrap().unwrap();
    assert!(server.request("GET", "/readyz").send().await.is_err(), "nobody listens any more");
}

/// A request whose body does not come: connected, and begun to be received.
fn half_sent(server: &Server, path: &str, token: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.url.trim_start_matches("http://")).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {token}\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The server says so when it begins to read the body.
    let mut told = [0; 12];
    stream.read_exact(&mut told).unwrap();
    assert_eq!(&told, b"HTTP/1.1 100");
    stream.write_all(b"{\"tasks\":").unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_sent_bodies_take_nobodys_place() {
    let server = Server::with(&[], |options| options.requests_max = 1).await;
    let halves: Vec<_> = (0..20).map(|_| half_sent(&server, "/v1/tasks:finish", "")).collect();
    assert_eq!(server.get("/v1/submissions").await.status, 200);
    drop(halves);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_has_its_share_of_places_and_others_have_theirs() {
    let grants =
        ["busy", "calm"].map(|token| Grant { token, rights: json!({ "subject": token, "role": "worker" }) });
    let server = Server::with(&grants, |options| options.waits_max = 80).await;
    let claim = |token: &str, wait: &str| {
        let body = json!({ "worker": "w", "tasks": ["t"], "wait": wait });
        Answer::of(server.request("POST", "/v1/tasks:claim").bearer_auth(token).json(&body))
    };
    let mut waiting: Vec<_> = (0..20).map(|_| Box::pin(claim("busy", "60s"))).collect();
    // One of the twenty may find the last place taken by the one that only looks, and is sent again.
    let refused = loop {
        for slot in &mut waiting {
            if slot.as_mut().now_or_never().is_some() {
                *slot = Box::pin(claim("busy", "60s"));
            }
        }
        let answer = claim("busy", "0s").await;
        if answer.status != 200 {
            break answer;
        }
    };
    assert_eq!((refused.status, &refused.json()["max"]), (429, &json!(20)), "{}", refused.text);
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(claim("calm", "0s").await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_on_their_way_count_for_whoever_sends_them() {
    let grants =
        ["busy", "calm"].map(|token| Grant { token, rights: json!({ "subject": token, "role": "worker" }) });
    let server = Server::with(&grants, |options| options.bytes_max = 800).await;
    let settle = |token: &str| {
        Answer::of(
            server.request("POST", "/v1/tasks:finish").bearer_auth(token).json(&json!({ "tasks": [] })),
        )
    };
    let halves = ["busy", "busy"].map(|token| half_sent(&server, "/v1/tasks:finish", token));
    let mut third = Box::pin(settle("busy"));
    for _ in 0..20 {
        assert_eq!(settle("calm").await.status, 200);
        assert!(third.as_mut().now_or_never().is_none(), "it waits for those before it");
    }
    drop(halves);
    assert_eq!(third.await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopping_server_does_not_wait_for_ever() {
    let mut server = Server::with(&[], |options| options.grace = SHORT).await;
    let mut stream = half_sent(&server, "/v1/tasks:finish", "");
    server.stop();
    (&mut server.task).await.unwrap().unwrap();
    let mut answer = String::new();
    assert!(stream.read_to_string(&mut answer).is_err() || !answer.contains("HTTP/1.1 2"), "{answer}");
}

#[tokio::test]
async fn so_many_answers_are_kept_for_a_subject_and_no_more() {
    let grants = [
        Grant { token: "root", rights: json!({ "subject": "root", "role": "admin" }) },
        Grant { token: "ada", rights: json!({ "subject": "ada", "role": "submitter" }) },
    ];
    let server = Server::with(&grants, |options| options.answers_max = 2).await;
    let submit = async |token: &str, key: &str| {
        let request = server.with_json("POST", "/v1/pipelines/notes/submissions", json!({ "payload": {} }));
        Answer::of(request.bearer_auth(token).header("idempotency-key", key)).await
    };
    for key in ["a", "b"] {
        assert_eq!(submit("ada", key).await.status, 201);
    }
    let refused = submit("ada", "c").await;
    assert_eq!((refused.status, &refused.json()["code"]), (429, &json!("rate-limited")), "{}", refused.text);
    assert!(
        refused.header("retry-after").parse::<u32>().unwrap() > 3_600,
        "{}",
        refused.header("retry-after")
    );
    assert_eq!(submit("ada", "b").await.status, 201, "the first answer again");
    for key in ["a", "b", "c"] {
        assert_eq!(submit("root", key).await.status, 201, "an owner has no bound");
    }
}
