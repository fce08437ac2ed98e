//! A server with tokens, and sockets to be rude with.

use std::net::{Ipv4Addr, SocketAddr};

use reqwest::StatusCode;
use serde_json::{Value, json};
use socket2::SockRef;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};

use crate::common::Server;

/// A machine whose events are as large as the payload's text: the start shows it to everybody who follows.
const NOTES: &str = r#"
name = "notes"
version = 1
title = "Notes"
start = { to = "OPEN", metadata = { text = "payload.text" } }

[states.OPEN]
actions.close = "CLOSED"

[states.CLOSED]
final = "success"
"#;

/// The bytes of a packet, as over a network: within a machine they are so large that the system takes megabytes of an answer
/// ahead of its reader.
const SEGMENT: u32 = 536;

/// The server is not to have had more memory than this at any time.
const KIB_MAX: u64 = 300 << 10;

pub(crate) struct Site {
    pub(crate) server: Server,
    admin: String,
}

impl Site {
    pub(crate) fn open(files: &[(&str, &str)]) -> Site {
        // Another test of this process may have done it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let token = tempfile::NamedTempFile::new().expect("a temporary file");
        let path = token.path().with_extension("admin");
        let args = [
            "--first-token".to_owned(),
            path.to_str().expect("temporary folders have plain names").to_owned(),
        ];
        let files: Vec<_> = [("notes.toml", NOTES)].iter().chain(files).copied().collect();
        let server = Server::start_with(&files, &args, &[("MILEPOST_LOG", "info")]);
        let admin = std::fs::read_to_string(&path).expect("the token was written").trim().to_owned();
        std::fs::remove_file(path).expect("the file is ours");
        Site { server, admin }
    }

    /// Makes a token of this role and returns it.
    pub(crate) async fn token(&self, subject: &str, role: &str) -> String {
        let body = json!({ "subject": subject, "role": role });
        let made = self.post("/v1/tokens", &self.admin, &body).await;
        made["token"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
    }

    /// Sends something good and returns the answer.
    pub(crate) async fn post(&self, path: &str, token: &str, body: &Value) -> Value {
        let url = format!("{}{path}", self.server.url);
        let answer = reqwest::Client::new()
            .post(url)
            .bearer_auth(token)
            .json(body)
            .send()
            .await
            .expect("the server answers");
        let (status, text) = (answer.status(), answer.text().await.expect("the whole answer comes"));
        assert!(status.is_success(), "{status}: {text}");
        serde_json::from_str(&text).expect("answers are JSON")
    }

    /// Submits a note and returns its id.
    pub(crate) async fn note(&self, token: &str) -> String {
        let body = json!({ "payload": { "text": "hello" } });
        let made = self.post("/v1/pipelines/notes/submissions", token, &body).await;
        made["id"].as_str().expect("it has an id").to_owned()
    }

    /// Submits so many notes with a text of `length` bytes.
    pub(crate) async fn fill(&self, token: &str, count: usize, length: usize) {
        let one = json!({ "payload": { "text": "x".repeat(length) } });
        for _ in 0..count {
            self.post("/v1/pipelines/notes/submissions", token, &one).await;
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.url.strip_prefix("http://").and_then(|address| address.parse().ok()).expect("an address")
    }

    /// Connects from an address of this machine, says something, and reads nothing. None: the server has hung up.
    pub(crate) async fn say(&self, from: Ipv4Addr, text: &str) -> Option<TcpStream> {
        let socket = TcpSocket::new_v4().expect("a socket");
        // Little is read ahead by the system in place of a reader that does not read.
        socket.set_recv_buffer_size(4 << 10).expect("a small buffer");
        SockRef::from(&socket).set_tcp_mss(SEGMENT).expect("small packets");
        socket.bind((from, 0).into()).expect("an address of this machine");
        let mut stream = socket.connect(self.address()).await.ok()?;
        stream.write_all(text.as_bytes()).await.ok()?;
        Some(stream)
    }

    /// Checks that the server is well: it says so, and never took too much memory.
    pub(crate) async fn check(&self) {
        for path in ["/livez", "/readyz"] {
            let answer = reqwest::get(format!("{}{path}", self.server.url)).await.expect("health is told");
            assert_eq!(answer.status(), StatusCode::OK, "{path}");
        }
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server.child.id()));
        let status = status.expect("the server runs");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.trim().trim_end_matches("kB").trim().parse().ok());
        let peak: u64 = peak.expect("the system counts its memory");
        println!("    the server had {} MB at most", peak >> 10);
        assert!(peak < KIB_MAX, "{peak} KiB");
        let log = self.server.log.lock().expect("nobody panics with it");
        let wrong = log.iter().find(|line| line.contains("ERROR") || line.contains("panicked"));
        assert_eq!(wrong, None);
    }
}

/// A request's head and what follows.
pub(crate) fn request(method: &str, path: &str, token: Option<&str>, rest: &str) -> String {
    let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{token}{rest}")
}
