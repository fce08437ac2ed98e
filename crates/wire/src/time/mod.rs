//! Points in time and spans between them, in milliseconds. Nothing here reads a clock.

mod instant;
mod span;

pub use instant::Time;
pub use span::Millis;

/// The reason why a text is no time or no duration, in words for its author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TimeError(pub String);

impl serde::Serialize for Millis {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

macro_rules! deserialize_from_text {
    ($($text:ty)*) => {
        $(impl<'de> serde::Deserialize<'de> for $text {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        })*
    };
}
deserialize_from_text!(Time Millis);
