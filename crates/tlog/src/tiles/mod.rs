//! The tree and its leaves as static files (C2SP tlog-tiles), and a reader that believes none of them unchecked.

mod bundle;
mod checked;
mod path;
mod source;

pub use bundle::{BundleError, Entries, LEAF_BYTES_MAX, LeafTooLong, check_leaf, push_entry};
pub(crate) use checked::levels;
pub use checked::{CheckedTiles, TileError, hash_of};
pub use path::{BadPath, Shelf, TILE_WIDTH, TilePath, edge_width};
pub use source::{SourceError, TileSource, read_bundle, read_tile};
