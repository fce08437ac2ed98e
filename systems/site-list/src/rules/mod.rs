//! The rules a change is judged by. Pure: the rules see a host name, the head of an answer and the list, never a socket.

mod csp;
mod headers;
mod host;
mod listed;
mod sources;

pub use csp::Csp;
pub use headers::{ISSUERS, Observed, Wanted, contact_of, is_mail_address, normalized, observe, standing};
pub use host::{Host, Onions};
pub use listed::{Listed, check_listed};
pub use sources::check_sources;
