//! Every machine that loads can be drawn.

use crate::common::mutated;
use draw::{mermaid, svg};
use model::pipeline::load;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_files_that_load_are_drawn(source in mutated::file()) {
        if let Ok(pipeline) = load(&source) {
            prop_assert!(mermaid(&pipeline).starts_with("stateDiagram-v2"));
            prop_assert!(svg(&pipeline, None).starts_with("<svg"));
        }
    }
}
