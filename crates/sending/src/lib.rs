//! The sender of notifications: the worker of the built-in pipeline `delivery`, in the server's own process.
//!
//! This worker claims and settles by the loop of all workers, only without HTTP between: a message is sent at least
//! once, and what happens to it is on record. However many endpoints hang, nobody else's messages are held up; see
//! [`places`].

mod lines;
mod mail;
mod message;
mod places;
mod senders;
mod smtp;
mod tame;
mod webhook;

pub use senders::{Mail, Senders};
pub use smtp::MailServer;
