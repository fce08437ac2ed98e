//! Names and servers that the tests make up, on loopback.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fetch::{Body, Error, Fetch, Head, HeaderMap, Limits, Policy, Request, Resolve, Resolving};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

pub(crate) const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
pub(crate) const NEXT_DOOR: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// Answers every name with the next of these, and then with the last for ever.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    pub(crate) answers: Arc<Mutex<Vec<Vec<IpAddr>>>>,
    pub(crate) asked: Arc<AtomicUsize>,
}

impl Names {
    pub(crate) fn of(answers: &[&[IpAddr]]) -> Names {
        let answers = answers.iter().map(|answer| answer.to_vec()).collect();
        Names { answers: Arc::new(Mutex::new(answers)), asked: Arc::default() }
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        let answers = self.answers.lock().unwrap();
        let answer = answers.get(asked).or(answers.last()).cloned();
        Box::pin(async move { answer.ok_or_else(|| io::Error::other("no such name")) })
    }
}

/// A server that reads a request's head and answers each with these bytes.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) async fn answering(answer: impl Fn(u16) -> String) -> Server {
        let listener = TcpListener::bind((HERE, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        Server::on(listener, answer(port).into_bytes())
    }

    pub(crate) fn on(listener: TcpListener, answer: Vec<u8>) -> Server {
        let port = listener.local_addr().unwrap().port();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = requests.clone();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let head = head(&mut stream).await;
                seen.lock().unwrap().push(head);
                let _ = stream.write_all(&answer).await;
            }
        });
        Server { port, requests }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

pub(crate) async fn head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).await.unwrap_or(0) == 0 {
            break;
        }
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

pub(crate) fn policy(ports: &[u16]) -> Policy {
    Policy {
        ports: ports.to_vec(),
        allowed: vec!["127.0.0.1".parse().unwrap()],
        within: Duration::from_secs(60),
        body_bytes_max: 1_000,
        ..Policy::default()
    }
}

pub(crate) fn fetch(ports: &[u16]) -> Fetch {
    Fetch::with_resolver(policy(ports), Names::of(&[&[HERE]]))
}

pub(crate) async fn code(fetch: &Fetch, url: &str) -> &'static str {
    fetch.get(url, HeaderMap::new()).await.unwrap_err().code()
}

pub(crate) fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// Answers with a beginning, and then a byte of its second part whenever that is read.
pub(crate) async fn dripping(beginning: &'static str, drop: Option<&'static str>) -> u16 {
    let listener = TcpListener::bind((HERE, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(beginning.as_bytes()).await.unwrap();
        let mut pace = tokio::time::interval(Duration::from_millis(100));
        loop {
            pace.tick().await;
            if let Some(drop) = drop
                && stream.write_all(drop.as_bytes()).await.is_err()
            {
                return;
            }
        }
    });
    port
}

/// Certificates for `localhost`, made for the tests of the server.
pub(crate) fn pem(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/tests/tls/");
    std::fs::read(format!("{folder}{name}")).unwrap()
}

/// A server that does with each connection what the test says, once the request's head has come.
pub(crate) async fn serving<F>(serve: impl Fn(TcpStream, String) -> F + Send + 'static) -> u16
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind((HERE, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let head = head(&mut stream).await;
            tokio::spawn(serve(stream, head));
        }
    });
    port
}

pub(crate) const LIMITS: Limits =
    Limits { within: Duration::from_secs(60), idle: Duration::from_secs(60), body_bytes_max: 1_000_000 };

/// Reads a body to its end or its error.
pub(crate) async fn read(body: &mut Body) -> (Vec<u8>, Option<Error>) {
    let mut read = Vec::new();
    loop {
        match body.chunk().await {
            Ok(Some(bytes)) => read.extend_from_slice(&bytes),
            Ok(None) => return (read, None),
            Err(error) => return (read, Some(error)),
        }
    }
}

/// Makes a request and reads its answer; the code of the error that it ended with.
pub(crate) async fn sent(fetch: &Fetch, request: Request) -> Result<(Head, Vec<u8>), &'static str> {
    let (head, mut body) = fetch.send(request).await.map_err(|error| error.code())?;
    match read(&mut body).await {
        (read, None) => Ok((head, read)),
        (_, Some(error)) => Err(error.code()),
    }
}

/// Base64 as in `Basic`.
pub(crate) fn basic(text: &str) -> String {
    base64::Engine::encode(&base64::prelude::BASE64_STANDARD, text)
}
