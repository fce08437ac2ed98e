//! The API over real connections: one binary, so that it is linked once.
#![expect(clippy::unwrap_used, reason = "all of this is tests")]

mod access;
mod actions;
mod acts;
mod amend;
mod bad_input;
mod children;
mod dead;
mod deliveries;
mod endpoints;
mod errors_doc;
mod exposition;
mod feed;
mod health;
mod holds;
mod hostile;
mod inbox;
mod limits;
mod log;
mod look;
mod metrics;
mod metrics_docs;
mod openapi;
mod operations;
mod overdue;
mod peers;
mod pipelines;
mod scope;
mod server;
mod stats;
mod submit;
mod tasks;
mod tls;
mod tokens;
mod trace;
mod why;
