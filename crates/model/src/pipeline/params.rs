//! A deployment's parameters: values in place of the defaults of a pipeline file. The machine is the same whatever they
//! are, so they can change without a new version.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Pipeline, Source};
use crate::Digest;
use crate::json::Value;

/// Parameters by name, with what they are set to.
pub type ParamSet = BTreeMap<String, Value>;

/// Puts what is set now over what was set before; null sets a parameter back to its default.
#[must_use]
pub fn merged(before: &ParamSet, now: &ParamSet) -> ParamSet {
    let mut set = before.clone();
    set.extend(now.clone());
    set.retain(|_, value| *value != Value::Null);
    set
}

impl Pipeline {
    /// The same machine with these parameters set and no others. One that it does not have, or has with another type,
    /// is left out: it was set for another version.
    #[must_use]
    pub fn with_params(&self, set: &ParamSet) -> Pipeline {
        let fits = |(name, value): &(&String, &Value)| {
            self.default_params.get(name.as_str()).is_some_and(|default| default.kind() == value.kind())
        };
        let set: ParamSet =
            set.iter().filter(fits).map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut effective = self.default_params.as_object().cloned().unwrap_or_default();
        effective.extend(set.clone());
        let source =
            Source::from_definition(&self.definition).expect("a pipeline has the definition it is of");
        let definition = Source { params: Value::Object(set.clone()), ..source }.to_definition();
        Pipeline {
            digest: Digest::of(definition.as_str().as_bytes()),
            definition,
            params: Arc::new(Value::Object(effective)),
            set_params: set,
            ..self.clone()
        }
    }

    /// Returns the pipeline's name with its version, and its revision where it is not the first.
    #[must_use]
    pub fn label(&self) -> String {
        match self.revision {
            1 => format!("{}@{}", self.name, self.version),
            revision => format!("{}@{}.{revision}", self.name, self.version),
        }
    }

    /// Tells whether both are one version of one pipeline with the same machine: nothing but parameters may differ.
    #[must_use]
    pub fn is_revision_of(&self, other: &Pipeline) -> bool {
        (&self.name, self.version, self.machine) == (&other.name, other.version, other.machine)
    }
}
