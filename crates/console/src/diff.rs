//! Amendments as people read them: what a member of the payload was, and what it became.

use std::collections::BTreeMap;

use wire::Json;
use wire::api::SubmissionView;
use wire::json::Value;

use crate::parts::cut;

/// The characters of a member that are shown.
const SHOWN_MAX: usize = 2_000;

/// A member that an amendment changed. Either is empty where the member was missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) name: String,
    pub(crate) old: String,
    pub(crate) new: String,
}

/// Returns what each amendment changed, by its revision: what it replaced, beside what stood there until the next one.
pub(crate) fn amendments(view: &SubmissionView) -> BTreeMap<u64, Vec<Changed>> {
    let mut after = view.payload.as_ref().map(members).unwrap_or_default();
    let mut found = BTreeMap::new();
    for (revision, replaced) in view.replaced.iter().rev() {
        let before = members(replaced);
        let changed = before.iter().map(|(name, old)| Changed {
            name: name.clone(),
            old: cut(old, SHOWN_MAX),
            new: after.get(name).map(|new| cut(new, SHOWN_MAX)).unwrap_or_default(),
        });
        found.insert(*revision, changed.filter(|changed| changed.old != changed.new).collect());
        after.extend(before);
    }
    found
}

fn members(document: &Json) -> BTreeMap<String, String> {
    let Value::Object(members) = document.value() else { return BTreeMap::new() };
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        value => Json::from_value(value).as_str().to_owned(),
    };
    members.iter().map(|(name, value)| (name.clone(), text(value))).collect()
}
