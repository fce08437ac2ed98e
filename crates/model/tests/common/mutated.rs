//! Files of which most have a problem.

use model::pipeline::Source;
use proptest::prelude::*;

use super::{FILES, source};

/// One of the files with up to five slices cut out, put elsewhere, or replaced.
pub(crate) fn file() -> impl Strategy<Value = Source> {
    let text = "(|\n|\"|'|=|\\.|\\[|\\{|\\}|\\]|,|é|true|-1|final = 'success'\n|to = \"X\"|when = \"held\",)";
    let cuts = prop::collection::vec((any::<usize>(), 0..60_usize, any::<usize>(), text), 1..6);
    (0..FILES.len(), cuts).prop_map(|(file, cuts)| {
        let whole = source(FILES[file]);
        Source { toml: mutated(whole.toml.clone(), &cuts), ..whole }
    })
}

fn mutated(mut toml: String, cuts: &[(usize, usize, usize, String)]) -> String {
    for (at, length, target, text) in cuts {
        let place = |byte: usize, toml: &str| toml.floor_char_boundary(byte % (toml.len() + 1));
        let start = place(*at, &toml);
        let end = toml.floor_char_boundary((start + length).min(toml.len()));
        let cut: String = toml.drain(start..end).collect();
        let target = place(*target, &toml);
        toml.insert_str(target, if text.is_empty() { &cut } else { text });
    }
    toml
}
