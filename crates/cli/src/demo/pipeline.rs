//! The demo's pipeline: a file of the repository, carried in the binary so that the demo runs in any folder.

use model::pipeline::Source;

const TOML: &str = include_str!("../../../../pipelines/skill-review.toml");
const FILES: &[(&str, &str)] = &[
    ("schemas/skill-review.json", include_str!("../../../../pipelines/schemas/skill-review.json")),
    ("schemas/tier3-checklist.json", include_str!("../../../../pipelines/schemas/tier3-checklist.json")),
];

pub(super) const NAME: &str = "skill-review";

pub(super) fn source() -> Source {
    let files = FILES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    Source { files: files.collect(), ..Source::new("skill-review.toml", TOML) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn pipeline() -> model::Pipeline {
        let source = source();
        model::pipeline::load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)))
    }

    #[test]
    fn the_carried_pipeline_is_whole() {
        assert_eq!(&*pipeline().name, NAME);
    }

    #[test]
    fn the_machine_has_ten_states_and_thirteen_moves() {
        let pipeline = pipeline();
        assert_eq!(pipeline.states.len(), 10);
        let moves = pipeline.moves();
        let pairs: BTreeSet<(&str, &str)> =
            moves.iter().filter_map(|legal| Some((legal.from.as_deref()?, &*legal.to))).collect();
        let expected = [
            ("AUTO_APPROVED", "PUBLISHED"),
            ("NEEDS_REVIEW", "REJECTED"),
            ("NEEDS_REVIEW", "TIER3_REVIEW"),
            ("RECEIVED", "TIER1_SCANNING"),
            ("RECEIVED", "VENDOR_APPROVED"),
            ("TIER1_SCANNING", "TIER1_FAILED"),
            ("TIER1_SCANNING", "TIER2_SCANNING"),
            ("TIER2_SCANNING", "AUTO_APPROVED"),
            ("TIER2_SCANNING", "NEEDS_REVIEW"),
            ("TIER2_SCANNING", "REJECTED"),
            ("TIER3_REVIEW", "PUBLISHED"),
            ("TIER3_REVIEW", "REJECTED"),
            ("VENDOR_APPROVED", "PUBLISHED"),
        ];
        assert_eq!(pairs.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn moves_are_made_by_those_who_should_make_them() {
        for legal in pipeline().moves() {
            let expected = match (legal.from.as_deref(), &*legal.to) {
                (None | Some("RECEIVED" | "AUTO_APPROVED" | "VENDOR_APPROVED"), _) => "system",
                (Some("TIER1_SCANNING" | "TIER2_SCANNING"), _) => "worker",
                _ => "admin",
            };
            assert_eq!(legal.actor.as_str(), expected, "{legal:?}");
        }
    }
}
