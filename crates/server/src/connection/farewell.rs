//! The end of a connection by the server.

use std::time::Duration;

use axum::body::to_bytes;
use axum::http::{HeaderValue, header};
use model::Refusal;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::head::Wrong;
use crate::layers::protect;
use crate::problem::Refused;

/// Bytes that are still taken from a caller, and for how long, so that it sees the answer rather than a broken
/// connection.
const DRAIN_MAX: u64 = 1 << 20;
const DRAIN_WITHIN: Duration = Duration::from_secs(2);
/// Above every problem's size.
const PROBLEM_MAX: usize = 64 << 10;

/// Says why a head was refused, if one was, and closes the connection in such a way that the caller can read what was
/// said.
pub(super) async fn close(
    mut socket: impl AsyncRead + AsyncWrite + Unpin,
    refused: Option<Wrong>,
    write_within: Duration,
) {
    let end = async {
        if let Some(wrong) = refused {
            socket.write_all(&render(wrong).await).await?;
        }
        socket.shutdown().await
    };
    if !matches!(tokio::time::timeout(write_within, end).await, Ok(Ok(()))) {
        return;
    }
    let mut rest = socket.take(DRAIN_MAX);
    let mut sink = tokio::io::sink();
    // Whether the caller has ended is not ours to mind.
    let _ = tokio::time::timeout(DRAIN_WITHIN, tokio::io::copy(&mut rest, &mut sink)).await;
}

/// Writes the answer that a handler would have given, as it goes over the line.
async fn render(wrong: Wrong) -> Vec<u8> {
    let mut answer = Refused(Refusal::new(wrong.code, wrong.message)).with_status(wrong.status);
    let headers = answer.headers_mut();
    protect(headers);
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    let (parts, body) = answer.into_parts();
    let body = to_bytes(body, PROBLEM_MAX).await.unwrap_or_default();
    let mut text = format!("HTTP/1.1 {}\r\ncontent-length: {}\r\n", parts.status, body.len()).into_bytes();
    for (name, value) in &parts.headers {
        text.extend_from_slice(name.as_str().as_bytes());
        text.extend_from_slice(b": ");
        text.extend_from_slice(value.as_bytes());
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"\r\n");
    text.extend_from_slice(&body);
    text
}
