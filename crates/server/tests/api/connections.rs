//! Connections by the hundred: whoever has many goes first, and nobody is kept out.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;
use server::Tls;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::raw::{Spoken, address, connect, connect_from, hear_all};
use crate::server::{Answer, Grant, Server};
use crate::tasks::waiting_claim;

const SHORT: Duration = Duration::from_millis(200);
const READY: &str = "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n";
const LARGE: &str = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Waits until the server has cut this connection, without reading from it.
async fn cut(stream: &TcpStream) {
    while stream.take_error().unwrap().is_none() {
        tokio::task::yield_now().await;
    }
}

/// A client that connects for every request: it has no idle connection that may have gone.
fn without_pool() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap()
}

/// Asks and waits for the answer to begin.
async fn ask(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(READY.as_bytes()).await?;
    let mut begin = [0; 12];
    stream.read_exact(&mut begin).await?;
    assert_eq!(&begin, b"HTTP/1.1 200");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_nobody_reads_is_given_up() {
    let server = Server::with(&[], |options| options.write_within = SHORT).await;
    let mut stream = connect_from(&server, 1).await;
    // Together more than the system buffers.
    stream.write_all(LARGE.repeat(500).as_bytes()).await.unwrap();
    cut(&stream).await;
    assert_eq!(server.get("/readyz").await.status, 200);
}

#[tokio::test]
async fn a_connection_on_which_nothing_more_is_asked_is_closed() {
    let server = Server::with(&[], |options| options.headers_within = SHORT).await;
    let mut stream = connect(&server).await;
    ask(&mut stream).await.unwrap();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.unwrap();
    assert!(rest.ends_with("ok\n"), "{rest}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_that_never_read_keep_nobody_out() {
    let server = Server::with(&[], |options| options.connections_max = 200).await;
    let mut hostile = Vec::new();
    let good = without_pool();
    for number in 0..300_usize {
        let mut stream = connect_from(&server, 2 + (number % 3) as u8).await;
        let text = if number % 2 == 0 { READY.to_owned() } else { LARGE.repeat(20) };
        // It may be displaced already.
        let _ = stream.write_all(text.as_bytes()).await;
        hostile.push(stream);
        if number % 10 == 0 {
            for path in ["/livez", "/readyz", "/v1/submissions"] {
                let answer = Answer::of(good.get(format!("{}{path}", server.url))).await;
                assert_eq!(answer.status, 200, "{path} with {number}: {}", answer.text);
            }
        }
    }
    let body = json!({ "payload": {} });
    assert_eq!(server.post("/v1/pipelines/notes/submissions", body).await.status, 201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_waits_is_not_the_one_that_goes() {
    let server = Server::with(&[], |options| {
        options.connections_max = 4;
        options.waits_max = 1;
    })
    .await;
    let waiting = waiting_claim(&server, "notes.read").await;
    let mut others = Vec::new();
    for _ in 0..50 {
        let mut stream = connect(&server).await;
        ask(&mut stream).await.unwrap();
        others.push(stream);
    }
    let submit = without_pool().post(format!("{}/v1/pipelines/notes/submissions", server.url));
    let submit = submit.header("content-type", "application/json").body(json!({ "payload": {} }).to_string());
    assert_eq!(Answer::of(submit).await.status, 201);
    let answer = waiting.await.unwrap().unwrap();
    assert_eq!(answer.json()["tasks"][0]["task"], "notes.read", "{}", answer.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newcomer_finds_no_place_where_all_work() {
    let server = Server::with(&[], |options| {
        options.connections_max = 2;
        options.waits_max = 1;
    })
    .await;
    let waiting = waiting_claim(&server, "t").await;
    let (mut first, mut second) = (connect(&server).await, connect(&server).await);
    assert!(ask(&mut second).await.is_ok(), "one of two works");
    assert!(ask(&mut first).await.is_err(), "it was the quieter one");
    waiting.abort();
    let server = Server::with(&[], |options| options.connections_max = 0).await;
    assert!(ask(&mut connect(&server).await).await.is_err());
}

#[tokio::test]
async fn a_token_has_so_many_connections_under_way() {
    let server = Server::with(&[], |options| options.connections_per_token_max = 0).await;
    assert_eq!(server.get("/v1/submissions").await.status, 200, "nobody needs a token here");
    let grants = [("busy", "worker"), ("calm", "admin")]
        .map(|(token, role)| Grant { token, rights: json!({ "subject": token, "role": role }) });
    let server = Server::with(&grants, |options| {
        options.connections_per_token_max = 1;
        options.waits_max = 1;
    })
    .await;
    let busy = |body: serde_json::Value| {
        Answer::of_try(server.with_json("POST", "/v1/tasks:claim", body).bearer_auth("busy"))
    };
    let claim = |wait: &str| json!({ "worker": "w", "tasks": ["notes.read"], "wait": wait });
    assert_eq!(busy(claim("0s")).await.unwrap().status, 200);
    assert_eq!(busy(claim("0s")).await.unwrap().status, 200, "one after the other is one");
    let list = |token: &str| Answer::of(server.request("GET", "/v1/submissions").bearer_auth(token));
    let waiting = busy(claim("60s"));
    let meanwhile = async {
        while list("busy").await.status != 503 {
            tokio::task::yield_now().await;
        }
        list("busy").await.problem(503, "overloaded");
        assert_eq!(list("calm").await.status, 200, "others have their own");
        let submit = server.with_json("POST", "/v1/pipelines/notes/submissions", json!({ "payload": {} }));
        assert_eq!(Answer::of(submit.bearer_auth("calm")).await.status, 201);
    };
    let (waited, ()) = tokio::join!(waiting, meanwhile);
    assert_eq!(waited.unwrap().status, 200);
    assert_eq!(list("busy").await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_tls_it_is_the_same() {
    let fixture = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls").join(name);
    let tls = Tls::load(&fixture("cert.pem"), &fixture("key.pem")).unwrap();
    let server = Server::with(&[], |options| {
        options.tls = Some(tls);
        options.connections_max = 3;
        options.write_within = SHORT;
    })
    .await;
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(fixture("ca.pem")).unwrap()).unwrap();
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(config));
    let name = || ServerName::try_from("localhost").unwrap();
    // Neither those who say nothing nor those who read nothing are in the way.
    let silent = [connect(&server).await, connect(&server).await, connect(&server).await];
    let mut deaf = connector.connect(name(), connect_from(&server, 1).await).await.unwrap();
    deaf.write_all(LARGE.repeat(500).as_bytes()).await.unwrap();
    cut(deaf.get_ref().0).await;
    let stream = TcpStream::connect(address(&server)).await.unwrap();
    let mut good = connector.connect(name(), stream).await.unwrap();
    good.write_all(format!("{READY}GET / HTTP/1.1\nHost: localhost\n\n").as_bytes()).await.unwrap();
    let answers = hear_all(&mut good).await;
    assert_eq!(Spoken::statuses(&answers), [200, 400], "{answers:?}");
    assert_eq!(answers[1].problem(), "invalid-request");
    drop(silent);
}
