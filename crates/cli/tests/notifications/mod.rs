//! Notifications that really leave: the binary, and receivers that behave as they like.

mod crowd;
mod deliveries;
mod mail;
mod mail_server;
mod receiver;
mod webhooks;
