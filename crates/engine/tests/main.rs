//! Every test of this crate in one binary: linked once.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

mod arrival_order;
mod arriving;
mod children;
mod chores;
mod clock;
mod core;
mod definitions;
mod documents;
mod duplicates;
mod entries;
mod inbox;
mod known_failures;
mod levels;
mod log;
mod notifications;
mod operations;
mod queues;
mod retirement;
mod room;
mod servers;
mod several_servers;
mod shell;
mod support;
mod turns;
