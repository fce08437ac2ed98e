//! The demo's pipelines: those of the systems, and the one by which notifications leave. The binary carries them, so that
//! the demo runs in any folder.

use model::pipeline::Source;

use crate::systems;

pub(super) const SKILLS: &str = "skill-review";
pub(super) const SITES: &str = "site-list";
pub(super) const BATCHES: &str = "ingest-batch";
pub(super) const SIGNING: &str = "sign-request";
pub(super) const DELIVERY: &str = "delivery";

/// Returns the files to apply: of systems, those that are wanted.
pub(super) fn sources(wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = Source> {
    let systems = systems::all();
    let wanted = systems.iter().filter(|system| wanted(system.name()));
    let of_systems: Vec<Source> = wanted.flat_map(|system| systems::sources(&**system)).collect();
    // Before all that notify somebody.
    std::iter::once(engine::delivery::source()).chain(of_systems)
}

#[cfg(test)]
#[path = "../../../model/tests/support/shipped.rs"]
mod shipped;

#[cfg(test)]
pub(super) fn loaded(wanted: impl Fn(&str) -> bool) -> Vec<model::Pipeline> {
    let load = |source: Source| {
        model::pipeline::load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)))
    };
    sources(wanted).map(load).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn skill_review() -> model::Pipeline {
        loaded(|_| true).into_iter().find(|pipeline| &*pipeline.name == SKILLS).expect("it is carried")
    }

    #[test]
    fn every_pipeline_of_the_repository_is_carried() {
        let there = BTreeSet::from_iter(shipped::names());
        let carried: BTreeSet<String> =
            loaded(|_| true).iter().map(|pipeline| pipeline.name.to_string()).collect();
        assert_eq!(carried, there);
    }

    #[test]
    fn the_machine_has_ten_states_and_thirteen_moves() {
        let pipeline = skill_review();
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
        for legal in skill_review().moves() {
            let expected = match (legal.from.as_deref(), &*legal.to) {
                (None | Some("RECEIVED" | "AUTO_APPROVED" | "VENDOR_APPROVED"), _) => "system",
                (Some("TIER1_SCANNING" | "TIER2_SCANNING"), _) => "worker",
                _ => "admin",
            };
            assert_eq!(legal.actor.as_str(), expected, "{legal:?}");
        }
    }
}
