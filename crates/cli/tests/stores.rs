//! Servers over a store that is named: what it does there, and what is said when it cannot be opened.

use crate::common;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use client::{Client, Outcome, Rest, Worker};
use common::{Said, Server, milepost, run};
use model::Json;
use wire::api::SubmitBody;

const PIPELINE: &str = r#"
name = "work"
version = 1
start = "WORK"
[states.WORK]
task = "test.work"
on.done = "DONE"
[states.DONE]
final = "success"
"#;

/// A schema of the server that `cargo xtask test` starts, which no other test has.
fn postgres(schema: &str) -> String {
    let url = std::env::var("MILEPOST_TEST_POSTGRES")
        .expect("MILEPOST_TEST_POSTGRES names a PostgreSQL server: run the tests through `cargo xtask test`");
    format!("{url}?schema=cli_{}_{schema}&readers=2&writers=2", std::process::id())
}

fn refused(store: &str, code: i32) -> String {
    let said = milepost(&["serve", "--listen", "127.0.0.1:0"]).env("MILEPOST_STORE", store).output().unwrap();
    Said::from(said).ends(code).stderr
}

async fn walk(client: Client, n: u64) {
    let payload = Json::parse(&format!(r#"{{"n":{n}}}"#)).unwrap();
    let submitted =
        client.submit("work", &SubmitBody { payload, ..SubmitBody::default() }, None).await.unwrap();
    let waited = client.wait(submitted.id, Some(Duration::from_secs(60))).await.unwrap();
    assert_eq!((waited.rest, &*waited.submission.state), (Rest::Ended, "DONE"));
}

#[test]
fn a_submission_walks_over_every_kind_of_store_and_is_there_when_the_server_starts_again() {
    let folder = tempfile::tempdir().unwrap();
    for store in [format!("sqlite:{}", folder.path().join("data").display()), postgres("walk")] {
        let mut server = Server::over(&store, &[("work.toml", PIPELINE)]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let worker =
                Worker::new(server.client(), "w1").task("test.work", |_| async { Ok(Outcome::new("done")) });
            tokio::select! {
                ended = worker.run(std::future::pending()) => panic!("the worker ended: {ended:?}"),
                () = walk(server.client(), 1) => {}
            }
        });
        // With it go its connections, which the server would wait for.
        drop(runtime);
        assert_eq!(server.signal("TERM").code(), Some(0));
        let again = Server::over(&store, &[]);
        let listed = again.run(&["list", "--pipeline", "work", "-o", "json"]).ends(0).json();
        assert_eq!(listed["submissions"][0]["state"], "DONE", "{listed}");
    }
}

#[test]
fn a_store_that_is_not_there_is_told_without_its_password() {
    let said = refused("postgres://ada:hunter2@127.0.0.1:1/app?schema=walk", 6);
    assert!(said.contains("PostgreSQL at 127.0.0.1:1, database app, schema walk"), "{said}");
    assert!(said.contains("refused") && !said.contains("hunter2"), "{said}");
}

#[test]
fn a_store_that_is_none_is_wrong_usage_and_is_not_repeated() {
    for store in
        ["hunter2", "postgres://ada:hunter2@db:x/app", "postgres://ada:hunter2@db/app?readers=hunter2"]
    {
        let said = refused(store, 2);
        assert!(!said.contains("hunter2"), "{said}");
    }
    let said = run(&["serve", "--store", "sqlite:a", "--data", "b"]).ends(2);
    assert!(said.stderr.contains("cannot be used with"), "{}", said.stderr);
}

#[test]
fn a_wrong_password_is_told_and_not_repeated() {
    // A server that asks for a password and does not like it, as PostgreSQL says it.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut bytes = [0; 1024];
            let _ = connection.read(&mut bytes).unwrap();
            connection.write_all(b"R\0\0\0\x08\0\0\0\x03").unwrap();
            let _ = connection.read(&mut bytes).unwrap();
            let fields = b"SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user \"ada\"\0\0";
            let length = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
            connection.write_all(&[b"E".as_slice(), &length, fields].concat()).unwrap();
        }
    });
    let said = refused(&format!("postgres://ada:hunter2@{address}/app"), 6);
    assert!(said.contains("check user, password") && said.contains("user \"ada\""), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn a_store_of_a_newer_release_is_left_alone() {
    let store = postgres("newer");
    assert_eq!(Server::over(&store, &[]).signal("TERM").code(), Some(0));
    let schema = format!("cli_{}_newer", std::process::id());
    let url = std::env::var("MILEPOST_TEST_POSTGRES").unwrap();
    let newer = format!("UPDATE {schema}.meta SET value = 900 WHERE name IN ('version', 'min_compatible')");
    common::sql::Session::open(&url).run(&newer);
    let said = refused(&store, 6);
    assert!(said.contains("written by a newer release") && said.contains("900"), "{said}");
}

#[test]
fn servers_are_listed_with_the_address_they_really_have() {
    let store = postgres("servers");
    let (one, two) = (Server::over(&store, &[]), Server::over(&store, &[]));
    let addresses = |server: &Server| {
        let list = server.run(&["servers", "-o", "json"]).ends(0).json();
        let mut addresses: Vec<_> = list["servers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|server| format!("http://{}", server["address"].as_str().unwrap()))
            .collect();
        addresses.sort();
        addresses
    };
    let mut expected = vec![one.url.clone(), two.url.clone()];
    expected.sort();
    let begun = engine::clock::instant();
    while addresses(&one) != expected {
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?} are not {expected:?}", addresses(&one));
    }
    let table = two.run(&["servers"]).ends(0).stdout;
    assert!(
        table.contains("LAST SEEN") && table.contains(one.url.strip_prefix("http://").unwrap()),
        "{table}"
    );
}
