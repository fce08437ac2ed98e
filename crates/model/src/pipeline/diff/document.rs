//! Documents as facts: one for each value that holds no others by name.

use crate::json::{Number, Value};
use crate::pipeline::file::{self, Node, Value as Toml};
use crate::pipeline::problem::Problems;
use crate::pipeline::{Pipeline, Source};

/// Keys of the file itself, for what a pipeline keeps only in a form that cannot be written down again.
pub(super) fn written(pipeline: &Pipeline, keys: &[&str], tell: &mut impl FnMut(String, String)) {
    let Ok(source) = Source::from_definition(&pipeline.definition) else { return };
    let root = file::parse(&source.toml, &mut Problems::default());
    for (key, node) in keys.iter().filter_map(|key| Some((key, root.get(key)?))) {
        match &node.value {
            Toml::List(members) => {
                for (index, member) in members.iter().enumerate() {
                    leaves(&format!("{key}[{index}]"), &json(member), tell);
                }
            }
            _ => leaves(key, &json(node), tell),
        }
    }
}

fn json(node: &Node) -> Value {
    match &node.value {
        Toml::Text(text) => Value::from(text.as_str()),
        Toml::Integer(integer) => Value::from(*integer),
        Toml::Float(float) => Number::parse(float).map_or_else(|_| Value::from(float.as_str()), Value::from),
        Toml::Bool(flag) => Value::from(*flag),
        Toml::Date(date) => Value::from(date.to_string()),
        Toml::List(members) => members.iter().map(json).collect(),
        Toml::Table(table) => table.iter().map(|entry| (entry.key.clone(), json(&entry.node))).collect(),
    }
}

/// Lists are told whole: where an element went is more than a reader wants to know.
pub(super) fn leaves(place: &str, value: &Value, tell: &mut impl FnMut(String, String)) {
    match value.as_object().filter(|members| !members.is_empty()) {
        Some(members) => {
            for (key, value) in members {
                leaves(&format!("{place}.{}", name(key)), value, tell);
            }
        }
        None => tell(place.to_owned(), value.canonical()),
    }
}

/// A key that could be mistaken for several is quoted.
fn name(key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "_-$".contains(c));
    if plain { key.to_owned() } else { Value::from(key).canonical() }
}
