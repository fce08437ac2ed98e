//! Settings of a system: the table `[system.NAME]` of the settings file.

use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::DeValue;

/// The table of one system, to be read as a type of its own.
#[derive(Debug)]
pub struct Settings<'a> {
    table: Spanned<DeValue<'a>>,
}

/// A mistake in a table of settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    pub message: String,
    /// The place in the file, in bytes.
    pub span: Option<Range<usize>>,
}

impl Fault {
    #[must_use]
    pub fn new(message: impl Into<String>) -> Fault {
        Fault { message: message.into(), span: None }
    }
}

/// No settings at all.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

impl<'a> Settings<'a> {
    #[must_use]
    pub fn new(table: Spanned<DeValue<'a>>) -> Settings<'a> {
        Settings { table }
    }

    /// Reads the table. The type should deny unknown fields: a misspelt key is a mistake that nobody would notice.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, Fault> {
        let deserializer = toml::de::ValueDeserializer::from(self.table);
        T::deserialize(deserializer)
            .map_err(|error| Fault { message: error.message().to_owned(), span: error.span() })
    }

    /// Refuses every key.
    pub fn none(self) -> Result<(), Fault> {
        self.read::<Nothing>().map(|Nothing {}| ())
    }
}

/// Reads a secret from the file that a setting `*-file` names, without the line end.
pub fn secret(setting: &str, file: &Path) -> Result<String, Fault> {
    const BYTES_MAX: usize = 64 << 10;
    let failed =
        |reason: String| Fault::new(format!("`{setting}`: cannot read {}: {reason}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    let text = text.trim_end_matches(['\r', '\n']);
    match text.len() {
        0 => Err(failed("it is empty".to_owned())),
        length if length > BYTES_MAX => Err(failed(format!("it has over {BYTES_MAX} bytes"))),
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Own {
        greeting: String,
    }

    fn read(text: &str) -> Result<Own, Fault> {
        let table = toml::de::DeTable::parse(text).expect("this is TOML");
        let (span, table) = (table.span(), table.into_inner());
        Settings::new(Spanned::new(span, DeValue::Table(table))).read()
    }

    #[test]
    fn a_table_is_read_as_the_systems_own_type() {
        assert_eq!(read("greeting = 'hi'"), Ok(Own { greeting: "hi".to_owned() }));
    }

    #[test]
    fn unknown_keys_are_refused_where_they_stand() {
        let fault = read("greeting = 'hi'\ngreting = 'ho'").expect_err("it is misspelt");
        assert!(fault.message.contains("greting"), "{fault}");
        assert_eq!(fault.span.map(|span| span.start), Some(16));
    }
}
