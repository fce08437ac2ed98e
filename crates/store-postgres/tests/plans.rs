//! No query walks a table, however many rows it has: every plan is along an index, in the order it is read.

use crate::support;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use store_postgres::{PostgresStore, Settings};
use support::Session;

/// Queries that read a table from its beginning, and why that is cheap.
const WHOLE: [(&str, &str); 1] = [("counter_all", "a table with a few rows for each state")];
/// The files that are not planned: scripts, and functions that plan for themselves.
const NOT_PLANNED: [&str; 8] = [
    "schema",
    "schema_backup",
    "schema_dead_kind",
    "schema_inbox",
    "schema_past_key",
    "schema_sequence",
    "session",
    "batch_sequence",
];

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

/// A million of what there is one of for each submission, and a hundred thousand of the rest. Each list is filled by a
/// connection of its own, and nothing of it has to outlast a crash.
const ROWS: [&[(&str, &str)]; 4] = [
    &[
        ("submission", "id, 1, i, 0, '{}' FROM n"),
        ("place", "'p' || i % 3, 's' || i % 4, 'open', id FROM n ORDER BY i % 3, i % 4, id"),
        ("tip", "id, i, 0, 1 FROM few"),
        ("owed", "i, id, 1, 0, '{}', '{}' FROM few"),
        ("answer", "'ada', 'POST', 'r' || i, '{}', i FROM few"),
    ],
    &[
        ("document", "id, 'payload', '{}' FROM n"),
        ("ready", "'task' || i % 5, 'p' || i % 3, i, id FROM n ORDER BY i % 5, i % 3, i"),
        ("key_wait", "'p' || i % 3, 'k' || i % 100, id FROM few"),
        ("lane_holder", "'p' || i % 3, 'l' || i, id FROM few"),
        ("lane_line", "'p' || i % 3, 'l' || i % 100, i, '', id FROM few"),
        ("inbox", "id, 'sql:ada', 'p', '{}', NULL, NULL, NULL, NULL FROM few"),
    ],
    &[
        ("event", "i, 0, 0, 0, 1, 'p', 's', NULL, '', '' FROM n"),
        ("timer", "i % 2 = 0, i, id FROM n ORDER BY i % 2, i"),
        ("slot", "'p' || i % 3, 'owner', 'o' || i % 1000, i, id FROM few"),
        ("parked", "'h' || i % 10, id FROM few"),
        ("parent", "(lpad(to_hex(i % 100), 12, '0') || '70008000000000000000')::uuid, id FROM few"),
        ("registry", "'k' || i % 5, 'n' || i, i, '{}' FROM few"),
    ],
    &[
        ("position", "i, i, i, i FROM n"),
        ("label", "'owner', 'o' || i % 50, id FROM n ORDER BY i % 50, id"),
        ("ready_label", "'task' || i % 5, 'p' || i % 3, 'owner', 'o' || i % 50, i, id FROM few"),
        ("late", "'p' || i % 3, i, id FROM few"),
        ("open_key", "'p' || i % 3, 'k' || i, id FROM few"),
        ("dead_kind", "'p' || i % 3, 's' || i % 4, 'c' || i, 'm', i % 64, 1 FROM few"),
        ("past_key", "'p' || i % 3, 'k' || i % 1000, id FROM n"),
        ("batch", "i, 1 FROM few"),
        ("gap", "i, now() FROM few"),
    ],
];

/// The numbers all tables are made of.
const NUMBERS: &str = "
SET synchronous_commit = off; SET work_mem = '256MB';
CREATE TEMP VIEW n AS
SELECT i, (lpad(to_hex(i), 12, '0') || '70008000000000000000')::uuid AS id FROM generate_series(1, 1000000) i;
CREATE TEMP VIEW few AS SELECT * FROM n WHERE i <= 100000;
";

fn fill(settings: &Settings, tables: &[(&str, &str)]) {
    let session = Session::open(settings);
    session.run(NUMBERS);
    for (table, rows) in tables {
        let unlogged = if *table == "event" { "event_0" } else { table };
        let overriding = if *table == "owed" { "OVERRIDING SYSTEM VALUE" } else { "" };
        session.run(&format!(
            "ALTER TABLE {unlogged} SET UNLOGGED; INSERT INTO {table} {overriding} SELECT {rows}; ANALYZE {table}"
        ));
    }
}

/// Filled once for all tests here.
static FULL: LazyLock<Settings> = LazyLock::new(|| {
    let settings = support::fresh();
    drop(PostgresStore::open(&settings).unwrap());
    std::thread::scope(|scope| {
        for tables in ROWS {
            let settings = &settings;
            scope.spawn(move || fill(settings, tables));
        }
    });
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

/// Queries that read an index from one of its ends, no further than they need, without searching for anything.
const FROM_AN_END: [(&str, &str); 5] = [
    ("backup_last", "the newest"),
    ("event_bounds", "the newest position"),
    ("event_retire", "the newest position"),
    ("inbox_first", "the first few"),
    ("owed_first", "the oldest few"),
];

/// Tells what is wrong with the plan of a query: every table is searched by an index, whatever its size.
fn complaint(name: &str, plan: &str) -> Option<String> {
    let scans = plan.contains("Seq Scan");
    let whole = WHOLE.iter().any(|(query, _)| *query == name);
    let unsearched = !whole && !FROM_AN_END.iter().any(|(query, _)| *query == name) && walks_an_index(plan);
    let bad = scans != whole || plan.contains("Bitmap") || unsearched;
    bad.then(|| format!("{name}:\n{plan}"))
}

/// Tells whether some index is read without a condition on its key.
fn walks_an_index(plan: &str) -> bool {
    let mut lines = plan.lines().peekable();
    while let Some(line) = lines.next() {
        if line.contains("Index Scan") || line.contains("Index Only Scan") {
            let mut searched = false;
            while let Some(detail) = lines.next_if(|next| !next.contains("->")) {
                searched |= detail.contains("Index Cond:");
            }
            if !searched {
                return true;
            }
        }
    }
    false
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
    let expected: [(&str, &[&str]); 27] = [
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
        ("inbox_first", &["Index Scan using inbox_pkey"]),
        ("inbox_page", &["inbox_pkey", "Index Cond: (id = ANY ($1))"]),
        ("event_retire", &["position_pkey"]),
        ("find_by_place", &["place_pkey", "(status = w.status) AND (id <= $1) AND (id >= $3)"]),
        (
            "find_by_key",
            &["past_key_pkey", "open_key_pkey", "key_wait_pkey", "(key = $11) AND (id <= $1) AND (id >= $3)"],
        ),
        ("find_by_held_key", &["open_key_pkey", "(key = $11)"]),
        ("place_oldest", &["place_pkey", "(state = w.state) AND (status = 'open'::text)"]),
        ("find_by_label", &["label_pkey", "(id <= $1) AND (id >= $3)"]),
        ("dead_page", &["dead_kind_pkey", "ROW(pipeline, state, code, pattern) >"]),
        ("lane_next", &["(lane > $2)"]),
        ("slot_page", &["slot_pkey", "ROW(pipeline, label, value, no) >"]),
        ("find_every", &["Index Scan Backward using submission_pkey", "(id <= $1) AND (id >= $3)"]),
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
        let in_order = ["timer_first", "owed_first", "inbox_first", "find_every", "late_page", "lane_view"];
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
    let walking = plan(&session, "walking", "SELECT id FROM submission WHERE row > $1 ORDER BY id");
    assert!(walks_an_index(&walking) && complaint("other", &walking).is_some(), "{walking}");
    let searching = plan(&session, "searching", "SELECT id FROM submission WHERE id = $1");
    assert!(complaint("other", &searching).is_none(), "{searching}");
}
