//! Hints about mistakes that are made again and again: keys written short, and words that other languages have.

use crate::pipeline::problem::Span;

/// The forms of keys whose values are often written in another type.
const FORMS: [(&str, &str); 6] = [
    ("ttl", r#"`ttl = { after = "90d", to = "STATE" }`"#),
    ("sla", r#"`sla = { target = "3bd" }`"#),
    ("retry", r#"`retry = { times = 3, delay = "30s" }`"#),
    ("final", r#"`final = "success"`, `"failure"` or `"cancelled"`"#),
    ("review", r#"`review = "reviewer"`: one role, whose holders and admins may act"#),
    ("lane", r#"`lane = { key = "payload.account" }`"#),
];

/// Keys whose value is a span of time: text with a unit.
const SPANS: [&str; 8] = ["timeout", "lease", "wait", "after", "delay", "max", "retention", "forget"];

/// Returns how a key is written, for a value of another type than it takes. The key is the last word before the value.
pub(super) fn form(toml: &str, value: &Span) -> Option<String> {
    let before = toml.get(..value.start)?.rsplit(['\n', '{', ',']).next()?;
    let key = before.split_once('=')?.0.trim().rsplit('.').next()?;
    if let Some((_, form)) = FORMS.iter().find(|(known, _)| *known == key) {
        return Some(format!("write {form}"));
    }
    let number: u64 = toml.get(value.clone())?.parse().ok()?;
    SPANS.contains(&key).then(|| format!("a span of time has a unit: `{key} = \"{number}s\"`"))
}

/// Returns what was probably meant where an expression does not compile: `at` is the part that is wrong.
pub(super) fn meant(text: &str, at: &str) -> Option<&'static str> {
    if text.starts_with("http://") || text.starts_with("https://") {
        return Some(
            "this is an expression: quote text once more, `\"'https://..'\"`, or name a parameter, `\"params.hook\"`",
        );
    }
    match at {
        "and" => Some("write `&&`"),
        "or" => Some("write `||`"),
        "not" => Some("write `!`"),
        "=" => Some("write `==` to compare"),
        "<>" => Some("write `!=`"),
        _ => None,
    }
}

/// Returns where a key belongs that is unknown in a state.
pub(super) fn belongs(key: &str) -> Option<String> {
    match key.split_once('_') {
        Some(("on", event)) => Some(format!("did you mean `on.{event}`?")),
        _ if ["approvals", "self_approval"].contains(&key) => Some(format!(
            "`{key}` belongs to an action: `actions.approve = {{ to = \"STATE\", approvals = 2 }}`"
        )),
        _ => None,
    }
}
