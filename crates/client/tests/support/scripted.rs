//! A server that expects certain requests in order and answers each as the script says.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use reqwest::Url;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::filled;

/// One request a connection. What goes beyond the script is left waiting until the end.
pub(crate) struct ScriptedServer {
    pub(crate) url: String,
    script: Arc<Mutex<VecDeque<Value>>>,
    faults: Arc<Mutex<Vec<String>>>,
    more: watch::Receiver<bool>,
    serving: JoinHandle<()>,
}

struct Request {
    method: String,
    target: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl ScriptedServer {
    pub(crate) async fn start(exchanges: &Value) -> ScriptedServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let script = Arc::new(Mutex::new(VecDeque::from(exchanges.as_array().unwrap().clone())));
        let faults = Arc::new(Mutex::new(Vec::new()));
        let (says_more, more) = watch::channel(false);
        let serving = tokio::spawn(serve(listener, script.clone(), faults.clone(), says_more));
        ScriptedServer { url, script, faults, more, serving }
    }

    /// Waits for a request beyond the script.
    pub(crate) fn more(&self) -> impl Future<Output = ()> + use<> {
        let mut more = self.more.clone();
        async move {
            more.wait_for(|more| *more).await.unwrap();
        }
    }

    pub(crate) fn was_asked_for_more(&self) -> bool {
        *self.more.borrow()
    }

    /// Lists what was expected and never came, and what came otherwise than expected.
    pub(crate) fn left(&self) -> Vec<String> {
        let mut left = self.faults.lock().unwrap().clone();
        left.extend(
            self.script.lock().unwrap().iter().map(|exchange| format!("never came: {}", exchange["expect"])),
        );
        left
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(
    listener: TcpListener,
    script: Arc<Mutex<VecDeque<Value>>>,
    faults: Arc<Mutex<Vec<String>>>,
    more: watch::Sender<bool>,
) {
    let mut waiting = Vec::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = BufReader::new(stream);
        let Some(request) = read(&mut stream).await else { continue };
        let Some(exchange) = script.lock().unwrap().pop_front() else {
            waiting.push(stream);
            more.send_replace(true);
            continue;
        };
        faults.lock().unwrap().extend(differences(&exchange["expect"], &request));
        answer(stream.into_inner(), &exchange["answer"]).await;
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut first = line.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Request { method, target, headers, body })
}

fn differences(expect: &Value, request: &Request) -> Vec<String> {
    let url = |target: &str| Url::parse("http://x").unwrap().join(target).unwrap();
    let (target, path) = (url(&request.target), url(expect["path"].as_str().unwrap()));
    let query: BTreeMap<String, String> = target.query_pairs().into_owned().collect();
    let headers = expect["headers"].as_object().into_iter().flatten();
    let absent = expect["absent"].as_array().into_iter().flatten();
    let mut pairs = vec![
        ("method", expect["method"].clone(), json!(request.method)),
        ("path", json!(path.path()), json!(target.path())),
        ("query", expect.get("query").cloned().unwrap_or_else(|| json!({})), json!(query)),
    ];
    pairs.extend(headers.map(|(name, value)| ("header", value.clone(), json!(request.headers.get(name)))));
    pairs.extend(
        absent.map(|name| ("header", Value::Null, json!(request.headers.get(name.as_str().unwrap())))),
    );
    if let Some(body) = expect.get("body") {
        pairs.push(("body", body.clone(), serde_json::from_slice(&request.body).unwrap_or_default()));
    }
    let differ = pairs.into_iter().filter(|(_, expected, found)| expected != found);
    differ.map(|(what, expected, found)| format!("{what}: expected {expected}, got {found}")).collect()
}

async fn answer(mut stream: TcpStream, answer: &Value) {
    if answer == "hang-up" {
        return;
    }
    let text = match answer.get("text") {
        Some(text) => text.as_str().unwrap().to_owned(),
        None => filled(&answer["body"]).to_string(),
    };
    let mut head =
        format!("HTTP/1.1 {} X\r\ncontent-length: {}\r\nconnection: close\r\n", answer["status"], text.len());
    for (name, value) in answer["headers"].as_object().into_iter().flatten() {
        head.push_str(&format!("{name}: {}\r\n", value.as_str().unwrap()));
    }
    stream.write_all(format!("{head}\r\n{text}").as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
}
