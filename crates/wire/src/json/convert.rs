//! Conversions from Rust types to JSON values, and between ours and `serde_json`'s.

use std::collections::BTreeMap;

use super::{Number, Value};

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

macro_rules! from_integers {
    ($($integer:ty)*) => {
        $(impl From<$integer> for Value {
            fn from(number: $integer) -> Self {
                Self::Number(number.into())
            }
        })*
    };
}
from_integers!(u8 u16 u32 u64 usize i8 i16 i32 i64);

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(elements: Vec<T>) -> Self {
        elements.into_iter().collect()
    }
}

impl From<BTreeMap<String, Value>> for Value {
    fn from(members: BTreeMap<String, Value>) -> Self {
        Self::Object(members)
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Self::Array(elements.into_iter().map(Into::into).collect())
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Value {
    /// Makes an object. Of equal keys the last stays, as in any map.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        Self::Object(members.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(truth) => Self::Bool(truth),
            serde_json::Value::Number(number) => Self::Number(Number::from_literal(&number.to_string())),
            serde_json::Value::String(text) => Self::String(text),
            serde_json::Value::Array(elements) => elements.into_iter().collect(),
            serde_json::Value::Object(members) => members.into_iter().collect(),
        }
    }
}

impl Value {
    /// Converts for schema validation only: integers beyond 64 bits become the nearest float there, and numbers
    /// beyond every float the largest one. Nothing that is stored or compared may come from here.
    pub fn to_serde(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(truth) => serde_json::Value::Bool(*truth),
            Self::Number(number) => serde_json::Value::Number(number_to_serde(number)),
            Self::String(text) => serde_json::Value::String(text.clone()),
            Self::Array(elements) => elements.iter().map(Value::to_serde).collect(),
            Self::Object(members) => {
                members.iter().map(|(key, value)| (key.clone(), value.to_serde())).collect()
            }
        }
    }
}

fn number_to_serde(number: &Number) -> serde_json::Number {
    if let Some(integer) = number.as_i64() {
        return integer.into();
    }
    if let Some(integer) = number.as_u64() {
        return integer.into();
    }
    let largest = if number.as_str().starts_with('-') { f64::MIN } else { f64::MAX };
    serde_json::Number::from_f64(number.as_f64().unwrap_or(largest))
        .expect("as_f64 gives only finite numbers")
}
