//! Readers that never read.

use std::net::Ipv4Addr;

use serde_json::json;
use tokio::net::TcpStream;

use crate::friend::Friend;
use crate::site::{Site, request};

const READERS: usize = 2_000;
/// The text of a large submission.
const LARGE: usize = 1_000_000;
const CLAIMS: usize = 100;

/// Ends when an answer to each of these has begun to come. Nothing of it is read.
async fn all_answered(open: &[TcpStream]) {
    for stream in open {
        stream.readable().await.expect("the connection is open");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_that_never_read_take_no_more_than_their_share() {
    let site = Site::open(&[]);
    let (viewer, friend) = (site.token("vera", "viewer").await, site.token("frida", "submitter").await);
    site.fill(&friend, 600, 100_000).await;
    let id = site.note(&friend).await;
    let asks = [
        request("GET", "/v1/feed?limit=1000", Some(&viewer), "\r\n"),
        request("GET", "/v1/feed", Some(&viewer), "Accept: text/event-stream\r\n\r\n"),
        request("GET", "/v1/submissions?limit=1000", Some(&viewer), "\r\n"),
        request("GET", &format!("/v1/submissions/{id}/evidence"), Some(&viewer), "\r\n"),
    ];
    let friend = Friend::begin(&site, friend);
    let mut open = Vec::new();
    for ask in asks.iter().cycle().take(READERS) {
        open.extend(site.say(Ipv4Addr::LOCALHOST, ask).await);
    }
    assert_eq!(open.len(), READERS);
    friend.end("2,000 readers that never read").await;
    site.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_submissions_that_nobody_reads_do_not_add_up() {
    let site = Site::open(&[]);
    let (viewer, friend) = (site.token("vera", "viewer").await, site.token("frida", "submitter").await);
    let body = json!({ "payload": { "text": "x".repeat(LARGE) } });
    let made = site.post("/v1/pipelines/notes/submissions", &friend, &body).await;
    let path = format!("/v1/submissions/{}", made["id"].as_str().unwrap());
    let ask = request("GET", &path, Some(&viewer), "\r\n");
    let friend = Friend::begin(&site, friend);
    let mut open = Vec::new();
    for _ in 0..READERS {
        open.extend(site.say(Ipv4Addr::LOCALHOST, &ask).await);
    }
    assert_eq!(open.len(), READERS);
    all_answered(&open).await;
    friend.end("2,000 that asked for a megabyte and do not read it").await;
    site.check().await;
}

const JOBS: &str = r#"
name = "jobs"
version = 1
start = "WAITING"
[states.WAITING]
task = "jobs.work"
on.done = "DONE"
[states.DONE]
final = "success"
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_that_nobody_reads_do_not_add_up() {
    let site = Site::open(&[("jobs.toml", JOBS)]);
    let (worker, friend) = (site.token("wim", "worker").await, site.token("frida", "submitter").await);
    let body = json!({ "payload": { "text": "x".repeat(LARGE) } });
    let submit = async || {
        for _ in 0..CLAIMS {
            site.post("/v1/pipelines/jobs/submissions", &friend, &body).await;
        }
    };
    tokio::join!(submit(), submit(), submit(), submit());
    let body = json!({ "worker": "w", "tasks": ["jobs.work"], "max": 4, "wait": "60s" }).to_string();
    let head = format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let ask = request("POST", "/v1/tasks:claim", Some(&worker), &head);
    let mut open = Vec::new();
    for _ in 0..CLAIMS {
        open.extend(site.say(Ipv4Addr::LOCALHOST, &ask).await);
    }
    assert_eq!(open.len(), CLAIMS);
    all_answered(&open).await;
    Friend::begin(&site, friend.clone())
        .end("100 that claimed four megabytes each and do not read them")
        .await;
    site.check().await;
}
