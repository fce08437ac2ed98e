//! The growth of the log: committed leaves in order, in batches, become tiles; then the checkpoint moves on.

mod folder;
mod log;
mod memory;
mod prune;
mod publish;
mod store;

pub use folder::FolderStore;
pub use log::{Batch, Log, OpenError};
pub use memory::MemoryStore;
pub use prune::{PruneError, prune};
pub use publish::{PublishError, Published, Publisher};
pub use store::{Swap, TileStore, TileStoreError};
