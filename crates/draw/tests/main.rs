//! Every test of this crate in one binary: linked once.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

#[path = "../../model/tests/common/mod.rs"]
mod common;
mod mermaid;
mod random;
#[path = "../../model/tests/support/shipped.rs"]
mod shipped;
mod svg;
