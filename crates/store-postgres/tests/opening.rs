//! Opening a database: what is refused, and what is there afterwards.

use crate::support;

use std::thread;

use model::submission::Failure;
use model::{Status, Submission, Time};
use store::entries::ReviewList;
use store::{Changes, Error, Late, Query, RowChange, Store, Take};
use store_conformance::sample::{Sample, id};
use store_postgres::{PostgresStore, Settings};
use support::Session;

fn refusal(settings: &Settings) -> Error {
    PostgresStore::open(settings).expect_err("opening is refused")
}

fn insert(store: &PostgresStore, n: u64) {
    let insert = &mut |_| Changes { rows: vec![Sample::row(n).new_row()], ..Changes::default() };
    store.transact(&Take::nothing(), insert).expect("the row is new");
}

#[test]
fn servers_that_start_together_make_the_tables_once() {
    let settings = support::fresh();
    thread::scope(|scope| {
        for n in 0..6 {
            let settings = &settings;
            scope.spawn(move || insert(&PostgresStore::open(settings).unwrap(), n));
        }
    });
    let store = PostgresStore::open(&settings).unwrap();
    assert_eq!(store.counts().unwrap()[0].count, 6);
}

#[test]
fn schema_of_another_application_is_refused_and_left_alone() {
    let settings = support::fresh();
    let session = Session::open(&settings);
    session.run(&format!("CREATE SCHEMA \"{}\"; CREATE TABLE meta (name text)", settings.schema));
    let error = refusal(&settings);
    assert!(matches!(error, Error::Corrupt(_)), "{error:?}");
    assert!(error.to_string().contains("belongs to another application"), "{error}");
    assert_eq!(session.number("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"), 1);
}

#[test]
fn schema_that_is_there_and_empty_is_used() {
    let settings = support::fresh();
    Session::open(&settings).run(&format!("CREATE SCHEMA \"{}\"", settings.schema));
    insert(&PostgresStore::open(&settings).unwrap(), 1);
}

#[test]
fn user_needs_no_right_but_to_its_own_schema() {
    let settings = support::fresh();
    let (session, name) = (Session::open(&settings), &settings.schema);
    session.run(&format!("CREATE ROLE \"{name}\" LOGIN"));
    let url = settings.url.replacen("milepost@", &format!("{name}@"), 1);
    let plain = Settings { url, ..settings.clone() };
    let error = refusal(&plain);
    assert!(error.to_string().contains("check the user's rights"), "it may not make a schema: {error}");
    session.run(&format!("CREATE SCHEMA \"{name}\" AUTHORIZATION \"{name}\""));
    insert(&PostgresStore::open(&plain).unwrap(), 1);
    assert!(PostgresStore::open(&plain).unwrap().submission(id(1)).unwrap().is_some());
}

#[test]
fn schema_may_have_any_name() {
    let fresh = support::fresh();
    let settings = Settings { schema: format!("{} it's \"odd\"; --", fresh.schema), ..fresh };
    insert(&PostgresStore::open(&settings).unwrap(), 1);
    assert!(PostgresStore::open(&settings).unwrap().submission(id(1)).unwrap().is_some());
}

#[test]
fn store_of_a_newer_release_is_refused_unless_it_is_compatible() {
    let settings = support::fresh();
    drop(PostgresStore::open(&settings).unwrap());
    let session = Session::open(&settings);
    session.run("UPDATE meta SET value = 900 WHERE name IN ('version', 'min_compatible')");
    let error = refusal(&settings);
    assert!(matches!(error, Error::Unavailable { .. }), "the data is fine: {error:?}");
    assert!(error.to_string().contains("written by a newer release"), "{error}");
    session.run("UPDATE meta SET value = 1 WHERE name = 'min_compatible'");
    insert(&PostgresStore::open(&settings).unwrap(), 1);
}

#[test]
fn store_of_the_release_before_learns_the_keys_of_what_has_ended() {
    let settings = support::fresh();
    let store = PostgresStore::open(&settings).unwrap();
    let rows = (1..=3).map(|n| Sample::row(n).key("k1").status(Status::Succeeded).new_row());
    let dead = Sample::row(5).status(Status::Dead).new_row();
    let rows: Vec<_> = rows.chain([Sample::row(4).key("k1").new_row(), dead]).collect();
    store.transact(&Take::nothing(), &mut |_| Changes { rows: rows.clone(), ..Changes::default() }).unwrap();
    drop(store);
    let session = Session::open(&settings);
    session
        .run("DROP TABLE past_key; DROP TABLE dead_kind; UPDATE meta SET value = 1 WHERE name = 'version'");
    let store = PostgresStore::open(&settings).unwrap();
    let query = Query { key: Some("k1".into()), limit: 9, ..Query::default() };
    let found: Vec<_> = store.find(&query).unwrap().rows.iter().map(|row| row.id).collect();
    assert_eq!(found, [4, 3, 2, 1].map(id));
    assert_eq!(store.dead(None, 9).unwrap().iter().map(|(_, count)| *count).collect::<Vec<_>>(), [1]);
    assert_eq!(session.number("SELECT value FROM meta WHERE name = 'version'"), 3);
}

#[test]
fn time_of_the_last_backup_is_told_by_whoever_makes_it() {
    let settings = support::fresh();
    let store = PostgresStore::open(&settings).unwrap();
    assert_eq!(store.backed_up_at(), Ok(None));
    let session = Session::open(&settings);
    session.run("INSERT INTO backup VALUES ('2026-11-16T03:00:00Z'), ('2026-11-15T03:00:00Z')");
    assert_eq!(store.backed_up_at(), Ok(Some("2026-11-16T03:00:00Z".parse().unwrap())));
    session.run("INSERT INTO backup DEFAULT VALUES");
    assert!(store.backed_up_at().unwrap().is_some_and(|at| at > Time::from_millis(1_794_798_000_000)));
}

#[test]
fn kinds_of_dead_letters_that_are_gone_take_no_room() {
    let settings = support::fresh();
    // Two connections have slots of their own: one counts up, the other down.
    let (one, two) = (PostgresStore::open(&settings).unwrap(), PostgresStore::open(&settings).unwrap());
    for n in 1..=4 {
        let mut row = Sample::row(n).status(Status::Dead).build();
        row.error = Some(Failure::new("broken", if n < 4 { "it broke" } else { "it stopped" }));
        let insert = vec![RowChange::insert(row)];
        one.transact(&Take::nothing(), &mut |_| Changes { rows: insert.clone(), ..Changes::default() })
            .unwrap();
    }
    let session = Session::open(&settings);
    let kept = || session.number("SELECT count(*) FROM (SELECT DISTINCT pattern FROM dead_kind) kinds");
    assert_eq!(kept(), 2);
    for n in [4, 1, 2] {
        let (before, _) = two.submission(id(n)).unwrap().expect("it is there");
        let after = Submission { status: Status::Open, ..before.clone() };
        let update = vec![RowChange::update(before, after)];
        two.transact(&Take::nothing(), &mut |_| Changes { rows: update.clone(), ..Changes::default() })
            .unwrap();
    }
    assert_eq!((kept(), session.number("SELECT sum(count)::bigint FROM dead_kind")), (1, 1));
    assert_eq!(one.dead(None, 9).unwrap().iter().map(|(_, count)| *count).collect::<Vec<_>>(), [1]);
}

#[test]
fn database_of_another_encoding_is_refused() {
    let settings = support::fresh();
    let session = Session::open(&settings);
    let database = format!("{}_ascii", settings.schema);
    session.run(&format!("CREATE DATABASE {database} ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE 'C'"));
    let (server, _) = settings.url.rsplit_once('/').unwrap();
    let error = refusal(&Settings { url: format!("{server}/{database}"), ..settings.clone() });
    assert!(error.to_string().contains("make one with ENCODING 'UTF8'"), "{error}");
}

#[test]
fn server_that_is_not_there_is_unavailable() {
    for url in ["postgres://nobody@127.0.0.1:1/nothing", "no address at all", "postgres://127.0.0.1:nine/x"] {
        let error = refusal(&Settings::new(url));
        assert!(matches!(error, Error::Unavailable { outcome_unknown: false, .. }), "{error:?}");
    }
}

#[test]
fn store_and_its_settings_do_not_show_their_address() {
    let settings = support::fresh();
    let shown = format!("{settings:?} {:?}", PostgresStore::open(&settings).unwrap());
    assert!(!shown.contains("127.0.0.1"), "{shown}");
}

#[test]
fn store_works_from_within_another_runtime() {
    let store = PostgresStore::open(&support::fresh()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async move {
        insert(&store, 1);
        assert!(store.submission(id(1)).unwrap().is_some());
        drop(store);
    });
}

#[test]
fn what_waits_for_people_is_listed_once_in_a_store_that_had_no_such_lists() {
    let settings = support::fresh();
    let store = PostgresStore::open(&settings).unwrap();
    (1..=3).for_each(|n| insert(&store, n));
    let row = Sample::row(1).build();
    let list = ReviewList::Unassigned { pipeline: row.pipeline, state: row.state };
    drop(store);
    Session::open(&settings).run("DELETE FROM late; DELETE FROM meta WHERE name = 'reviews_listed'");
    for _ in 0..2 {
        let store = PostgresStore::open(&settings).unwrap();
        let all = Late { pipeline: list.name(), until: Time::MAX, after: None, limit: 10 };
        assert_eq!(store.late(&all).unwrap().len(), 3);
    }
}
