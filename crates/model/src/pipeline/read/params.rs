//! `[params]`: defaults, and what a deployment sets in their place.

use std::collections::BTreeMap;

use super::Reader;
use super::name::Spelling;
use super::pipeline::TOP_KEYS;
use crate::json::Value;
use crate::pipeline::ParamSet;
use crate::pipeline::file::Entry;
use crate::pipeline::problem::{Problem, quote};

/// The parameters of a file, as written and as they are for this deployment.
pub(super) struct Params {
    pub(super) defaults: Value,
    pub(super) set: ParamSet,
    pub(super) effective: Value,
}

impl Reader<'_> {
    pub(super) fn params(&mut self, section: Option<&Entry>) -> Params {
        let mut defaults = BTreeMap::new();
        let entries = self.map(section.map(|entry| &entry.node), "parameters");
        for entry in &entries {
            self.spelled(&entry.key, &entry.at, Spelling::Free);
            if TOP_KEYS.contains(&entry.key.as_str()) {
                let message =
                    format!("the parameter `{0}` has the name of the top-level key `{0}`", entry.key);
                let problem = Problem::new("shadowed-key", entry.at.clone(), message);
                self.problems.push(problem.help(format!(
                    "if `{}` is meant for the pipeline, write it above the first `[table]`; if not, rename it",
                    entry.key
                )));
            }
            defaults.insert(entry.key.clone(), self.json(&entry.node));
        }
        let set = self.overrides(section, &entries, &defaults);
        let mut effective = defaults.clone();
        effective.extend(set.clone());
        Params { defaults: Value::Object(defaults), set, effective: Value::Object(effective) }
    }

    /// Reads what a deployment sets. A value replaces a default as a whole, and is of the same type. Null leaves the
    /// default.
    fn overrides(
        &mut self,
        section: Option<&Entry>,
        entries: &[&Entry],
        defaults: &BTreeMap<String, Value>,
    ) -> ParamSet {
        let mut set = ParamSet::new();
        let source = self.source;
        let section_at = section.map_or(0..0, |entry| entry.at.clone());
        let Some(overrides) = source.params.as_object() else {
            let found = source.params.kind();
            self.report(
                "wrong-type",
                &section_at,
                format!("the deployment's parameters are no object but {found}"),
            );
            return set;
        };
        for (name, value) in overrides {
            let Some(default) = defaults.get(name) else {
                let message = format!("the deployment sets {}, which is no parameter", quote(name));
                let near = self.near(name, defaults.keys().map(String::as_str));
                self.problems
                    .push(Problem::new("unknown-parameter", section_at.clone(), message).suggest(near));
                continue;
            };
            if *value == Value::Null {
                continue;
            }
            if default.kind() != value.kind() {
                let at =
                    entries.iter().find(|entry| entry.key == *name).map_or(&section_at, |entry| &entry.at);
                let (found, wanted) = (value.kind(), default.kind());
                let message =
                    format!("the deployment sets {} to a value of type {found}, not {wanted}", quote(name));
                self.report("parameter-type", at, message);
                continue;
            }
            set.insert(name.clone(), value.clone());
        }
        set
    }
}
