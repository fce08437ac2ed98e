//! Bodies that never end.

use std::net::Ipv4Addr;

use crate::friend::Friend;
use crate::site::{Site, request};

const HALF_SENT: usize = 1_024;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_sent_bodies_of_one_viewer_stop_nobody() {
    let site = Site::open(&[]);
    let (viewer, friend) = (site.token("vera", "viewer").await, site.token("frida", "submitter").await);
    let id = site.note(&friend).await;
    let path = format!("/v1/submissions/{id}/actions/close");
    let mut open = Vec::new();
    for announced in [1_000, 1_000_000].iter().cycle().take(HALF_SENT) {
        let rest =
            format!("Content-Type: application/json\r\nContent-Length: {announced}\r\n\r\n{{\"reason\":");
        open.extend(site.say(Ipv4Addr::LOCALHOST, &request("POST", &path, Some(&viewer), &rest)).await);
    }
    assert_eq!(open.len(), HALF_SENT);
    Friend::begin(&site, friend).end("1,024 half-sent bodies").await;
    site.check().await;
}
