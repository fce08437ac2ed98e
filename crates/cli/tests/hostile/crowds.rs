//! More connections than there is room for.

use std::net::Ipv4Addr;

use crate::friend::Friend;
use crate::site::{Site, request};

const CROWD: usize = 10_000;

/// Lets this process have as many connections as it needs, where the system allows it.
fn allow_connections() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).expect("what may be had can be had");
}

/// Without a token, from three addresses, so that no bound for one address is in the way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_that_asked_and_never_reads_locks_nobody_out() {
    allow_connections();
    let site = Site::open(&[]);
    let friend = site.token("frida", "submitter").await;
    let asks = [
        request("GET", "/openapi.json", None, "\r\n"),
        request("GET", "/readyz", None, "\r\n"),
        request("GET", "/readyz", None, "X-Never-Ends: "),
        String::new(),
    ];
    let mut open = Vec::new();
    for number in 0..CROWD {
        let from = Ipv4Addr::new(127, 0, 0, 2 + u8::try_from(number % 3).unwrap());
        open.extend(site.say(from, &asks[number % asks.len()]).await);
    }
    assert_eq!(open.len(), CROWD);
    let friend = Friend::begin(&site, friend);
    // And more and more of them, while somebody works.
    for number in 0..CROWD / 10 {
        open[number] = site.say(Ipv4Addr::new(127, 0, 0, 2), &asks[number % asks.len()]).await.unwrap();
    }
    friend.end("10,000 connections that asked and never read").await;
    site.check().await;
}
