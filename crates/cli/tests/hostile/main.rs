//! Hostile callers against the real server, while a friend goes on working. Everything stays on loopback.
//!
//! Each test sends something that once stopped a server or filled its memory. Held are: every request of the friend is
//! answered as it should be, health is told, and memory stays bounded. Times are printed (`--nocapture`), not held: they
//! are the machine's as much as the server's.

#[path = "../common/mod.rs"]
#[allow(dead_code, reason = "the other tests use the rest of it")]
mod common;

mod bombs;
mod crowds;
mod friend;
mod site;
mod slow_readers;
mod slow_senders;
