//! The leaves: events as the model writes them, definitions when they are applied, and acts of the log itself. Every
//! leaf is one line of JSON with a `format` and a `kind`, in one spelling only.

mod act;
mod entry;
mod event;
mod scan;

pub use act::{Act, Administered, Applied, Forked, KeyChange, Pruned};
pub use entry::{Entry, MalformedLeaf};
pub use event::EventLeaf;
