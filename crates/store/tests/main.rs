//! Every test of this crate in one binary: linked once.

mod conformance;
mod differential;
