//! A plain HTTP server on loopback that answers as a test says.

use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A request: its method, its path, its body.
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: String,
}

/// Serves on a free port, and returns the address.
pub(crate) async fn serve(answer: impl Fn(Asked) -> (u16, Vec<u8>) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move { one(stream, &*answer).await });
        }
    });
    format!("http://127.0.0.1:{port}")
}

async fn one(mut stream: TcpStream, answer: &(dyn Fn(Asked) -> (u16, Vec<u8>) + Send + Sync)) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut words = head.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    let (status, bytes) = answer(Asked { method, path, body: String::from_utf8_lossy(&body).into_owned() });
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", bytes.len());
    stream.write_all(&[head.as_bytes(), &bytes].concat()).await.ok()?;
    stream.shutdown().await.ok()
}
