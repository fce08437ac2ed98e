//! What sends notifications: the workers of the built-in pipeline `delivery`, in the server's own process.
//!
//! They claim and settle like any other worker, only without HTTP between: a message is sent at least once, and what
//! happens to it is on record. However many endpoints hang, nobody else's messages are held up; see [`places`].

mod answer;
mod lease;
mod lines;
mod mail;
mod message;
mod places;
mod senders;
mod smtp;
mod webhook;

pub use senders::{Mail, Senders};
pub use smtp::MailServer;
