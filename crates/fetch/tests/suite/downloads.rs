//! Bodies of any size, as they come, within the limits of one request.

use std::time::Duration;

use fetch::{Limits, Part, Request};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::mpsc;

use crate::support::{LIMITS, Server, dripping, fetch, ok, read, sent, serving};

fn get(port: u16) -> Request {
    Request::get(format!("http://files.example:{port}/f")).limits(LIMITS)
}

async fn answered(answer: &str) -> Result<Vec<u8>, &'static str> {
    let server = Server::answering(|_| answer.to_owned()).await;
    sent(&fetch(&[server.port]), get(server.port)).await.map(|(_, body)| body)
}

#[tokio::test]
async fn a_body_comes_in_pieces_whose_number_nobody_bounds_but_the_caller() {
    let port = serving(async |mut stream, _| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").await.unwrap();
        for _ in 0..200 {
            stream.write_all(&[b'x'; 64 << 10]).await.unwrap();
        }
    })
    .await;
    let limits = Limits { body_bytes_max: 200 * (64 << 10), ..LIMITS };
    let (head, mut body) = fetch(&[port]).send(get(port).limits(limits)).await.unwrap();
    assert_eq!((head.status, head.part, head.tls, body.bytes()), (200, None, None, None));
    let (mut bytes, mut largest) = (0, 0);
    while let Some(chunk) = body.chunk().await.unwrap() {
        bytes += chunk.len();
        largest = largest.max(chunk.len());
    }
    assert_eq!(bytes, 200 * (64 << 10));
    assert!(largest < 1 << 20, "{largest}");
    assert_eq!(body.chunk().await, Ok(None), "the end stays the end");
}

#[tokio::test]
async fn a_body_that_says_it_is_too_large_is_refused_before_it_is_read() {
    let port = serving(async |mut stream, _| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000001\r\n\r\n").await.unwrap();
        std::future::pending().await
    })
    .await;
    assert_eq!(fetch(&[port]).send(get(port)).await.unwrap_err().code(), "too-large");
}

#[tokio::test]
async fn a_body_that_does_not_say_it_is_too_large_ends_where_it_is() {
    for beginning in ["", "transfer-encoding: chunked\r\n"] {
        let port = serving(move |mut stream, _| async move {
            let head = format!("HTTP/1.1 200 OK\r\n{beginning}\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            let chunk = [b"3e8\r\n", "x".repeat(1_000).as_bytes(), b"\r\n"].concat();
            while stream.write_all(&chunk).await.is_ok() {}
        })
        .await;
        let (_, mut body) = fetch(&[port]).send(get(port)).await.unwrap();
        let (read, error) = read(&mut body).await;
        assert_eq!(error.unwrap().code(), "too-large", "{beginning}");
        assert!(read.len() <= 1_000_000, "{}", read.len());
    }
}

#[tokio::test]
async fn a_body_that_is_shorter_or_longer_than_it_said_is_an_error() {
    for (answer, expected) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc", Ok(&b"abc"[..])),
        ("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nabc", Err("closed")),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nabc", Err("overlong")),
        ("HTTP/1.1 204 No\r\ncontent-length: 3\r\n\r\nabc", Err("overlong")),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", Ok(b"abc")),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nd", Err("overlong")),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n", Err("closed")),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc", Err("closed")),
    ] {
        assert_eq!(answered(answer).await.as_deref().map_err(|code| *code), expected, "{answer:?}");
    }
}

#[tokio::test]
async fn lengths_that_can_be_read_in_two_ways_are_no_answer() {
    for lengths in [
        "content-length: 99999999999999999999999\r\n",
        "content-length: -1\r\n",
        "content-length: +3\r\n",
        "content-length: 0x3\r\n",
        "content-length: 3\r\ncontent-length: 4\r\n",
        "content-length: 3\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: gzip, chunked\r\n",
        "transfer-encoding: identity\r\n",
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\n{lengths}\r\n3\r\nabc\r\n0\r\n\r\n");
        assert_eq!(answered(&answer).await, Err("garbled"), "{lengths:?}");
    }
    let largest = "HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551615\r\n\r\nabc";
    assert!(answered(largest).await.is_err());
    let change = "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n";
    assert_eq!(answered(change).await, Err("garbled"));
}

#[tokio::test]
async fn interim_answers_are_passed_over_and_floods_of_them_are_not() {
    let few = format!("{}{}", "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n".repeat(3), ok("abc"));
    assert_eq!(answered(&few).await.as_deref(), Ok(&b"abc"[..]));
    let port = serving(
        async |mut stream, _| {
            while stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.is_ok() {}
        },
    )
    .await;
    assert_eq!(sent(&fetch(&[port]), get(port)).await.unwrap_err(), "head-too-large");
}

#[tokio::test]
async fn a_connection_on_which_nothing_comes_is_given_up_long_before_the_whole_is() {
    for beginning in ["", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"] {
        let port = dripping(beginning, None).await;
        let limits =
            Limits { idle: Duration::from_millis(300), within: Duration::from_secs(3_600), ..LIMITS };
        let sent = sent(&fetch(&[port]), get(port).limits(limits)).await;
        assert_eq!(sent.unwrap_err(), "timeout", "{beginning:?}");
    }
}

#[tokio::test]
async fn a_body_that_drips_for_ever_is_given_up_as_a_whole() {
    let port = dripping("HTTP/1.1 200 OK\r\n\r\n", Some("x")).await;
    let limits = Limits { within: Duration::from_millis(1_500), ..LIMITS };
    let (_, mut body) = fetch(&[port]).send(get(port).limits(limits)).await.unwrap();
    assert_eq!(read(&mut body).await.1.unwrap().code(), "timeout");
    assert_eq!(body.chunk().await, Ok(None), "an error is the last word");
}

#[tokio::test]
async fn a_body_that_never_pauses_is_given_up_as_a_whole() {
    let port = serving(async |mut stream, _| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        while stream.write_all(&[b'x'; 100_000]).await.is_ok() {}
    })
    .await;
    let limits = Limits { within: Duration::from_millis(500), body_bytes_max: u64::MAX, ..LIMITS };
    let (_, mut body) = fetch(&[port]).send(get(port).limits(limits)).await.unwrap();
    let error = loop {
        if let Some(error) = body.chunk().await.err() {
            break error;
        }
    };
    assert_eq!(error.code(), "timeout");
}

#[tokio::test]
async fn dropping_a_body_ends_its_connection() {
    let (ended, mut ends) = mpsc::unbounded_channel();
    let port = serving(move |mut stream, _| {
        let ended = ended.clone();
        async move {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            while stream.write_all(&[b'x'; 10_000]).await.is_ok() {}
            ended.send(()).unwrap();
        }
    })
    .await;
    let (_, mut body) = fetch(&[port]).send(get(port)).await.unwrap();
    assert!(body.chunk().await.unwrap().is_some());
    drop(body);
    ends.recv().await.unwrap();
}

#[tokio::test]
async fn a_head_is_asked_for_without_its_body() {
    let server = Server::answering(|_| {
        "HTTP/1.1 200 OK\r\ncontent-length: 5000000000\r\nx-a: 1\r\nx-a: 2\r\ncontent-encoding: gzip\r\n\r\n"
            .to_owned()
    })
    .await;
    let url = format!("http://files.example:{}/f", server.port);
    let (head, body) =
        sent(&fetch(&[server.port]), Request::head(format!("{url}#here")).limits(LIMITS)).await.unwrap();
    assert_eq!((head.status, head.content_length(), body.len()), (200, Some(5_000_000_000), 0));
    assert_eq!(head.headers.get_all("x-a").iter().collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(head.url, url);
    let request = &server.requests()[0];
    assert!(request.starts_with("HEAD /f HTTP/1.1\r\n") && !request.contains("content-length"), "{request}");
}

async fn part(answer: &str) -> Result<(Option<Part>, Vec<u8>), &'static str> {
    let server = Server::answering(|_| answer.to_owned()).await;
    let request = get(server.port).range(3, None);
    let sent = sent(&fetch(&[server.port]), request).await;
    assert!(server.requests()[0].contains("range: bytes=3-\r\n"), "{:?}", server.requests());
    sent.map(|(head, body)| (head.part, body))
}

#[tokio::test]
async fn a_download_goes_on_where_it_ended() {
    let rest = Part { first: 3, last: 5, total: Some(6) };
    let answer = "HTTP/1.1 206 Part\r\ncontent-range: bytes 3-5/6\r\ncontent-length: 3\r\n\r\ndef";
    assert_eq!(part(answer).await, Ok((Some(rest), b"def".to_vec())));
    let chunked = "HTTP/1.1 206 Part\r\ncontent-range: bytes 3-5/6\r\ntransfer-encoding: chunked\r\n\r\n\
                   3\r\ndef\r\n0\r\n\r\n";
    assert_eq!(part(chunked).await, Ok((Some(rest), b"def".to_vec())));
    assert_eq!(part(&ok("abcdef")).await, Ok((None, b"abcdef".to_vec())), "the whole, to begin anew");
    let none = "HTTP/1.1 416 No\r\ncontent-range: bytes */3\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(part(none).await, Ok((None, Vec::new())));
}

#[tokio::test]
async fn a_part_that_was_not_asked_for_or_is_not_what_it_says_is_refused() {
    for (answer, expected) in [
        ("content-range: bytes 2-5/6\r\ncontent-length: 4\r\n\r\ncdef", "other-part"),
        ("content-length: 3\r\n\r\ndef", "other-part"),
        ("content-type: multipart/byteranges; boundary=x\r\n\r\n--x", "other-part"),
        ("content-range: bytes 3-5/6\r\ncontent-length: 2\r\n\r\nde", "other-part"),
        ("content-range: bytes 3-5/6\r\n\r\nde", "closed"),
        ("content-range: bytes 3-5/6\r\n\r\ndefg", "overlong"),
        ("content-range: bytes 3-9000000/9000001\r\n\r\ndef", "too-large"),
    ] {
        let answer = format!("HTTP/1.1 206 Part\r\n{answer}");
        assert_eq!(part(&answer).await, Err(expected), "{answer:?}");
    }
    let unasked = "HTTP/1.1 206 Part\r\ncontent-range: bytes 3-5/6\r\ncontent-length: 3\r\n\r\ndef";
    assert_eq!(answered(unasked).await, Err("other-part"));
}

#[tokio::test]
async fn a_range_is_asked_for_by_its_own_name_alone() {
    let server = Server::answering(|_| ok("abc")).await;
    let range = fetch::HeaderValue::from_static("bytes=1-");
    let request = get(server.port).header(fetch::header::RANGE, range);
    sent(&fetch(&[server.port]), request).await.unwrap();
    assert!(!server.requests()[0].contains("range"), "{:?}", server.requests());
}
