//! The common parts of the commands about the log: whom they believe, where they read, what they tell.

mod keys;
mod progress;
mod served;
mod told;
mod watcher;

pub(crate) use keys::{KeyArgs, read_keys};
pub(crate) use progress::Watched;
pub(crate) use served::Served;
pub(crate) use told::Told;
pub(crate) use watcher::WitnessDoor;
