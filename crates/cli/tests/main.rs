//! Every test of this crate in one binary: linked once.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

mod audit;
mod backup;
mod bench;
mod browser;
mod bulk;
mod clock;
mod cloudflare;
mod commands;
mod common;
mod config;
mod crash;
mod demo;
mod docs;
mod doctor;
mod files;
mod find;
mod fleet;
mod migrate_store;
mod notifications;
mod notify;
mod openapi;
mod operate;
mod push;
mod python;
mod scenarios;
mod secrets;
mod serve;
mod site_list;
mod skills;
mod stores;
mod tls;
mod tokens;
mod worker;
mod worker_run;
