//! Requests that no client would send: refused with a problem, and never taken for two.

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::raw::{Spoken, connect, hear_all, speak};
use crate::server::Server;

const READY: &str = "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n";
const CLAIM: &str = "POST /v1/tasks:claim HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

fn ready_with(headers: &str) -> String {
    format!("GET /readyz HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n\r\n")
}

#[tokio::test]
async fn a_bad_head_is_refused_with_a_problem() {
    let server = Server::start().await;
    let many: String = (0..100).map(|number| format!("X-{number}: a\r\n")).collect();
    let long = "a".repeat(200_000);
    for (head, status, code) in [
        ("GET /readyz HTTP/1.1\nHost: localhost\n\n".to_owned(), 400, "invalid-request"),
        (ready_with("X: a\nY: b"), 400, "invalid-request"),
        (ready_with("X: a\rY: b"), 400, "invalid-request"),
        (ready_with("X: a\0"), 400, "invalid-request"),
        (ready_with("Host: localhost"), 400, "invalid-request"),
        ("GET /readyz HTTP/1.1\r\n\r\n".to_owned(), 400, "invalid-request"),
        (ready_with("X : a"), 400, "invalid-request"),
        (ready_with("X: a\r\n b"), 400, "invalid-request"),
        (ready_with("no colon"), 400, "invalid-request"),
        (ready_with("Content-Length: +1"), 400, "invalid-request"),
        (ready_with("Content-Length: 99999999999999999999999"), 413, "too-large"),
        (ready_with("Content-Length: 18446744073709551615"), 413, "too-large"),
        (ready_with("Transfer-Encoding: gzip"), 501, "invalid-request"),
        (ready_with(&many), 431, "too-large"),
        (ready_with(&format!("X: {long}")), 431, "too-large"),
        (format!("GET /{long} HTTP/1.1\r\n"), 414, "too-large"),
        ("nonsense\r\n\r\n".to_owned(), 400, "invalid-request"),
        ("GET /\r\n\r\n".to_owned(), 400, "invalid-request"),
        (
            "GET /\u{e9} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_owned(),
            404,
            "unknown-route",
        ),
        (
            "GET /<> HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_owned(),
            400,
            "invalid-request",
        ),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), 505, "invalid-request"),
        ("\u{16}\u{3}\u{1}\u{2}\n\u{1}\0".to_owned(), 400, "invalid-request"),
        (
            "CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_owned(),
            404,
            "unknown-route",
        ),
        (
            "BREW / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_owned(),
            405,
            "method-not-allowed",
        ),
    ] {
        let answers = speak(&server, &head).await;
        assert_eq!(Spoken::statuses(&answers), [status], "{head:.60?}: {answers:?}");
        assert_eq!(answers[0].problem(), code, "{head:.60?}");
        assert_eq!(answers[0].headers["connection"], "close", "{head:.60?}");
    }
    assert_eq!(server.get("/readyz").await.status, 200);
}

#[tokio::test]
async fn a_request_is_never_taken_for_two() {
    let server = Server::start().await;
    // Whoever reads these otherwise sees another request, or the same one twice.
    let hidden = READY;
    let chunked = |body: &str| format!("{CLAIM}Transfer-Encoding: chunked\r\n\r\n{body}");
    for text in [
        format!("{CLAIM}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("{CLAIM}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n{hidden}"),
        format!("{CLAIM}Content-Length: 0\r\nContent-Length: {}\r\n\r\n{hidden}", hidden.len()),
        format!("{CLAIM}Content-Length: {0}\r\nContent-Length: {0}\r\n\r\n{hidden}", hidden.len()),
        format!("{CLAIM}Content-Length: {0}, {0}\r\n\r\n{hidden}", hidden.len()),
        format!("{CLAIM}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n{hidden}"),
        format!("{CLAIM}Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("{CLAIM}Transfer-Encoding\r\n : chunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("{CLAIM}X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}"),
        chunked(&format!("0\n\r\n\r\n{hidden}")),
        chunked(&format!("0\r\n\n{hidden}")),
        chunked(&format!("2\r\n{{}}0\r\n\r\n{hidden}")),
        chunked(&format!("2\r\n{{}}\n0\r\n\r\n{hidden}")),
        chunked(&format!("0x0\r\n\r\n{hidden}")),
        chunked(&format!("0 \r\n\r\n{hidden}")),
        chunked(&format!("0;a\nb\r\n\r\n{hidden}")),
        chunked(&format!("10000000000000000\r\n\r\n{hidden}")),
        chunked(&format!("0\r\nX: a\n\r\n{hidden}")),
        format!(
            "POST /readyz HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}"
        ),
    ] {
        let answers = speak(&server, &text).await;
        assert_eq!(answers.len(), 1, "{text:?}: {answers:?}");
        assert!([400, 501].contains(&answers[0].status), "{text:?}: {answers:?}");
        answers[0].problem();
    }
}

#[tokio::test]
async fn requests_one_after_the_other_are_answered_in_order() {
    let server = Server::start().await;
    let body = json!({ "payload": { "text": "a\r\n\r\nGET / HTTP/1.1\r\n\r\n" } }).to_string();
    let submit = "POST /v1/pipelines/notes/submissions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let (front, back) = body.split_at(7);
    let text = [
        format!("{submit}Content-Length: {}\r\n\r\n{body}", body.len()),
        READY.to_owned(),
        format!(
            "{submit}Transfer-Encoding: chunked\r\n\r\n7;x=y\r\n{front}\r\n{:x}\r\n{back}\r\n0\r\nX: a\r\n\r\n",
            back.len()
        ),
        "PUT /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        "GET /readyz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n".to_owned(),
        READY.to_owned(),
    ];
    let expected = [201, 200, 201, 405, 404, 400];
    let answers = speak(&server, &text.concat()).await;
    assert_eq!(Spoken::statuses(&answers), expected, "{answers:?}");
    assert_eq!(answers[5].problem(), "invalid-request");
    // The same byte by byte, as far as the network lets it.
    let mut stream = connect(&server).await;
    stream.set_nodelay(true).unwrap();
    for byte in text.concat().bytes() {
        if stream.write_all(&[byte]).await.is_err() {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(Spoken::statuses(&hear_all(&mut stream).await), expected);
}

/// Waits for work over a connection of its own, on a server with room for one who waits, and has sent `more` already.
async fn waits(server: &Server, more: &str) -> TcpStream {
    let body = claim("notes.read", "60s");
    let text = format!("{CLAIM}Content-Length: {}\r\n\r\n{body}{more}", body.len());
    loop {
        let mut stream = connect(server).await;
        stream.write_all(text.as_bytes()).await.unwrap();
        // Answered, it came while the other was there, and is refused.
        while stream.try_read(&mut [0; 16]).is_err() {
            if server.post("/v1/tasks:claim", claim("nothing", "0s")).await.status == 503 {
                return stream;
            }
        }
    }
}

fn claim(task: &str, wait: &str) -> String {
    json!({ "worker": "w", "tasks": [task], "wait": wait }).to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_waits_for_the_answer_before_it() {
    let server = Server::with(&[], |options| options.waits_max = 1).await;
    let mut stream = waits(&server, "GET / HTTP/1.1\nHost: localhost\n\n").await;
    let answer = server.post("/v1/pipelines/notes/submissions", json!({ "payload": {} })).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let answers = hear_all(&mut stream).await;
    assert_eq!(Spoken::statuses(&answers), [200, 400], "{answers:?}");
    assert!(answers[0].body.contains("notes.read"), "{answers:?}");
    assert_eq!(answers[1].problem(), "invalid-request");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_goes_while_it_waits_is_noticed() {
    let server = Server::with(&[], |options| options.waits_max = 1).await;
    // What it has sent on top of that does not hide that it has gone.
    for more in ["", READY, "nonsense"] {
        drop(waits(&server, more).await);
        while server.post("/v1/tasks:claim", claim("nothing", "0s")).await.status == 503 {
            tokio::task::yield_now().await;
        }
    }
}
