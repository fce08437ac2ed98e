//! Nothing that can be written into a file makes loading it panic.

mod common;

use common::{FILES, source};
use model::pipeline::draw::mermaid;
use model::pipeline::{Source, attachments, load};
use proptest::prelude::*;

/// Loads, draws or renders: whatever the file is, there is an answer.
fn survives(source: &Source) {
    let _ = attachments(&source.toml);
    match load(source) {
        Ok(pipeline) => {
            let _ = mermaid(&pipeline);
            assert!(Source::from_definition(&pipeline.definition).is_ok());
            for made in pipeline.moves() {
                assert!(pipeline.allows(made.from.as_deref(), &made.to));
                assert!(pipeline.state(&made.to).is_some(), "edges lead to states");
            }
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            assert!(problems.render(source).ends_with("problems\n") || problems.len() == 1);
            assert_eq!(problems.located(source).count(), problems.len());
        }
    }
}

/// A slice of the file cut out, put elsewhere, or replaced.
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_text_is_answered(toml in "\\PC{0,200}") {
        survives(&Source::new("random.toml", toml));
    }

    #[test]
    fn random_toml_is_answered(toml in "([a-z\\[\\]{}=.\"'\n,0-9 #-]|states|next|on|to|final|task){0,120}") {
        survives(&Source::new("random.toml", toml));
    }

    #[test]
    fn mutated_files_are_answered(
        file in 0..FILES.len(),
        cuts in prop::collection::vec(
            (any::<usize>(), 0..60_usize, any::<usize>(), "(|\n|\"|'|=|\\.|\\[|\\{|\\}|\\]|,|é|true|-1|final = 'success'\n|to = \"X\"|when = \"held\",)"),
            1..6,
        ),
    ) {
        let whole = source(FILES[file]);
        survives(&Source { toml: mutated(whole.toml.clone(), &cuts), ..whole });
    }
}
