//! Work for a fleet, and a book of everything it has acknowledged.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use client::{Client, Error, FeedFilter, Position, Retries};
use model::{Json, Millis, SubmissionId};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use wire::api::{ClaimBody, EventView, FinishBody, SubmitBody};

/// Each lane is strict: one at a time, from its first step to its end.
pub(crate) const PIPELINE: &str = r#"
name = "steps"
version = 1
title = "Two steps, one submission at a time in each lane"
key = "string(payload.n)"
lane = { key = "payload.lane" }
start = "FIRST"

[defaults]
lease = "5s"

[states.FIRST]
task = "steps.first"
on.done = "SECOND"

[states.SECOND]
task = "steps.second"
on.done = "DONE"

[states.DONE]
final = "success"
"#;

pub(crate) const LANES: u64 = 24;
/// Submissions under way at a time.
const OPEN_MAX: usize = 120;
/// Longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);
/// Between two looks at whether something has come about.
const MOMENT: Duration = Duration::from_millis(20);

/// The changes that the fleet has acknowledged.
#[derive(Debug)]
pub(crate) struct Book {
    pub(crate) submitted: Mutex<HashMap<u64, SubmissionId>>,
    pub(crate) moved: Mutex<Vec<(SubmissionId, String)>>,
    /// The feed as its reader saw it, through all troubles.
    pub(crate) feed: Mutex<Vec<EventView>>,
    /// The client of each server; those that are gone have none.
    servers: Mutex<Vec<Option<Client>>>,
    /// The number of acknowledgements of each server.
    acknowledged: Vec<AtomicU64>,
    next: AtomicU64,
    done: AtomicU64,
    open: Semaphore,
    stopping: AtomicBool,
    over: AtomicBool,
}

impl Book {
    /// The server with this number or, where there is none, the next.
    fn server(&self, from: usize) -> Option<(usize, Client)> {
        let servers = self.servers.lock().unwrap();
        let count = servers.len();
        (0..count).map(|no| (from + no) % count).find_map(|no| Some((no, servers[no].clone()?)))
    }

    fn acknowledge(&self, server: usize, count: usize) {
        self.acknowledged[server].fetch_add(count as u64, Ordering::SeqCst);
    }
}

pub(crate) struct Load {
    pub(crate) book: Arc<Book>,
    submitters: Vec<JoinHandle<()>>,
    others: Vec<JoinHandle<()>>,
    runtime: Runtime,
}

impl Load {
    pub(crate) fn start(urls: &[String]) -> Load {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let book = Arc::new(Book {
            submitted: Mutex::default(),
            moved: Mutex::default(),
            feed: Mutex::default(),
            servers: Mutex::new(urls.iter().map(|url| Some(client(url))).collect()),
            acknowledged: urls.iter().map(|_| AtomicU64::new(0)).collect(),
            next: AtomicU64::new(0),
            done: AtomicU64::new(0),
            open: Semaphore::new(OPEN_MAX),
            stopping: AtomicBool::new(false),
            over: AtomicBool::new(false),
        });
        let (mut submitters, mut others) = (Vec::new(), Vec::new());
        for server in 0..urls.len() {
            for _ in 0..3 {
                submitters.push(runtime.spawn(submit(book.clone(), server)));
            }
            for no in 0..2 {
                others.push(runtime.spawn(work(book.clone(), server, format!("w{server}-{no}"))));
            }
        }
        others.push(runtime.spawn(read(book.clone())));
        Load { book, submitters, others, runtime }
    }

    /// A server is gone, or is somewhere else.
    pub(crate) fn moved(&self, server: usize, url: Option<&str>) {
        self.book.servers.lock().unwrap()[server] = url.map(client);
    }

    /// Waits until each of these servers has acknowledged so much more.
    pub(crate) fn until_each_acknowledged(&self, servers: &[usize], more: u64) {
        let count = |server: &usize| self.book.acknowledged[*server].load(Ordering::SeqCst);
        let goals: Vec<u64> = servers.iter().map(|server| count(server) + more).collect();
        let told =
            || servers.iter().zip(&goals).map(|(server, goal)| (*server, count(server), *goal)).collect();
        self.until("every server works", told, |told: &Vec<(usize, u64, u64)>| {
            told.iter().all(|(_, count, goal)| count >= goal)
        });
    }

    fn until<T: std::fmt::Debug>(&self, what: &str, look: impl Fn() -> T, holds: impl Fn(&T) -> bool) {
        let looking = async {
            while !holds(&look()) {
                // A part of the load that panicked will do nothing more.
                assert!(!self.others.iter().any(JoinHandle::is_finished), "a worker or reader has ended");
                tokio::time::sleep(MOMENT).await;
            }
        };
        let patience = self.runtime.block_on(async { tokio::time::timeout(PATIENCE, looking).await });
        assert!(patience.is_ok(), "not in time: {what}: {:?}", look());
    }

    /// Stops submitting, and waits until everything that was submitted has come to its end and was read in the feed.
    pub(crate) fn finish(mut self) -> Arc<Book> {
        self.book.stopping.store(true, Ordering::SeqCst);
        for submitter in std::mem::take(&mut self.submitters) {
            self.runtime.block_on(submitter).unwrap();
        }
        let book = self.book.clone();
        let numbers = || {
            let submitted = book.submitted.lock().unwrap().len() as u64;
            (submitted, book.done.load(Ordering::SeqCst), book.feed.lock().unwrap().len() as u64)
        };
        // Submitted, and two moves.
        self.until("everything is done and in the feed", numbers, |(submitted, done, events)| {
            done >= submitted && *events >= 3 * submitted
        });
        self.book.over.store(true, Ordering::SeqCst);
        for other in self.others {
            self.runtime.block_on(other).unwrap();
        }
        self.book
    }
}

fn client(url: &str) -> Client {
    let pause = Duration::from_millis(20);
    Client::new(url, None).unwrap().with_retries(Retries { times: 1, pause, pause_max: pause })
}

/// A pause between tries, so that a fleet that is down is not asked ten thousand times.
async fn pause() {
    tokio::time::sleep(MOMENT).await;
}

fn expect_passing(error: &Error) {
    assert!(error.is_passing(), "{error}");
}

/// Submits one after the other. Each number is sent until it is acknowledged, by whatever server.
async fn submit(book: Arc<Book>, home: usize) {
    while !book.stopping.load(Ordering::SeqCst) {
        let Ok(permit) = tokio::time::timeout(MOMENT, book.open.acquire()).await else { continue };
        permit.unwrap().forget();
        let n = book.next.fetch_add(1, Ordering::SeqCst);
        let payload = Json::parse(&format!(r#"{{"n":{n},"lane":"l{}"}}"#, n % LANES)).unwrap();
        let body = SubmitBody { payload, ..SubmitBody::default() };
        let mut from = home;
        loop {
            let Some((server, client)) = book.server(from) else {
                pause().await;
                continue;
            };
            match client.submit("steps", &body, Some(&format!("n-{n}"))).await {
                Ok(answer) => {
                    assert_eq!(book.submitted.lock().unwrap().insert(n, answer.id), None);
                    book.acknowledge(server, 1);
                    break;
                }
                Err(error) => expect_passing(&error),
            }
            from = server + 1;
            pause().await;
        }
    }
}

/// Takes work from its own server while there is one, and hands it in wherever it is taken.
async fn work(book: Arc<Book>, home: usize, name: String) {
    let claim = ClaimBody {
        worker: name,
        tasks: vec!["steps.first".to_owned(), "steps.second".to_owned()],
        max: Some(8),
        wait: Some(Millis::from_secs(2)),
        ..ClaimBody::default()
    };
    let mut from = home;
    while !book.over.load(Ordering::SeqCst) {
        let Some((server, client)) = book.server(from) else {
            pause().await;
            continue;
        };
        match client.claim(&claim).await {
            Ok(claimed) => {
                from = home;
                let tokens = claimed.tasks.iter().map(|task| (task.submission, task.token.clone())).collect();
                finish(&book, server, tokens).await;
            }
            Err(error) => {
                expect_passing(&error);
                from = server + 1;
                pause().await;
            }
        }
    }
}

async fn finish(book: &Book, mut from: usize, tasks: Vec<(SubmissionId, String)>) {
    while !tasks.is_empty() {
        let Some((server, client)) = book.server(from) else {
            pause().await;
            continue;
        };
        let bodies = tasks.iter().map(|(_, token)| FinishBody {
            token: token.clone(),
            outcome: "done".to_owned(),
            output: None,
            result: None,
            children: Vec::new(),
            entries: Vec::new(),
        });
        let answer = match client.finish(bodies.collect()).await {
            Ok(answer) if answer.results.iter().all(|result| result.status < 500) => answer,
            Ok(_) => {
                pause().await;
                continue;
            }
            Err(error) => {
                expect_passing(&error);
                from = server + 1;
                pause().await;
                continue;
            }
        };
        for ((submission, _), result) in tasks.iter().zip(answer.results) {
            // A lease that ran out while nobody could be reached is somebody else's now.
            if result.status == 409 {
                continue;
            }
            assert_eq!(result.status, 200, "{:?}", result.problem);
            let state = result.state.unwrap().to_string();
            if state == "DONE" {
                book.done.fetch_add(1, Ordering::SeqCst);
                book.open.add_permits(1);
            }
            book.moved.lock().unwrap().push((*submission, state));
            book.acknowledge(server, 1);
        }
        return;
    }
}

/// Follows the feed through every server there is, one after the other.
async fn read(book: Arc<Book>) {
    let (mut from, mut position) = (0, 0);
    while !book.over.load(Ordering::SeqCst) {
        let Some((server, client)) = book.server(from) else {
            pause().await;
            continue;
        };
        from = server + 1;
        let filter = FeedFilter { limit: Some(500), ..FeedFilter::default() };
        match client.feed(&filter, Position::After(position), Duration::from_secs(1)).await {
            Ok(page) => {
                position = page.next;
                book.feed.lock().unwrap().extend(page.events);
            }
            Err(error) => {
                expect_passing(&error);
                pause().await;
            }
        }
    }
}
