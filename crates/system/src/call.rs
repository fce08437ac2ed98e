//! Calls of routes, and replies to them.

use std::collections::BTreeMap;
use std::net::IpAddr;

use bytes::Bytes;
use client::Client;
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wire::{Code, Json, Refusal, Role, Time};

use crate::upload::Uploaded;

/// A request that was let in.
#[derive(Debug)]
pub struct Call {
    /// The server, asked in the caller's name: it may see and do what the caller may. On a public route, the server asked as
    /// a submitter of the system's pipelines.
    pub client: Client,
    /// The caller; none on a public route.
    pub caller: Option<Caller>,
    /// The address the request came from; none inside of the process.
    pub address: Option<IpAddr>,
    /// The named parts of the address.
    pub parts: BTreeMap<String, String>,
    pub uri: Uri,
    pub headers: HeaderMap,
    /// The body, of 1 MB at most; empty where it was streamed into a file.
    pub body: Bytes,
    /// The body as a file, on routes that take uploads.
    pub uploaded: Option<Uploaded>,
    /// The surroundings of a page: the server fills them in for pages alone.
    pub frame: Frame,
}

/// The facts that the console's frame around a page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The time by which the server answers.
    pub now: Time,
    /// The pages of all systems: title and address.
    pub pages: Vec<(String, String)>,
}

impl Default for Frame {
    fn default() -> Frame {
        Frame { now: Time::EPOCH, pages: Vec::new() }
    }
}

/// Whoever asks with a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub name: String,
    pub role: Role,
}

impl Call {
    /// Returns a named part of the address. One that the path does not name is empty.
    #[must_use]
    pub fn part(&self, name: &str) -> &str {
        self.parts.get(name).map_or("", String::as_str)
    }

    /// Reads the body as strict JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        let invalid = |message: String| Refusal::new(Code::InvalidJson, message);
        Json::check_bytes(&self.body)
            .map_err(|error| invalid(format!("the body is not strict JSON: {error}")))?;
        serde_json::from_slice(&self.body).map_err(|error| {
            Refusal::new(
                Code::InvalidRequest,
                format!("the body has another shape than this call takes: {error}"),
            )
        })
    }
}

/// An answer to a call.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    /// Makes a reply of bytes of this kind.
    #[must_use]
    pub fn new(content_type: &'static str, body: impl Into<Bytes>) -> Reply {
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(content_type))]);
        Reply { status: StatusCode::OK, headers, body: body.into() }
    }

    /// Makes a reply of plain text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Reply {
        Reply::new("text/plain; charset=utf-8", text.into())
    }

    /// Makes a reply of a page.
    #[must_use]
    pub fn html(page: impl Into<String>) -> Reply {
        Reply::new("text/html; charset=utf-8", page.into())
    }

    /// Makes a reply of JSON.
    ///
    /// # Panics
    /// When the document has keys that are no texts.
    #[must_use]
    pub fn json(document: &impl Serialize) -> Reply {
        let body = serde_json::to_vec(document).expect("a document has only string keys");
        Reply::new("application/json", body)
    }

    /// Sets another status.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Reply {
        self.status = status;
        self
    }
}
