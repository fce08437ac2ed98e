//! Answers that take long to make keep nobody else waiting.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::Method;
use server::{Mounts, Site};
use system::{Need, PipelineFile, Rate, Reply, Room, Route, System};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::server::memory;

/// A route whose handler holds on to its thread until it is told to go on.
struct Stuck {
    go_on: Arc<Mutex<Receiver<()>>>,
    /// Told each time the handler has begun.
    begun: mpsc::Sender<()>,
}

impl System for Stuck {
    fn name(&self) -> &'static str {
        "stuck"
    }

    fn pipelines(&self) -> Vec<PipelineFile> {
        Vec::new()
    }

    fn routes(&self) -> Vec<Route> {
        let (go_on, begun) = (self.go_on.clone(), self.begun.clone());
        let public = Need::Public(Rate { every: Duration::from_millis(1), burst: 100 });
        vec![Route::new((Method::GET, "/stuck/page"), (public, Room::Page), "Holds on", move |_| {
            let (go_on, begun) = (go_on.clone(), begun.clone());
            async move {
                begun.send(()).unwrap();
                go_on.lock().unwrap().recv().unwrap();
                Ok(Reply::text("at last"))
            }
        })]
    }
}

/// Asks as a program of its own would, from a thread that the server has nothing to do with.
fn ask(address: SocketAddr, path: &str) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    Ok(stream)
}

fn answered(mut stream: TcpStream) -> std::io::Result<String> {
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

/// One thread answers everybody. With answers made on it, the server would say nothing any more.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn whoever_asks_how_the_server_is_waits_for_no_answer_under_way() {
    let ((go, go_on), (begun, begins)) = (mpsc::channel(), mpsc::channel());
    let system = Stuck { go_on: Arc::new(Mutex::new(go_on)), begun };
    let engine = engine::Engine::start(memory(&[]), &engine::Options::default()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mounts = Mounts::of(&system, Vec::new()).unwrap();
    let site = Site::new(engine, server::Options::new(address), vec![mounts]);
    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(site.serve(listener, stopped));

    let stuck: Vec<TcpStream> = (0..3).map(|_| ask(address, "/stuck/page").unwrap()).collect();
    let waited = begins.recv_timeout(Duration::from_secs(30));
    assert_eq!(waited, Ok(()), "the answer is under way");
    for path in ["/livez", "/readyz"] {
        let stream = ask(address, path).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let text = answered(stream).expect("it answers while another answer is under way");
        assert!(text.starts_with("HTTP/1.1 200"), "{path}: {text}");
    }
    stuck.iter().for_each(|_| go.send(()).unwrap());
    for stream in stuck {
        let text = answered(stream).unwrap();
        assert!(text.trim_end().ends_with("at last"), "{text}");
    }
    drop(stop);
    served.await.unwrap().unwrap();
}
