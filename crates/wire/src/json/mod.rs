//! Strict JSON that keeps what it was given.
//!
//! Payloads are evidence: their bytes are stored as received, hashed, compared and shown again. `serde_json` cannot
//! carry them: without `arbitrary_precision` it rounds numbers beyond 64 bits, with it a crafted object can
//! impersonate a number, and either way the last of two equal keys silently wins. So this parser keeps every number
//! as its literal text, refuses duplicate keys, and bounds depth before it recurses.

mod canonical;
mod convert;
mod error;
mod made;
mod number;
mod parse;
mod text;
mod value;

#[cfg(test)]
mod tests;

pub use error::JsonError;
pub use made::Outline;
pub use number::Number;
pub use parse::{MAX_DEPTH, MAX_NUMBER_LEN};
pub use text::Json;
pub use value::Value;
