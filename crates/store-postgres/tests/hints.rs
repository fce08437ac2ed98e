//! Hints from one server to another.

use crate::support;

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use store::{Hint, Store};
use store_postgres::{PostgresStore, Settings};
use support::Session;

const PATIENCE: Duration = Duration::from_secs(60);
const MOMENT: Duration = Duration::from_millis(20);

fn listening(settings: &Settings) -> (PostgresStore, Receiver<Hint>) {
    let store = PostgresStore::open(settings).unwrap();
    let (tell, heard) = channel();
    store.listen(Box::new(move |hint| {
        let _ = tell.send(hint);
    }));
    (store, heard)
}

fn hint(task: &str, seq: u64) -> Hint {
    Hint { ready: [(task.into(), 1)].into(), seq: Some(seq) }
}

/// Announces until it is heard: nobody says when a connection has begun to listen.
fn connect(from: &PostgresStore, to: &Receiver<Hint>) {
    for _ in 0..3_000 {
        from.announce(&hint("hello", 0));
        if to.recv_timeout(MOMENT).is_ok() {
            // What else was said goes by.
            while to.recv_timeout(Duration::from_millis(200)).is_ok() {}
            return;
        }
    }
    panic!("nothing was heard");
}

#[test]
fn hint_reaches_the_other_servers_and_not_the_one_that_gave_it() {
    let settings = support::fresh();
    let (one, to_one) = listening(&settings);
    let (two, to_two) = listening(&settings);
    connect(&one, &to_two);
    connect(&two, &to_one);
    one.announce(&hint("task", 7));
    assert_eq!(to_two.recv_timeout(PATIENCE), Ok(hint("task", 7)));
    two.announce(&hint("task", 8));
    assert_eq!(to_one.recv_timeout(PATIENCE), Ok(hint("task", 8)), "its own would have come first");
}

#[test]
fn many_hints_go_out_as_few() {
    let settings = support::fresh();
    let (_two, heard) = listening(&settings);
    let one = PostgresStore::open(&settings).unwrap();
    connect(&one, &heard);
    (1..=1_000).for_each(|seq| one.announce(&hint("busy", seq)));
    let (mut count, mut messages, mut newest) = (0, 0, 0);
    while count < 1_000 {
        let hint = heard.recv_timeout(PATIENCE).expect("all of it is told");
        count += hint.ready.values().sum::<usize>();
        messages += 1;
        newest = hint.seq.unwrap().max(newest);
    }
    assert_eq!((count, newest), (1_000, 1_000));
    assert!(messages < 500, "{messages}");
}

#[test]
fn hints_come_again_after_every_connection_was_ended() {
    let settings = support::fresh();
    let named =
        Settings { url: format!("{}?application_name={}", settings.url, settings.schema), ..settings };
    let (_two, heard) = listening(&named);
    let one = PostgresStore::open(&named).unwrap();
    connect(&one, &heard);
    let session = Session::open(&support::fresh());
    let end = format!(
        "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE application_name = '{}'",
        named.schema
    );
    assert!(session.number(&end) >= 2);
    while heard.try_recv().is_ok() {}
    connect(&one, &heard);
}

#[test]
fn servers_over_another_schema_hear_nothing() {
    let settings = support::fresh();
    let (_two, heard) = listening(&settings);
    let (_other, elsewhere) = listening(&support::fresh());
    let one = PostgresStore::open(&settings).unwrap();
    connect(&one, &heard);
    assert_eq!(elsewhere.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty));
    assert_eq!(elsewhere.recv_timeout(MOMENT), Err(RecvTimeoutError::Timeout));
}
