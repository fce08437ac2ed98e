//! `milepost migrate-store`: from a folder to PostgreSQL and back, with the real binary.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use crate::common::{Server, milepost, run};
use engine::SystemClock;
use serde_json::json;
use store::transfer::{Part, Transfer as _};
use store::{Changes, Store as _, Take};
use store_conformance::sample::{Sample, submitted};
use store_postgres::{PostgresStore, Settings};
use store_sqlite::SqliteStore;
use tokio_postgres::NoTls;

const WORK: &str = r#"
name = "work"
version = 1
title = "Work"
start = "DOING"
[states.DOING]
task = "work.do"
lease = "1h"
on.done = "DONE"
[states.DONE]
final = "success"
"#;

/// A database of its own on the server `cargo xtask test` starts.
struct Database {
    url: String,
}

impl Database {
    fn fresh(name: &str) -> Database {
        tokio::runtime::Runtime::new().unwrap().block_on(Database::made(name))
    }

    async fn made(name: &str) -> Database {
        let server = std::env::var("MILEPOST_TEST_POSTGRES").expect(
            "MILEPOST_TEST_POSTGRES names a PostgreSQL server: run the tests through `cargo xtask test`",
        );
        let name = format!("{name}_{}", std::process::id());
        let (client, connection) = tokio_postgres::connect(&server, NoTls).await.unwrap();
        drop(tokio::spawn(connection));
        client.batch_execute(&format!("DROP DATABASE IF EXISTS {name}")).await.unwrap();
        client.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
        let (before, _) = server.rsplit_once('/').unwrap();
        Database { url: format!("{before}/{name}") }
    }

    fn settings(&self) -> Settings {
        Settings::new(&self.url)
    }
}

fn sqlite(folder: &Path) -> String {
    format!("sqlite:{}", folder.display())
}

#[test]
fn a_folder_is_moved_once_its_server_has_stopped_and_only_into_what_is_empty() {
    let database = Database::fresh("moved");
    let mut server = Server::start(&[("work.toml", WORK)]);
    for _ in 0..3 {
        server.run(&["submit", "work", "--data", "{}"]).ends(0);
    }
    // Until the log covers them, there are no hashes to be moved.
    while server.run(&["audit", "status", "-o", "json"]).ends(0).json()["size"].as_u64().unwrap_or(0) < 5 {}
    let from = sqlite(&server.folder.path().join("data"));
    let busy = run(&["migrate-store", &from, &database.url]).ends(4);
    assert!(busy.stderr.contains("in use by another process"), "{busy:?}");
    assert!(server.signal("TERM").success());

    let moved = run(&["migrate-store", &from, &database.url, "-o", "json"]).ends(0);
    assert!(moved.stderr.is_empty(), "no bar where there is no terminal: {moved:?}");
    let moved = moved.json();
    // The definition and the built-in one have positions in the sequence, too.
    assert_eq!((&moved["records"]["submission"], &moved["records"]["event"]), (&json!(3), &json!(5)));
    assert_ne!(moved["records"]["tile"], json!(0), "the audit log comes along");
    let store = PostgresStore::open(&database.settings()).unwrap();
    assert_eq!(store.counts().unwrap()[0].count, 3);
    drop(store);

    let again = run(&["migrate-store", &from, &database.url]).ends(4);
    assert!(again.stderr.contains("not empty"), "{again:?}");
    let folder = tempfile::tempdir().unwrap();
    let back = run(&["migrate-store", &database.url, &sqlite(folder.path()), "-o", "json"]).ends(0);
    assert_eq!(back.json(), moved, "there and back, all is the same");
}

#[test]
fn what_is_no_store_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let empty = sqlite(folder.path());
    run(&["migrate-store", &empty, "mysql://ada:hunter2@host/db"]).ends(2);
    let missing = run(&["migrate-store", &empty, "postgres://nobody@127.0.0.1:1/none"]).ends(3);
    assert!(missing.stderr.contains("there is no store"), "{missing:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is made of the source");
}

/// Rows, each with its event.
fn fill(folder: &Path, rows: u64) {
    let store = SqliteStore::open(folder, Arc::new(SystemClock::new())).unwrap();
    for first in (1..=rows).step_by(1_000) {
        let some = first..(first + 1_000).min(rows + 1);
        let mut changes = Some(Changes {
            rows: some.clone().map(|n| Sample::row(n).ready("scan", 1).new_row()).collect(),
            events: some.map(submitted).collect(),
            ..Changes::default()
        });
        store.transact(&Take::nothing(), &mut |_| changes.take().unwrap()).unwrap();
    }
}

#[test]
fn a_move_that_is_killed_goes_on_where_it_stopped() {
    const ROWS: u64 = 12_000;
    let (database, folder) = (Database::fresh("killed"), tempfile::tempdir().unwrap());
    fill(folder.path(), ROWS);
    let from = sqlite(folder.path());
    for part in [Part::Event, Part::Submission] {
        let target = PostgresStore::open_to_move(&database.settings()).unwrap();
        let mut child =
            milepost(&["migrate-store", &from, &database.url]).stdout(Stdio::null()).spawn().unwrap();
        while target.count(part).unwrap() < ROWS / 3 {
            assert!(child.try_wait().unwrap().is_none(), "it is at work");
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(target.count(part).unwrap() < ROWS, "killed in the middle");
        let refused = PostgresStore::open(&database.settings()).map(drop).unwrap_err();
        assert!(refused.to_string().contains("migrate-store"), "{refused}");
    }
    let here = PostgresStore::open_to_move(&database.settings()).unwrap().count(Part::Event).unwrap();
    assert_eq!(here, ROWS, "what is there is not moved again");
    run(&["migrate-store", &from, &database.url]).ends(0);
    let store = PostgresStore::open(&database.settings()).unwrap();
    assert_eq!(store.counts().unwrap()[0].count, ROWS);
}
