//! A real git, which knows no way out but the proxy.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fetch::proxy::{Limits, Proxy};
use fetch::{Fetch, Policy};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::process::Command;

use crate::secured::acceptor;
use crate::smart_http::serve;
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
