//! Callers who mean harm, or have bad lines, while somebody else works.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::raw::connect;
use crate::server::{Answer, Grant, Server};

const EACH: usize = 50;

/// Opens a connection and says this, and goes on saying the rest for ever.
async fn say(server: &Server, head: &str, rest: &'static [u8]) -> (TcpStream, &'static [u8]) {
    let mut stream = connect(server).await;
    stream.write_all(head.as_bytes()).await.unwrap();
    (stream, rest)
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_hostile_connections_do_not_stop_a_good_one() {
    let mut server = Server::with(&[], |options| {
        options.grace = Duration::from_millis(500);
    })
    .await;
    let before = resident_kib();
    let post = "POST /v1/pipelines/notes/submissions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    static DEEP: [u8; 4096] = [b'['; 4096];
    let mut hostile = Vec::new();
    for _ in 0..EACH {
        hostile.push(say(&server, "GET /readyz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", b"a").await);
        hostile.push(say(&server, &format!("{post}Content-Length: 15000000\r\n\r\n"), &DEEP).await);
        hostile.push(say(&server, &format!("{post}Transfer-Encoding: chunked\r\n\r\n"), b"1\r\n[\r\n").await);
        let stream = "GET /v1/feed HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
        hostile.push(say(&server, stream, b"").await);
    }
    assert_eq!(hostile.len(), 200);
    let going_on = tokio::spawn(async move {
        loop {
            for (stream, rest) in &mut hostile {
                // Whoever the server has cut off has lost.
                let _ = stream.try_write(rest);
            }
            tokio::task::yield_now().await;
        }
    });
    for number in 0..50 {
        let body = json!({ "payload": { "number": number } });
        let answer = server.post("/v1/pipelines/notes/submissions", body).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        let id = answer.json()["id"].as_str().unwrap().to_owned();
        assert_eq!(server.get(&format!("/v1/submissions/{id}")).await.status, 200);
    }
    let grown = resident_kib().saturating_sub(before);
    assert!(grown < 400 << 10, "{grown} KiB more");
    server.stop();
    let ended = tokio::time::timeout(Duration::from_secs(60), &mut server.task).await;
    ended.expect("it does not wait for them").unwrap().unwrap();
    going_on.abort();
}

#[tokio::test]
async fn deep_json_is_refused() {
    let server = Server::start().await;
    let deep = format!("{{\"payload\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    server.post("/v1/pipelines/notes/submissions", deep).await.problem(400, "invalid-json");
}

#[tokio::test]
async fn an_address_has_so_many_connections() {
    let server = Server::with(&[], |options| options.connections_per_address_max = 1).await;
    let mut first = connect(&server).await;
    first.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    assert!(first.read_u8().await.is_ok());
    let mut second = connect(&server).await;
    let mut rest = Vec::new();
    assert!(first.read_to_end(&mut rest).await.is_err(), "cut off for the second");
    second.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    assert!(second.read_u8().await.is_ok());
}

#[tokio::test]
async fn callers_are_kept_to_their_rate() {
    let server = Server::with(&[], |options| options.rate_per_address = Some(1)).await;
    let mut last = server.get("/v1/submissions").await;
    for _ in 0..5 {
        last = server.get("/v1/submissions").await;
    }
    assert_eq!((last.status, &last.json()["code"]), (429, &json!("rate-limited")));
    let wait: u64 = last.header("retry-after").parse().unwrap();
    assert!((1..=2).contains(&wait));
    assert_eq!(server.get("/readyz").await.status, 200, "health is always told");

    let grants =
        ["busy", "calm"].map(|token| Grant { token, rights: json!({ "subject": token, "role": "viewer" }) });
    let server = Server::with(&grants, |options| options.rate_per_token = Some(1)).await;
    let ask =
        async |token: &str| Answer::of(server.request("GET", "/v1/holds").bearer_auth(token)).await.status;
    let mut asked = Vec::new();
    for _ in 0..7 {
        asked.push(ask("busy").await);
    }
    assert_eq!((asked[0], asked[6]), (200, 429));
    assert_eq!(ask("calm").await, 200, "others have their own");
}

#[tokio::test]
async fn every_answer_tells_browsers_to_do_nothing_with_it() {
    let server = Server::start().await;
    for path in ["/", "/v1/submissions", "/v1/nothing", "/v1/pipelines/parcels?format=svg"] {
        let answer = server.get(path).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert!(answer.header("content-security-policy").starts_with("default-src 'none'"), "{path}");
        assert_eq!(answer.header("server"), "", "{path}");
    }
}
