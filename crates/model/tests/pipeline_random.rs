//! Loading a file never panics, whatever is written into it.

use crate::common::mutated;
use model::pipeline::{Source, attachments, load};
use proptest::prelude::*;

/// Loads or renders: whatever the file is, there is an answer.
fn survives(source: &Source) {
    let _ = attachments(&source.toml);
    match load(source) {
        Ok(pipeline) => {
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
    fn mutated_files_are_answered(source in mutated::file()) {
        survives(&source);
    }
}
