//! The leaves: events as the model writes them, definitions when they are applied, and acts of the log itself. Every
//! leaf is one line of JSON with a `format` and a `kind`, in one spelling only.

mod entry;
mod event;
mod record;
mod scan;

pub use entry::{Entry, MalformedLeaf};
pub use event::EventLeaf;
pub use record::{Administered, Applied, Forked, KeyChange, Pruned, Record};
