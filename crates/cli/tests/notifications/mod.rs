//! Notifications that really leave: the binary, and receivers that behave as they like.

mod crowd;
pub(crate) mod deliveries;
mod mail;
pub(crate) mod mail_server;
pub(crate) mod receiver;
mod webhooks;
