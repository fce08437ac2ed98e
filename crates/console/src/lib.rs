//! The console: pages on which people see what is happening and act on it.
//!
//! A page is a struct with what it shows, a template that only prints, and a handler of a few lines over [`app`]. Pages
//! are made on the server and read without scripts; a script of our own and htmx make them quicker and keep them fresh.
//! Every page is a line of [`TABLE`], and comes by the server's doors like everything else: who may ask, how much at a
//! time, and what is counted is decided there.

mod actions;
mod answer;
mod ask;
mod assets;
mod commands;
mod diff;
mod fields;
mod filter;
mod flow;
mod follow;
mod form;
pub mod layout;
mod look;
mod notice;
mod pages;
mod parts;
pub mod public;
mod raw;
mod refused;
mod session;
mod table;

pub use answer::Answer;
pub use ask::{Ask, Visit};
pub use follow::{Live, Piece};
pub use refused::refused;
pub use session::{SESSION, is_from_here, session};
pub use table::{Handler, Route, TABLE};

/// The policy that browsers get: a page may load and do what this server gives, and nothing else.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                          form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
