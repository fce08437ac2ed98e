//! The proxy on loopback: who may use it, where it leads, and how much goes through it.

use std::net::SocketAddr;
use std::time::Duration;

use fetch::proxy::{Limits, Proxy};
use fetch::{Fetch, Policy};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::support::{HERE, NEXT_DOOR, Names, Server, basic, fetch, ok, policy, serving};

const LIMITS: Limits = Limits {
    within: Duration::from_secs(60),
    idle: Duration::from_secs(60),
    bytes_max: 1_000_000,
    connections_max: 4,
};

async fn started(fetch: &Fetch) -> Proxy {
    Proxy::start(fetch, LIMITS).await.unwrap()
}

/// Returns the address that a proxy listens on.
fn place(proxy: &Proxy) -> SocketAddr {
    proxy.url().expose().rsplit('@').next().unwrap().parse().unwrap()
}

/// The header that shows the secret.
fn secret(proxy: &Proxy) -> String {
    let url = proxy.url();
    let told = url.expose().strip_prefix("http://").unwrap().split('@').next().unwrap();
    format!("proxy-authorization: Basic {}\r\n", basic(told))
}

/// Sends these bytes and returns what came until the connection ended.
async fn said(proxy: &Proxy, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(place(proxy)).await.unwrap();
    let _ = stream.write_all(bytes).await;
    let mut read = Vec::new();
    let _ = stream.read_to_end(&mut read).await;
    String::from_utf8_lossy(&read).into_owned()
}

async fn asked(proxy: &Proxy, line: &str) -> String {
    let request = format!("{line} HTTP/1.1\r\nhost: x\r\n{}connection: close\r\n\r\n", secret(proxy));
    said(proxy, request.as_bytes()).await
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or(answer)
}

/// A tunnel to a port of a name that resolves to this machine.
async fn tunnel(proxy: &Proxy, port: u16) -> TcpStream {
    let mut stream = TcpStream::connect(place(proxy)).await.unwrap();
    let request = format!("CONNECT a.example:{port} HTTP/1.1\r\nhost: a.example\r\n{}\r\n", secret(proxy));
    stream.write_all(request.as_bytes()).await.unwrap();
    let head = crate::support::head(&mut stream).await;
    assert_eq!(head, format!("HTTP/1.1 200 OK\r\n{}\r\n", date(&head)));
    stream
}

fn date(head: &str) -> String {
    head.lines().find(|line| line.starts_with("date:")).map(|line| format!("{line}\r\n")).unwrap_or_default()
}

/// A server that sends back what it gets.
async fn echoing() -> u16 {
    let listener = TcpListener::bind((HERE, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let (mut read, mut write) = stream.split();
                tokio::io::copy(&mut read, &mut write).await
            });
        }
    });
    port
}

async fn echoed(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    stream.write_all(bytes).await?;
    let mut read = vec![0; bytes.len()];
    stream.read_exact(&mut read).await?;
    Ok(read)
}

#[tokio::test]
async fn a_tunnel_carries_bytes_both_ways_to_the_address_that_was_checked() {
    let port = echoing().await;
    let names = Names::of(&[&[HERE], &[NEXT_DOOR]]);
    let proxy = started(&Fetch::with_resolver(policy(&[port]), names.clone())).await;
    let mut stream = tunnel(&proxy, port).await;
    assert_eq!(echoed(&mut stream, b"hello").await.unwrap(), b"hello");
    stream.shutdown().await.unwrap();
    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0, "an end is passed on");
    assert_eq!(names.asked.load(std::sync::atomic::Ordering::SeqCst), 1);
    assert_eq!(proxy.failures(), []);
}

#[tokio::test]
async fn nobody_without_the_secret_gets_anywhere() {
    let server = Server::answering(|_| ok("secret")).await;
    let names = Names::of(&[&[HERE]]);
    let proxy = started(&Fetch::with_resolver(policy(&[server.port]), names.clone())).await;
    for line in [
        format!("CONNECT a.example:{}", server.port),
        format!("GET http://a.example:{}/", server.port),
        "GET /".to_owned(),
    ] {
        for wrong in ["", "proxy-authorization: Basic bWlsZXBvc3Q6\r\n", "authorization: Basic eDp5\r\n"] {
            let answer = said(&proxy, format!("{line} HTTP/1.1\r\nhost: x\r\n{wrong}\r\n").as_bytes()).await;
            assert_eq!(status(&answer), "407", "{line}");
            assert!(answer.contains("proxy-authenticate: Basic realm="), "{answer}");
        }
    }
    assert!(server.requests().is_empty() && proxy.failures().is_empty());
    assert_eq!(names.asked.load(std::sync::atomic::Ordering::SeqCst), 0, "not even a name is looked up");
}

#[tokio::test]
async fn what_the_policy_refuses_is_refused_and_remembered() {
    let server = Server::answering(|_| ok("private")).await;
    let strict = Policy { allowed: Vec::new(), ..policy(&[server.port]) };
    let proxy = started(&Fetch::with_resolver(strict, Names::of(&[&[HERE]]))).await;
    let port = server.port;
    for (line, host, code) in [
        (format!("CONNECT rebound.example:{port}"), "rebound.example", "refused-address"),
        (format!("CONNECT 127.0.0.1:{port}"), "127.0.0.1", "refused-address"),
        (format!("CONNECT 0x7f.1:{port}"), "0x7f.1", "refused-address"),
        (format!("CONNECT [::1]:{port}"), "[::1]", "refused-address"),
        (format!("CONNECT [::ffff:127.0.0.2]:{port}"), "[::ffff:127.0.0.2]", "refused-address"),
        ("CONNECT a.example:22".to_owned(), "a.example", "refused-port"),
        (format!("GET http://plain.example:{port}/"), "plain.example", "refused-address"),
        ("POST http://b.example:25/".to_owned(), "b.example", "refused-port"),
    ] {
        let answer = asked(&proxy, &line).await;
        assert_eq!(status(&answer), "403", "{line}");
        let failure = proxy.failures().last().cloned().unwrap();
        assert_eq!((failure.host.as_str(), failure.error.code()), (host, code), "{line}");
        assert!(answer.ends_with(&format!("{}\n", failure.error)), "{answer}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn plain_http_is_passed_on_only_where_the_policy_has_it() {
    let server = Server::answering(|_| ok("plain")).await;
    let only_tls = Policy { http: false, ..policy(&[server.port]) };
    let proxy = started(&Fetch::with_resolver(only_tls, Names::of(&[&[HERE]]))).await;
    assert_eq!(status(&asked(&proxy, &format!("GET http://a.example:{}/", server.port)).await), "403");
    assert_eq!(proxy.failures()[0].error.code(), "refused-scheme");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_request_in_full_is_made_again_without_what_was_said_to_the_proxy() {
    let (seen, mut requests) = mpsc::unbounded_channel();
    let port = serving(move |mut stream, head| {
        let seen = seen.clone();
        async move {
            let mut body = Vec::new();
            while !body.ends_with(b"0\r\n\r\n") && stream.read_buf(&mut body).await.unwrap() > 0 {}
            seen.send(head).unwrap();
            let answer = "HTTP/1.1 200 OK\r\nx-hop: a\r\nconnection: x-hop, close\r\nkeep-alive: 5\r\nx-kept: b\r\n\r\nabc";
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    })
    .await;
    let proxy = started(&fetch(&[port])).await;
    let request = format!(
        "POST http://a.example:{}/a?b=c HTTP/1.1\r\nhost: evil.example\r\n{}connection: x-one, close\r\n\
         x-one: 1\r\nauthorization: Basic eDp5\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        port,
        secret(&proxy)
    );
    let answer = said(&proxy, request.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("x-kept: b\r\n"), "{answer}");
    assert!(!answer.contains("x-hop") && !answer.contains("keep-alive: 5"), "{answer}");
    assert!(answer.ends_with("3\r\nabc\r\n0\r\n\r\n"), "{answer}");
    let sent = requests.recv().await.unwrap();
    assert!(sent.starts_with("POST /a?b=c HTTP/1.1\r\n"), "{sent}");
    assert!(sent.contains(&format!("host: a.example:{port}\r\n")), "{sent}");
    assert!(sent.contains("authorization: Basic eDp5\r\n") && sent.contains("chunked"), "{sent}");
    assert!(!sent.contains("proxy-") && !sent.contains("x-one") && !sent.contains("evil"), "{sent}");
}

#[tokio::test]
async fn redirects_are_the_programs_to_follow() {
    let server = Server::answering(|_| {
        "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.2/\r\ncontent-length: 0\r\n\r\n".to_owned()
    })
    .await;
    let proxy = started(&fetch(&[server.port])).await;
    let answer = asked(&proxy, &format!("HEAD http://a.example:{}/", server.port)).await;
    assert!(answer.contains("location: http://127.0.0.2/\r\n"), "{answer}");
    assert_eq!((status(&answer), server.requests().len()), ("302", 1));
}

#[tokio::test]
async fn what_no_proxy_takes_is_refused() {
    let proxy = started(&fetch(&[80, 443])).await;
    for (line, expected) in [
        ("GET /", "400"),
        ("GET https://a.example/", "400"),
        ("GET ftp://a.example/", "400"),
        ("CONNECT a.example", "400"),
        ("CONNECT a.example:", "400"),
        ("CONNECT a.example:99999", "400"),
        ("CONNECT user@a.example:443", "400"),
        ("CONNECT http://a.example:443/", "400"),
        ("CONNECT /", "400"),
        ("CONNECT exa_mple%00:443", "400"),
        ("GET http://user:pass@a.example/", "400"),
        ("DELETE http://a.example/", "405"),
        ("OPTIONS *", "400"),
    ] {
        let answer = asked(&proxy, line).await;
        assert_eq!(status(&answer), expected, "{line}: {answer}");
    }
    for (bytes, expected) in [
        (&b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n"[..], "400"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ""),
        (b"\x05\x01\x00\r\n\r\n", "400"),
        (b"GET http://a.example/ HTTP/1.1\r\nhost : x\r\n\r\n", "400"),
        (b"CONNECT a.example:443 HTTP/1.1\r\nhost: x\nx\r\n\r\n", "400"),
    ] {
        let answer = said(&proxy, bytes).await;
        assert_eq!(status(&answer), expected, "{:?}: {answer}", String::from_utf8_lossy(bytes));
    }
    let endless = format!("GET http://a.example/ HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(100_000));
    assert!(["431", ""].contains(&status(&said(&proxy, endless.as_bytes()).await)));
    let many = format!("GET http://a.example/ HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(200));
    assert_eq!(status(&said(&proxy, many.as_bytes()).await), "431");
}

#[tokio::test]
async fn a_host_that_cannot_be_reached_is_told_with_its_reason() {
    let port = TcpListener::bind((HERE, 0)).await.unwrap().local_addr().unwrap().port();
    let proxy = started(&fetch(&[port])).await;
    assert_eq!(status(&asked(&proxy, &format!("CONNECT closed.example:{port}")).await), "502");
    let unknown = started(&Fetch::with_resolver(policy(&[443]), Names::default())).await;
    assert_eq!(status(&asked(&unknown, "CONNECT nowhere.example:443").await), "502");
    let told = |proxy: &Proxy| (proxy.failures()[0].host.clone(), proxy.failures()[0].error.code());
    assert_eq!(told(&proxy), ("closed.example".to_owned(), "connect"));
    assert_eq!(told(&unknown), ("nowhere.example".to_owned(), "dns"));
}

#[tokio::test]
async fn failures_are_remembered_up_to_a_number() {
    let proxy = started(&Fetch::with_resolver(policy(&[443]), Names::default())).await;
    for number in 0..20 {
        asked(&proxy, &format!("CONNECT a{number}.example:443")).await;
        asked(&proxy, "CONNECT a0.example:443").await;
    }
    let hosts: Vec<String> = proxy.failures().into_iter().map(|failure| failure.host).collect();
    assert_eq!((hosts.len(), hosts[0].as_str(), hosts[1].as_str()), (16, "a0.example", "a1.example"));
}

#[tokio::test]
async fn bytes_of_all_connections_are_bounded_together() {
    let port = echoing().await;
    let limits = Limits { bytes_max: 20_000, ..LIMITS };
    let proxy = Proxy::start(&fetch(&[port]), limits).await.unwrap();
    let (mut first, mut second) = (tunnel(&proxy, port).await, tunnel(&proxy, port).await);
    assert!(echoed(&mut first, &[0; 4_500]).await.is_ok());
    assert!(echoed(&mut second, &[0; 4_500]).await.is_ok());
    assert!(echoed(&mut first, &[0; 4_500]).await.is_err(), "9,000 and the heads are left of 20,000");
    let failure = proxy.failures().remove(0);
    assert_eq!((failure.host.as_str(), failure.error.code()), ("a.example", "too-large"));
}

#[tokio::test]
async fn an_answer_over_the_bound_is_cut_off_and_remembered() {
    let server = Server::answering(|_| format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(100_000))).await;
    let limits = Limits { bytes_max: 20_000, ..LIMITS };
    let proxy = Proxy::start(&fetch(&[server.port]), limits).await.unwrap();
    let answer = asked(&proxy, &format!("GET http://a.example:{}/", server.port)).await;
    assert!(answer.len() < 30_000 && !answer.ends_with("0\r\n\r\n"), "{}", answer.len());
    assert_eq!(proxy.failures()[0].error.code(), "too-large");
}

#[tokio::test]
async fn a_tunnel_on_which_nothing_moves_is_closed() {
    let port = serving(async |_, _| std::future::pending().await).await;
    let limits = Limits { idle: Duration::from_millis(300), ..LIMITS };
    let proxy = Proxy::start(&fetch(&[port]), limits).await.unwrap();
    let mut stream = tunnel(&proxy, port).await;
    assert_eq!(stream.read(&mut [0]).await.unwrap_or(0), 0);
    assert_eq!(proxy.failures()[0].error.code(), "timeout");
    let answer = asked(&proxy, &format!("GET http://slow.example:{port}/")).await;
    assert_eq!(status(&answer), "502", "there is somebody left to be told");
}

#[tokio::test]
async fn a_tunnel_of_which_one_side_has_ended_is_closed_when_the_other_is_silent() {
    let limits = Limits { idle: Duration::from_millis(300), ..LIMITS };
    let silent = serving(async |_stream, _| std::future::pending().await).await;
    let proxy = Proxy::start(&fetch(&[silent]), limits).await.unwrap();
    let mut stream = tunnel(&proxy, silent).await;
    stream.shutdown().await.unwrap();
    assert_eq!(stream.read(&mut [0]).await.unwrap_or(0), 0);
    assert_eq!(proxy.failures()[0].error.code(), "timeout");

    let listener = TcpListener::bind((HERE, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let proxy = Proxy::start(&fetch(&[port]), limits).await.unwrap();
    let mut stream = tunnel(&proxy, port).await;
    let (mut server, _) = listener.accept().await.unwrap();
    server.shutdown().await.unwrap();
    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
    assert_eq!(server.read(&mut [0]).await.unwrap_or(0), 0, "it hears of the end");
    assert_eq!(proxy.failures()[0].error.code(), "timeout");
}

#[tokio::test]
async fn a_program_that_does_not_read_is_given_up_when_the_time_is_over() {
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
    let limits = Limits { within: Duration::from_secs(1), bytes_max: u64::MAX, ..LIMITS };
    let proxy = Proxy::start(&fetch(&[port]), limits).await.unwrap();
    let mut stream = TcpStream::connect(place(&proxy)).await.unwrap();
    let request = format!("GET http://a.example:{port}/ HTTP/1.1\r\nhost: x\r\n{}\r\n", secret(&proxy));
    stream.write_all(request.as_bytes()).await.unwrap();
    ends.recv().await.unwrap();
}

#[tokio::test]
async fn when_its_time_is_over_the_proxy_ends_with_all_its_tunnels() {
    let port = echoing().await;
    let limits = Limits { within: Duration::from_millis(1_500), ..LIMITS };
    let proxy = Proxy::start(&fetch(&[port]), limits).await.unwrap();
    let mut stream = tunnel(&proxy, port).await;
    assert_eq!(stream.read(&mut [0]).await.unwrap_or(0), 0);
    assert_eq!(proxy.failures()[0].error.code(), "timeout");
    while TcpStream::connect(place(&proxy)).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn dropping_the_guard_ends_the_proxy_with_all_its_tunnels() {
    let port = echoing().await;
    let proxy = started(&fetch(&[port])).await;
    let mut stream = tunnel(&proxy, port).await;
    assert_eq!(echoed(&mut stream, b"hello").await.unwrap(), b"hello");
    let place = place(&proxy);
    drop(proxy);
    assert_eq!(stream.read(&mut [0]).await.unwrap_or(0), 0);
    while TcpStream::connect(place).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn one_connection_too_many_is_refused_until_another_ends() {
    let port = echoing().await;
    let limits = Limits { connections_max: 2, ..LIMITS };
    let proxy = Proxy::start(&fetch(&[port]), limits).await.unwrap();
    let first = tunnel(&proxy, port).await;
    let _second = tunnel(&proxy, port).await;
    let line = format!("CONNECT a.example:{port}");
    assert_eq!(status(&asked(&proxy, &line).await), "503");
    drop(first);
    let again = format!("{line} HTTP/1.1\r\nhost: x\r\n{}\r\n", secret(&proxy));
    loop {
        let mut stream = TcpStream::connect(place(&proxy)).await.unwrap();
        stream.write_all(again.as_bytes()).await.unwrap();
        if crate::support::head(&mut stream).await.starts_with("HTTP/1.1 200") {
            break;
        }
    }
}

#[tokio::test]
async fn strangers_take_no_place_of_those_who_know_the_secret() {
    let port = echoing().await;
    let limits = Limits { connections_max: 1, ..LIMITS };
    let proxy = Proxy::start(&fetch(&[port]), limits).await.unwrap();
    let mut strangers = Vec::new();
    for _ in 0..8 {
        strangers.push(TcpStream::connect(place(&proxy)).await.unwrap());
    }
    let mut stream = tunnel(&proxy, port).await;
    assert_eq!(echoed(&mut stream, b"hello").await.unwrap(), b"hello");
}

#[tokio::test]
async fn only_this_machine_reaches_the_proxy_and_no_text_shows_its_secret() {
    let proxy = started(&fetch(&[80])).await;
    assert_eq!(place(&proxy).ip(), HERE);
    let url = proxy.url();
    let secret = url.expose().split(':').nth(2).unwrap().split('@').next().unwrap();
    assert_eq!(secret.len(), 64);
    assert!(!format!("{proxy:?} {url:?}").contains(secret));
    assert_ne!(started(&fetch(&[80])).await.url().expose().split('@').next(), url.expose().split('@').next());
}
