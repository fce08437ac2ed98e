//! Readers that never read.

use std::net::Ipv4Addr;

use crate::friend::Friend;
use crate::site::{Site, request};

const READERS: usize = 2_000;

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
