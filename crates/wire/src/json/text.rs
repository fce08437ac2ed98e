use std::fmt;
use std::sync::Arc;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde_json::value::RawValue;

use super::parse::Parser;
use super::{JsonError, MAX_DEPTH, Outline, Value};

/// The greatest depth of values made in code, which wrap what was received: metadata holds payloads. They must read
/// back where they were stored.
const MAX_DEPTH_MADE: usize = 4 * MAX_DEPTH;

/// Text known to be strict JSON, exactly as received but for the whitespace around it.
///
/// Equality is of the text; ask [`Json::spells_same_as`] where spelling should not matter. Through `serde` it travels
/// as a raw value, which only `serde_json` understands, and not inside `flatten` or untagged enums.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Arc<str>);

impl Json {
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        Self::check(text)?;
        Ok(Self(text.trim_matches([' ', '\t', '\n', '\r']).into()))
    }

    /// Checks that text is strict JSON, without keeping it.
    pub fn check(text: &str) -> Result<Outline<'_>, JsonError> {
        Parser::new(text, MAX_DEPTH).document()
    }

    pub fn parse_bytes(bytes: &[u8]) -> Result<Self, JsonError> {
        Self::parse(utf8(bytes)?)
    }

    /// See [`Json::check`].
    pub fn check_bytes(bytes: &[u8]) -> Result<Outline<'_>, JsonError> {
        Self::check(utf8(bytes)?)
    }

    /// Says why bytes could not be read as some type: that they are not JSON, in words for people, or what `serde` says.
    #[must_use]
    pub fn fault_of(bytes: &[u8], error: &serde_json::Error) -> String {
        match Self::check_bytes(bytes) {
            Err(fault) => format!("it is not JSON: {fault}"),
            Ok(_) => error.to_string(),
        }
    }

    /// Text that was a `Json` before it was stored. It is not read again: documents that nobody looks into cost nothing.
    #[must_use]
    pub fn from_stored(text: &str) -> Self {
        Self(text.into())
    }

    pub fn null() -> Self {
        Self("null".into())
    }

    /// The canonical text of a value.
    pub fn from_value(value: &Value) -> Self {
        Self(value.canonical().into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_null(&self) -> bool {
        &*self.0 == "null"
    }

    /// Parses again. A value made in code may be deeper than received text, so depth is not bounded here.
    ///
    /// # Panics
    /// Panics if a store gave back other text than it was given.
    pub fn value(&self) -> Value {
        Parser::new(&self.0, usize::MAX).document().expect("checked when it was made")
    }

    /// See [`Value::canonical`].
    pub fn canonical(&self) -> String {
        self.value().canonical()
    }

    /// Tells whether two texts spell the same value: spaces, the order of keys and escapes make no difference. Numbers are
    /// compared as they were written, as in [`Json::canonical`].
    #[must_use]
    pub fn spells_same_as(&self, other: &Json) -> bool {
        self == other || self.value() == other.value()
    }

    /// See [`Value::to_serde`]: for schema validation only.
    pub fn to_serde(&self) -> serde_json::Value {
        self.value().to_serde()
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, JsonError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let end = error.valid_up_to();
        let valid = std::str::from_utf8(&bytes[..end]).expect("valid as far as the error says");
        JsonError::at(valid, end, "invalid UTF-8; send the document as UTF-8")
    })
}

impl Default for Json {
    fn default() -> Self {
        Self::null()
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        Self::from_value(value)
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::from_value(&value)
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        Self::from_value(&value.into())
    }
}

impl std::str::FromStr for Json {
    type Err = JsonError;

    fn from_str(text: &str) -> Result<Self, JsonError> {
        Self::parse(text)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({})", self.0)
    }
}

impl serde::Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for Json {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Parser::new(raw.get(), MAX_DEPTH_MADE).document::<Outline<'_>>().map_err(D::Error::custom)?;
        Ok(Self(raw.get().into()))
    }
}
