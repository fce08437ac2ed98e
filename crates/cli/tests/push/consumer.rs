//! A consumer that batches are pushed to, which does its work well or badly.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::notifications::receiver::{Mood as Plain, Request, read};

/// The consumer's reaction to a batch it has read.
#[derive(Debug, Clone)]
pub(crate) enum Mood {
    /// Says this of each message, in one of these lists; nothing of those that it says `null` of.
    Says(fn(&Value) -> (&'static str, Value)),
    /// Answers this text with status 200.
    Answers(&'static str),
    Fails(u16),
    Hangs,
    Babbles,
    /// Begins an answer that acknowledges everything, and is gone.
    Dies,
}

#[derive(Debug, Clone)]
pub(crate) struct Batch {
    pub(crate) request: Request,
    pub(crate) body: Value,
}

impl Batch {
    pub(crate) fn messages(&self) -> &Vec<Value> {
        self.body["messages"].as_array().unwrap()
    }
}

#[derive(Debug)]
pub(crate) struct Consumer {
    pub(crate) address: SocketAddr,
    mood: Arc<Mutex<Mood>>,
    batches: watch::Sender<Vec<Batch>>,
    running: JoinHandle<()>,
}

impl Consumer {
    pub(crate) async fn start(mood: Mood) -> Consumer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (mood, batches) = (Arc::new(Mutex::new(mood)), watch::Sender::default());
        let (moods, seen) = (mood.clone(), batches.clone());
        let running = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(consume(stream, moods.clone(), seen.clone()));
            }
        });
        Consumer { address, mood, batches, running }
    }

    pub(crate) fn turn(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    pub(crate) fn batches(&self) -> Vec<Batch> {
        self.batches.borrow().clone()
    }

    /// Waits until the batches fulfil a condition.
    pub(crate) async fn until(&self, condition: impl Fn(&[Batch]) -> bool) {
        let mut batches = self.batches.subscribe();
        let seen = batches.wait_for(|batches| condition(batches));
        let waited = tokio::time::timeout(std::time::Duration::from_secs(60), seen).await;
        drop(waited.expect("the batches come in time").unwrap());
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        self.running.abort();
    }
}

async fn consume(mut stream: TcpStream, mood: Arc<Mutex<Mood>>, batches: watch::Sender<Vec<Batch>>) {
    let Some((headers, body)) = read(&mut stream).await else { return };
    let parsed: Value = serde_json::from_slice(&body).unwrap();
    let mood = mood.lock().unwrap().clone();
    let request = Request { headers, body, mood: Plain::Answers(200) };
    batches.send_modify(|batches| batches.push(Batch { request, body: parsed.clone() }));
    let answer = match mood {
        Mood::Says(say) => whole(&said(&parsed, say)),
        Mood::Answers(text) => whole(text),
        Mood::Fails(status) => format!("HTTP/1.1 {status} No\r\ncontent-length: 4\r\n\r\noops"),
        Mood::Babbles => "250 mail.example at your service\r\n\r\n".to_owned(),
        Mood::Dies => {
            let answer = whole(&said(&parsed, |_| ("acks", json!({ "outcome": "done" }))));
            answer[..answer.len() - 1].to_owned()
        }
        Mood::Hangs => std::future::pending().await,
    };
    let _ = stream.write_all(answer.as_bytes()).await;
}

fn whole(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn said(batch: &Value, say: fn(&Value) -> (&'static str, Value)) -> String {
    let mut answer = json!({ "acks": [], "retries": [] });
    for message in batch["messages"].as_array().unwrap() {
        let (list, mut word) = say(message);
        if !word.is_null() {
            word["id"] = message["id"].clone();
            answer[list].as_array_mut().unwrap().push(word);
        }
    }
    answer.to_string()
}

/// Returns a header as text, empty where it is not there.
pub(crate) fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}
