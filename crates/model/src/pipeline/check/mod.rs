//! Checks over the whole machine: what no single line shows.
//!
//! All checks run on a draft that may have problems already, and say nothing that only follows from those: a state that
//! could not be read in full may lead anywhere.

mod dead_letters;
mod deliveries;
mod edge_order;
mod joins;
mod pass_cycle;
mod reach;
mod templates;

use super::problem::Problems;
use super::read::Draft;

pub(super) fn check(draft: &Draft, problems: &mut Problems) {
    edge_order::check(draft, problems);
    reach::unreachable(draft, problems);
    reach::no_way_out(draft, problems);
    pass_cycle::check(draft, problems);
    joins::check(draft, problems);
    deliveries::check(draft, problems);
    templates::check(draft, problems);
    dead_letters::check(draft, problems);
}
