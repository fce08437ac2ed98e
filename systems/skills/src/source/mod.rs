//! Skills as they are in their repositories, at one commit.

mod choose;
mod git;
mod snapshot;
mod tree;

pub use choose::Wanted;
pub use git::{Error, Git};
pub use snapshot::{Snapshot, normalised};
