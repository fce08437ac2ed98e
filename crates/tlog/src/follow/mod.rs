//! The growth of a log: leaves in order, in batches, become tiles; then the checkpoint moves on.

mod folder;
mod log;
mod memory;
mod publish;
mod store;

pub use folder::FolderStore;
pub use log::{Batch, Log, OpenError};
pub use memory::MemoryStore;
pub use publish::{PublishError, Published, Publisher};
pub use store::{Swap, TileStore, TileStoreError};
