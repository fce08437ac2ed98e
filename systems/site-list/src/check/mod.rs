//! The validation alone, for site owners: against the live site, or against a saved head of an answer.

mod judge;
mod known;
mod saved;
mod verdict;

pub use judge::{Question, check_enrolled, judge};
pub use known::{Enrolled, Known, Unknown};
pub use saved::{BadHead, saved_head};
pub use verdict::{Verdict, check_live, check_saved};
