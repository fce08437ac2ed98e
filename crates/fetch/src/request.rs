//! A request, as callers write it.

use std::fmt;
use std::time::Duration;

use hyper::Method;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};

use crate::policy::Policy;
use crate::range::Span;
use crate::target::host_of;
use crate::upload::Upload;

/// The limits of one request: how long it may take and how much may come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The time for the whole request: redirects, what is sent, and the answer's body to its last byte.
    pub within: Duration,
    /// The time for each pause: looking up the name, securing the connection, and while no byte moves either way.
    pub idle: Duration,
    /// The most bytes of the answer's body; an answer that has more is an error.
    pub body_bytes_max: u64,
}

impl Limits {
    /// Returns what a policy allows requests that set no limits of their own.
    #[must_use]
    pub fn of(policy: &Policy) -> Limits {
        let body_bytes_max = u64::try_from(policy.body_bytes_max).unwrap_or(u64::MAX);
        Limits { within: policy.within, idle: policy.within, body_bytes_max }
    }
}

/// A request to an address that somebody chose. Its framing, its `Host` and what it says about connections are not the
/// caller's: such headers are replaced or left out.
pub struct Request {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) upload: Upload,
    pub(crate) span: Option<Span>,
    pub(crate) redirects_max: usize,
    pub(crate) limits: Option<Limits>,
}

impl Request {
    #[must_use]
    pub fn new(method: Method, url: impl Into<String>, upload: impl Into<Upload>) -> Request {
        Request {
            method,
            url: url.into(),
            headers: HeaderMap::new(),
            upload: upload.into(),
            span: None,
            redirects_max: 0,
            limits: None,
        }
    }

    #[must_use]
    pub fn get(url: impl Into<String>) -> Request {
        Request::new(Method::GET, url, Upload::empty())
    }

    #[must_use]
    pub fn head(url: impl Into<String>) -> Request {
        Request::new(Method::HEAD, url, Upload::empty())
    }

    #[must_use]
    pub fn post(url: impl Into<String>, upload: impl Into<Upload>) -> Request {
        Request::new(Method::POST, url, upload)
    }

    #[must_use]
    pub fn put(url: impl Into<String>, upload: impl Into<Upload>) -> Request {
        Request::new(Method::PUT, url, upload)
    }

    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Request {
        self.headers.append(name, value);
        self
    }

    #[must_use]
    pub fn headers(mut self, headers: HeaderMap) -> Request {
        self.headers.extend(headers);
        self
    }

    /// Asks for the bytes from `first` on, up to and with `last`. An answer with another part is an error; one with the whole
    /// document is not, and has no [`Head::part`](crate::Head::part). Send `If-Range` along to go on with the same document.
    #[must_use]
    pub fn range(self, first: u64, last: Option<u64>) -> Request {
        Request { span: Some(Span { first, last }), ..self }
    }

    /// Follows so many redirects, each with all the checks; one more is an error. Only `GET` and `HEAD` follow any: what is
    /// sent goes where it was meant to go. Another origin gets no `Authorization`, no `Cookie`, and no header whose value
    /// is marked as sensitive.
    #[must_use]
    pub fn following(self, redirects_max: usize) -> Request {
        Request { redirects_max, ..self }
    }

    #[must_use]
    pub fn limits(self, limits: Limits) -> Request {
        Request { limits: Some(limits), ..self }
    }
}

/// Shows neither path nor headers: both may hold secrets.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = host_of(&self.url).unwrap_or_default();
        f.debug_tuple("Request").field(&self.method).field(&host).field(&self.upload).finish()
    }
}
