//! Bodies of requests: of known and of unknown length, from memory and from elsewhere.

use std::io;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use fetch::{Limits, Request, Upload};
use futures_util::stream;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{LIMITS, fetch, ok, sent, serving};

/// Heads and bodies that have come.
type Kept = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// A server that keeps heads and as much of each body as has come when it ends with these bytes.
async fn keeping(end: &'static [u8]) -> (u16, Kept) {
    let kept = Kept::default();
    let keeps = kept.clone();
    let port = serving(move |mut stream, head| {
        let keeps = keeps.clone();
        async move {
            let mut body = Vec::new();
            while !body.ends_with(end) && stream.read_buf(&mut body).await.unwrap_or(0) > 0 {}
            keeps.lock().unwrap().push((head, body));
            let _ = stream.write_all(ok("kept").as_bytes()).await;
        }
    })
    .await;
    (port, kept)
}

fn put(port: u16, upload: impl Into<Upload>) -> Request {
    Request::put(format!("http://store.example:{port}/o"), upload).limits(LIMITS)
}

fn chunks(chunks: &[&'static str]) -> impl futures_util::Stream<Item = io::Result<Bytes>> + Send + 'static {
    stream::iter(chunks.iter().map(|chunk| Ok(Bytes::from_static(chunk.as_bytes()))).collect::<Vec<_>>())
}

#[tokio::test]
async fn a_body_of_known_length_is_sent_with_that() {
    let (port, kept) = keeping(b"end").await;
    let large = [vec![b'x'; 3_000_000], b"end".to_vec()].concat();
    for upload in [
        Upload::from(large.clone()),
        Upload::reader(Some(3_000_003), io::Cursor::new(large.clone())),
        Upload::stream(Some(3_000_003), stream::iter([Ok(Bytes::from(large.clone()))])),
    ] {
        let (head, body) = sent(&fetch(&[port]), put(port, upload)).await.unwrap();
        assert_eq!((head.status, body), (200, b"kept".to_vec()));
        let (head, body) = kept.lock().unwrap().remove(0);
        assert!(head.starts_with("PUT /o HTTP/1.1\r\n"), "{head}");
        assert!(
            head.contains("content-length: 3000003\r\n") && !head.contains("transfer-encoding"),
            "{head}"
        );
        assert!(body == large);
    }
}

#[tokio::test]
async fn a_body_of_unknown_length_is_sent_in_chunks() {
    let (port, kept) = keeping(b"0\r\n\r\n").await;
    let upload = Upload::stream(None, chunks(&["abc", "defg"]));
    sent(&fetch(&[port]), put(port, upload)).await.unwrap();
    let (head, body) = kept.lock().unwrap().remove(0);
    assert!(head.contains("transfer-encoding: chunked\r\n") && !head.contains("content-length"), "{head}");
    assert_eq!(body, b"3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n");
}

#[tokio::test]
async fn a_body_that_is_not_as_long_as_promised_fails() {
    let (port, kept) = keeping(b"never").await;
    for chunks in [chunks(&["abc"]), chunks(&["abc", "de"])] {
        let upload = Upload::stream(Some(4), chunks);
        assert_eq!(sent(&fetch(&[port]), put(port, upload)).await.unwrap_err(), "upload");
    }
    let unreadable = Upload::stream(None, stream::iter([Err(io::ErrorKind::PermissionDenied.into())]));
    let error = fetch(&[port]).send(put(port, unreadable)).await.unwrap_err();
    assert_eq!(error.to_string(), "what was to be sent cannot be read: permission denied");
    assert!(kept.lock().unwrap().iter().all(|(_, body)| body.len() <= 4), "no more than promised");
}

#[tokio::test]
async fn a_source_that_stops_is_given_up() {
    let (port, _kept) = keeping(b"never").await;
    let limits = Limits { idle: std::time::Duration::from_millis(300), ..LIMITS };
    let upload = Upload::stream(None, stream::pending());
    assert_eq!(sent(&fetch(&[port]), put(port, upload).limits(limits)).await.unwrap_err(), "timeout");
}

#[tokio::test]
async fn an_answer_counts_though_not_everything_was_sent() {
    let port = serving(async |mut stream, _| {
        let refusal = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno";
        stream.write_all(refusal).await.unwrap();
        std::future::pending().await
    })
    .await;
    let upload = Upload::stream(Some(1 << 40), stream::repeat_with(|| Ok(Bytes::from_static(&[0; 65_536]))));
    let (head, _body) = fetch(&[port]).send(put(port, upload)).await.unwrap();
    assert_eq!(head.status, 403);
}

#[tokio::test]
async fn no_header_of_the_caller_changes_how_a_request_is_framed() {
    let (port, kept) = keeping(b"abc").await;
    let mut request = put(port, "abc");
    for (name, value) in [
        ("transfer-encoding", "chunked"),
        ("content-length", "999"),
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("expect", "100-continue"),
        ("te", "trailers"),
        ("host", "evil.example"),
        ("proxy-authorization", "Basic eA=="),
    ] {
        let name: fetch::HeaderName = name.parse().unwrap();
        request = request.header(name, fetch::HeaderValue::from_static(value));
    }
    sent(&fetch(&[port]), request).await.unwrap();
    let (head, _) = kept.lock().unwrap().remove(0);
    let mut lines: Vec<&str> = head.lines().skip(1).filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    let host = format!("host: store.example:{port}");
    assert_eq!(lines, ["accept-encoding: identity", "connection: close", "content-length: 3", &host]);
}

#[test]
fn no_text_of_a_request_shows_its_path_or_headers() {
    let secret = fetch::HeaderValue::from_static("hunter2");
    let request = Request::put("https://store.example/hunter2?hunter2", "hunter2");
    let shown = format!("{:?}", request.header(fetch::header::AUTHORIZATION, secret));
    assert_eq!(shown, "Request(PUT, \"store.example\", Upload { bytes: Some(7), .. })");
}
