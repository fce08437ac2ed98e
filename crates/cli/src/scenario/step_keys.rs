//! The keys a step may have: what is done, what belongs to that, and what is expected afterwards.

/// The verbs of a step, with the keys that say how.
pub(super) const VERBS: &[(&str, &[&str])] = &[
    (
        "submit",
        &["with", "pipeline", "as", "role", "by", "reason", "key", "set_priority", "not_before", "form"],
    ),
    ("claim", &["as", "where", "max"]),
    ("answer", &["output", "result", "children", "lease"]),
    ("spawn", &["lease"]),
    ("fail", &["message", "retryable", "times", "lease"]),
    ("snooze", &["lease"]),
    ("give_back", &["lease"]),
    ("renew", &["lease"]),
    ("crash", &["times"]),
    ("stall", &[]),
    ("act", &["role", "by", "reason", "data", "to"]),
    ("amend", &["role", "by"]),
    ("redrive", &["role", "by", "reason"]),
    ("acknowledge", &["role", "by", "note"]),
    ("claim_review", &["role", "by", "for"]),
    ("hand_over", &["role", "by", "for"]),
    ("release_review", &["role", "by"]),
    ("write_note", &["role", "by"]),
    ("hold", &["as"]),
    ("release", &[]),
    ("pass", &[]),
];

/// The form in which an expectation is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Whole,
    Flag,
    Span,
    Texts,
    /// Members that must be there; others may be too.
    Table,
}

/// The expectations about the submission a step is about, or about what the step was answered.
pub(super) const EXPECTATIONS: &[(&str, Shape)] = &[
    ("state", Shape::Text),
    ("status", Shape::Text),
    ("phase", Shape::Text),
    ("events", Shape::Texts),
    ("history", Shape::Texts),
    ("path", Shape::Texts),
    ("actor", Shape::Text),
    ("metadata", Shape::Table),
    ("payload", Shape::Table),
    ("notified", Shape::Texts),
    ("outputs", Shape::Table),
    ("labels", Shape::Table),
    ("counts", Shape::Table),
    ("attempt", Shape::Whole),
    ("requeues", Shape::Whole),
    ("priority", Shape::Whole),
    ("position", Shape::Whole),
    ("waits_for", Shape::Text),
    ("due", Shape::Span),
    ("error", Shape::Text),
    ("failed_from", Shape::Text),
    ("last_good", Shape::Text),
    ("investigation", Shape::Text),
    ("duplicate", Shape::Flag),
    ("repeated", Shape::Flag),
    ("gets", Shape::Texts),
];

pub(super) fn shape(key: &str) -> Option<(&'static str, Shape)> {
    EXPECTATIONS.iter().find(|(known, _)| *known == key).copied()
}

/// The verb a key belongs to.
pub(super) fn owner(key: &str) -> Option<&'static str> {
    VERBS.iter().find(|(_, keys)| keys.contains(&key)).map(|(verb, _)| *verb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_step_is_documented() {
        let page = include_str!("../../../../docs/scenarios.md");
        let of_verbs = VERBS.iter().flat_map(|(verb, keys)| std::iter::once(verb).chain(*keys));
        let expected = EXPECTATIONS.iter().map(|(key, _)| key);
        for key in of_verbs.chain(expected) {
            assert!(page.contains(&format!("`{key}`")), "docs/scenarios.md does not explain `{key}`");
        }
    }

    #[test]
    fn no_key_is_both_done_and_expected() {
        for (verb, keys) in VERBS {
            let both = keys.iter().find(|key| shape(key).is_some());
            assert_eq!(both, None, "an expectation would hide this key of `{verb}`");
        }
    }
}
