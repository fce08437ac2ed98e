//! The growth of the log: committed leaves in order, in batches, become tiles; then the checkpoint moves on.

mod definitions;
mod prune;

pub use definitions::put_definition;
pub use prune::{PruneError, prune};
pub use tlog::follow::*;
