//! Large answers that their caller leaves unread: one more is refused to that caller, and others have theirs.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::raw::connect_from;
use crate::server::{Answer, Grant, Server};

/// A caller has a megabyte, and each answer is nearly that.
const LARGE: usize = 900_000;

/// A server with two large notes.
async fn server() -> (Server, String) {
    let grants = ["busy", "calm", "root"].map(|token| {
        let role = if token == "root" { "admin" } else { "worker" };
        Grant { token, rights: json!({ "subject": token, "role": role }) }
    });
    let server = Server::with(&grants, |options| {
        options.bytes_max = 4 << 20;
        options.page_within = Duration::from_millis(10);
    })
    .await;
    let mut id = String::new();
    for number in 0..2 {
        let body = json!({ "payload": { "number": number, "text": "x".repeat(LARGE) } });
        let submit = server.with_json("POST", "/v1/pipelines/notes/submissions", body).bearer_auth("root");
        id = Answer::of(submit).await.json()["id"].as_str().unwrap().to_owned();
    }
    (server, id)
}

/// Asks as `busy` and reads nothing of the answer but that it began.
async fn unread(server: &Server, method: &str, path: &str, body: &str) -> TcpStream {
    let mut stream = connect_from(server, 1).await;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer busy\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut began = [0; 12];
    stream.read_exact(&mut began).await.unwrap();
    assert_eq!(&began, b"HTTP/1.1 200");
    stream
}

fn refused(answer: &Answer) {
    let seen = (answer.status, answer.header("retry-after"), &answer.json()["code"]);
    assert_eq!(seen, (429, "1", &json!("rate-limited")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_submission_is_refused_to_who_left_the_last_unread() {
    let (server, id) = server().await;
    let path = format!("/v1/submissions/{id}");
    let show = async |token: &str| Answer::of(server.request("GET", &path).bearer_auth(token)).await;
    let first = unread(&server, "GET", &path, "").await;
    refused(&show("busy").await);
    assert_eq!(show("calm").await.status, 200, "others have their own share");
    let small = Answer::of(server.request("GET", "/v1/stats").bearer_auth("busy")).await;
    assert_eq!(small.status, 200, "small answers are not counted");
    drop(first);
    while show("busy").await.status != 200 {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_claimed_beside_an_unread_claim_goes_back_to_its_queue() {
    let (server, _) = server().await;
    let body = json!({ "worker": "w", "tasks": ["notes.read"] });
    let claim = async |token: &str| {
        Answer::of(server.with_json("POST", "/v1/tasks:claim", &body).bearer_auth(token)).await
    };
    let first = unread(&server, "POST", "/v1/tasks:claim", &body.to_string()).await;
    refused(&claim("busy").await);
    let answer = claim("calm").await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let task = answer.json()["tasks"][0].clone();
    assert_eq!((&task["payload"]["number"], &task["attempt"]), (&json!(1), &json!(1)), "nothing was lost");
    assert_eq!(claim("calm").await.json()["tasks"], json!([]));
    drop(first);
    let empty = loop {
        let answer = claim("busy").await;
        if answer.status == 200 {
            break answer.json()["tasks"].clone();
        }
    };
    assert_eq!(empty, Value::Array(Vec::new()));
}
