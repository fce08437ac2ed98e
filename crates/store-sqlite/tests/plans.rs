//! No query walks a table: every plan is a search along a key, in the order it is read.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use store::ManualClock;
use store_sqlite::SqliteStore;

/// Queries that read a table from its beginning, and why that is cheap.
const FROM_THE_BEGINNING: [(&str, &str); 4] = [
    ("counter_all", "a table with a row for each state"),
    ("owed_first", "the oldest few, in the table's own order"),
    ("inbox_first", "the first few, in the table's own order"),
    ("inbox_page", "the first few, in the table's own order"),
];

fn queries() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sql");
    let mut queries: Vec<_> = fs::read_dir(folder)
        .expect("the queries are here")
        .map(|file| {
            let path = file.expect("a file has a name").path();
            let name = path.file_stem().expect("a query's file has a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).expect("a query is text"))
        })
        .filter(|(name, _)| !name.starts_with("schema"))
        .collect();
    queries.sort();
    queries
}

fn plan(database: &Connection, query: &str) -> Vec<String> {
    let mut explain = database.prepare(&format!("EXPLAIN QUERY PLAN {query}")).expect("a query is one");
    // Unbound parameters are null: the plan does not depend on them.
    explain.raw_query().mapped(|row| row.get(3)).collect::<Result<_, _>>().expect("a plan is text")
}

/// Tells what is wrong with the plan of a query.
fn complaint(name: &str, plan: &[String]) -> Option<String> {
    let scans = plan.iter().filter(|step| step.starts_with("SCAN") && *step != "SCAN CONSTANT ROW").count();
    let sorts = plan.iter().filter(|step| step.contains("TEMP B-TREE")).count();
    let allowed = FROM_THE_BEGINNING.iter().any(|(query, _)| *query == name);
    if sorts > 0 || (scans > 0) != allowed {
        return Some(format!("{name}: {plan:#?}"));
    }
    None
}

#[test]
fn no_query_scans_or_sorts() {
    let folder = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(folder.path(), Arc::new(ManualClock::new())).unwrap());
    let database = Connection::open(folder.path().join("milepost.db")).unwrap();
    let queries = queries();
    assert!(queries.len() > 60, "the queries were found");
    let complaints: Vec<_> =
        queries.iter().filter_map(|(name, query)| complaint(name, &plan(&database, query))).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn claims_and_pages_search_by_their_whole_key() {
    let folder = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(folder.path(), Arc::new(ManualClock::new())).unwrap());
    let database = Connection::open(folder.path().join("milepost.db")).unwrap();
    let expected = [
        ("ready_page", "(task=? AND pipeline=? AND (rank,id)>(?,?))"),
        ("ready_label_page", "(task=? AND pipeline=? AND name=? AND value=? AND (rank,id)>(?,?))"),
        ("place_page", "(pipeline=? AND state=? AND status=? AND id<?)"),
        ("label_page", "(name=? AND value=? AND id<?)"),
        ("parent_page", "(parent=? AND id<?)"),
        ("submission_page", "(id<?)"),
        ("key_wait_first", "(pipeline=? AND key=?)"),
        ("lane_holder", "(pipeline=? AND lane=?)"),
        ("lane_line_first", "PRIMARY KEY (pipeline=? AND lane=?)"),
        ("lane_line_page", "lane_line_id (pipeline=? AND lane=? AND id<?)"),
        ("parked_first", "(hold=?)"),
        ("timer_first", "(idle=?)"),
        ("slot_taken", "(pipeline=? AND label=? AND value=?)"),
        ("late_page", "(pipeline=? AND (at,id)>(?,?))"),
        ("key_wait_page", "(pipeline=? AND key=? AND id<?)"),
        ("past_key_page", "(pipeline=? AND key=? AND id<?)"),
        ("submission_after", "(id>?)"),
        ("dead_page", "((pipeline,state,code,pattern)>(?,?,?,?))"),
        ("slot_page", "((pipeline,label,value,no)>(?,?,?,?))"),
        ("lane_next", "(pipeline=? AND lane>?)"),
        ("parked_next", "(hold>?)"),
        ("registry_page", "(kind=? AND name>?)"),
        ("event_page", "(rowid>? AND rowid<?)"),
        ("event_retire", "(rowid<?)"),
        ("document_erase", "(submission=?)"),
    ];
    let queries = queries();
    for (name, key) in expected {
        let (_, query) = queries.iter().find(|(found, _)| found == name).unwrap();
        let plan = plan(&database, query).join("\n");
        assert!(plan.contains(key), "{name}: {plan}");
    }
}

#[test]
fn a_scan_and_a_sort_are_noticed() {
    let database = Connection::open_in_memory().unwrap();
    database.execute_batch("CREATE TABLE t (a, b)").unwrap();
    assert!(complaint("other", &plan(&database, "SELECT a FROM t WHERE b = ?1")).is_some());
    database.execute_batch("CREATE INDEX t_b ON t (b)").unwrap();
    assert!(complaint("other", &plan(&database, "SELECT a FROM t WHERE b = ?1 ORDER BY a")).is_some());
    assert!(complaint("other", &plan(&database, "SELECT a FROM t WHERE b = ?1")).is_none());
}
