//! The documentation of metrics is true: the page lists what a server tells, and the dashboard asks for nothing else.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use store::{Changes, Received, Store, Take};

use crate::exposition::{Family, Scrape};
use crate::server::{Answer, Server};

const PAGE: &str = include_str!("../../../../docs/metrics.md");
const DASHBOARD: &str = include_str!("../../../../docs/grafana/milepost.json");
const ALERTS: &str = include_str!("../../../../docs/grafana/alerts.yml");

/// A server of which everything can be told: something was submitted, claimed, read and refused.
async fn scrape() -> Scrape {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::logged(folder.path()).await;
    server.parcel("a").await;
    server.parcel("b").await;
    server.claim("parcels.check").await;
    server.post("/v1/pipelines/notes/submissions", json!({ "payload": 1 })).await;
    let note = server.claim("notes.read").await;
    server.finish(&note["token"], "read", json!({})).await;
    let cursor = server.with_json("PUT", "/v1/feed/cursors/reports", json!({ "position": 1 }));
    assert_eq!(Answer::of(cursor).await.status, 200);
    let lost = Received {
        id: engine::clock::fresh_id(),
        submitter: "sql:ada".into(),
        pipeline: "nowhere".into(),
        payload: "{}".into(),
        key: None,
        priority: None,
        not_before: None,
        reason: None,
    };
    let mut changes = Some(Changes { received: vec![lost], ..Changes::default() });
    server.store.transact(&Take::nothing(), &mut |_| changes.take().unwrap()).unwrap();
    let whole = async {
        loop {
            let scrape = Scrape::parse(&server.get("/metrics").await.text);
            let there = [
                "milepost_sla_met",
                "milepost_inbox_refusals",
                "milepost_feed_lag_events",
                "milepost_log_size",
            ];
            if there.iter().all(|name| scrape.families.contains_key(*name)) {
                return scrape;
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), whole).await.expect("all of it comes")
}

/// Returns a metric's name as it is written down: with the ending of its samples, unless it has several.
fn shown(name: &str, family: &Family) -> String {
    match family.kind.as_str() {
        "counter" => format!("{name}_total"),
        "info" => format!("{name}_info"),
        _ => name.to_owned(),
    }
}

#[tokio::test]
async fn the_page_lists_what_a_server_tells() {
    let scrape = scrape().await;
    let told: BTreeMap<String, (String, BTreeSet<String>)> = scrape
        .families
        .iter()
        .map(|(name, family)| {
            let labels = family.label_names().into_iter().map(str::to_owned).collect();
            (shown(name, family), (family.kind.clone(), labels))
        })
        .collect();
    let mut written = BTreeMap::new();
    for row in PAGE.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" |").map(str::trim).collect();
        let [name, kind, labels, meaning] = cells[..] else { panic!("{row}") };
        assert!(meaning.ends_with('.'), "{row}");
        let labels = labels.split(", ").filter(|label| !label.is_empty());
        let labels = labels.map(|label| label.trim_matches('`').to_owned()).collect();
        let before = written.insert(name.trim_matches('`').to_owned(), (kind.to_owned(), labels));
        assert!(before.is_none(), "{name} is listed twice");
    }
    assert_eq!(written, told);
}

#[tokio::test]
async fn the_dashboard_and_the_alerts_ask_for_what_there_is() {
    let scrape = scrape().await;
    let told: BTreeSet<&str> = scrape.samples().map(|(name, _)| name.as_str()).collect();
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let mut queries = Vec::new();
    expressions(&dashboard, &mut queries);
    assert!(queries.len() > 30, "the queries were found");
    let alerts = ALERTS.lines().filter(|line| !line.trim_start().starts_with(['#', 's', 'd']));
    let mut asked = BTreeSet::new();
    for text in queries.iter().map(String::as_str).chain(alerts) {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let names = words.filter(|word| word.starts_with("milepost_") || word.starts_with("process_"));
        asked.extend(names.map(str::to_owned));
    }
    let unknown: Vec<_> = asked.iter().filter(|name| !told.contains(name.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(asked.len() > 30, "{asked:?}");
}

fn expressions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| expressions(value, found)),
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if name == "expr" || name == "definition" => found.push(text.clone()),
                    _ => expressions(value, found),
                }
            }
        }
        _ => {}
    }
}
