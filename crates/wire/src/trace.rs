//! The trace somebody's submission is part of, as W3C Trace Context has it.
//!
//! A malformed trace is no trace: the specification asks to go on as if nothing had been sent.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Name;

/// `00-`, the trace, `-`, the span above, `-`, flags.
const PARENT_LEN: usize = 55;
const STATE_BYTES_MAX: usize = 512;
const STATE_MEMBERS_MAX: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// The `traceparent`, in the form of version 00.
    pub parent: Name,
    /// The `tracestate`, which belongs to whoever wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Name>,
}

impl Trace {
    /// Reads what was sent: the one `traceparent`, and every `tracestate` in the order they came.
    #[must_use]
    pub fn read<'a>(parent: &str, states: impl IntoIterator<Item = &'a str>) -> Option<Trace> {
        let parent = read_parent(parent)?;
        let state = states.into_iter().collect::<Vec<_>>().join(",");
        Some(Trace { parent: parent.into(), state: is_state(&state).then(|| state.into()) })
    }

    /// The trace's own id: 32 hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> &str {
        self.parent.get(3..35).unwrap_or_default()
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parent)
    }
}

/// Versions to come are read as this one: they may only add at the end.
fn read_parent(text: &str) -> Option<String> {
    let fields = text.get(..PARENT_LEN)?;
    let rest = &text[PARENT_LEN..];
    let mut parts = fields.split('-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let hex = |text: &str, len: usize| {
        text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let is_zero = |text: &str| text.bytes().all(|byte| byte == b'0');
    let is_whole = parts.next().is_none() && (rest.is_empty() || (version != "00" && rest.starts_with('-')));
    let is_good = hex(version, 2)
        && version != "ff"
        && hex(trace, 32)
        && !is_zero(trace)
        && hex(span, 16)
        && !is_zero(span)
        && hex(flags, 2);
    (is_whole && is_good).then(|| format!("00-{trace}-{span}-{flags}"))
}

/// Members are `key=value`, kept as they are.
fn is_state(text: &str) -> bool {
    let members =
        || text.split(',').map(|member| member.trim_matches([' ', '\t'])).filter(|member| !member.is_empty());
    let plain = |byte: u8| (0x20..0x7f).contains(&byte) || byte == b'\t';
    !text.is_empty()
        && text.len() <= STATE_BYTES_MAX
        && text.bytes().all(plain)
        && members().count() <= STATE_MEMBERS_MAX
        && members().all(|member| member.split_once('=').is_some_and(|(key, _)| !key.is_empty()))
        && members().next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn parent(text: &str) -> Option<String> {
        Trace::read(text, []).map(|trace| trace.parent.to_string())
    }

    #[test]
    fn a_good_parent_is_kept() {
        assert_eq!(parent(PARENT).as_deref(), Some(PARENT));
        assert_eq!(
            Trace::read(PARENT, []).map(|trace| trace.id().to_owned()).as_deref(),
            Some(&PARENT[3..35])
        );
        let later = format!("cc{}-more", &PARENT[2..]);
        assert_eq!(parent(&later).as_deref(), Some(PARENT), "a later version is read as this one");
        assert_eq!(parent(&later[..PARENT_LEN]).as_deref(), Some(PARENT));
    }

    #[test]
    fn a_malformed_parent_is_none() {
        let bad = [
            "",
            "00",
            &PARENT[..54],
            &format!("{PARENT}-"),
            &format!("{PARENT}0"),
            &format!("cc{}x", &PARENT[2..]),
            &format!("ff{}", &PARENT[2..]),
            &PARENT.to_uppercase(),
            &PARENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            &PARENT.replace("00f067aa0ba902b7", &"0".repeat(16)),
            &PARENT.replace('-', "_"),
            &PARENT.replace("-01", "-0g"),
            &format!("00-4bf92f3577b34da6a3ce929d0e0e473é{}", &PARENT[36..]),
        ];
        for text in bad {
            assert_eq!(parent(text), None, "{text}");
        }
    }

    #[test]
    fn a_state_is_kept_whole_or_not_at_all() {
        let state = |states: &[&str]| {
            let trace = Trace::read(PARENT, states.iter().copied());
            trace.and_then(|trace| trace.state).map(|state| state.to_string())
        };
        assert_eq!(state(&[]), None);
        assert_eq!(state(&["a=1, b@c=x y", "d=2"]).as_deref(), Some("a=1, b@c=x y,d=2"));
        assert_eq!(state(&["nonsense"]), None);
        assert_eq!(state(&["=1"]), None);
        assert_eq!(state(&[&format!("a={}", "x".repeat(511))]), None);
        assert_eq!(state(&[&vec!["a=1"; 33].join(",")]), None);
        assert_eq!(state(&["a=\u{7}"]), None);
    }
}
