//! The guarded fetch against servers and clients that mean no good: one binary, so that it is linked once.
#![expect(clippy::unwrap_used, reason = "all of this is tests")]

mod addresses;
mod downloads;
mod git;
mod going_out;
mod proxy;
mod redirects;
mod secured;
mod smart_http;
mod support;
mod uploads;
