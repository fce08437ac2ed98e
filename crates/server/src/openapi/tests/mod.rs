//! The document against what it is about: the table of routes, and the types.

mod truth;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::areas::{AREAS, KINDS};
use super::{address, openapi};
use crate::table::{Need, TABLE};

pub(super) use truth::Truth;

fn document() -> Value {
    serde_json::from_str(openapi()).unwrap()
}

#[test]
fn every_route_is_described_and_nothing_else() {
    let described: Vec<_> = AREAS
        .iter()
        .flat_map(|area| (area.calls)())
        .map(|call| format!("{} {}", call.method, call.path))
        .collect();
    let once: BTreeSet<_> = described.iter().cloned().collect();
    assert_eq!(once.len(), described.len(), "one is described twice");
    let routes: BTreeSet<_> = TABLE.iter().map(|route| format!("{} {}", route.method, route.path)).collect();
    let missing: Vec<_> = routes.difference(&once).collect();
    assert!(
        missing.is_empty(),
        "describe {missing:?} in the file of their area, in server/src/openapi/areas"
    );
    let extra: Vec<_> = once.difference(&routes).collect();
    assert!(extra.is_empty(), "the table has no {extra:?}");
    let count: usize =
        document()["paths"].as_object().unwrap().values().map(|item| item.as_object().unwrap().len()).sum();
    assert_eq!(count, TABLE.len());
}

#[test]
fn every_call_asks_for_what_the_table_says() {
    let document = document();
    for route in TABLE {
        let call = &document["paths"][address(route.path)][route.method.as_str().to_ascii_lowercase()];
        let wanted = match route.need {
            Need::Nothing => json!([]),
            Need::AnyRole => json!([{ "token": [] }]),
            Need::Role(role) => json!([{ "token": [role.as_str()] }]),
            Need::Owner => json!([{ "token": ["admin without a scope"] }]),
        };
        assert_eq!(call["security"], wanted, "{} {}", route.method, route.path);
        assert_eq!(call["responses"].get("401").is_some(), route.need != Need::Nothing, "{}", route.path);
        let succeeds = |status: &String| status.starts_with('2');
        assert!(call["responses"].as_object().unwrap().keys().any(succeeds), "{}", route.path);
    }
}

#[test]
fn calls_have_names_of_their_own() {
    let names: Vec<_> = AREAS.iter().flat_map(|area| (area.calls)()).map(|call| call.name).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
}

#[test]
fn references_lead_somewhere_and_no_schema_is_idle() {
    let document = document();
    let mut used = BTreeSet::new();
    references(&document, &mut used);
    let known: BTreeSet<_> = document["components"]["schemas"]
        .as_object()
        .unwrap()
        .keys()
        .map(|name| format!("#/components/schemas/{name}"))
        .collect();
    assert_eq!(used, known);
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn every_kind_of_event_is_listed() {
    let error = serde_json::from_str::<wire::event::Kind>("\"?\"").unwrap_err().to_string();
    let known: Vec<&str> = error.split('`').skip(1).step_by(2).skip(1).collect();
    assert_eq!(known, KINDS);
}

#[test]
fn members_are_as_the_types_have_them() {
    for named in super::areas::shapes() {
        named.truth.check(&named.name, &serde_json::to_value(&named.schema).unwrap());
    }
}
