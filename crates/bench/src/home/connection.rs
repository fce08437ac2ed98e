//! A connection that does no more than is needed to load a server: on two cores, what the client costs the server lacks.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const HEAD_MAX: usize = 16 << 10;

#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    host: SocketAddr,
    request: Vec<u8>,
    received: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The body, where the call did what it was to do.
    pub(crate) fn expect(self, status: u16) -> Result<Vec<u8>> {
        let told = || String::from_utf8_lossy(&self.body);
        ensure!(self.status == status, "the server answered {}: {}", self.status, told());
        Ok(self.body)
    }
}

impl Connection {
    pub(crate) async fn open(host: SocketAddr) -> Result<Connection> {
        let stream = TcpStream::connect(host).await.with_context(|| format!("cannot reach {host}"))?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, host, request: Vec::new(), received: Vec::new() })
    }

    pub(crate) async fn post(&mut self, path: &str, body: &[u8]) -> Result<Answer> {
        self.call("POST", path, body).await
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<Answer> {
        self.call("GET", path, b"").await
    }

    async fn call(&mut self, method: &str, path: &str, body: &[u8]) -> Result<Answer> {
        let Connection { stream, host, request, received } = self;
        request.clear();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        request.extend_from_slice(head.as_bytes());
        request.extend_from_slice(body);
        stream.write_all(request).await?;
        received.clear();
        let head = loop {
            if let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") {
                break Head::read(&received[..end])?.with_length(end + 4);
            }
            ensure!(received.len() < HEAD_MAX, "the server's answer has no end of its head");
            more(stream, received).await?;
        };
        while received.len() < head.length + head.body {
            more(stream, received).await?;
        }
        Ok(Answer { status: head.status, body: received[head.length..head.length + head.body].to_vec() })
    }
}

async fn more(stream: &mut TcpStream, received: &mut Vec<u8>) -> Result<()> {
    if stream.read_buf(received).await? == 0 {
        bail!("the server closed the connection before it had answered");
    }
    Ok(())
}

struct Head {
    status: u16,
    body: usize,
    length: usize,
}

impl Head {
    fn read(head: &[u8]) -> Result<Head> {
        let text = std::str::from_utf8(head).context("the head of an answer is no text")?;
        let mut lines = text.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
        let length = lines.find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        let status = status.context("the answer has no status")?;
        Ok(Head { status, body: length.context("the answer does not say its length")?, length: 0 })
    }

    fn with_length(self, length: usize) -> Head {
        Head { length, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_gives_status_and_length() {
        let head = Head::read(b"HTTP/1.1 201 Created\r\nContent-Length: 17\r\nx: y").unwrap();
        assert_eq!((head.status, head.body), (201, 17));
        assert!(Head::read(b"HTTP/1.1 201 Created\r\nx: y").is_err());
        assert!(Head::read(b"nonsense").is_err());
    }
}
