//! Real connections, to servers that behave as badly as they like.

use std::sync::atomic::Ordering;
use std::time::Duration;

use fetch::{Fetch, HeaderMap, HeaderValue, Policy, header};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use crate::support::{HERE, NEXT_DOOR, Names, Server, code, dripping, fetch, head, ok, policy};

#[tokio::test]
async fn a_request_is_framed_by_us_and_its_answer_read() {
    let server = Server::answering(|_| ok("hello")).await;
    let mut headers = HeaderMap::new();
    headers.insert("webhook-id", HeaderValue::from_static("m1"));
    headers.insert(header::HOST, HeaderValue::from_static("evil.example"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static("999"));
    let url = format!("http://hooks.example:{}/a%20b?c=d#e", server.port);
    let answer = fetch(&[server.port]).post(&url, headers, "{}").await.unwrap();
    assert_eq!((answer.status, answer.body.as_slice(), answer.is_cut), (200, &b"hello"[..], false));
    let request = &server.requests()[0];
    assert!(request.starts_with("POST /a%20b?c=d HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("host: hooks.example:{}\r\n", server.port)), "{request}");
    assert!(request.contains("content-length: 2\r\n") && request.contains("webhook-id: m1\r\n"), "{request}");
    assert!(!request.contains("evil") && !request.contains("999"), "{request}");
}

#[tokio::test]
async fn a_name_with_one_private_address_is_refused() {
    let server = Server::answering(|_| ok("secret")).await;
    let url = format!("http://rebound.example:{}/", server.port);
    for addresses in [vec![NEXT_DOOR], vec![HERE, NEXT_DOOR], vec![HERE, "::ffff:127.0.0.3".parse().unwrap()]]
    {
        let fetch = Fetch::with_resolver(policy(&[server.port]), Names::of(&[&addresses]));
        assert_eq!(code(&fetch, &url).await, "refused-address", "{addresses:?}");
    }
    let strict = Policy { allowed: Vec::new(), ..policy(&[server.port]) };
    let fetch = Fetch::with_resolver(strict, Names::of(&[&[HERE]]));
    assert_eq!(code(&fetch, &url).await, "refused-address");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_name_is_asked_for_once_and_the_connection_goes_to_what_was_checked() {
    let server = Server::answering(|_| ok("checked")).await;
    let other = TcpListener::bind((NEXT_DOOR, server.port)).await.unwrap();
    let other = Server::on(other, ok("rebound").into_bytes());
    let names = Names::of(&[&[HERE], &[NEXT_DOOR]]);
    let fetch = Fetch::with_resolver(policy(&[server.port]), names.clone());
    let url = format!("http://rebound.example:{}/", server.port);
    let answer = fetch.get(&url, HeaderMap::new()).await.unwrap();
    assert_eq!(answer.body, b"checked");
    assert_eq!(names.asked.load(Ordering::SeqCst), 1);
    assert_eq!(code(&fetch, &url).await, "refused-address", "the second answer is another request's");
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn unknown_names_and_closed_ports_are_told_apart() {
    let nobody = Fetch::with_resolver(policy(&[80]), Names::default());
    assert_eq!(code(&nobody, "http://nowhere.example/").await, "dns");
    let nothing = Fetch::with_resolver(policy(&[80]), Names::of(&[&[]]));
    assert_eq!(code(&nothing, "http://nowhere.example/").await, "dns");
    let port = TcpListener::bind((HERE, 0)).await.unwrap().local_addr().unwrap().port();
    assert_eq!(code(&fetch(&[port]), &format!("http://closed.example:{port}/")).await, "connect");
}

#[tokio::test]
async fn answers_without_end_are_cut_off() {
    let long = Server::answering(|_| ok(&"x".repeat(1_000_000))).await;
    let answer =
        fetch(&[long.port]).get(&format!("http://a.example:{}/", long.port), HeaderMap::new()).await.unwrap();
    assert_eq!((answer.body.len(), answer.is_cut), (1_000, true));
    let listener = TcpListener::bind((HERE, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        head(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-encoding: gzip\r\n\r\n")
            .await
            .unwrap();
        while stream.write_all(b"5\r\naaaaa\r\n").await.is_ok() {}
    });
    let answer = fetch(&[port]).get(&format!("http://a.example:{port}/"), HeaderMap::new()).await.unwrap();
    assert_eq!((answer.body, answer.is_cut), (vec![b'a'; 1_000], true));
    let wide = Server::answering(|_| format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(200_000))).await;
    assert_eq!(
        code(&fetch(&[wide.port]), &format!("http://a.example:{}/", wide.port)).await,
        "head-too-large"
    );
    let many = Server::answering(|_| format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(500))).await;
    assert_eq!(
        code(&fetch(&[many.port]), &format!("http://a.example:{}/", many.port)).await,
        "head-too-large"
    );
}

#[tokio::test]
async fn slow_answers_are_given_up_as_a_whole() {
    for (beginning, drop) in [
        ("", None),
        ("HTTP/1.1 200 OK\r\nx: ", Some("y")),
        ("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n", Some("z")),
        ("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n", None),
        ("", Some("HTTP/1.1 102 Processing\r\n\r\n")),
    ] {
        let port = dripping(beginning, drop).await;
        let impatient = Policy { within: Duration::from_millis(1_500), ..policy(&[port]) };
        let fetch = Fetch::with_resolver(impatient, Names::of(&[&[HERE]]));
        assert_eq!(code(&fetch, &format!("http://slow.example:{port}/")).await, "timeout", "{beginning:?}");
    }
}

#[tokio::test]
async fn a_status_counts_without_its_body_where_that_is_all_that_matters() {
    let hanging = dripping("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\nabc", None).await;
    let closing = Server::answering(|_| "HTTP/1.1 201 OK\r\ncontent-length: 10\r\n\r\nabc".to_owned()).await;
    for (port, status) in [(hanging, 200), (closing.port, 201)] {
        let policy = Policy { body_within: Some(Duration::from_secs(2)), ..policy(&[port]) };
        let fetch = Fetch::with_resolver(policy, Names::of(&[&[HERE]]));
        let url = format!("http://slow.example:{port}/");
        let answer = fetch.post(&url, HeaderMap::new(), "{}").await.unwrap();
        assert_eq!((answer.status, answer.body.as_slice(), answer.is_cut), (status, &b"abc"[..], true));
    }
}

#[tokio::test]
async fn what_is_no_answer_is_told_from_none() {
    for (answer, expected) in [
        ("", "closed"),
        ("HTTP/1.1 200 OK\r\n", "closed"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc", "closed"),
        ("220 mail.example ESMTP\r\n\r\n", "garbled"),
        ("\u{0}\u{1}\u{2}garbage\r\n\r\n", "garbled"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "closed"),
    ] {
        let server = Server::answering(|_| answer.to_owned()).await;
        let code = code(&fetch(&[server.port]), &format!("http://bad.example:{}/", server.port)).await;
        assert_eq!(code, expected, "{answer:?}");
    }
}
