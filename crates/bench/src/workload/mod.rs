//! The workloads, over whichever home.

mod console;
mod latency;
mod pages;
mod restart;
mod submit;
mod work;

pub(crate) use console::{console, watch};
pub(crate) use latency::{PACE, latency};
pub(crate) use pages::{Look, pages, pages_inside};
pub(crate) use restart::restart;
pub(crate) use submit::{fill, submit, submit_by, take};
pub(crate) use work::{Crew, work};

use std::time::Duration;

/// A number of things, and the time they took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rate {
    pub(crate) count: usize,
    pub(crate) took: Duration,
}

impl std::ops::AddAssign for Rate {
    fn add_assign(&mut self, other: Rate) {
        self.count += other.count;
        self.took += other.took;
    }
}

impl Rate {
    #[must_use]
    pub(crate) fn per_second(&self) -> f64 {
        self.count as f64 / self.took.as_secs_f64()
    }
}
