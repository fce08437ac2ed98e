use std::fmt;

/// The reason why a text is not strict JSON, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    pub message: String,
    /// Bytes before the fault.
    pub offset: usize,
    /// Counted from 1.
    pub line: usize,
    /// Characters, counted from 1.
    pub column: usize,
}

impl JsonError {
    /// `valid` is the text as far as it is known to be UTF-8; `offset` lies within it.
    pub(super) fn at(valid: &str, offset: usize, message: impl Into<String>) -> Self {
        let before = valid.get(..offset).unwrap_or(valid);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            message: message.into(),
            offset,
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {} column {}", self.message, self.line, self.column)
    }
}

impl std::error::Error for JsonError {}
