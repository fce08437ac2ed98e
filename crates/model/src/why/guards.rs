//! Guards that do not hold, and the present values of the names in them: of a pass state at rest, and of an action.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::Reason;
use crate::decide::NAMES;
use crate::decide::guard_view::{Moment, Sight};
use crate::expr::Expr;
use crate::json;
use crate::pipeline::{Action, Kind, Pipeline};
use crate::refusal::{Code, Refusal};
use crate::submission::{Documents, Submission};

/// Values longer than this are left out: a reason is no document.
const VALUE_CHARS_MAX: usize = 200;

pub(super) fn reason(
    pipeline: &Pipeline,
    row: &Submission,
    documents: Option<&Documents>,
    held: bool,
) -> Reason {
    let Kind::Pass { next } = &pipeline.known(&row.state).kind else {
        unreachable!("only a pass state waits for a guard")
    };
    let sight = documents.map(|documents| Sight::new(pipeline, documents.clone(), held));
    let mut told = Vec::new();
    let mut edges = Vec::new();
    for edge in next {
        let Some(guard) = &edge.when else { continue };
        let to = edge.targets();
        let mut details = json!({ "to": to, "when": guard.source() });
        let mut line = format!("to {}: {}", to.join(" or "), guard.source());
        if let Some(sight) = &sight {
            let values = values(sight, row, guard);
            if !values.is_empty() {
                let list: Vec<_> = values.iter().map(|(path, value)| format!("{path} is {value}")).collect();
                line.push_str(&format!(" ({})", list.join(", ")));
            }
            details["values"] = Value::Object(values);
            match sight.holds(row, guard) {
                Ok(holds) => details["holds"] = holds.into(),
                Err(error) => details["error"] = error.message.into(),
            }
        }
        told.push(line);
        edges.push(details);
    }
    let sentence = format!("no guard of state {} holds yet; {}", row.state, told.join("; "));
    super::reason("guard", sentence, json!({ "edges": edges }))
}

/// Refuses an action none of whose conditions holds, by the terms that do not.
pub(crate) fn not_met(sight: &Sight<'_>, row: &Submission, moment: Moment<'_>, action: &Action) -> Refusal {
    let guards = action.edges.iter().filter_map(|edge| Some((edge, edge.when.as_ref()?)));
    let (mut told, mut edges) = (Vec::new(), Vec::new());
    for (edge, guard) in guards {
        let terms = sight.unmet(row, moment, guard);
        told.push(terms.iter().map(|term| format!("`{term}`")).collect::<Vec<_>>().join(" and "));
        edges.push(json!({ "to": edge.targets(), "when": guard.source(), "unmet": terms }));
    }
    let message = format!("the conditions of `{}` do not hold now: not {}", action.name, told.join(", nor "));
    Refusal::new(Code::GuardNotMet, message).with("edges", edges)
}

/// Returns the present values of the paths of an expression, where they are short.
pub(crate) fn values(sight: &Sight<'_>, row: &Submission, guard: &Expr) -> Map<String, Value> {
    let mut values = Map::new();
    for path in paths(guard.source()) {
        let mut names = path.split('.');
        let root = names.next().and_then(|name| sight.value(name, row));
        let found = root.map(|root| names.try_fold(root, |value, name| value.get(name).cloned()));
        let Some(found) = found else { continue };
        let value = found.unwrap_or(json::Value::Null);
        let shown = json::Json::from_value(&value);
        if shown.as_str().chars().count() <= VALUE_CHARS_MAX {
            values.insert(path.to_owned(), value.to_serde());
        }
    }
    values
}

/// The dotted paths of a source that begin with a name guards see, outside of its strings.
fn paths(source: &str) -> BTreeSet<&str> {
    let bytes = source.as_bytes();
    let is_word = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let mut paths = BTreeSet::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            quote @ (b'\'' | b'"') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            _ if is_word(at) => {
                let mut ends = Vec::new();
                loop {
                    while is_word(at) {
                        at += 1;
                    }
                    ends.push(at);
                    if bytes.get(at) != Some(&b'.') || !is_word(at + 1) {
                        break;
                    }
                    at += 1;
                }
                // What is called is no member.
                if bytes.get(at) == Some(&b'(') {
                    ends.pop();
                }
                let member = start > 0 && bytes[start - 1] == b'.';
                if let Some(end) = ends.last()
                    && !member
                    && NAMES.contains(&&source[start..ends[0]])
                {
                    paths.insert(&source[start..*end]);
                }
            }
            _ => at += 1,
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_known_names_outside_strings() {
        let of = |source| paths(source).into_iter().collect::<Vec<_>>();
        assert_eq!(of("payload.disk.free >= params.min"), ["params.min", "payload.disk.free"]);
        assert_eq!(of("!held && labels.owner == 'payload.x'"), ["held", "labels.owner"]);
        assert_eq!(
            of("payload.name.startsWith(\"a\\\"b held\") || size(outputs.A.list) > 0"),
            ["outputs.A.list", "payload.name"]
        );
        assert_eq!(of("payload.items.exists(i, i.payload == 1)"), ["payload.items"]);
        assert_eq!(of("owner(payload.url) in [1.5, 'x"), ["payload.url"]);
        assert_eq!(of(""), Vec::<&str>::new());
    }
}
