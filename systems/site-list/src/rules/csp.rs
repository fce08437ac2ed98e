//! Content security policies, read as the standard says ("parse a serialized CSP").

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A policy: its directives by name, the sources of each sorted and without repeats, for their order says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Csp {
    directives: BTreeMap<String, Vec<String>>,
}

impl Csp {
    /// Reads a header's value. No text is invalid: what cannot be read is left out, as browsers do.
    #[must_use]
    pub fn read(text: &str) -> Csp {
        let mut directives = BTreeMap::new();
        for token in text.split(';') {
            if !token.is_ascii() {
                continue;
            }
            let mut words = token.split(is_ascii_blank).filter(|word| !word.is_empty());
            let Some(name) = words.next() else { continue };
            // The first directive of a name is the one that counts.
            directives.entry(name.to_ascii_lowercase()).or_insert_with(|| {
                let mut sources: Vec<String> = words.map(str::to_owned).collect();
                sources.sort_unstable();
                sources.dedup();
                sources
            });
        }
        Csp { directives }
    }

    /// Returns the sources of a directive; none where the policy does not have it.
    #[must_use]
    pub fn sources(&self, directive: &str) -> Option<&[String]> {
        self.directives.get(directive).map(Vec::as_slice)
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.directives.is_empty()
    }

    pub fn directives(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.directives.iter().map(|(name, sources)| (name.as_str(), sources.as_slice()))
    }
}

/// ASCII whitespace as the standard has it: no vertical tab.
fn is_ascii_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\u{c}' | '\r')
}
