//! Finds out what a type itself says about its JSON, by reading and writing it.

use std::collections::BTreeSet;

use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde::{Serialize, forward_to_deserialize_any};
use serde_json::{Value, json};

pub(in crate::openapi) struct Truth {
    /// The members it reads; none where it does not say.
    fields: Option<&'static [&'static str]>,
    /// Reads it and writes it again.
    again: fn(Value) -> serde_json::Result<Value>,
}

impl Truth {
    pub(in crate::openapi) fn of<T: DeserializeOwned + Serialize>() -> Truth {
        let mut asked = Asked(None);
        let _ = T::deserialize(&mut asked);
        Truth {
            fields: asked.0,
            again: |value| serde_json::from_value::<T>(value).and_then(serde_json::to_value),
        }
    }

    /// Compares a schema with the type: its members, which of them are required, and which may be null.
    pub(super) fn check(&self, name: &str, schema: &Value) {
        // One of several forms: what is said of each is in the calls' own tests.
        let Some(properties) = schema["properties"].as_object() else { return };
        let names: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
        if let Some(fields) = self.fields {
            assert_eq!(names, fields.iter().copied().collect(), "the members of {name}");
        }
        let required: BTreeSet<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let example = &schema["examples"][0];
        (self.again)(example.clone()).unwrap_or_else(|error| panic!("the example of {name}: {error}"));
        let mut least = example.clone();
        least.as_object_mut().unwrap().retain(|member, _| required.contains(member.as_str()));
        let written =
            (self.again)(least.clone()).unwrap_or_else(|error| panic!("{name} with {least}: {error}"));
        let is_taken = schema["additionalProperties"] == json!(false);
        let with = |member: &str, value: Value| {
            let mut changed = least.clone();
            changed[member] = value;
            (self.again)(changed).is_ok()
        };
        assert_eq!(with("no-such-member", json!(1)), !is_taken, "whether {name} takes unknown members");
        for (member, piece) in properties {
            let is_required = required.contains(member.as_str());
            if is_taken {
                let mut without = least.clone();
                without.as_object_mut().unwrap().remove(member);
                assert_eq!((self.again)(without).is_err(), is_required, "whether {name} needs `{member}`");
            } else {
                assert_eq!(
                    written.get(member).is_some(),
                    is_required,
                    "whether {name} always has `{member}`"
                );
            }
            if is_taken || is_required {
                assert_eq!(
                    with(member, Value::Null),
                    allows_null(piece),
                    "whether `{member}` of {name} may be null"
                );
            }
        }
    }
}

fn allows_null(piece: &Value) -> bool {
    match (&piece["type"], &piece["oneOf"]) {
        (Value::String(kind), _) => kind == "null",
        (Value::Array(kinds), _) => kinds.contains(&json!("null")),
        (_, Value::Array(forms)) => forms.iter().any(allows_null),
        _ => piece.get("$ref").is_none(),
    }
}

/// Gives nothing to read, and remembers what was asked for.
struct Asked(Option<&'static [&'static str]>);

impl<'de> Deserializer<'de> for &mut Asked {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(serde::de::Error::custom("nothing to read"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0 = Some(fields);
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
