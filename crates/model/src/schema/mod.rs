//! JSON Schemas: what a payload or an action's data must look like.

mod fuel;
mod metered;
mod prepare;
mod tank;

use std::fmt;
use std::sync::Arc;

use jsonschema::{PatternOptions, ValidationError, Validator};

use self::fuel::{Empty, Weights, burn};
use self::metered::{Metered, Seen};

use crate::digest::Digest;
use crate::json::Json;
use crate::shared::Shared;

pub use self::fuel::Fuel;
pub use self::tank::Tank;

/// A compiled schema. Cheap to clone.
#[derive(Clone)]
pub struct Schema(Arc<Compiled>);

struct Compiled {
    source: String,
    validator: Validator<Metered>,
    weights: Weights,
}

/// Compiled schemas, by their text: the same one is used by many states and by version after version.
static SCHEMAS: Shared<Digest, Compiled> = Shared::new();

/// The reason why a document was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// The ways in which the document does not fit.
    Violations(Vec<Violation>),
    /// The check takes longer than anybody may take.
    TooComplex,
}

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

    /// Checks a document, for as long as there is fuel.
    pub fn check(&self, document: &Json, fuel: &mut Fuel) -> Result<(), Misfit> {
        let value = document.to_serde();
        let validator = &self.0.validator;
        match self.burn(fuel, || validator.is_valid(Seen(&value))) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let all = document.as_str().len() <= Self::DOCUMENT_BYTES_MAX;
                self.violations(Seen(&value), all, fuel).map_err(|Empty| Misfit::TooComplex).and_then(Err)
            }
            Err(Empty) => Err(Misfit::TooComplex),
        }
    }

    /// Finds out what is wrong with a document that does not fit: all of it, or where that takes too long the first.
    fn violations(&self, value: Seen<'_>, all: bool, fuel: &mut Fuel) -> Result<Misfit, Empty> {
        let validator = &self.0.validator;
        // Whoever has little fuel is asked again with more.
        let is_short = *fuel < Fuel::TELLING;
        if all {
            let mut share = fuel.share(Fuel::TELLING);
            let collected = self.burn(&mut share, || {
                let errors = validator.iter_errors(value).take(Self::VIOLATIONS_MAX);
                errors.map(|error| Violation::of(&error)).collect()
            });
            fuel.put_back(share);
            match collected {
                Ok(violations) => return Ok(Misfit::Violations(violations)),
                Err(Empty) if is_short => return Err(Empty),
                Err(Empty) => {}
            }
        }
        let mut share = fuel.share(Fuel::TELLING);
        let first =
            self.burn(&mut share, || validator.validate(value).err().map(|error| Violation::of(&error)));
        fuel.put_back(share);
        match first {
            Err(Empty) if is_short => Err(Empty),
            first => {
                let first = first.ok().flatten().unwrap_or_else(Violation::untold);
                Ok(Misfit::Violations(vec![first]))
            }
        }
    }

    fn burn<T>(&self, fuel: &mut Fuel, check: impl FnOnce() -> T) -> Result<T, Empty> {
        burn(fuel, self.0.weights, check)
    }
}

impl Compiled {
    fn of(text: &str) -> Result<Self, String> {
        let json = Json::parse(text).map_err(|error| error.to_string())?;
        let mut schema = json.to_serde();
        let weights = prepare::prepare(&mut schema)?;
        let build = |bytes: usize| {
            jsonschema::options_for::<Metered>()
                .offline()
                .with_pattern_options(PatternOptions::regex().size_limit(bytes))
                .should_validate_formats(true)
                .build(&schema)
        };
        let mut largest = Self::PATTERN_BYTES[0];
        let mut built = build(largest);
        for bytes in &Self::PATTERN_BYTES[1..] {
            if built.is_err() {
                (built, largest) = (build(*bytes), *bytes);
            }
        }
        let validator = built.map_err(|error| message(&error))?;
        let text_weight = (largest / Self::PATTERN_BYTES[0]) as u64;
        Ok(Compiled { source: text.to_owned(), validator, weights: Weights { text: text_weight, ..weights } })
    }

    /// Bounds of a compiled pattern: the smallest that holds says how long a match can take.
    const PATTERN_BYTES: [usize; 3] = [32 << 10, 256 << 10, 1 << 20];
}

impl Violation {
    /// Returns what is said where finding the place takes too long.
    fn untold() -> Self {
        let message =
            "it fits none of the ways the schema allows; there are too many to tell which is nearest";
        Violation { path: String::new(), message: message.to_owned() }
    }

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
    let text = prepare::unprepared(error.masked().to_string());
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
mod bombs;

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(text: &str) -> Schema {
        Schema::compile(text).expect(text)
    }

    fn violations(text: &str, document: &str) -> Vec<Violation> {
        let document = Json::parse(document).expect("the test's JSON is well formed");
        match schema(text).check(&document, &mut Fuel::whole()) {
            Err(Misfit::Violations(violations)) => violations,
            other => panic!("{other:?}"),
        }
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
        assert_eq!(schema.check(&Json::parse(r#"{"url":"x"}"#).unwrap(), &mut Fuel::little()), Ok(()));
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
        assert!(schema(inside).check(&Json::parse("1").unwrap(), &mut Fuel::little()).is_err());
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
            let _ = schema.check(&Json::null(), &mut Fuel::little());
        }
    }

    #[test]
    fn formats_are_enforced() {
        assert_eq!(violations(r#"{"format":"email"}"#, "\"nobody\"").len(), 1);
    }
}
