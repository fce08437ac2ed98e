//! Pages that people look at, with much in the store: lists, filters, counts, single submissions.

use std::time::Duration;

use anyhow::{Context as _, Result};
use model::Status;
use serde::Deserialize;
use store::Query;

use crate::home::{Connection, Inside, Outside};
use crate::pipelines::ONE;
use crate::spread::Spread;
use crate::stopwatch::now;

const LOOKS: usize = 200;
const LIMIT: usize = 50;

/// The name of a look, and the 99th percentile of the time it takes.
pub(crate) type Look = (&'static str, Duration);

#[derive(Deserialize)]
struct Page {
    submissions: Vec<Listed>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct Listed {
    id: String,
}

pub(crate) async fn pages(server: &Outside) -> Result<Vec<Look>> {
    let mut connection = Connection::open(server.address()).await?;
    let list = &format!("/v1/submissions?limit={LIMIT}");
    let first: Page = serde_json::from_slice(&connection.get(list).await?.expect(200)?)?;
    let id = &first.submissions.first().context("there is nothing to look at")?.id;
    let looks = [
        ("list", list.clone()),
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

/// The same questions, asked of the store without a server.
pub(crate) async fn pages_inside(home: &Inside) -> Result<Vec<Look>> {
    home.read(|store| {
        let first = store.find(&list())?;
        let id = first.rows.first().context("there is nothing to look at")?.id;
        let state = Query { pipeline: Some(ONE.name.into()), state: Some("WORK".into()), ..list() };
        let status = Query { status: Some(Status::Open), ..list() };
        let mut found = vec![
            ("list", timed(|| store.find(&list()))?),
            ("list one state", timed(|| store.find(&state))?),
            ("list one status", timed(|| store.find(&status))?),
            ("counts", timed(|| store.counts())?),
            ("open one", timed(|| store.submission(id))?),
            ("its events", timed(|| store.history(id, 0, LIMIT))?),
        ];
        let mut after = first.rows.last().map(|row| row.id);
        let page_on = timed(|| {
            let page = store.find(&Query { after, ..list() })?;
            after = page.rows.last().map(|row| row.id);
            Ok(page)
        })?;
        found.push(("page on", page_on));
        Ok(found)
    })
    .await
}

fn list() -> Query {
    Query { limit: LIMIT, ..Query::default() }
}

fn timed<T>(mut look: impl FnMut() -> Result<T, store::Error>) -> Result<Duration> {
    let mut spread = Spread::default();
    for _ in 0..LOOKS {
        let began = now();
        look()?;
        spread.add(began.elapsed());
    }
    Ok(spread.at(0.99))
}
