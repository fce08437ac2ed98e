//! Schemas in their authors' order: a form asks in the order in which its schema was written, which a map of members does not
//! keep.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The member that lists the names of `properties` in their order. No name that people read begins like this.
const ORDER: &str = "\u{0}order";
const PROPERTIES: &str = "properties";
/// Keywords whose values are documents and no schemas.
const DOCUMENTS: [&str; 4] = ["default", "const", "enum", "examples"];

/// Reads a schema, and notes the order of its properties.
pub(super) fn ordered(text: &str) -> Option<Value> {
    serde_json::from_str::<Schema>(text).ok().map(|schema| schema.0)
}

/// Lists the properties of an object's schema in the order in which they were written.
pub(super) fn members_of(schema: &Value) -> Vec<(&str, &Value)> {
    let Some(members) = schema.get(PROPERTIES).and_then(Value::as_object) else { return Vec::new() };
    let names = members.get(ORDER).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let member = |name: &'_ Value| members.get_key_value(name.as_str()?);
    names.iter().filter_map(member).map(|(name, about)| (name.as_str(), about)).collect()
}

struct Schema(Value);

struct Properties(Value);

struct Reader {
    notes_order: bool,
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Schema, D::Error> {
        deserializer.deserialize_any(Reader { notes_order: false }).map(Schema)
    }
}

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Properties, D::Error> {
        deserializer.deserialize_any(Reader { notes_order: true }).map(Properties)
    }
}

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let (mut members, mut names) = (Map::new(), Vec::new());
        while let Some(name) = map.next_key::<String>()? {
            let value = match &*name {
                // The properties of a schema, and no property of that name.
                PROPERTIES if !self.notes_order => map.next_value::<Properties>()?.0,
                name if !self.notes_order && DOCUMENTS.contains(&name) => map.next_value()?,
                _ => map.next_value::<Schema>()?.0,
            };
            names.push(Value::from(name.as_str()));
            members.insert(name, value);
        }
        if self.notes_order {
            members.insert(ORDER.to_owned(), Value::Array(names));
        }
        Ok(Value::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Schema(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_keep_the_order_in_which_they_were_written() {
        let text = r#"{"properties":{"z":{"properties":{"d":{},"c":{}}},"a":{"default":{"properties":{"x":1}}},"properties":{}}}"#;
        let schema = ordered(text).expect("it is JSON");
        let names = |schema: &Value| {
            members_of(schema).iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&schema), ["z", "a", "properties"]);
        assert_eq!(names(&schema["properties"]["z"]), ["d", "c"]);
        assert_eq!(schema["properties"]["a"]["default"].to_string(), r#"{"properties":{"x":1}}"#);
        assert!(members_of(&Value::Bool(true)).is_empty() && ordered("{").is_none());
    }
}
