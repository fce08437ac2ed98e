//! The cases that every client of Milepost is held to, and what runs them.

pub(crate) mod calls;
pub(crate) mod scripted;

use std::sync::LazyLock;

use serde_json::Value;

pub(crate) static CASES: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../../../clients/cases.json");
    serde_json::from_str(text).unwrap()
});

pub(crate) fn cases(kind: &str) -> &'static Vec<Value> {
    CASES[kind].as_array().unwrap()
}

/// A body with everything it is like.
pub(crate) fn filled(body: &Value) -> Value {
    match body {
        Value::Array(all) => all.iter().map(filled).collect(),
        Value::Object(members) => {
            let like = members.get("$like").map(|name| CASES["bodies"][name.as_str().unwrap()].clone());
            let mut whole = like.unwrap_or_else(|| serde_json::json!({}));
            for (name, value) in members.iter().filter(|(name, _)| *name != "$like") {
                whole[name] = filled(value);
            }
            whole
        }
        other => other.clone(),
    }
}

pub(crate) fn has_at_least(actual: &Value, expected: &Value) -> bool {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => expected
            .iter()
            .all(|(name, value)| actual.get(name).is_some_and(|found| has_at_least(found, value))),
        (Value::Array(actual), Value::Array(expected)) => {
            actual.len() == expected.len() && actual.iter().zip(expected).all(|(a, e)| has_at_least(a, e))
        }
        (actual, expected) => actual == expected,
    }
}
