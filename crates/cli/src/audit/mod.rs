//! The common parts of the commands about the log: whom they believe, where they read, what they tell.

mod keys;
mod progress;
mod report;
mod served;
mod watcher;

pub(crate) use keys::{KeyArgs, read_keys};
pub(crate) use progress::Watched;
pub(crate) use report::Told;
pub(crate) use served::Served;
pub(crate) use watcher::WitnessDoor;
