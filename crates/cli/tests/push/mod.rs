//! Push delivery: the binary, and consumers that behave as they like.

mod consumer;
mod deliver;
mod settings;
mod skills;
