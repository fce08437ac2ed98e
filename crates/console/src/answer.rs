//! Answers of pages, as the server sends them.

use bytes::Bytes;
use wire::export::Format;

use crate::follow::Live;

/// An answer to a request of a page.
#[derive(Debug)]
pub enum Answer {
    /// A page, or a part of one.
    Page { status: u16, html: String },
    /// A document for programs.
    Json { status: u16, body: Bytes },
    /// Another address to go to, and the cookies to keep.
    Elsewhere { to: String, cookies: Vec<String> },
    /// A file of the program's own, which is the same until another version is installed.
    Asset { kind: &'static str, body: &'static [u8], etag: String },
    /// A document to keep under this name.
    File { kind: &'static str, name: String, body: Bytes },
    /// Everything that a filter finds, as lines.
    Export { query: Box<app::Query>, format: Format },
    /// A stream of what happens.
    Live(Live),
}

impl Answer {
    pub(crate) fn page(html: String) -> Answer {
        Answer::Page { status: 200, html }
    }

    /// Goes to another page, after something was done.
    pub(crate) fn to(to: impl Into<String>) -> Answer {
        Answer::Elsewhere { to: to.into(), cookies: Vec::new() }
    }
}
