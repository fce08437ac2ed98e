//! Talk over connections of one's own, to say what no client would.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde_json::Value;
use socket2::SockRef;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::server::Server;

pub(crate) fn address(server: &Server) -> SocketAddr {
    server.url.trim_start_matches("http://").parse().unwrap()
}

pub(crate) async fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(address(server)).await.unwrap()
}

/// The bytes of a packet.
const SEGMENT: u32 = 536;

/// Connects from another address of this machine, 127.0.0.`last`, with room for little.
pub(crate) async fn connect_from(server: &Server, last: u8) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    // Packets as over a network: within a machine they are so large that the system takes megabytes ahead of the reader.
    SockRef::from(&socket).set_tcp_mss(SEGMENT).unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, last], 0))).unwrap();
    socket.connect(address(server)).await.unwrap()
}

/// Sends text over a connection of its own and gives the answers until the server closes it.
pub(crate) async fn speak(server: &Server, text: &str) -> Vec<Spoken> {
    let mut stream = connect(server).await;
    stream.write_all(text.as_bytes()).await.unwrap();
    hear_all(&mut stream).await
}

/// Everything that comes until the other side ends.
pub(crate) async fn hear_all(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> Vec<Spoken> {
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    Spoken::all(&text)
}

/// One answer, as it came over the line.
#[derive(Debug)]
pub(crate) struct Spoken {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Spoken {
    fn all(mut text: &str) -> Vec<Spoken> {
        let mut all = Vec::new();
        while !text.is_empty() {
            let (head, rest) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text:?}"));
            let mut lines = head.split("\r\n");
            let status = lines.next().unwrap().strip_prefix("HTTP/1.").unwrap()[2..5].parse().unwrap();
            let pair = |line: &str| {
                let (name, value) = line.split_once(": ").unwrap();
                (name.to_ascii_lowercase(), value.to_owned())
            };
            let headers: BTreeMap<_, _> = lines.map(pair).collect();
            let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
            let (body, after) = rest.split_at(length);
            all.push(Spoken { status, headers, body: body.to_owned() });
            text = after;
        }
        all
    }

    pub(crate) fn statuses(all: &[Spoken]) -> Vec<u16> {
        all.iter().map(|answer| answer.status).collect()
    }

    /// Asserts that this is a whole problem, as a handler would have sent it, and gives its code.
    #[track_caller]
    pub(crate) fn problem(&self) -> String {
        let header = |name: &str| self.headers.get(name).map(String::as_str);
        assert_eq!(header("content-type"), Some("application/problem+json"), "{self:?}");
        assert_eq!(header("x-content-type-options"), Some("nosniff"), "{self:?}");
        assert_eq!(header("cache-control"), Some("no-store"), "{self:?}");
        let problem: Value = serde_json::from_str(&self.body).unwrap();
        let code = problem["code"].as_str().unwrap();
        assert_eq!(problem["status"], self.status, "{self:?}");
        assert_eq!(problem["type"], format!("urn:milepost:problem:{code}"));
        assert!(problem["title"].is_string() && problem["detail"].is_string(), "{self:?}");
        code.to_owned()
    }
}
