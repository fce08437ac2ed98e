//! Somebody who receives webhooks, well or badly.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use client::webhooks::{HeaderMap, Unverified, Verified, verify};
use reqwest::header::{HeaderName, HeaderValue};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The receiver's reaction to a request it has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    Answers(u16),
    Hangs,
    Babbles,
    Closes,
}

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) mood: Mood,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[expect(clippy::disallowed_methods, reason = "a receiver of webhooks has a clock of its own")]
    pub(crate) fn verified(&self, secrets: &[&str]) -> Result<Verified, Unverified> {
        verify(&self.headers, &self.body, secrets, std::time::SystemTime::now())
    }
}

#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    mood: Arc<Mutex<Mood>>,
    requests: watch::Sender<Vec<Request>>,
    running: Option<JoinHandle<()>>,
}

impl Receiver {
    pub(crate) async fn start(mood: Mood) -> Receiver {
        Receiver::start_at(Ipv4Addr::LOCALHOST, mood).await
    }

    pub(crate) async fn start_at(host: Ipv4Addr, mood: Mood) -> Receiver {
        let listener = TcpListener::bind((host, 0)).await.unwrap();
        let mut receiver = Receiver {
            address: listener.local_addr().unwrap(),
            mood: Arc::new(Mutex::new(mood)),
            requests: watch::Sender::default(),
            running: None,
        };
        receiver.run(listener);
        receiver
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn turn(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// Ends with everything it had open.
    pub(crate) async fn die(&mut self) {
        let running = self.running.take().unwrap();
        running.abort();
        let _ = running.await;
    }

    pub(crate) async fn come_back(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.run(listener);
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.borrow().clone()
    }

    /// Waits until the requests fulfil a condition.
    pub(crate) async fn until(&self, condition: impl Fn(&[Request]) -> bool) {
        let mut requests = self.requests.subscribe();
        let seen = requests.wait_for(|requests| condition(requests));
        let waited = tokio::time::timeout(std::time::Duration::from_secs(60), seen).await;
        drop(waited.expect("the requests come in time").unwrap());
    }

    fn run(&mut self, listener: TcpListener) {
        let (mood, requests) = (self.mood.clone(), self.requests.clone());
        self.running = Some(tokio::spawn(async move {
            // In a set, so that what is open ends with whoever opened it.
            let mut open = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                open.spawn(receive(stream, mood.clone(), requests.clone()));
            }
        }));
    }
}

async fn receive(mut stream: TcpStream, mood: Arc<Mutex<Mood>>, requests: watch::Sender<Vec<Request>>) {
    let Some((headers, body)) = read(&mut stream).await else { return };
    let mood = *mood.lock().unwrap();
    requests.send_modify(|requests| requests.push(Request { headers, body, mood }));
    let answer = match mood {
        Mood::Answers(status) => format!("HTTP/1.1 {status} Whatever\r\ncontent-length: 4\r\n\r\nwell"),
        Mood::Babbles => "250 mail.example at your service\r\n\r\n".to_owned(),
        Mood::Closes => return,
        Mood::Hangs => std::future::pending().await,
    };
    let _ = stream.write_all(answer.as_bytes()).await;
}

pub(crate) async fn read(stream: &mut TcpStream) -> Option<(HeaderMap, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let mut headers = HeaderMap::new();
    for line in head.lines().skip(1).filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(": ").unwrap();
        headers.insert(HeaderName::try_from(name).unwrap(), HeaderValue::try_from(value).unwrap());
    }
    let length = headers.get("content-length").unwrap().to_str().unwrap().parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some((headers, body))
}

/// Counts how often each webhook came, by its id, among those that were answered well.
pub(crate) fn taken(requests: &[Request]) -> BTreeMap<String, usize> {
    let mut taken = BTreeMap::new();
    for request in requests.iter().filter(|request| request.mood == Mood::Answers(200)) {
        *taken.entry(request.header("webhook-id").to_owned()).or_default() += 1;
    }
    taken
}
