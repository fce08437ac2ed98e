//! `milepost.submit` in SQL: part of the caller's own transaction, decided after its commit, once.

use crate::support;

use std::sync::Arc;

use engine::{Engine, Options};
use model::event::Change;
use model::pipeline::Source;
use model::{Event, Submission, SubmissionId};
use store::Store;
use store_postgres::{PostgresStore, Settings};
use support::Session;

const ORDERS: &str = r#"
name = "orders"
version = 1
title = "Orders"
key = "payload.id"
on_duplicate = "reject"
priority = { set_by = "submitter" }
start = "PACKING"
[states.PACKING]
task = "orders.pack"
on.packed = "SENT"
[states.SENT]
final = "success"
"#;

const VISITS: &str = r#"
name = "visits"
version = 1
title = "Visits"
key = "payload.id"
on_duplicate = "return"
start = "OPEN"
[states.OPEN]
actions.close = "DONE"
[states.DONE]
final = "success"
"#;

/// A store with both pipelines, and a plain connection to its schema.
struct Shop {
    settings: Settings,
    store: Arc<PostgresStore>,
    session: Session,
    runtime: tokio::runtime::Runtime,
}

impl Shop {
    fn open() -> Shop {
        let settings = support::fresh();
        let store = Arc::new(PostgresStore::open(&settings).unwrap());
        let session = Session::open(&settings);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let shop = Shop { settings, store, session, runtime };
        let engine = shop.engine();
        for file in [ORDERS, VISITS] {
            shop.runtime.block_on(engine.apply(&Source::new("test.toml", file))).unwrap();
        }
        shop.runtime.block_on(engine.drain());
        shop
    }

    fn engine(&self) -> Engine {
        Engine::start(self.store.clone(), &Options::default()).unwrap()
    }

    /// Returns the answer to a call in SQL.
    fn submit(&self, arguments: &str) -> SubmissionId {
        self.session.texts(&format!("SELECT submit({arguments})"))[0].parse().unwrap()
    }

    fn left(&self) -> i64 {
        self.session.number("SELECT count(*) FROM inbox")
    }

    /// Lets a server work until nothing is left.
    fn decide(&self) {
        let engine = self.engine();
        self.until(|| self.left() == 0);
        self.runtime.block_on(engine.drain());
    }

    fn until(&self, done: impl Fn() -> bool) {
        while !done() {
            std::thread::yield_now();
        }
    }

    fn row(&self, id: SubmissionId) -> Option<Submission> {
        self.store.submission(id).unwrap().map(|(row, _)| row)
    }

    /// The one event of what never became a submission.
    fn end(&self, id: SubmissionId) -> Event {
        assert!(self.row(id).is_none());
        let mut history = self.store.history(id, 0, 9).unwrap();
        assert_eq!(history.len(), 1);
        history.remove(0).event
    }
}

#[test]
fn what_is_committed_is_submitted_and_what_is_rolled_back_never_was() {
    let shop = Shop::open();
    shop.session.run("CREATE TABLE customer (name text); BEGIN; INSERT INTO customer VALUES ('ada')");
    let kept = shop.submit(r#"'orders', '{ "id": "a" }', priority => -2, reason => 'spring'"#);
    shop.session.run("COMMIT; BEGIN");
    let lost = shop.submit(r#"'orders', '{"id":"b"}'"#);
    shop.session.run("ROLLBACK");
    let text = shop.submit(r#"'orders', '{"id":"c"}'::json"#);
    let parsed =
        shop.submit(r#"'orders', jsonb_build_object('id', 'd'), not_before => now() + interval '1 day'"#);
    assert!(kept < text && text < parsed, "ids grow");
    assert_eq!(kept.0.get_version_num(), 7);
    shop.decide();
    let row = shop.row(kept).unwrap();
    assert_eq!((&*row.state, row.key.as_deref(), row.priority_given), ("PACKING", Some("a"), Some(-2)));
    assert_eq!(&*row.submitter, "sql:milepost");
    assert!(shop.row(lost).is_none() && shop.store.history(lost, 0, 1).unwrap().is_empty());
    assert_eq!(shop.store.submission(text).unwrap().unwrap().1.payload.as_str(), r#"{"id":"c"}"#);
    assert_eq!(shop.row(parsed).unwrap().wait.as_str(), "delay");
}

#[test]
fn a_running_server_finds_what_is_committed_by_itself() {
    let shop = Shop::open();
    let engine = shop.engine();
    let id = shop.submit(r#"'orders', '{"id":"a"}'"#);
    shop.until(|| shop.row(id).is_some());
    shop.until(|| engine.received().submitted == 1);
    shop.runtime.block_on(engine.drain());
}

#[test]
fn refusals_are_events_under_the_promised_id() {
    let shop = Shop::open();
    let first = shop.submit(r#"'orders', '{"id":"a"}'"#);
    let visit = shop.submit(r#"'visits', '{"id":"a"}'"#);
    shop.decide();
    let refused = [
        (shop.submit("'nowhere', '{}'"), "unknown-pipeline"),
        (shop.submit("'orders', '{no json}'"), "invalid-json"),
        (shop.submit(r#"'orders', '{"id":"x","id":"y"}'::json"#), "invalid-json"),
        (shop.submit(r#"'orders', '{"name":"no id"}'"#), "guard-error"),
        (shop.submit(r#"'orders', '{"id":"a"}'"#), "duplicate-key"),
        (shop.submit(r#"'visits', '{"id":"a","by":"ada"}'"#), "key-conflict"),
        (shop.submit(r#"'orders', '{"id":"z"}', key => 'other'"#), "key-mismatch"),
        (shop.submit(r#"'orders', '{"id":"z"}', priority => 9000000"#), "invalid-request"),
    ];
    let merged = shop.submit(r#"'visits', '{"id":"a"}'::jsonb"#);
    shop.decide();
    for (id, code) in refused {
        let event = shop.end(id);
        assert_eq!((&*event.leaf.to, &*event.leaf.trigger), ("refused", code));
    }
    assert!(matches!(shop.end(merged).detail.change, Change::Merged { into, .. } if into == visit));
    assert_eq!(&*shop.row(first).unwrap().state, "PACKING");
}

#[test]
fn what_is_too_large_is_refused_in_the_callers_transaction() {
    let shop = Shop::open();
    let calls = [
        "'orders', repeat('x', 1048577)",
        "repeat('x', 513), '{}'",
        "'orders', '{}', key => repeat('x', 513)",
        "'orders', '{}', reason => repeat('x', 4001)",
        "'orders', '{}', not_before => 'infinity'",
        "'orders', NULL::text",
        "NULL, '{}'",
    ];
    for call in calls {
        let block = format!(
            "DO $do$ BEGIN PERFORM submit({call}); RAISE assert_failure; \
             EXCEPTION WHEN program_limit_exceeded OR null_value_not_allowed OR invalid_parameter_value THEN NULL; END $do$"
        );
        shop.session.run(&block);
    }
    assert_eq!(shop.left(), 0);
}

#[test]
fn a_thousand_in_one_transaction_are_a_thousand_submissions() {
    let shop = Shop::open();
    let engine = shop.engine();
    let ids = shop
        .session
        .texts("SELECT submit('orders', json_build_object('id', n::text)) FROM generate_series(1, 1000) n");
    let last: SubmissionId = ids[999].parse().unwrap();
    shop.until(|| shop.left() == 0 && shop.row(last).is_some());
    let counts = shop.store.counts().unwrap();
    assert_eq!((counts.len(), counts[0].count), (1, 1_000));
    shop.until(|| engine.received().submitted == 1_000);
    shop.runtime.block_on(engine.drain());
}

#[test]
fn two_servers_decide_each_once() {
    let shop = Shop::open();
    let other = Arc::new(PostgresStore::open(&shop.settings).unwrap());
    let engines = [shop.engine(), Engine::start(other, &Options::default()).unwrap()];
    for round in 0..10 {
        shop.session.run(&format!(
            "SELECT submit('orders', json_build_object('id', {round}::text || '-' || n)) FROM generate_series(1, 100) n"
        ));
    }
    shop.until(|| shop.left() == 0);
    shop.until(|| engines.iter().map(|engine| engine.received().submitted).sum::<u64>() == 1_000);
    let tallies = engines.each_ref().map(|engine| engine.received());
    assert!(tallies.iter().all(|tally| tally.refused.is_empty() && tally.merged == 0), "{tallies:?}");
    assert_eq!(shop.store.counts().unwrap()[0].count, 1_000);
    for engine in engines {
        shop.runtime.block_on(engine.drain());
    }
}

#[test]
fn a_crash_between_commit_and_decision_loses_nothing_and_doubles_nothing() {
    let shop = Shop::open();
    let id = shop.submit(r#"'orders', '{"id":"a"}'"#);
    // A server that dies in the middle: it has the row in hand, and its connection goes.
    let victim = PostgresStore::open(&shop.settings).unwrap();
    let held = Session::open(&shop.settings);
    held.run("BEGIN; SELECT id FROM inbox FOR UPDATE");
    let take = store::Take { inbox: 9, ..store::Take::nothing() };
    let mut seen = 0;
    victim
        .transact(&take, &mut |taken| {
            seen = taken.inbox.len();
            store::Changes::default()
        })
        .unwrap();
    assert_eq!(seen, 0, "whoever has it in hand is not waited for");
    drop(held);
    drop(victim);
    shop.until(|| {
        shop.session.number("SELECT count(*) FROM (SELECT FROM inbox FOR UPDATE SKIP LOCKED) i") == 1
    });
    shop.decide();
    assert_eq!(shop.row(id).unwrap().revision, 1);
    assert_eq!(shop.store.history(id, 0, 9).unwrap().len(), 1);
}

#[test]
fn a_role_that_may_submit_may_do_nothing_else() {
    let shop = Shop::open();
    let schema = &shop.settings.schema;
    let role = format!("shop_{schema}");
    shop.session.run(&format!(
        "CREATE ROLE {role}; GRANT USAGE ON SCHEMA {schema} TO {role};
         GRANT EXECUTE ON FUNCTION submit(text, text, text, bigint, timestamptz, text) TO {role};
         SET SESSION AUTHORIZATION {role}"
    ));
    let id = shop.submit(r#"'orders', '{"id":"a"}'"#);
    let forbidden = [
        "PERFORM FROM inbox",
        "INSERT INTO inbox (id, submitter, pipeline, payload) VALUES (gen_random_uuid(), 'root', 'orders', '{}')",
        "DELETE FROM inbox",
        "PERFORM FROM submission",
        "PERFORM FROM event",
        "PERFORM FROM registry",
        "UPDATE meta SET value = 0",
        "PERFORM nextval('batch_no')",
        "PERFORM sequence_batches(0)",
        "PERFORM submit('orders', '{}'::json)",
        "CREATE TABLE mine ()",
    ];
    for attempt in forbidden {
        shop.session.run(&format!(
            "DO $do$ BEGIN {attempt}; RAISE assert_failure; EXCEPTION WHEN insufficient_privilege THEN NULL; END $do$"
        ));
    }
    // Names of the caller's own are not what the function uses.
    shop.session.run(
        "CREATE TEMP TABLE inbox (id uuid, submitter text, pipeline text, payload text, key text, priority bigint, \
         not_before bigint, reason text)",
    );
    shop.session.run(&format!("SET search_path = pg_temp, {schema}"));
    let other = shop.submit(r#"'orders', '{"id":"b"}'"#);
    shop.session.run(&format!(
        "SET SESSION AUTHORIZATION milepost; DROP TABLE pg_temp.inbox; SET search_path = {schema}"
    ));
    shop.decide();
    assert_eq!(&*shop.row(id).unwrap().submitter, format!("sql:{role}"));
    assert!(shop.row(other).is_some());
    shop.session.run(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}
