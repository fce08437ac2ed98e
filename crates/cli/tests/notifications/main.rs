//! Notifications that really leave: the binary, and receivers that behave as they like.
#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

#[path = "../common/mod.rs"]
mod common;
mod crowd;
mod deliveries;
mod mail;
mod mail_server;
mod receiver;
mod webhooks;
