//! What people look at, with much in the store: lists, filters, counts, single submissions.

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::home::{Connection, Outside};
use crate::spread::Spread;
use crate::stopwatch::now;

const LOOKS: usize = 200;

#[derive(Deserialize)]
struct Page {
    submissions: Vec<Listed>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct Listed {
    id: String,
}

/// The 99th percentile of each kind of look.
pub(crate) async fn pages(server: &Outside) -> Result<Vec<(&'static str, Duration)>> {
    let mut connection = Connection::open(server.address()).await?;
    let list = "/v1/submissions?limit=50";
    let first: Page = serde_json::from_slice(&connection.get(list).await?.expect(200)?)?;
    let id = &first.submissions.first().context("there is nothing to look at")?.id;
    let looks = [
        ("list", list.to_owned()),
        ("list one state", format!("{list}&pipeline=bench-one&state=WORK")),
        ("list one status", format!("{list}&status=open")),
        ("counts", "/v1/pipelines".to_owned()),
        ("open one", format!("/v1/submissions/{id}")),
        ("its events", format!("/v1/submissions/{id}/events")),
    ];
    let mut found = Vec::new();
    for (what, path) in looks {
        let mut spread = Spread::default();
        for _ in 0..LOOKS {
            let began = now();
            connection.get(&path).await?.expect(200)?;
            spread.add(began.elapsed());
        }
        found.push((what, spread.at(0.99)));
    }
    found.push(("page on", page_on(&mut connection, list, first.next).await?));
    Ok(found)
}

/// From each page to the next: the last is as quick as the first.
async fn page_on(connection: &mut Connection, list: &str, mut next: Option<String>) -> Result<Duration> {
    let mut spread = Spread::default();
    for _ in 0..LOOKS {
        let Some(after) = next else { break };
        let began = now();
        let answer = connection.get(&format!("{list}&after={after}")).await?.expect(200)?;
        spread.add(began.elapsed());
        next = serde_json::from_slice::<Page>(&answer)?.next;
    }
    Ok(spread.at(0.99))
}
