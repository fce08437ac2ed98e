use std::borrow::Cow;

use crate::json::Value;

/// The variables of one evaluation. Values are borrowed and read in place; only small ones should be given away.
#[derive(Debug, Clone, Default)]
pub struct Scope<'a> {
    variables: Vec<(&'a str, Cow<'a, Value>)>,
}

impl<'a> Scope<'a> {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value under a name. Of two values under one name the last counts.
    #[must_use]
    pub fn with(mut self, name: &'a str, value: &'a Value) -> Self {
        self.variables.push((name, Cow::Borrowed(value)));
        self
    }

    /// Adds a value that was made for this evaluation: `attempt`, `held`, `from`.
    #[must_use]
    pub fn with_owned(mut self, name: &'a str, value: impl Into<Value>) -> Self {
        self.variables.push((name, Cow::Owned(value.into())));
        self
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.variables.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| &**value)
    }
}
