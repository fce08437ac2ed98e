//! The registry of skills from the outside: one binary, so that it is linked once.
#![expect(clippy::unwrap_used, reason = "all of this is tests")]

mod corpus;
mod git;
mod ground;
mod judge;
mod judge_server;
mod pages;
mod registry;
mod review;
mod support;
