//! No query walks a table, however many rows it has: every plan is along an index, in the order it is read.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

mod support;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use store_postgres::{PostgresStore, Settings};
use support::Session;

/// Queries that read a table from its beginning, and why that is cheap.
const WHOLE: [(&str, &str); 1] = [("counter_all", "a table with a few rows for each state")];
/// What is not planned: scripts, and functions that plan for themselves.
const NOT_PLANNED: [&str; 5] = ["schema", "schema_inbox", "schema_sequence", "session", "batch_sequence"];

fn queries() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sql");
    let mut queries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .filter(|(name, _)| !NOT_PLANNED.contains(&name.as_str()))
        .collect();
    queries.sort();
    queries
}

/// A hundred thousand of everything.
const ROWS: &str = "
SET synchronous_commit = off;
CREATE TEMP TABLE n AS
SELECT i, lpad(to_hex(i), 12, '0') || '70008000000000000000' AS hex FROM generate_series(1, 100000) i;
ALTER TABLE n ADD COLUMN id uuid;
UPDATE n SET id = hex::uuid;
INSERT INTO submission SELECT id, 1, i, 0, '{}' FROM n;
INSERT INTO document SELECT id, 'payload', '{}' FROM n;
INSERT INTO ready SELECT 'task' || i % 5, 'p' || i % 3, i, id FROM n;
INSERT INTO ready_label SELECT 'task' || i % 5, 'p' || i % 3, 'owner', 'o' || i % 50, i, id FROM n;
INSERT INTO timer SELECT i % 2 = 0, i, id FROM n;
INSERT INTO late SELECT 'p' || i % 3, i, id FROM n;
INSERT INTO place SELECT 'p' || i % 3, 's' || i % 4, 'open', id FROM n;
INSERT INTO open_key SELECT 'p' || i % 3, 'k' || i, id FROM n;
INSERT INTO key_wait SELECT 'p' || i % 3, 'k' || i % 100, id FROM n;
INSERT INTO lane_holder SELECT 'p' || i % 3, 'l' || i, id FROM n;
INSERT INTO lane_line SELECT 'p' || i % 3, 'l' || i % 100, i, '', id FROM n;
INSERT INTO slot SELECT 'p' || i % 3, 'owner', 'o' || i % 1000, i, id FROM n;
INSERT INTO parked SELECT 'h' || i % 10, id FROM n;
INSERT INTO label SELECT 'owner', 'o' || i % 50, id FROM n;
INSERT INTO parent SELECT (lpad(to_hex(i % 100), 12, '0') || '70008000000000000000')::uuid, id FROM n;
INSERT INTO tip SELECT id, i, 0, 1 FROM n;
INSERT INTO owed (submission, revision, no, target, body) SELECT id, 1, 0, '{}', '{}' FROM n;
INSERT INTO answer SELECT 'ada', 'POST', 'r' || i, '{}', i FROM n;
INSERT INTO registry SELECT 'k' || i % 5, 'n' || i, i, '{}' FROM n;
INSERT INTO batch SELECT i, 1 FROM n;
INSERT INTO gap SELECT i, now() FROM n;
INSERT INTO position SELECT i, i, i, i FROM n;
INSERT INTO event SELECT i, 0, 0, 0, 1, 'p', 's', NULL, '', '' FROM n;
ANALYZE submission, document, ready, ready_label, timer, late, place, open_key, key_wait, lane_holder, lane_line, slot, parked, label, parent, tip, owed, answer, registry, batch, gap, position, event;
";

/// Filled once for all tests here.
static FULL: LazyLock<Settings> = LazyLock::new(|| {
    let settings = support::fresh();
    drop(PostgresStore::open(&settings).unwrap());
    Session::open(&settings).run(ROWS);
    settings
});

fn full() -> Session {
    let session = Session::open(&FULL);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sql/session.sql");
    session.run(&fs::read_to_string(folder).unwrap());
    session
}

/// The plan that is made once and used for whatever it is asked.
fn plan(session: &Session, name: &str, query: &str) -> String {
    let parameters = (1..20).rev().find(|no| query.contains(&format!("${no}"))).unwrap_or(0);
    session.run(&format!("PREPARE {name}_ AS {query}"));
    let nulls = vec!["NULL"; parameters].join(", ");
    let arguments = if parameters == 0 { String::new() } else { format!("({nulls})") };
    session.texts(&format!("EXPLAIN (COSTS OFF) EXECUTE {name}_{arguments}")).join("\n")
}

/// What is wrong with the plan of a query.
fn complaint(name: &str, plan: &str) -> Option<String> {
    let scans = plan.contains("Seq Scan");
    let bad = scans != WHOLE.iter().any(|(query, _)| *query == name) || plan.contains("Bitmap");
    bad.then(|| format!("{name}:\n{plan}"))
}

#[test]
fn no_query_scans_a_table() {
    let session = full();
    let queries = queries();
    assert!(queries.len() > 70, "the queries were found");
    let complaints: Vec<_> =
        queries.iter().filter_map(|(name, query)| complaint(name, &plan(&session, name, query))).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn hot_queries_search_by_their_whole_key_and_in_its_order() {
    let session = full();
    let expected: [(&str, &[&str]); 19] = [
        ("submission_lock", &["submission_pkey", "Index Cond: (id = ANY ($1))"]),
        ("submission_lock_free", &["submission_pkey", "Index Cond: (id = ANY ($1))"]),
        ("submission_update", &["Index Cond: (id = w.id)"]),
        (
            "ready_page",
            &[
                "Index Cond: ((task = w.task) AND (pipeline = waiting.name))",
                "Index Cond: ((task = $1) AND (pipeline IS NOT NULL))",
            ],
        ),
        ("ready_label_page", &["(pipeline = waiting.name) AND (name = ", "(rank = t.rank) AND (id = t.id)"]),
        ("timer_first", &["timer_pkey on timer", "Index Cond: (idle = $1)"]),
        ("owed_first", &["Index Scan using owed_pkey"]),
        (
            "lane_view",
            &["(pipeline = w_1.pipeline) AND (lane = w_1.lane)", "lane_line_pkey", "lane_holder_pkey"],
        ),
        ("open_key_holder", &["open_key_pkey", "AND (key = (w.key)::text)"]),
        ("key_wait_first", &["key_wait_pkey", "(pipeline = w.pipeline) AND (key = w.key)"]),
        ("parked_first", &["parked_pkey", "Index Cond: (hold = w.hold)"]),
        ("slot_taken", &["slot_pkey", "AND (value = (w.value)::text)"]),
        ("event_page", &["position_pkey", "Index Cond: (last_seq > $1)"]),
        ("event_history", &["(batch = w", "(no = w"]),
        ("event_retire", &["position_pkey"]),
        ("find_by_place", &["place_pkey", "(status = w.status) AND (id <= $1)"]),
        ("find_by_label", &["label_pkey", "(id <= $1)"]),
        ("find_every", &["Index Scan Backward using submission_pkey", "(id <= $1)"]),
        ("late_page", &["late_pkey", "(at <= $2)"]),
    ];
    let queries = queries();
    let mut wrong = Vec::new();
    for (name, parts) in expected {
        let (_, query) = queries.iter().find(|(found, _)| found == name).unwrap();
        let plan = plan(&session, name, query);
        if parts.iter().any(|part| !plan.contains(part)) {
            wrong.push(format!("{name} {parts:?}:\n{plan}"));
        }
        let in_order = ["timer_first", "owed_first", "find_every", "late_page", "lane_view"];
        if in_order.contains(&name) && plan.contains("Sort") {
            wrong.push(format!("{name} sorts:\n{plan}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_scan_is_noticed() {
    let session = full();
    let scanning = plan(&session, "scanning", "SELECT id FROM submission WHERE row = $1");
    assert!(complaint("other", &scanning).is_some(), "{scanning}");
    let searching = plan(&session, "searching", "SELECT id FROM submission WHERE id = $1");
    assert!(complaint("other", &searching).is_none(), "{searching}");
}
