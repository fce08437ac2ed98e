//! Connections that are lost: what is said about it, and that the next call works by itself.

use crate::support;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use store::{Changes, Committed, Error, Feed, Store, Take};
use store_conformance::sample::{Sample, id, submitted};
use store_postgres::{PostgresStore, Settings};
use support::Session;

fn named(settings: &Settings) -> Settings {
    let url = format!("{}?application_name={}", settings.url, settings.schema);
    Settings { url, ..settings.clone() }
}

fn insert(store: &PostgresStore, n: u64) -> Result<Committed, Error> {
    let insert = &mut |_| Changes {
        rows: vec![Sample::row(n).new_row()],
        events: vec![submitted(n)],
        ..Changes::default()
    };
    store.transact(&Take::nothing(), insert)
}

/// Ends every connection of a store.
fn terminate(session: &Session, settings: &Settings) {
    let ended = format!(
        "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE application_name = '{}'",
        settings.schema
    );
    assert!(session.number(&ended) > 0, "there were connections");
}

fn assert_lost<T: std::fmt::Debug>(outcome: &Result<T, Error>) {
    assert!(matches!(outcome, Err(Error::Unavailable { outcome_unknown: false, .. })), "{outcome:?}");
}

/// The first outcome that is good. Those before it say that the connection was lost.
fn in_the_end<T: std::fmt::Debug>(mut call: impl FnMut() -> Result<T, Error>) -> T {
    for _ in 0..20 {
        let outcome = call();
        if let Ok(good) = outcome {
            return good;
        }
        assert_lost(&outcome);
    }
    panic!("the store does not come back by itself");
}

#[test]
fn store_connects_again_after_its_connections_were_ended() {
    let settings = support::fresh();
    let store = PostgresStore::open(&named(&settings)).unwrap();
    let session = Session::open(&settings);
    insert(&store, 1).unwrap();
    for n in 2..5 {
        terminate(&session, &settings);
        in_the_end(|| insert(&store, n));
        terminate(&session, &settings);
        in_the_end(|| store.submission(id(n))).unwrap();
    }
    let feed = in_the_end(|| store.feed(&Feed { limit: 9, ..Feed::default() }));
    assert_eq!(feed.events.len(), 4);
}

#[test]
fn connection_lost_before_the_commit_changes_nothing() {
    let settings = support::fresh();
    let store = PostgresStore::open(&named(&settings)).unwrap();
    let session = Session::open(&settings);
    let outcome = store.transact(&Take::nothing(), &mut |_| {
        terminate(&session, &settings);
        Changes { rows: vec![Sample::row(1).new_row()], ..Changes::default() }
    });
    assert_lost(&outcome);
    assert!(in_the_end(|| store.submission(id(1))).is_none());
    in_the_end(|| insert(&store, 1));
}

/// Stands between the store and the server, and hangs up when it hears a word.
struct Cutter {
    armed: Arc<AtomicBool>,
    port: u16,
}

/// Stands between them, too, and lets nothing through any more from when it hears a word: as if the server's machine
/// had stopped, with every connection to it still open.
struct Muffler {
    word: Arc<Mutex<Option<&'static [u8]>>>,
    port: u16,
}

impl Muffler {
    fn open(server: String) -> Muffler {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let word: Arc<Mutex<Option<&'static [u8]>>> = Arc::default();
        let muffler = Muffler { word: word.clone(), port };
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
                let silent = Arc::new(AtomicBool::new(false));
                let ways = [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)];
                for (from, to) in ways {
                    let (silent, word) = (silent.clone(), word.clone());
                    thread::spawn(move || pass(from, to, &silent, &word));
                }
            }
        });
        muffler
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, silent: &AtomicBool, word: &Mutex<Option<&'static [u8]>>) {
    let mut bytes = [0; 65_536];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let word = *word.lock().unwrap();
        if word.is_some_and(|word| bytes[..count].windows(word.len()).any(|part| part == word)) {
            silent.store(true, Ordering::SeqCst);
        }
        if !silent.load(Ordering::SeqCst) && to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    if !silent.load(Ordering::SeqCst) {
        let _ = to.shutdown(Shutdown::Both);
    }
}

fn host(settings: &Settings) -> String {
    settings.url.split(['@', '/']).find(|part| part.contains("127.0.0.1")).unwrap().to_owned()
}

#[test]
fn server_that_falls_silent_is_given_up_and_nobody_waits_for_ever() {
    let settings = support::fresh();
    let address = host(&settings);
    let muffler = Muffler::open(address.clone());
    let url = settings.url.replace(&address, &format!("127.0.0.1:{}", muffler.port));
    let impatient = Settings { url, patience: Duration::from_secs(1), ..settings };
    // A busy machine may need longer than that for what is not held up at all.
    let store = in_the_end(|| PostgresStore::open(&impatient));
    in_the_end(|| insert(&store, 1));
    let hear = |word: Option<&'static [u8]>| *muffler.word.lock().unwrap() = word;
    hear(Some(b"BEGIN"));
    let outcome = insert(&store, 2);
    assert_lost(&outcome);
    assert!(outcome.unwrap_err().to_string().contains("has not answered"));
    hear(Some(b"COMMIT\0"));
    let outcome = in_the_end_or_unknown(&store, 2);
    assert!(matches!(outcome, Err(Error::Unavailable { outcome_unknown: true, .. })), "{outcome:?}");
    hear(Some(b"BEGIN ISOLATION"));
    assert_lost(&store.submission(id(1)));
    hear(None);
    in_the_end(|| store.submission(id(1))).unwrap();
    in_the_end(|| insert(&store, 3));
}

/// The first outcome that is not about a connection that was lost before the commit.
fn in_the_end_or_unknown(store: &PostgresStore, n: u64) -> Result<Committed, Error> {
    for _ in 0..20 {
        let outcome = insert(store, n);
        if !matches!(outcome, Err(Error::Unavailable { outcome_unknown: false, .. })) {
            return outcome;
        }
    }
    panic!("the store does not come back by itself");
}

/// The store's machine seems to stop with a transaction open: once armed, no commit gets through. The server is made to
/// wait for less than a second until it ends such a transaction.
fn open_sleeper(server: String) -> Cutter {
    const PATIENT: &[u8] = b"idle_in_transaction_session_timeout = '10s'";
    const IMPATIENT: &[u8] = b"idle_in_transaction_session_timeout = '900'";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let armed = Arc::new(AtomicBool::new(false));
    let sleeper = Cutter { armed: armed.clone(), port };
    thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
            let (from_server, to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            let (never, nothing) = (AtomicBool::new(false), Mutex::new(None));
            thread::spawn(move || pass(from_server, to_client, &never, &nothing));
            let armed = armed.clone();
            thread::spawn(move || {
                let (mut client, mut server) = (client, server);
                let mut bytes = [0; 65_536];
                let at = |bytes: &[u8], word: &[u8]| bytes.windows(word.len()).position(|part| part == word);
                while let Ok(count @ 1..) = client.read(&mut bytes) {
                    if let Some(start) = at(&bytes[..count], PATIENT) {
                        bytes[start..start + IMPATIENT.len()].copy_from_slice(IMPATIENT);
                    }
                    let stopped = armed.load(Ordering::SeqCst) && at(&bytes[..count], b"COMMIT\0").is_some();
                    if stopped {
                        // From here on nothing of it arrives; what the server says still does.
                        continue;
                    }
                    if server.write_all(&bytes[..count]).is_err() {
                        break;
                    }
                }
            });
        }
    });
    sleeper
}

#[test]
fn transaction_the_server_ended_for_standing_idle_is_known_to_have_changed_nothing() {
    let settings = support::fresh();
    let address = host(&settings);
    let sleeper = open_sleeper(address.clone());
    let url = settings.url.replace(&address, &format!("127.0.0.1:{}", sleeper.port));
    let store = PostgresStore::open(&Settings { url, ..settings }).unwrap();
    in_the_end(|| insert(&store, 1));
    sleeper.armed.store(true, Ordering::SeqCst);
    let outcome = insert(&store, 2);
    assert_lost(&outcome);
    assert!(outcome.unwrap_err().to_string().contains("idle-in-transaction"));
    sleeper.armed.store(false, Ordering::SeqCst);
    assert!(in_the_end(|| store.submission(id(2))).is_none());
    in_the_end(|| insert(&store, 2));
}

#[test]
fn connection_that_leads_to_a_reader_is_not_used_again() {
    let settings = support::fresh();
    let (session, name) = (Session::open(&settings), settings.schema.clone());
    session.run(&format!("CREATE ROLE {name} LOGIN; CREATE SCHEMA {name} AUTHORIZATION {name}"));
    let url = settings.url.replacen("milepost@", &format!("{name}@"), 1);
    let store = PostgresStore::open(&named(&Settings { url, ..settings.clone() })).unwrap();
    insert(&store, 1).unwrap();
    // What it connects to from now on only reads, as a primary that was demoted does.
    session.run(&format!("ALTER ROLE {name} SET default_transaction_read_only = on"));
    terminate(&session, &settings);
    let said = (0..9).find_map(|_| {
        let error = insert(&store, 2).expect_err("nothing can be written").to_string();
        error.contains("read-only").then_some(error)
    });
    assert!(said.is_some(), "it says why");
    session.run(&format!("ALTER ROLE {name} RESET default_transaction_read_only"));
    in_the_end(|| insert(&store, 2));
}

#[test]
fn machine_that_takes_connections_and_says_nothing_is_passed_over() {
    let settings = support::fresh();
    let frozen = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, port) = (host(&settings), frozen.local_addr().unwrap().port());
    let both = settings.url.replace(&address, &format!("127.0.0.1:{port},{address}"));
    let url = format!("{both}?connect_timeout=1&target_session_attrs=read-write");
    let settings = Settings { url, ..settings };
    // A busy machine may need longer than a second to connect to the one that does answer.
    let store = in_the_end(|| PostgresStore::open(&settings));
    in_the_end(|| insert(&store, 1));
}

impl Cutter {
    /// After the word was passed on, or before.
    fn open(server: String, word: &'static [u8], passed_on: bool) -> Cutter {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let armed = Arc::new(AtomicBool::new(false));
        let cutter = Cutter { armed: armed.clone(), port };
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                let server = TcpStream::connect(&server).unwrap();
                let (mut from_server, mut to_client) =
                    (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || {
                    // A server that cannot answer would roll back: it is heard out, whether the client listens or not.
                    let mut bytes = [0; 65_536];
                    while let Ok(count @ 1..) = from_server.read(&mut bytes) {
                        let _ = to_client.write_all(&bytes[..count]);
                    }
                    let _ = to_client.shutdown(Shutdown::Both);
                });
                let armed = armed.clone();
                thread::spawn(move || listen(client, server, &armed, word, passed_on));
            }
        });
        cutter
    }
}

fn listen(mut client: TcpStream, mut server: TcpStream, armed: &AtomicBool, word: &[u8], passed_on: bool) {
    let mut bytes = [0; 65_536];
    while let Ok(count @ 1..) = client.read(&mut bytes) {
        let heard =
            armed.load(Ordering::SeqCst) && bytes[..count].windows(word.len()).any(|part| part == word);
        if heard {
            let _ = client.shutdown(Shutdown::Both);
        }
        let passes = !heard || passed_on;
        if passes && server.write_all(&bytes[..count]).is_err() {
            break;
        }
        if heard {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Write);
}

fn cut_at_commit(passed_on: bool) {
    let settings = support::fresh();
    let address = host(&settings);
    let cutter = Cutter::open(address.clone(), b"COMMIT\0", passed_on);
    let url = settings.url.replace(&address, &format!("127.0.0.1:{}", cutter.port));
    let store = PostgresStore::open(&Settings { url, ..settings.clone() }).unwrap();
    insert(&store, 1).unwrap();
    cutter.armed.store(true, Ordering::SeqCst);
    let outcome = insert(&store, 2);
    assert!(matches!(outcome, Err(Error::Unavailable { outcome_unknown: true, .. })), "{outcome:?}");
    cutter.armed.store(false, Ordering::SeqCst);
    // Whole or not at all, and the server may need a moment to decide: a lock on the row outlasts it.
    let session = Session::open(&settings);
    let open = "SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
                WHERE c.relname = 'submission' AND c.relnamespace = current_schema()::regnamespace";
    while session.number(open) > 0 {
        thread::yield_now();
    }
    let row = in_the_end(|| store.submission(id(2)));
    let events = in_the_end(|| store.history(id(2), 0, 9));
    assert_eq!((row.is_some(), events.len()), (passed_on, usize::from(passed_on)));
    if !passed_on {
        in_the_end(|| insert(&store, 2));
    }
    assert_eq!(in_the_end(|| store.feed(&Feed { limit: 9, ..Feed::default() })).events.len(), 2);
}

#[test]
fn connection_lost_after_the_commit_was_sent_leaves_the_outcome_unknown() {
    cut_at_commit(true);
}

#[test]
fn connection_lost_with_the_commit_leaves_the_outcome_unknown() {
    cut_at_commit(false);
}
