//! A pipeline as a diagram: Mermaid's `stateDiagram-v2`.

use std::fmt::Write as _;

use model::pipeline::{Choice, Edge, Pipeline, State};
use wire::text::is_invisible;

/// Longer guards are cut; the file has them in full.
const GUARD_CHARS_MAX: usize = 60;

/// The diagram's text: the way in, the states with their titles, the edges with their triggers, the ends.
#[must_use]
pub fn mermaid(pipeline: &Pipeline) -> String {
    let mut text = String::from("stateDiagram-v2\n");
    let ids = Ids(pipeline);
    for state in &pipeline.states {
        declare(&mut text, &ids, state);
    }
    text.push('\n');
    draw_edges(&mut text, &ids, "[*]", &pipeline.start);
    for state in &pipeline.states {
        for (_, edges) in state.ways() {
            draw_edges(&mut text, &ids, &ids.of(&state.name), edges);
        }
    }
    if let Some(ttl) = &pipeline.ttl {
        for state in pipeline.states.iter().filter(|state| !state.is_final()) {
            draw_edges(&mut text, &ids, &ids.of(&state.name), std::slice::from_ref(&ttl.edge));
        }
    }
    text.push('\n');
    for state in pipeline.states.iter().filter(|state| state.is_final()) {
        line(&mut text, &format!("{} --> [*]", ids.of(&state.name)));
    }
    text
}

/// Two descriptions are drawn as a heading and a text below it.
fn declare(text: &mut String, ids: &Ids<'_>, state: &State) {
    let id = ids.of(&state.name);
    line(text, &format!("{id} : {}", escape(&state.name)));
    if let Some(title) = &state.title {
        line(text, &format!("{id} : {}", escape(title)));
    }
}

fn draw_edges(text: &mut String, ids: &Ids<'_>, from: &str, edges: &[Edge]) {
    for edge in edges {
        for to in edge.to.as_ref().map_or(&[][..], Choice::states) {
            line(text, &format!("{from} --> {} : {}", ids.of(to), label(edge)));
        }
    }
}

fn label(edge: &Edge) -> String {
    let mut label = edge.trigger.to_string();
    if let Some(when) = &edge.when {
        let guard: Vec<&str> = when.source().split_whitespace().collect();
        let guard = guard.join(" ");
        let cut: String = guard.chars().take(GUARD_CHARS_MAX).collect();
        let more = if cut.len() < guard.len() { "..." } else { "" };
        let _ = write!(label, " [{cut}{more}]");
    }
    escape(&label)
}

fn line(text: &mut String, content: &str) {
    text.push_str("    ");
    text.push_str(content);
    text.push('\n');
}

/// The names of states inside the diagram.
struct Ids<'a>(&'a Pipeline);

impl Ids<'_> {
    /// The name itself where Mermaid can read it; else its number, under which the name is shown.
    fn of(&self, name: &str) -> String {
        const WORDS: [&str; 14] = [
            "state",
            "note",
            "end",
            "direction",
            "class",
            "classdef",
            "style",
            "as",
            "left",
            "right",
            "of",
            "click",
            "default",
            "scale",
        ];
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        // `s1` and the like could be the number of another state.
        let numbered = name.strip_prefix('s').is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()));
        if plain && !numbered && !WORDS.contains(&name.to_ascii_lowercase().as_str()) {
            return name.to_owned();
        }
        let index = self.0.states.iter().position(|state| &*state.name == name).unwrap_or_default();
        format!("s{index}")
    }
}

/// Text that cannot end its line or mean anything to Mermaid or to the page it is drawn on: whatever is no letter,
/// digit or harmless mark becomes a character code, and what cannot be seen is left out.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            c if c.is_alphanumeric() || " .,-_()/!?='+*".contains(c) => escaped.push(c),
            c if c.is_whitespace() => escaped.push(' '),
            c if c.is_control() || is_invisible(c) => {}
            c => {
                let _ = write!(escaped, "#{};", u32::from(c));
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "x\" --> y\n[*] --> z : <script>alert(1)</script> %% `a` #59; \u{202e}";
        let escaped = escape(hostile);
        assert!(!escaped.contains(['"', '\n', '<', '>', '%', '`', '[', ':', '\u{202e}']), "{escaped}");
        assert_eq!(escape("#59;"), "#35;59#59;");
        assert_eq!(escape("Größe, 3 Tage"), "Größe, 3 Tage");
    }
}
