//! A server that answers as models do, well or badly.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[derive(Debug, Clone)]
pub(crate) enum Behaviour {
    /// Answers the question with this score.
    Score(i64),
    /// Answers with a text instead of a judgement; `CANARY` in it is the question's.
    Says(&'static str),
    Status(u16),
    /// Breaks off in the middle of its answer.
    CutOff,
    /// Never answers.
    Hangs,
}

/// A judge that behaves as told, one behaviour an answer, and by the last one for ever.
#[derive(Clone)]
pub(crate) struct JudgeServer {
    pub(crate) port: u16,
    behaviours: Arc<Mutex<VecDeque<Behaviour>>>,
    questions: Arc<Mutex<Vec<Value>>>,
}

impl JudgeServer {
    pub(crate) async fn new(behaviours: &[Behaviour]) -> JudgeServer {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let server = JudgeServer {
            port: listener.local_addr().unwrap().port(),
            behaviours: Arc::new(Mutex::new(behaviours.iter().cloned().collect())),
            questions: Arc::default(),
        };
        let own = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let own = own.clone();
                tokio::spawn(async move {
                    let answer = service_fn(|request| own.answer(request));
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
                });
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub(crate) fn questions(&self) -> Vec<Value> {
        self.questions.lock().unwrap().clone()
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
        assert_eq!(request.uri().path(), "/v1/chat/completions");
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let question: Value = serde_json::from_slice(&body).unwrap();
        let asked = question["messages"][1]["content"].as_str().unwrap();
        let canary = asked.split("BEGIN SKILL ").nth(1).unwrap().split('\n').next().unwrap().to_owned();
        self.questions.lock().unwrap().push(question);
        let behaviour = {
            let mut behaviours = self.behaviours.lock().unwrap();
            if behaviours.len() > 1 { behaviours.pop_front().unwrap() } else { behaviours[0].clone() }
        };
        let said = |text: String| {
            let answer = json!({ "choices": [{ "message": { "role": "assistant", "content": text } }] });
            Response::new(Full::new(Bytes::from(answer.to_string())))
        };
        Ok(match behaviour {
            Behaviour::Score(score) => {
                said(json!({ "canary": canary, "score": score, "concerns": ["one"] }).to_string())
            }
            Behaviour::Says(text) => said(text.replace("CANARY", &canary)),
            Behaviour::Status(status) => {
                let mut answer = Response::new(Full::new(Bytes::from_static(b"no")));
                *answer.status_mut() = status.try_into().unwrap();
                answer
            }
            Behaviour::CutOff => Response::new(Full::new(Bytes::from_static(b"{\"choices\":[{\"mess"))),
            Behaviour::Hangs => std::future::pending().await,
        })
    }
}
