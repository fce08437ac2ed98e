//! The console's pages with much in the store, and what it costs to leave them open.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::Look;
use crate::home::{Connection, Outside};
use crate::spread::Spread;
use crate::stopwatch::now;

/// The times that each page is asked for.
const LOOKS: usize = 60;

/// Pages by their names and addresses; `{id}` stands for a submission, `{review}` for one that waits for a
/// person.
const PAGES: [(&str, &str); 33] = [
    ("overview", "/console"),
    ("submissions", "/console/submissions"),
    ("of a pipeline", "/console/submissions?q=pipeline:bench-one"),
    ("in a state", "/console/submissions?q=pipeline:bench-one+state:WORK"),
    ("of a status", "/console/submissions?q=status:open"),
    ("by label", "/console/submissions?q=pipeline:bench-desk+label.lane:lane-10"),
    ("by label and state", "/console/submissions?q=pipeline:bench-desk+state:REVIEW+label.lane:lane-10"),
    ("by age", "/console/submissions?q=pipeline:bench-one+status:open+age%3E1s"),
    ("stuck, none is", "/console/submissions?q=pipeline:bench-one+status:open+stuck%3E30d"),
    ("by error, none has it", "/console/submissions?q=status:open+error:no-such"),
    ("by worker, none has it", "/console/submissions?q=status:open+worker:no-such"),
    ("find a key", "/console/submissions?q=no-such-key"),
    ("submission", "/console/submissions/{id}"),
    ("submission under review", "/console/submissions/{review}"),
    ("pipelines", "/console/pipelines"),
    ("pipeline", "/console/pipelines/bench-one"),
    ("its service levels", "/console/pipelines/bench-desk?tab=levels"),
    ("its definition", "/console/pipelines/bench-one?tab=definition"),
    ("its versions", "/console/pipelines/bench-one?tab=versions"),
    ("its lanes", "/console/pipelines/bench-lanes?tab=lanes"),
    ("reviews", "/console/reviews"),
    ("reviews that are nobody's", "/console/reviews?whose=unassigned"),
    ("dead letters", "/console/dead"),
    ("investigations", "/console/investigations"),
    ("overdue", "/console/overdue"),
    ("holds", "/console/holds"),
    ("operations", "/console/operations"),
    ("workers", "/console/workers"),
    ("deliveries", "/console/deliveries"),
    ("live tail", "/console/tail"),
    ("audit log", "/console/audit"),
    ("servers", "/console/servers"),
    ("tokens", "/console/tokens"),
];

#[derive(Deserialize)]
struct Page {
    submissions: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    id: String,
}

/// Asks for every page, and measures what each takes.
pub(crate) async fn console(server: &Outside) -> Result<Vec<Look>> {
    let mut connection = Connection::open(server.address()).await?;
    let id = first(&mut connection, "pipeline=bench-one").await?;
    let review = first(&mut connection, "pipeline=bench-desk&state=REVIEW").await?;
    let mut looks = Vec::new();
    for (name, path) in PAGES {
        let path = path.replace("{id}", &id).replace("{review}", &review);
        // The first one is not measured: it warms up what all others find warm.
        connection.get(&path).await?.expect(200).with_context(|| path.clone())?;
        let mut spread = Spread::default();
        for _ in 0..LOOKS {
            let began = now();
            connection.get(&path).await?.expect(200)?;
            spread.add(began.elapsed());
        }
        looks.push((name, spread.at(0.99)));
    }
    Ok(looks)
}

async fn first(connection: &mut Connection, filter: &str) -> Result<String> {
    let path = format!("/v1/submissions?limit=1&{filter}");
    let page: Page = serde_json::from_slice(&connection.get(&path).await?.expect(200)?)?;
    let listed = page.submissions.into_iter().next();
    Ok(listed.with_context(|| format!("there is nothing to look at: {filter}"))?.id)
}

/// Pages that are left open: each listens, and is read again whenever it is told to.
#[derive(Debug)]
pub(crate) struct Watching {
    pages: JoinSet<Result<()>>,
    read: Arc<AtomicU64>,
}

/// Opens so many pages, and returns once all of them listen.
pub(crate) async fn watch(server: &Outside, pages: usize) -> Result<Watching> {
    let mut watching = Watching { pages: JoinSet::new(), read: Arc::new(AtomicU64::new(0)) };
    for _ in 0..pages {
        let stream = listening(server.address()).await?;
        let page = Connection::open(server.address()).await?;
        watching.pages.spawn(one(stream, page, watching.read.clone()));
    }
    Ok(watching)
}

impl Watching {
    /// Closes the pages, and returns how often they were read meanwhile.
    pub(crate) async fn close(mut self) -> Result<u64> {
        // A page that is gone before it was closed has measured nothing.
        if let Some(ended) = self.pages.try_join_next() {
            ended?.context("a page was not left open")?;
        }
        self.pages.shutdown().await;
        Ok(self.read.load(Ordering::Relaxed))
    }
}

/// Begins to listen to what keeps a page fresh.
async fn listening(server: SocketAddr) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(server).await?;
    let request =
        format!("GET /console/live HTTP/1.1\r\nhost: {server}\r\naccept: text/event-stream\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut head = [0; 12];
    tokio::time::timeout(Duration::from_secs(10), stream.read_exact(&mut head)).await??;
    ensure!(
        head.ends_with(b" 200"),
        "the server does not tell what happens: {}",
        String::from_utf8_lossy(&head)
    );
    Ok(stream)
}

async fn one(mut stream: TcpStream, mut page: Connection, read: Arc<AtomicU64>) -> Result<()> {
    let mut buffer = vec![0; 4 << 10];
    loop {
        let length = stream.read(&mut buffer).await?;
        ensure!(length > 0, "the server closed a page that was open");
        if buffer[..length].windows(11).any(|told| told == b"event: news") {
            page.get("/console").await?.expect(200)?;
            read.fetch_add(1, Ordering::Relaxed);
        }
    }
}
