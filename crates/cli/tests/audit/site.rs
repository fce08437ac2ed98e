//! A small web server over a folder: what any static host would do with a log, and what a hostile one might.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, StatusCode, Uri};
use tokio::sync::{Notify, oneshot};

/// A request, as it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// With its query.
    pub(crate) path: String,
    pub(crate) token: Option<String>,
    pub(crate) body: String,
}

#[derive(Debug, Default)]
struct Inside {
    folder: PathBuf,
    /// Answers that are not in the folder, or not what the folder says.
    canned: BTreeMap<String, (u16, Vec<u8>)>,
    asked: Vec<Asked>,
    /// A path that is answered only after another was asked for.
    held: Option<(String, String)>,
    news: Arc<Notify>,
}

#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) url: String,
    inside: Arc<Mutex<Inside>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Site {
    pub(crate) fn start(folder: impl Into<PathBuf>) -> Site {
        let inside = Arc::new(Mutex::new(Inside { folder: folder.into(), ..Inside::default() }));
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let routes = Router::new().fallback(answer).with_state(inside.clone());
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    served = axum::serve(listener, routes) => served.unwrap(),
                    _ = stopped => {}
                }
            });
        });
        Site { url, inside, stop: Some(stop), thread: Some(thread) }
    }

    /// Answers a path otherwise than the folder does.
    pub(crate) fn answer(&self, path: &str, status: u16, body: impl Into<Vec<u8>>) {
        self.inside.lock().unwrap().canned.insert(path.to_owned(), (status, body.into()));
    }

    /// Serves another folder from now on.
    pub(crate) fn serve(&self, folder: impl Into<PathBuf>) {
        self.inside.lock().unwrap().folder = folder.into();
    }

    /// Keeps back the answer to a path until somebody has asked for another.
    pub(crate) fn hold(&self, path: &str, until: &str) {
        self.inside.lock().unwrap().held = Some((path.to_owned(), until.to_owned()));
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.inside.lock().unwrap().asked.clone()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

async fn answer(
    State(inside): State<Arc<Mutex<Inside>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    note(&mut inside.lock().unwrap(), &method, &uri, &headers, &body);
    while is_held(&inside, uri.path()) {
        let news = inside.lock().unwrap().news.clone();
        news.notified().await;
    }
    let inside = inside.lock().unwrap();
    let (status, body) = match inside.canned.get(uri.path()) {
        Some(canned) => canned.clone(),
        None => match std::fs::read(inside.folder.join(uri.path().trim_start_matches('/'))) {
            Ok(bytes) => (200, bytes),
            Err(_) => (404, b"not found\n".to_vec()),
        },
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response
}

fn is_held(inside: &Mutex<Inside>, path: &str) -> bool {
    let inside = inside.lock().unwrap();
    let held = inside.held.as_ref().filter(|(held, _)| held == path);
    held.is_some_and(|(_, until)| inside.asked.iter().all(|asked| asked.path != *until))
}

fn note(inside: &mut Inside, method: &Method, uri: &Uri, headers: &HeaderMap, body: &Bytes) {
    let token = headers.get("authorization").map(|value| value.to_str().unwrap().to_owned());
    let path = uri.path_and_query().unwrap().to_string();
    let body = String::from_utf8(body.to_vec()).unwrap();
    inside.asked.push(Asked { method: method.to_string(), path, token, body });
    // One thread serves: whoever waits does so between two looks, or finds this permit.
    inside.news.notify_one();
}
