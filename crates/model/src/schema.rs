//! JSON Schemas: what a payload or an action's data must look like.

use std::fmt;
use std::sync::Arc;

use jsonschema::{PatternOptions, ValidationError, Validator};

use crate::digest::Digest;
use crate::json::Json;
use crate::shared::Shared;

/// A compiled schema. Cheap to clone.
#[derive(Clone)]
pub struct Schema(Arc<Compiled>);

struct Compiled {
    source: String,
    validator: Validator,
}

/// Compiled schemas, by their text: the same one is used by many states and by version after version.
static SCHEMAS: Shared<Digest, Compiled> = Shared::new();

/// One way in which a document does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// A JSON pointer to the value at fault, cut where it is long.
    pub path: String,
    /// Says what was wanted and never repeats the value.
    pub message: String,
}

impl Schema {
    /// Larger schemas are refused before they are read.
    pub const BYTES_MAX: usize = 256 * 1024;
    /// A document's first so many violations are told.
    pub const VIOLATIONS_MAX: usize = 20;
    const CHARS_MAX: usize = 300;
    /// In larger documents the first violation is told: collecting all could take far more memory than the document.
    const DOCUMENT_BYTES_MAX: usize = 64 * 1024;

    /// Compiles a schema that stands on its own: references lead only into it. Formats are enforced, and patterns are
    /// those that match in linear time.
    pub fn compile(text: &str) -> Result<Self, String> {
        if text.len() > Self::BYTES_MAX {
            return Err("the schema is larger than 256 KB".to_owned());
        }
        SCHEMAS.get(Digest::of(text.as_bytes()), || Compiled::of(text)).map(Schema)
    }

    #[must_use]
    pub fn source(&self) -> &str {
        &self.0.source
    }

    pub fn check(&self, document: &Json) -> Result<(), Vec<Violation>> {
        let value = document.to_serde();
        let validator = &self.0.validator;
        if validator.is_valid(&value) {
            return Ok(());
        }
        let most = if document.as_str().len() > Self::DOCUMENT_BYTES_MAX { 1 } else { Self::VIOLATIONS_MAX };
        let violations: Vec<Violation> = match validator.validate(&value) {
            Err(first) if most == 1 => vec![Violation::of(&first)],
            _ => validator.iter_errors(&value).take(most).map(|error| Violation::of(&error)).collect(),
        };
        Err(violations)
    }
}

impl Compiled {
    fn of(text: &str) -> Result<Self, String> {
        let json = Json::parse(text).map_err(|error| error.to_string())?;
        let validator = jsonschema::options()
            .offline()
            .with_pattern_options(PatternOptions::regex().size_limit(1024 * 1024))
            .should_validate_formats(true)
            .build(&json.to_serde())
            .map_err(|error| message(&error))?;
        Ok(Compiled { source: text.to_owned(), validator })
    }
}

impl Violation {
    fn of(error: &ValidationError<'_>) -> Self {
        Violation { path: cut(error.instance_path().as_str()), message: message(error) }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "/" } else { &self.path };
        write!(f, "{path}: {}", self.message)
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.source() == other.source()
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Schema({} bytes)", self.source().len())
    }
}

fn message(error: &ValidationError<'_>) -> String {
    let text = error.masked().to_string();
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_ascii_lowercase());
    cut(&first.into_iter().chain(chars).collect::<String>())
}

fn cut(text: &str) -> String {
    let tame = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut cut: String = text.chars().take(Schema::CHARS_MAX).map(tame).collect();
    if text.chars().nth(Schema::CHARS_MAX).is_some() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(text: &str) -> Schema {
        Schema::compile(text).expect(text)
    }

    fn violations(text: &str, document: &str) -> Vec<Violation> {
        let document = Json::parse(document).expect("the test's JSON is well formed");
        schema(text).check(&document).expect_err("the document does not fit")
    }

    #[test]
    fn equal_schemas_are_compiled_once() {
        let (first, second) = (schema(r#"{"maxLength":77}"#), schema(r#"{"maxLength":77}"#));
        assert!(Arc::ptr_eq(&first.0, &second.0));
    }

    #[test]
    fn fitting_documents_pass() {
        let text = r#"{"type":"object","required":["url"],"properties":{"url":{"type":"string"}}}"#;
        let schema = schema(text);
        assert_eq!(schema.check(&Json::parse(r#"{"url":"x"}"#).unwrap()), Ok(()));
        assert_eq!(schema.source(), text);
    }

    #[test]
    fn violations_say_where_and_what() {
        let text = r#"{"required":["url"],"properties":{"n":{"items":{"type":"integer"}}},"additionalProperties":false}"#;
        let found = violations(text, r#"{"n":[1,"two"],"m":1}"#);
        let mut told: Vec<String> = found.iter().map(Violation::to_string).collect();
        told.sort();
        assert_eq!(
            told,
            [
                "/: \"url\" is a required property",
                "/: additional properties are not allowed ('m' was unexpected)",
                "/n/1: value is not of type \"integer\"",
            ]
        );
    }

    #[test]
    fn values_are_not_echoed() {
        let secret = "hunter2".repeat(1000);
        for text in
            [r#"{"type":"integer"}"#, r#"{"maxLength":3}"#, r#"{"enum":["a"]}"#, r#"{"pattern":"^a$"}"#]
        {
            let found = violations(text, &format!("\"{secret}\""));
            assert!(found.iter().all(|violation| !violation.message.contains("hunter2")), "{found:?}");
        }
    }

    #[test]
    fn hostile_documents_get_short_answers() {
        let key = "k".repeat(10_000);
        let found = violations(r#"{"additionalProperties":false}"#, &format!("{{\"{key}\":1}}"));
        assert!(found.iter().all(|violation| violation.message.chars().count() <= Schema::CHARS_MAX + 1));
        let found = violations(r#"{"additionalProperties":{"type":"null"}}"#, &format!("{{\"{key}\":1}}"));
        assert!(found.iter().all(|violation| violation.path.chars().count() <= Schema::CHARS_MAX + 1));
        let many = |count: usize| format!("[{}]", vec!["1"; count].join(","));
        assert_eq!(violations(r#"{"items":{"type":"null"}}"#, &many(100)).len(), Schema::VIOLATIONS_MAX);
        assert_eq!(violations(r#"{"items":{"type":"null"}}"#, &many(100_000)).len(), 1);
    }

    #[test]
    fn schemas_reach_nothing_outside_themselves() {
        let inside = r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}"##;
        assert!(schema(inside).check(&Json::parse("1").unwrap()).is_err());
        for outside in ["https://example.com/a.json", "http://127.0.0.1/", "file:///etc/passwd", "other.json"]
        {
            assert!(Schema::compile(&format!(r#"{{"$ref":"{outside}"}}"#)).is_err(), "{outside}");
        }
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        for text in
            ["", "{", r#"{"type":1}"#, r#"{"type":"strin"}"#, r#"{"a":1,"a":2}"#, r#"{"pattern":"("}"#]
        {
            assert!(Schema::compile(text).is_err(), "{text}");
        }
        assert!(Schema::compile(&format!("{{\"title\":\"{}\"}}", "x".repeat(Schema::BYTES_MAX))).is_err());
    }

    #[test]
    fn schemas_that_lead_in_a_circle_end() {
        let compiled = Schema::compile(r##"{"$ref":"#"}"##);
        if let Ok(schema) = compiled {
            let _ = schema.check(&Json::null());
        }
    }

    #[test]
    fn formats_are_enforced() {
        assert_eq!(violations(r#"{"format":"email"}"#, "\"nobody\"").len(), 1);
    }
}
