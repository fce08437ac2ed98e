//! A ledger that speaks Sawtooth's REST API and Scabbard's, and does what a test tells it to.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::serve::Listener;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// An answer that is not the usual one.
#[derive(Debug, Clone)]
pub(crate) enum Instead {
    Status(u16),
    /// None at all.
    Silence,
    /// One that is no JSON.
    Garbage,
    /// This one, to questions about batches.
    Says(Value),
}

/// A question about batches.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: &'static str,
    /// The circuit and service, of Scabbard.
    pub(crate) service: String,
    pub(crate) ids: Vec<String>,
    pub(crate) query: String,
}

/// The ledger's memory.
#[derive(Default)]
pub(crate) struct Book {
    /// Answers to the next submissions, in place of 202.
    pub(crate) submits: VecDeque<Instead>,
    /// Answers to the next questions.
    pub(crate) questions: VecDeque<Instead>,
    /// The statuses that a batch goes through, one a question; the last stays. Without any it is committed.
    pub(crate) statuses: HashMap<String, VecDeque<&'static str>>,
    /// Headers of batches in the order in which they came, with the service of Scabbard.
    pub(crate) submitted: Vec<(String, String)>,
    pub(crate) asked: Vec<Asked>,
    pub(crate) headers: Vec<HeaderMap>,
    /// The most batches that were undecided at a time, by service.
    pub(crate) undecided: BTreeMap<String, Vec<String>>,
    pub(crate) undecided_max: usize,
}

pub(crate) struct FakeLedger {
    pub(crate) url: String,
    pub(crate) book: Arc<Mutex<Book>>,
    /// Set while questions are to wait.
    pub(crate) holds: watch::Sender<bool>,
    /// The number of submissions that came.
    came: watch::Receiver<usize>,
    serving: AbortHandle,
}

#[derive(Clone)]
struct Shared {
    book: Arc<Mutex<Book>>,
    holds: watch::Receiver<bool>,
    came: watch::Sender<usize>,
}

impl FakeLedger {
    pub(crate) async fn start() -> FakeLedger {
        FakeLedger::serve("http", |listener| listener).await
    }

    /// Starts a ledger on a listener that is made of one of TCP.
    pub(crate) async fn serve<L>(scheme: &str, over: impl FnOnce(TcpListener) -> L) -> FakeLedger
    where
        L: Listener<Addr = std::net::SocketAddr>,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let (book, holds) = (Arc::<Mutex<Book>>::default(), watch::Sender::new(false));
        let came = watch::Sender::new(0);
        let shared = Shared { book: book.clone(), holds: holds.subscribe(), came: came.clone() };
        let router = Router::new()
            .route("/batches", post(submit_sawtooth))
            .route("/batch_statuses", get(get_statuses).post(post_statuses))
            .route("/scabbard/{circuit}/{service}/batches", post(submit_scabbard))
            .route("/scabbard/{circuit}/{service}/batch_statuses", get(scabbard_statuses))
            .with_state(shared);
        let listener = over(listener);
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        FakeLedger { url, book, holds, came: came.subscribe(), serving: serving.abort_handle() }
    }

    /// Waits until so many submissions have come.
    pub(crate) async fn submissions(&self, count: usize) {
        self.came.clone().wait_for(|came| *came >= count).await.unwrap();
    }

    pub(crate) fn book(&self) -> std::sync::MutexGuard<'_, Book> {
        self.book.lock().unwrap()
    }

    /// Sets the statuses that a batch goes through.
    pub(crate) fn says(&self, header: &str, statuses: &[&'static str]) {
        self.book().statuses.insert(header.to_owned(), statuses.iter().copied().collect());
    }

    pub(crate) fn times_submitted(&self, header: &str) -> usize {
        self.book().submitted.iter().filter(|(submitted, _)| submitted == header).count()
    }

    /// Returns settings with this ledger alone, for all services.
    pub(crate) fn settings(&self, kind: &str, more: &str) -> String {
        settings(&self.url, kind, more)
    }
}

impl Drop for FakeLedger {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Returns settings with one ledger at an address, for all services.
pub(crate) fn settings(url: &str, kind: &str, more: &str) -> String {
    format!(
        "[[ledgers]]\nname = 'test'\nkind = '{kind}'\nurl = '{url}'\nservices = ['*']\nallow-address = ['127.0.0.1']\n\
         pause = '1ms'\npause-step = '1ms'\npoll = '5ms'\nwait = '0s'\n{more}\n"
    )
}

/// Returns a header of a batch that ends as told.
pub(crate) fn header(end: &str) -> String {
    format!("{end:0>128}")
}

/// Returns a batch, as it is submitted.
pub(crate) fn batch(service: &str, header: &str) -> Value {
    let batch = [field(1, b"the header"), field(2, header.as_bytes())].concat();
    json!({ "service_id": service, "batch_header": header, "serialized_batch": STANDARD.encode(batch) })
}

fn field(number: u8, value: &[u8]) -> Vec<u8> {
    let length = u8::try_from(value.len()).unwrap();
    let length = if length < 0x80 { vec![length] } else { vec![length | 0x80, length >> 7] };
    [vec![number << 3 | 2], length, value.to_vec()].concat()
}

/// Returns the signature of the header of the one batch in a list.
fn header_of(list: &[u8]) -> String {
    let inner = |bytes: &[u8], at: usize| {
        let (length, head) = match bytes[at + 1] {
            length if length < 0x80 => (usize::from(length), 2),
            length => (usize::from(length & 0x7f) | usize::from(bytes[at + 2]) << 7, 3),
        };
        (at + head, at + head + length)
    };
    assert_eq!(list[0], 0x0a, "a list has its batches in field 1");
    let (from, to) = inner(list, 0);
    assert_eq!(to, list.len(), "there is one batch");
    let batch = &list[from..to];
    let (_, behind) = inner(batch, 0);
    assert_eq!(batch[behind], 0x12, "field 2 is the signature of the header");
    let (from, to) = inner(batch, behind);
    String::from_utf8(batch[from..to].to_vec()).unwrap()
}

async fn submit_sawtooth(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    submit(&shared, String::new(), headers, &body).await
}

async fn submit_scabbard(
    State(shared): State<Shared>,
    Path((circuit, service)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    submit(&shared, format!("{circuit}::{service}"), headers, &body).await
}

async fn submit(shared: &Shared, service: String, headers: HeaderMap, body: &[u8]) -> Response {
    let header = header_of(body);
    let instead = {
        let mut book = shared.book.lock().unwrap();
        book.headers.push(headers);
        book.submitted.push((header.clone(), service.clone()));
        let instead = book.submits.pop_front();
        if instead.is_none() {
            let undecided = book.undecided.entry(service).or_default();
            undecided.retain(|other| *other != header);
            undecided.push(header.clone());
            let count = undecided.len();
            book.undecided_max = book.undecided_max.max(count);
        }
        instead
    };
    shared.came.send_modify(|came| *came += 1);
    match instead {
        Some(instead) => instead.answer().await,
        None => (StatusCode::ACCEPTED, json!({ "link": format!("/batch_statuses?id={header}") }).to_string())
            .into_response(),
    }
}

impl Instead {
    async fn answer(self) -> Response {
        match self {
            Instead::Status(status) => {
                (StatusCode::from_u16(status).unwrap(), "out of order").into_response()
            }
            Instead::Silence => std::future::pending().await,
            Instead::Garbage => "{\"data\": [nonsense".into_response(),
            Instead::Says(value) => value.to_string().into_response(),
        }
    }
}

fn ids_of(query: &str) -> Vec<String> {
    let ids =
        query.split('&').find_map(|pair| pair.strip_prefix("id=").or_else(|| pair.strip_prefix("ids=")));
    ids.unwrap_or_default().split(',').map(str::to_owned).collect()
}

async fn get_statuses(State(shared): State<Shared>, RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let asked = Asked { method: "GET", service: String::new(), ids: ids_of(&query), query };
    statuses(&shared, asked).await
}

async fn post_statuses(State(shared): State<Shared>, RawQuery(query): RawQuery, body: Bytes) -> Response {
    let ids = serde_json::from_slice(&body).unwrap();
    let asked = Asked { method: "POST", service: String::new(), ids, query: query.unwrap_or_default() };
    statuses(&shared, asked).await
}

async fn scabbard_statuses(
    State(shared): State<Shared>,
    Path((circuit, service)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    assert_eq!(headers["gridprotocolversion"], "1");
    let query = query.unwrap_or_default();
    let asked = Asked { method: "GET", service: format!("{circuit}::{service}"), ids: ids_of(&query), query };
    statuses(&shared, asked).await
}

async fn statuses(shared: &Shared, asked: Asked) -> Response {
    let mut holds = shared.holds.clone();
    shared.book.lock().unwrap().asked.push(asked.clone());
    let _ = holds.wait_for(|holds| !holds).await;
    let (instead, found) = {
        let mut book = shared.book.lock().unwrap();
        let instead = book.questions.pop_front();
        let found: Vec<(String, &'static str)> =
            asked.ids.iter().map(|id| (id.clone(), book.next_status(id, instead.is_none()))).collect();
        (instead, found)
    };
    if let Some(instead) = instead {
        return instead.answer().await;
    }
    let detail = json!([{ "id": "t1", "message": "not enough", "extended_data": "" }]);
    let of = |(id, status): (String, &str)| match asked.service.is_empty() {
        true => {
            let invalid = if status == "INVALID" { detail.clone() } else { json!([]) };
            json!({ "id": id, "status": status, "invalid_transactions": invalid })
        }
        false => {
            let kind: String = status[..1].chars().chain(status[1..].to_lowercase().chars()).collect();
            json!({ "id": id, "status": { "statusType": kind, "message": if kind == "Invalid" { detail.clone() } else { json!([]) } } })
        }
    };
    let found: Vec<Value> = found.into_iter().map(of).collect();
    let answer = if asked.service.is_empty() { json!({ "data": found }) } else { json!(found) };
    answer.to_string().into_response()
}

impl Book {
    fn next_status(&mut self, id: &str, is_said: bool) -> &'static str {
        let status = match self.statuses.get_mut(id) {
            Some(statuses) if is_said && statuses.len() > 1 => statuses.pop_front().unwrap(),
            Some(statuses) => statuses.front().copied().unwrap_or("COMMITTED"),
            None => "COMMITTED",
        };
        if is_said && !matches!(status, "PENDING" | "UNKNOWN") {
            for undecided in self.undecided.values_mut() {
                undecided.retain(|other| other != id);
            }
        }
        status
    }
}
