//! Prepares a schema for being checked on fuel: each of its parts looks at the document, so that each is counted.
//!
//! A part that only combines others (`anyOf` of references) looks at nothing by itself, and a few lines of such parts are
//! visited billions of times. So whatever says nothing of the type is told that any type will do, which changes nothing
//! else: that keyword is the first to be evaluated, always holds, and is taken out of messages that quote the part.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::fuel::Weights;

/// Keywords whose value is a schema, or a list of schemas.
const PARTS: [&str; 17] = [
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "extends",
];
/// Keywords whose value is an object of schemas.
const MAPS: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];
/// Every type, in an order nobody writes: so it can be told from what somebody wrote.
const ANY: [&str; 6] = ["string", "null", "object", "array", "number", "boolean"];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// A list may have so many members that are `true` or `false`: they cost time, and nothing counts them.
const BOOLEANS_MAX: usize = 100;

/// Makes every part of a schema look at the document, and says how much one look can cost.
pub(super) fn prepare(schema: &mut Value) -> Result<Weights, String> {
    let mut survey = Survey { roots: vec![String::new()], ..Survey::default() };
    survey.schema(schema, String::new())?;
    let mut next = 0;
    while next < survey.references.len() {
        let pointer = pointer(&survey.references[next]);
        next += 1;
        for root in survey.roots.clone() {
            let at = format!("{root}{pointer}");
            let known = survey.schemas.contains(&at) || survey.maps.contains(&at);
            if let (false, Some(target)) = (known, schema.pointer_mut(&at)) {
                survey.schema(target, at)?;
            }
        }
    }
    Ok(Weights { member: 1 + survey.patterns_max, text: 1 })
}

/// Takes out of a message that quotes a part of a schema what was added to it.
pub(super) fn unprepared(message: String) -> String {
    if !message.contains("\"type\":") {
        return message;
    }
    let added = format!("\"type\":{}", json!(ANY));
    let message = message.replace(&format!(",{added}"), "").replace(&format!("{added},"), "");
    message.replace(&added, "")
}

/// The parts of a schema that were seen. Places are JSON pointers.
#[derive(Default)]
struct Survey {
    schemas: BTreeSet<String>,
    maps: BTreeSet<String>,
    references: Vec<String>,
    /// The places where pointers of references may begin.
    roots: Vec<String>,
    patterns_max: u64,
}

impl Survey {
    fn schema(&mut self, schema: &mut Value, at: String) -> Result<(), String> {
        let Value::Object(members) = schema else { return Ok(()) };
        if !self.schemas.insert(at.clone()) {
            return Ok(());
        }
        if members.contains_key("$vocabulary") {
            return Err("a schema has no `$vocabulary`; leave it out".to_owned());
        }
        if !at.is_empty() && ["$id", "id"].iter().any(|id| members.get(*id).is_some_and(Value::is_string)) {
            self.roots.push(at.clone());
        }
        for keyword in REFERENCES {
            self.references.extend(members.get(keyword).and_then(Value::as_str).map(str::to_owned));
        }
        for keyword in PARTS {
            match members.get_mut(keyword) {
                Some(Value::Array(list)) => self.list(list, &format!("{at}/{keyword}"))?,
                Some(part) => self.schema(part, format!("{at}/{keyword}"))?,
                None => {}
            }
        }
        for keyword in MAPS {
            if let Some(Value::Object(map)) = members.get_mut(keyword) {
                self.map(map, format!("{at}/{keyword}"))?;
            }
        }
        if let Some(Value::Object(patterns)) = members.get("patternProperties") {
            self.patterns_max = self.patterns_max.max(patterns.len() as u64);
        }
        members.entry("type").or_insert_with(|| json!(ANY));
        Ok(())
    }

    fn list(&mut self, list: &mut [Value], at: &str) -> Result<(), String> {
        if list.iter().filter(|part| part.is_boolean()).count() > BOOLEANS_MAX {
            return Err(format!("{at} has over {BOOLEANS_MAX} members that are `true` or `false`"));
        }
        list.iter_mut().enumerate().try_for_each(|(index, part)| self.schema(part, format!("{at}/{index}")))
    }

    fn map(&mut self, map: &mut Map<String, Value>, at: String) -> Result<(), String> {
        for (name, part) in map {
            let name = name.replace('~', "~0").replace('/', "~1");
            self.schema(part, format!("{at}/{name}"))?;
        }
        self.maps.insert(at);
        Ok(())
    }
}

/// The pointer at the end of a reference; the whole resource where it has none.
fn pointer(reference: &str) -> String {
    let fragment = reference.split_once('#').map_or("", |(_, fragment)| fragment);
    let decoded = percent_decoded(fragment);
    if decoded.starts_with('/') { decoded } else { String::new() }
}

fn percent_decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
