//! The sender of notifications: the worker of the built-in pipeline `delivery`, in the server's own process.
//!
//! This worker claims and settles by the loop of all workers, only without HTTP between: a message is sent at least
//! once, and what happens to it is on record. However many endpoints hang, nobody else's messages are held up; see
//! [`places`].
//!
//! Beside it are the [`Consumers`]: addresses that the tasks of a queue are pushed to in batches, each a worker of its own by
//! the same loop.

mod lines;
mod mail;
mod message;
mod places;
mod push;
mod senders;
mod smtp;
mod tame;
mod webhook;

pub use push::{Batching, Consumer, Consumers};
pub use senders::{Mail, Senders};
pub use smtp::MailServer;
