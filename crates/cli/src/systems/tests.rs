//! Systems that make mistakes.

use std::net::SocketAddr;

use client::{Client, FeedFilter};
use system::{Follower, PipelineFile};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use wire::api::SubmitBody;

use super::*;
use crate::local_server::Node;

const TOML: &str = "name = 'broken'\nversion = 1\nstart = 'DONE'\n[states.DONE]\nfinal = 'success'\n";

/// The part that panics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Broken {
    Tasks,
    Follower,
}

impl System for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn pipelines(&self) -> Vec<PipelineFile> {
        vec![PipelineFile::new("broken.toml", TOML)]
    }

    fn tasks(&self, _: &Desk, worker: Worker) -> Worker {
        assert_ne!(*self, Broken::Tasks, "on purpose");
        worker
    }

    fn followers(&self, _: &Desk) -> Vec<Follower> {
        vec![Follower::new("all", FeedFilter::default(), |_| async { panic!("on purpose") })]
    }
}

async fn ready(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let request = "GET /readyz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.expect("it listens");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    answer
}

/// Runs a system until the server tells that it has ended.
async fn told(broken: Broken) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::Folder(folder.path().to_owned());
    let systems = Systems::new(vec![Arc::new(broken)], &place, Policy::default()).expect("it is in order");
    let node = Node::open(&place, &engine::Options::default()).expect("it opens");
    for source in sources(&broken) {
        node.apply(&source).await.expect("it is in order");
    }
    let consumers = node.consumers(Policy::default(), Vec::new());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("it is bound");
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async move { drop(stopped.await) };
    let serving = tokio::spawn(node.serve(
        listener,
        server::Options::new(address),
        (None, consumers, systems),
        stopped,
    ));
    let client = Client::new(&format!("http://{address}"), None).expect("an address");
    client.submit("broken", &SubmitBody::default(), None).await.expect("the server goes on");
    let mut answer = ready(address).await;
    while !answer.contains("has ended") {
        answer = ready(address).await;
    }
    stop.send(()).expect("it serves");
    serving.await.expect("it ends").expect("it ends well");
    answer
}

#[tokio::test]
async fn a_system_that_makes_a_mistake_ends_alone_and_is_told_of() {
    for broken in [Broken::Tasks, Broken::Follower] {
        let answer = told(broken).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.contains("the system `broken` has ended: "), "{broken:?}: {answer}");
    }
}
