//! Repositories over HTTP, by git's own server program. Tests of other crates use this file, too.

use std::convert::Infallible;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::process::Command;

/// Answers by the program that comes with git for that purpose.
async fn backend(root: Arc<PathBuf>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let header = |name: &str| head.headers.get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
    let mut program = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root.as_path())
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", head.method.as_str())
        .env("PATH_INFO", head.uri.path())
        .env("QUERY_STRING", head.uri.query().unwrap_or_default())
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut input = program.stdin.take().unwrap();
    tokio::spawn(async move { input.write_all(&body).await });
    let said = program.wait_with_output().await.unwrap().stdout;
    let end = said.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let mut response = Response::builder();
    for line in std::str::from_utf8(&said[..end]).unwrap().lines() {
        let (name, value) = line.split_once(": ").unwrap();
        response = match name {
            "Status" => response.status(value.split(' ').next().unwrap()),
            _ => response.header(name, value),
        };
    }
    response.body(Full::new(Bytes::copy_from_slice(&said[end + 4..]))).unwrap()
}

/// Serves the repositories in a folder on one connection.
pub(crate) async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, root: Arc<PathBuf>) {
    let answer = move |request| {
        let root = root.clone();
        async move { Ok::<_, Infallible>(backend(root, request).await) }
    };
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)).await;
}
