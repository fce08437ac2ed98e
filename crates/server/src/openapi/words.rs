//! Pieces of JSON Schema: the words that more than one document is made of.

use model::admit::{KEY_BYTES_MAX, PRIORITY_MAX, REASON_BYTES_MAX};
use model::{InvestigationStatus, Role, Status};
use serde_json::Value;

use super::tree::{Tree, object as members};

/// A schema, or the name of one.
pub(super) type Piece = Tree;

fn typed(kind: &str) -> Piece {
    members([("type", kind.into())])
}

/// Any JSON.
pub(super) fn any() -> Piece {
    members([])
}

pub(super) fn flag() -> Piece {
    typed("boolean")
}

pub(super) fn text() -> Piece {
    typed("string")
}

/// Describes a value that something is looked for by.
pub(super) fn wanted() -> Piece {
    text().with("minLength", 1)
}

/// Text of so many characters.
pub(super) fn short(min: usize, max: usize) -> Piece {
    typed("string").with("minLength", min).with("maxLength", max)
}

/// Text that a regular expression describes as a whole.
pub(super) fn spelled(pattern: &str) -> Piece {
    typed("string").with("pattern", pattern)
}

pub(super) fn one_of(words: &[&str]) -> Piece {
    typed("string").with("enum", words.to_vec())
}

pub(super) fn whole(min: i64, max: i64) -> Piece {
    typed("integer").with("minimum", min).with("maximum", max)
}

/// A number that only grows: a count, a revision, a position.
pub(super) fn count() -> Piece {
    whole(0, i64::MAX)
}

/// A place in the sequence of events, or in a submission's: beyond the last is a place, too.
pub(super) fn position() -> Piece {
    typed("integer").with("minimum", 0).with("maximum", u64::MAX)
}

pub(super) fn version() -> Piece {
    whole(1, u32::MAX.into())
}

pub(super) fn status_number() -> Piece {
    whole(200, 599)
}

/// From 0 to 1.
pub(super) fn share() -> Piece {
    typed("number").with("minimum", 0).with("maximum", 1)
}

/// RFC 3339, as it is sent: in UTC with milliseconds.
pub(super) fn time() -> Piece {
    typed("string").with("format", "date-time")
}

/// Longest unit first, each once.
pub(super) const SPAN: &str =
    r"^(?=[0-9])([0-9]{1,4}w)?([0-9]{1,5}d)?([0-9]{1,6}h)?([0-9]{1,7}m)?([0-9]{1,9}s)?([0-9]{1,12}ms)?$";

pub(super) fn span() -> Piece {
    spelled(SPAN)
}

/// A UUID.
pub(super) fn id() -> Piece {
    typed("string").with("format", "uuid")
}

/// The short name of a kind of errors.
pub(super) fn fingerprint() -> Piece {
    spelled("^[0-9a-f]{12}$")
}

/// The beginning of a UUID.
pub(super) fn beginning() -> Piece {
    spelled("^[0-9A-Fa-f]{4}[0-9A-Fa-f-]{0,32}$")
}

/// A SHA-256 value in base64url.
pub(super) fn digest() -> Piece {
    spelled("^[A-Za-z0-9_-]{43}$")
}

/// The right to settle a task.
pub(super) fn lease_token() -> Piece {
    spelled("^[A-Za-z0-9_-]{54}$")
}

pub(super) fn pipeline() -> Piece {
    spelled("^[a-z][a-z0-9-]{0,63}$")
}

pub(super) fn state() -> Piece {
    spelled("^[A-Za-z][A-Za-z0-9_.-]{0,63}$")
}

/// An action, an outcome, a trigger.
pub(super) fn word() -> Piece {
    spelled("^[a-z][a-z0-9_-]{0,63}$")
}

pub(super) fn task() -> Piece {
    spelled(r"^(?=.{1,64}$)[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)*$")
}

/// The code of a failure.
pub(super) fn error_code() -> Piece {
    spelled("^[a-z0-9][a-z0-9._-]{0,63}$")
}

/// A key, a lane, the value of a label: up to 512 bytes.
pub(super) fn key() -> Piece {
    short(1, KEY_BYTES_MAX)
}

/// Up to 4,000 bytes.
pub(super) fn reason() -> Piece {
    short(0, REASON_BYTES_MAX)
}

pub(super) fn priority() -> Piece {
    whole(-PRIORITY_MAX, PRIORITY_MAX)
}

pub(super) fn status() -> Piece {
    one_of(&Status::ALL.map(Status::as_str))
}

pub(super) fn investigation() -> Piece {
    one_of(&InvestigationStatus::ALL.map(InvestigationStatus::as_str))
}

pub(super) fn role() -> Piece {
    one_of(&Role::ALL.map(Role::as_str))
}

/// Describes the size of a page of a list.
pub(super) fn limit() -> Piece {
    whole(1, 1_000).with("default", 50)
}

pub(super) fn list(item: Piece) -> Piece {
    typed("array").with("items", item)
}

pub(super) fn list_of(item: Piece, min: usize, max: usize) -> Piece {
    list(item).with("minItems", min).with("maxItems", max)
}

/// An object whose members all look alike.
pub(super) fn map(value: Piece) -> Piece {
    typed("object").with("additionalProperties", value)
}

/// The same with at most so many members, whose names are spelled like this.
pub(super) fn map_of(names: &str, value: Piece, max: usize) -> Piece {
    map(value).with("propertyNames", spelled(names)).with("maxProperties", max)
}

pub(super) const LABEL: &str = "^[a-z][a-z0-9_]{0,31}$";

/// Labels and their values, as they are asked for.
pub(super) fn labels(max: usize) -> Piece {
    map_of(LABEL, key(), max)
}

/// Any object.
pub(super) fn object() -> Piece {
    typed("object")
}

pub(super) fn either(pieces: impl IntoIterator<Item = Piece>) -> Piece {
    members([("oneOf", pieces.into_iter().collect())])
}

/// This, or null.
pub(super) fn or_null(piece: Piece) -> Piece {
    let Some(Tree::Leaf(Value::String(kind))) = piece.get("type").cloned() else {
        return either([piece, typed("null")]);
    };
    let words = match piece.get("enum") {
        Some(Tree::Leaf(Value::Array(words))) => Some([&words[..], &[Value::Null]].concat()),
        _ => None,
    };
    let piece = piece.with("type", vec![kind.as_str(), "null"]);
    words.into_iter().fold(piece, |piece, words| piece.with("enum", words))
}

/// The same with a sentence about it.
pub(super) fn about(piece: Piece, sentence: &str) -> Piece {
    if sentence.is_empty() { piece } else { piece.with("description", sentence) }
}
