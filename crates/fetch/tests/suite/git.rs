//! A real git, which knows no way out but the proxy.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use fetch::proxy::{Limits, Proxy};
use fetch::{Fetch, Policy};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::process::Command;

use crate::secured::acceptor;
use crate::support::{HERE, Names, pem, policy};

/// A folder with a repository `origin.git` and room for clones; `HOME` is in it, so that no settings of the machine count.
struct Ground {
    folder: TempDir,
}

impl Ground {
    async fn new() -> Ground {
        let ground = Ground { folder: TempDir::new().unwrap() };
        let origin = ground.path("origin.git");
        done(&ground.git(&["init", "-q", "-b", "main", "work"]).output().await.unwrap());
        std::fs::write(
            ground.path("work/large"),
            (0..200_000u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>(),
        )
        .unwrap();
        done(&ground.git(&["-C", "work", "add", "."]).output().await.unwrap());
        done(&ground.git(&["-C", "work", "commit", "-q", "-m", "one"]).output().await.unwrap());
        done(&ground.git(&["clone", "-q", "--bare", "work", "origin.git"]).output().await.unwrap());
        std::fs::write(ground.path("ca.pem"), pem("ca.pem")).unwrap();
        assert!(origin.is_dir());
        ground
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A git without settings, and with nothing of the environment but where programs are.
    fn git(&self, arguments: &[&str]) -> Command {
        let mut git = Command::new("git");
        git.args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .stdin(Stdio::null())
            .kill_on_drop(true);
        git.env("PATH", std::env::var_os("PATH").unwrap());
        git.env("HOME", self.folder.path()).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "n").env(format!("GIT_{who}_EMAIL"), "n@a.example");
        }
        git
    }

    async fn clone_by(&self, proxy: &Proxy, url: &str) -> Output {
        let _ = std::fs::remove_dir_all(self.path("copy"));
        let mut git = self.git(&["clone", "-q", "--depth", "1", url, "copy"]);
        for name in ["http_proxy", "https_proxy"] {
            git.env(name, proxy.url().expose());
        }
        git.env("GIT_SSL_CAINFO", self.path("ca.pem")).output().await.unwrap()
    }

    fn copied(&self) -> bool {
        let read = |folder: &str| std::fs::read(self.path(folder).join("large")).ok();
        read("copy").is_some() && read("copy") == read("work")
    }
}

fn done(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

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

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, root: Arc<PathBuf>) {
    let answer = move |request| {
        let root = root.clone();
        async move { Ok::<_, Infallible>(backend(root, request).await) }
    };
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)).await;
}

/// A server of the repositories in a folder, and its port.
async fn hosting(root: &Path, is_tls: bool) -> u16 {
    let listener = TcpListener::bind((HERE, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let root = Arc::new(root.to_owned());
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let root = root.clone();
            tokio::spawn(async move {
                if !is_tls {
                    serve(stream, root).await;
                } else if let Ok(stream) = acceptor().accept(stream).await {
                    serve(stream, root).await;
                }
            });
        }
    });
    port
}

#[tokio::test]
async fn git_clones_over_http_by_the_proxy() {
    let ground = Ground::new().await;
    let port = hosting(ground.folder.path(), false).await;
    let names = Names::of(&[&[HERE]]);
    let fetch = Fetch::with_resolver(policy(&[port]), names.clone());
    let proxy = Proxy::start(&fetch, Limits::default()).await.unwrap();
    // Nobody but the resolver of the test knows this name.
    done(&ground.clone_by(&proxy, &format!("http://git.example:{port}/origin.git")).await);
    assert!(ground.copied() && names.asked.load(Ordering::SeqCst) > 0);
    assert_eq!(proxy.failures(), []);
}

#[tokio::test]
async fn git_clones_over_https_by_a_tunnel() {
    let ground = Ground::new().await;
    let port = hosting(ground.folder.path(), true).await;
    let names = Names::of(&[&[HERE]]);
    let fetch = Fetch::with_resolver(policy(&[port]), names.clone());
    let proxy = Proxy::start(&fetch, Limits::default()).await.unwrap();
    done(&ground.clone_by(&proxy, &format!("https://localhost:{port}/origin.git")).await);
    assert!(ground.copied() && names.asked.load(Ordering::SeqCst) > 0);
    assert_eq!(proxy.failures(), []);
}

#[tokio::test]
async fn git_gets_nowhere_that_the_policy_does_not_allow() {
    let ground = Ground::new().await;
    for (scheme, is_tls) in [("http", false), ("https", true)] {
        let port = hosting(ground.folder.path(), is_tls).await;
        let strict = Policy { allowed: Vec::new(), ..policy(&[port]) };
        let fetch = Fetch::with_resolver(strict, Names::of(&[&[HERE]]));
        let proxy = Proxy::start(&fetch, Limits::default()).await.unwrap();
        let output = ground.clone_by(&proxy, &format!("{scheme}://localhost:{port}/origin.git")).await;
        assert!(!output.status.success() && !ground.copied());
        let failure = &proxy.failures()[0];
        assert_eq!(
            (failure.host.as_str(), failure.error.code()),
            ("localhost", "refused-address"),
            "{scheme}"
        );
    }
}

#[tokio::test]
async fn a_repository_that_is_too_large_is_cut_off() {
    let ground = Ground::new().await;
    let port = hosting(ground.folder.path(), false).await;
    let fetch = Fetch::with_resolver(policy(&[port]), Names::of(&[&[HERE]]));
    let limits = Limits { bytes_max: 20_000, ..Limits::default() };
    let proxy = Proxy::start(&fetch, limits).await.unwrap();
    let output = ground.clone_by(&proxy, &format!("http://git.example:{port}/origin.git")).await;
    assert!(!output.status.success() && !ground.copied());
    assert_eq!(proxy.failures()[0].error.code(), "too-large");
}
